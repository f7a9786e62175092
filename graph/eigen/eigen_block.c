/* SPDX-License-Identifier: BSD-2-Clause
 * The engine without a factorisation: block Lanczos on a Chebyshev polynomial of M. A product of M with eight
 * interleaved vectors costs little more than one with a single vector, and the polynomial spares most of the
 * orthogonalisation. */
#include <math.h>
#include <stdio.h>

#include "chebyshev.h"
#include "eigen_engines.h"
#include "eigen_search.h"
#include "linalg/blas_threads.h"

#define BLOCK PE_CHEBYSHEV_LANES
#define SPREAD 3.0 /* what is let through, against what is wanted */
#define GAIN 100.0 /* of one application of the polynomial, at the low end */
/* Of what was found below the low end, and is kept out of the basis: more would bring its rounding back. */
#define MOST_GAIN 1e10

/* What is damped is somewhere above the cut. */
static bool map(const void *arg, double theta, double norm, double *value, double *residual, double *error)
{
	const struct pe_chebyshev *filter = arg;
	double slope, lowest, other, cut = filter->centre - filter->half;
	if (!pe_chebyshev_invert(filter, theta + norm, &lowest, &other))
		lowest = cut;
	if (pe_chebyshev_invert(filter, theta, value, &slope)) {
		*residual = norm / slope;
	} else {
		*value = cut;
		*residual = INFINITY;
	}
	*error = *value - lowest;
	return true;
}

/* Well above the wanted values: the polynomial need not part them from their neighbours, since the Krylov
 * space does; it must only grow by GAIN with a degree as small as can be. 0 if nothing above the wanted is
 * seen yet. */
static double choose_cut(const struct pe_eigen_search *search, const struct pe_eigen_estimate *e)
{
	const struct pe_eigen_problem *p = search->problem;
	double clear = fmax(1e-6 * p->upper, 10 * PE_GROUP_GAP * p->norm1);
	int32_t at = search->request->k;
	while (at < e->count && e->values[at] - e->values[search->request->k - 1] < clear)
		at++;
	return at < e->count ? e->values[0] + SPREAD * (e->values[at] - e->values[0]) : 0;
}

static int32_t choose_degree(const struct pe_eigen_search *search, double low, double cut, double upper)
{
	double bottom = search->found > 0 ? fmin(search->found_values[0], 0) : 0;
	int32_t most = pe_chebyshev_degree(fmin(bottom, low), cut, upper, MOST_GAIN);
	return (int32_t)pe_min(pe_chebyshev_degree(low, cut, upper, GAIN), most);
}

/* Ritz values come down to the eigenvalues: so does the cut. */
static pe_status adapt(struct pe_eigen_search *search, const struct pe_eigen_estimate *e, bool *changed)
{
	struct pe_chebyshev *filter = search->arg;
	const struct pe_eigen_problem *p = search->problem;
	*changed = false;
	/* In an exhausted space there is nothing to amplify. */
	if (e->count <= search->request->k || search->krylov.replaced > 0)
		return PE_OK;
	double low = e->values[0], upper = p->upper * (1 + 1e-12), cut = choose_cut(search, e);
	double before = filter->centre - filter->half;
	if (!(cut > low) || !(cut < upper) || (filter->degree > 1 && cut - low > 0.6 * (before - low)))
		return PE_OK;
	pe_chebyshev_set(filter, low, cut, upper, choose_degree(search, low, cut, upper));
	*changed = true;
	return PE_OK;
}

pe_status pe_eigen_by_filter(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_sparse_factor *factor, int32_t restarts,
	struct pe_eigen_result *out)
{
	static const struct pe_eigen_transform transform = {map, adapt};
	*out = (struct pe_eigen_result){0};
	struct pe_chebyshev filter = {.problem = problem};
	struct pe_eigen_search search = {.ctx = ctx,
		.problem = problem,
		.request = request,
		.transform = &transform,
		.apply = pe_chebyshev_apply,
		.arg = &filter,
		.block = BLOCK,
		.spare = 8 * BLOCK,
		.first_look = 4 * BLOCK,
		.restarts = restarts};
	filter.scratch = pe_alloc(ctx, problem->n, 2 * BLOCK * sizeof *filter.scratch);
	if (!filter.scratch)
		return PE_ERR_NOMEM;
	int threads = pe_blas_threads_one();
	pe_chebyshev_set(&filter, 0, 0.5 * problem->upper, problem->upper, 1);
	pe_status status = pe_eigen_search_run(&search, factor, NULL, out);
	out->products = filter.products;
	if (status == PE_OK)
		snprintf(out->note, sizeof out->note, "block Lanczos, filter of degree %d below %.3g, %lld products",
			filter.degree, filter.centre - filter.half, (long long)out->products);
	else
		pe_eigen_result_free(ctx, out);
	pe_eigen_search_free(&search);
	pe_free(ctx, filter.scratch);
	pe_blas_threads_restore(threads);
	return status;
}

pe_status pe_eigen_block(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out)
{
	*out = (struct pe_eigen_result){0};
	struct pe_sparse_factor *factor = NULL; /* not for solving: to count */
	struct pe_sparse_matrix matrix = pe_eigen_matrix(problem);
	if (request->certify && request->insist)
		PE_TRY(pe_sparse_factor_create(ctx, &matrix, &factor));
	pe_status status = pe_eigen_by_filter(ctx, problem, request, factor, 1000, out);
	pe_sparse_factor_destroy(ctx, &factor);
	return status;
}
