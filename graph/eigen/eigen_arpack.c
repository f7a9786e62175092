/* SPDX-License-Identifier: BSD-2-Clause
 * Shift-invert by ARPACK: one vector at a time, so that a pass over the factor serves one solve, and an
 * eigenvalue's second vector comes late or never. Kept as a second opinion on eigen_shift_invert.c; nothing
 * chooses it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eigen_engines.h"
#include "eigen_parts.h"
#include "linalg/arpack.h"
#include "linalg/blas_threads.h"
#include "linalg/panel.h"
#include "rng.h"

#define TINY 1e-9 /* of the norm: the shift */

struct inverse {
	struct pe_sparse_factor *factor;
	const struct pe_eigen_problem *problem;
};

static void drop_null(const struct pe_eigen_problem *p, double *x)
{
	double along;
	pe_panel_dot(p->n, 1, p->null, 1, x, &along, 1);
	pe_panel_multiply(p->n, 1, p->null, 1, &along, 1, -1, 1, x);
}

static pe_status apply(pe_context *ctx, void *arg, const double *x, double *y)
{
	const struct inverse *inverse = arg;
	memcpy(y, x, (size_t)inverse->problem->n * sizeof *y);
	PE_TRY(pe_sparse_factor_solve(ctx, inverse->factor, 1, y));
	drop_null(inverse->problem, y);
	return PE_OK;
}

/* Hands out what ARPACK found, refined; counts once. */
static pe_status finish(pe_context *ctx, const struct inverse *inverse, const struct pe_eigen_request *r,
	int32_t found, struct pe_eigen_result *out)
{
	const struct pe_eigen_problem *p = inverse->problem;
	double *residuals = pe_alloc_zero(ctx, found, 2 * sizeof *residuals), point;
	if (!residuals)
		return PE_ERR_NOMEM;
	pe_status status = pe_eigen_refine(ctx, p, found, out->vectors, out->values, residuals);
	if (status != PE_OK)
		goto done;
	struct pe_eigen_estimate e = {.count = found,
		.values = out->values,
		.residuals = residuals,
		.errors = residuals + found,
		.all = found == p->n - 1};
	for (int32_t j = 0; j < found; j++) {
		out->residuals[j] = residuals[j];
		residuals[j] *= p->norm1;
	}
	out->count = pe_eigen_settle(p, r, &e, r->tolerance * p->norm1, &out->complete);
	out->converged = out->count > 0;
	if (!out->converged) {
		out->complete = false;
		out->count = (int32_t)pe_min(r->k, found);
	}
	int64_t count;
	bool valid = false;
	if (r->certify && out->complete && out->count < found)
		status = pe_eigen_count_below(ctx, inverse->factor, out->values[out->count - 1],
			out->values[out->count], &point, &count, &valid);
	out->certified = valid && count == out->count + 1;
done:
	pe_free(ctx, residuals);
	return status;
}

static pe_status solve(
	pe_context *ctx, struct inverse *inverse, const struct pe_eigen_request *r, struct pe_eigen_result *out)
{
	const struct pe_eigen_problem *p = inverse->problem;
	int32_t found = 0, wanted = (int32_t)pe_min((int64_t)r->k + 2, p->n - 2);
	int32_t basis = (int32_t)pe_min(pe_max(2 * (int64_t)wanted + 1, 20), p->n - 1);
	double *start = pe_alloc(ctx, p->n, sizeof *start);
	out->values = pe_alloc(ctx, basis, 2 * sizeof *out->values);
	out->vectors = pe_alloc(ctx, basis, (size_t)p->n * sizeof *out->vectors);
	pe_status status = PE_ERR_NOMEM;
	if (!start || !out->values || !out->vectors)
		goto done;
	out->residuals = out->values + basis;
	for (int32_t i = 0; i < p->n; i++)
		start[i] = pe_rng_uniform(ctx->seed, r->stream, (uint64_t)i) - 0.5;
	drop_null(p, start);
	struct pe_arpack_problem problem = {.n = p->n,
		.k = wanted,
		.basis = basis,
		.restarts = 300,
		.tolerance = 0.1 * r->tolerance,
		.start = start,
		.apply = apply,
		.arg = inverse};
	status = pe_arpack_largest(ctx, &problem, out->values, out->vectors, &found, &out->products);
	if (status == PE_OK && found > 0)
		status = finish(ctx, inverse, r, found, out);
done:
	pe_free(ctx, start);
	return status;
}

pe_status pe_eigen_arpack(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out)
{
	*out = (struct pe_eigen_result){0};
	if (!problem->semidefinite || request->k > problem->n - 3)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"this use of ARPACK needs a semidefinite matrix and at most n - 3 pairs");
	struct inverse inverse = {.problem = problem};
	struct pe_sparse_matrix matrix = pe_eigen_matrix(problem);
	bool exists;
	int threads = pe_blas_threads_one();
	pe_status status = pe_sparse_factor_create(ctx, &matrix, &inverse.factor);
	if (status == PE_OK)
		status = pe_sparse_factor_numeric(ctx, inverse.factor, -TINY * problem->norm1, &exists);
	if (status == PE_OK && !exists)
		status = pe_fail(ctx, PE_ERR_NOT_CONVERGED, "the matrix has no factor just below 0");
	if (status == PE_OK)
		status = solve(ctx, &inverse, request, out);
	if (status == PE_OK)
		snprintf(out->note, sizeof out->note, "ARPACK, shift-invert, %lld solves", (long long)out->products);
	else
		pe_eigen_result_free(ctx, out);
	pe_sparse_factor_destroy(ctx, &inverse.factor);
	pe_blas_threads_restore(threads);
	return status;
}
