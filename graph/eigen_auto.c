/* SPDX-License-Identifier: BSD-2-Clause
 * Which engine takes a problem: dense where n is small or much is wanted, shift-invert where the factor is
 * sparse, else the filter. */
#include <stdio.h>
#include <string.h>

#include "eigen_engines.h"
#include "eigen_parts.h"

#define DENSE_N 160         /* up to here LAPACK is quicker than anything that iterates */
#define DENSE_MOST 8000     /* nor is it asked for more than this: n² numbers, and n³ operations */
#define DENSE_SHARE 6       /* k above n over this: most of a basis would be the whole space */
#define FLOPS_FREE 2e8      /* a factorisation of so few operations is not worth avoiding */
#define FLOPS_ENTRY 5e3     /* operations an entry of M, above which products are cheaper */
#define FLOPS_MOST 2e13     /* and above which there is no trying: hours */
#define FILTER_RESTARTS 100 /* before a factorisation that looked too dear is tried after all */

static void explain(struct pe_eigen_result *out, const char *why)
{
	size_t used = strlen(out->note);
	snprintf(out->note + used, sizeof out->note - used, " (%s)", why);
}

/* The filter, and if it does not converge soon, the factor. */
static pe_status filter_first(pe_context *ctx, const struct pe_eigen_problem *p,
	const struct pe_eigen_request *r, struct pe_sparse_factor *factor, struct pe_eigen_result *out)
{
	bool hopeless = !factor || pe_sparse_factor_flops(factor) > FLOPS_MOST;
	PE_TRY(pe_eigen_by_filter(ctx, p, r, NULL, hopeless ? 10 * FILTER_RESTARTS : FILTER_RESTARTS, out));
	if (out->converged || hopeless) {
		explain(out, "the factor would be dense");
		return PE_OK;
	}
	pe_eigen_result_free(ctx, out);
	PE_TRY(pe_eigen_by_factor(ctx, p, r, factor, out));
	explain(out, "the filter did not converge");
	return PE_OK;
}

pe_status pe_eigen_auto(pe_context *ctx, const struct pe_eigen_problem *p, const struct pe_eigen_request *r,
	struct pe_eigen_result *out)
{
	*out = (struct pe_eigen_result){0};
	if (p->n <= DENSE_N || (r->k > p->n / DENSE_SHARE && p->n <= DENSE_MOST))
		return pe_eigen_dense(ctx, p, r, out);
	struct pe_sparse_matrix matrix = pe_eigen_matrix(p);
	struct pe_sparse_factor *factor;
	pe_status status = pe_sparse_factor_create(ctx, &matrix, &factor);
	if (status == PE_ERR_UNSUPPORTED)
		return filter_first(ctx, p, r, NULL, out);
	if (status != PE_OK)
		return status;
	double entries = (double)(p->row[p->n] - p->row[0]) + p->n;
	double flops = pe_sparse_factor_flops(factor);
	if (flops <= FLOPS_FREE || flops <= FLOPS_ENTRY * entries)
		status = pe_eigen_by_factor(ctx, p, r, factor, out);
	else
		status = filter_first(ctx, p, r, factor, out);
	pe_sparse_factor_destroy(ctx, &factor);
	return status;
}
