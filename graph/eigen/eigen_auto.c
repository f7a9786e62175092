/* SPDX-License-Identifier: BSD-2-Clause
 * Which engine takes a problem: dense where n is small or much is wanted, shift-invert where the factor is
 * sparse, else the filter. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eigen_engines.h"
#include "eigen_parts.h"

#define DENSE_N 160          /* up to here LAPACK is quicker than anything that iterates */
#define DENSE_MOST 8000      /* nor is it asked for more than this: n² numbers, and n³ operations */
#define DENSE_LAST 4000      /* what no iteration solves is left to LAPACK up to here: a minute */
#define DENSE_SHARE 6        /* k above n over this: most of a basis would be the whole space */
#define FLOPS_FREE 2e8       /* a factorisation of so few operations is not worth avoiding */
#define FLOPS_ENTRY 5e3      /* operations an entry of M, above which products are cheaper */
#define FLOPS_MOST 2e13      /* and above which there is no trying: a quarter of an hour, and gigabytes */
#define SMALL_WORLD_N 6000   /* below, to order a factor takes a few hundredths of a second */
#define SMALL_WORLD_DEGREE 7 /* neighbours a node */
#define NEARLY_FULL \
	0.05 /* share of all other nodes that are neighbours: ordering a factor would take forever */
#define FILTER_RESTARTS 100 /* before a factorisation that looked too dear is tried after all */
#define FILTER_LEAST 1e-7   /* of the largest eigenvalue: below, a filter would need a degree of thousands */

static void explain(struct pe_eigen_result *out, const char *why)
{
	size_t used = strlen(out->note);
	snprintf(out->note + used, sizeof out->note - used, " (%s)", why);
}

/* Steps from node 0 to the farthest. */
static pe_status measure_depth(pe_context *ctx, const struct pe_eigen_problem *p, int32_t *depth)
{
	int32_t *queue = pe_alloc(ctx, p->n, sizeof *queue), *level = pe_alloc(ctx, p->n, sizeof *level);
	pe_status status = queue && level ? PE_OK : PE_ERR_NOMEM;
	int32_t end = 1;
	if (status != PE_OK)
		goto done;
	memset(level, -1, (size_t)p->n * sizeof *level);
	queue[0] = level[0] = 0;
	for (int32_t at = 0; at < end; at++)
		for (int64_t e = p->row[queue[at]]; e < p->row[queue[at] + 1]; e++)
			if (level[p->col[e]] < 0) {
				level[p->col[e]] = level[queue[at]] + 1;
				queue[end++] = p->col[e];
			}
	*depth = level[queue[end - 1]];
done:
	pe_free(ctx, queue);
	pe_free(ctx, level);
	return status;
}

/* Many edges, yet every node is near: such a graph has no small separators, and even ordering it is wasted.
 */
static pe_status is_small_world(pe_context *ctx, const struct pe_eigen_problem *p, bool *is)
{
	int32_t depth;
	double degree = (double)(p->row[p->n] - p->row[0]) / p->n;
	*is = degree >= SMALL_WORLD_DEGREE && (p->n >= SMALL_WORLD_N || degree >= NEARLY_FULL * p->n);
	if (!*is)
		return PE_OK;
	PE_TRY(measure_depth(ctx, p, &depth));
	*is = depth <= 2 * log(p->n);
	return PE_OK;
}

/* The sum of the smallest eigenvalues is at most that of as many diagonal entries (Schur and Horn): with
 * weights of many orders it shows what a filter would have to part. */
static bool is_out_of_reach(const struct pe_eigen_problem *p, const struct pe_eigen_request *r)
{
	int64_t small = 0;
	for (int32_t i = 0; i < p->n && p->semidefinite; i++)
		small += p->diag[i] < FILTER_LEAST * p->upper;
	return small > r->k;
}

/* *factor is NULL where it would be too large to be tried. */
static pe_status analyse(pe_context *ctx, const struct pe_eigen_problem *p, struct pe_sparse_factor **factor)
{
	struct pe_sparse_matrix matrix = pe_eigen_matrix(p);
	pe_status status = pe_sparse_factor_create(ctx, &matrix, factor);
	if (status == PE_OK && pe_sparse_factor_flops(*factor) > FLOPS_MOST)
		pe_sparse_factor_destroy(ctx, factor);
	return status == PE_ERR_UNSUPPORTED ? PE_OK : status;
}

static bool is_cheap(const struct pe_eigen_problem *p, const struct pe_sparse_factor *factor)
{
	double entries = (double)(p->row[p->n] - p->row[0]) + p->n;
	return pe_sparse_factor_flops(factor) <= fmax(FLOPS_FREE, FLOPS_ENTRY * entries);
}

static pe_status filter(pe_context *ctx, const struct pe_eigen_problem *p, const struct pe_eigen_request *r,
	struct pe_sparse_factor *factor, int32_t restarts, struct pe_eigen_result *out)
{
	PE_TRY(pe_eigen_by_filter(ctx, p, r, r->insist ? factor : NULL, restarts, out));
	explain(out, "the factor would be dense");
	return PE_OK;
}

/* By factor, by filter, or by the one after the other: what looked too dear is tried after all. */
static pe_status iterate(pe_context *ctx, const struct pe_eigen_problem *p, const struct pe_eigen_request *r,
	struct pe_eigen_result *out)
{
	bool small_world, unfit = is_out_of_reach(p, r);
	PE_TRY(is_small_world(ctx, p, &small_world));
	bool analysed = !small_world || unfit || r->insist;
	struct pe_sparse_factor *factor = NULL;
	if (analysed)
		PE_TRY(analyse(ctx, p, &factor));
	pe_status status = PE_OK;
	int64_t spent = 0;
	if (!factor || (!unfit && !is_cheap(p, factor)))
		status = filter(ctx, p, r, factor, FILTER_RESTARTS, out);
	if (status != PE_OK || out->converged)
		goto done;
	spent = out->products;
	pe_eigen_result_free(ctx, out);
	if (!analysed)
		status = analyse(ctx, p, &factor);
	if (status == PE_OK && factor)
		status = pe_eigen_by_factor(ctx, p, r, factor, out);
	else if (status == PE_OK)
		status = filter(ctx, p, r, NULL, 10 * FILTER_RESTARTS, out);
	if (status == PE_OK)
		out->products += spent;
done:
	pe_sparse_factor_destroy(ctx, &factor);
	return status;
}

pe_status pe_eigen_auto(pe_context *ctx, const struct pe_eigen_problem *p, const struct pe_eigen_request *r,
	struct pe_eigen_result *out)
{
	*out = (struct pe_eigen_result){0};
	if (p->n <= DENSE_N || (r->k > p->n / DENSE_SHARE && p->n <= DENSE_MOST))
		return pe_eigen_dense(ctx, p, r, out);
	pe_status status = iterate(ctx, p, r, out);
	bool failed = status == PE_ERR_NOT_CONVERGED || (status == PE_OK && !out->converged);
	if (!failed || p->n > DENSE_LAST)
		return status;
	/* Weights of a hundred orders, or a tolerance near rounding. */
	pe_eigen_result_free(ctx, out);
	return pe_eigen_dense(ctx, p, r, out);
}
