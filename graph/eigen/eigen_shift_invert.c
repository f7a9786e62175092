/* SPDX-License-Identifier: BSD-2-Clause
 * Shift-invert: block Lanczos on (M - σI)⁻¹ by a sparse factorisation, σ below the wanted values and close to
 * them. Ericsson and Ruhe, "The spectral transformation Lanczos method", Math. Comp. 35 (1980); the shape of
 * a step and the inertia count follow Grimes, Lewis and Simon, "A shifted block Lanczos algorithm", SIMAX 15
 * (1994). The null vector is kept out of the search, so that σ may be very close to 0. */
#include <math.h>
#include <stdio.h>

#include "eigen_engines.h"
#include "eigen_search.h"
#include "linalg/blas_threads.h"

#define BLOCK 4 /* right-hand sides that one pass over the factor serves */
#define TINY 1e-9

struct shifted {
	struct pe_sparse_factor *factor;
	double shift;
	int32_t moves;
};

static pe_status apply(pe_context *ctx, void *arg, int32_t count, double *x)
{
	return pe_sparse_factor_solve(ctx, ((struct shifted *)arg)->factor, count, x);
}

/* θ = 1 / (λ - σ). Purified, v has residual ‖(M - σI)⁻¹v - θv‖ / θ². */
static bool map(const void *arg, double theta, double norm, double *value, double *residual, double *error)
{
	const struct shifted *s = arg;
	if (!(theta > 0))
		return false;
	*value = s->shift + 1 / theta;
	*residual = norm / (theta * theta);
	*error = norm < theta ? 1 / (theta - norm) - 1 / theta : INFINITY;
	return true;
}

/* Factors at a shift with `below` eigenvalues below it. */
static pe_status try_shift(pe_context *ctx, struct shifted *s, double shift, int64_t below, bool *fits)
{
	PE_TRY(pe_sparse_factor_numeric(ctx, s->factor, shift, fits));
	*fits = *fits && pe_sparse_factor_negative(s->factor) == below;
	if (*fits)
		s->shift = shift;
	return PE_OK;
}

static pe_status refactor(struct pe_eigen_search *search)
{
	bool fits;
	struct shifted *s = search->arg;
	PE_TRY(try_shift(search->ctx, s, s->shift, 0, &fits));
	return fits ? PE_OK : pe_fail(search->ctx, PE_ERR_INTERNAL, "a factorisation cannot be repeated");
}

/* Where values may be below 0 the first shift is a bound, perhaps a far one: move it up to the spectrum. */
static pe_status adapt(struct pe_eigen_search *search, const struct pe_eigen_estimate *e, bool *changed)
{
	struct shifted *s = search->arg;
	*changed = false;
	if (search->problem->semidefinite || s->moves == 3 || e->count == 0)
		return PE_OK;
	double lowest = fmin(e->values[0] - fmin(e->errors[0], e->values[0] - s->shift), 0);
	double wanted = e->values[pe_min(search->request->k, e->count - 1)];
	double distance = fmax(0.5 * (wanted - lowest), 1e-6 * search->problem->norm1);
	double before = s->shift;
	if (lowest - before < 4 * distance)
		return PE_OK;
	s->moves++;
	for (int32_t tries = 0; tries < 4 && !*changed; tries++, distance *= 4)
		if (lowest - distance > before)
			PE_TRY(try_shift(search->ctx, s, lowest - distance, 0, changed));
	return *changed ? PE_OK : refactor(search);
}

static pe_status first_shift(pe_context *ctx, const struct pe_eigen_problem *p, struct shifted *s)
{
	bool fits = false;
	double shift = -TINY * p->norm1;
	for (int32_t i = 0; i < p->n && !p->semidefinite; i++) {
		double left = p->diag[i];
		for (int64_t e = p->row[i]; e < p->row[i + 1]; e++)
			left -= fabs(p->val[e]);
		shift = fmin(shift, left - 1e-3 * p->norm1);
	}
	for (int32_t tries = 0; tries < 6 && !fits; tries++, shift *= 10)
		PE_TRY(try_shift(ctx, s, shift, 0, &fits));
	return fits ? PE_OK
				: pe_fail(ctx, PE_ERR_NOT_CONVERGED,
					  "the matrix cannot be factored below its spectrum; use engine=block");
}

pe_status pe_eigen_by_factor(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_sparse_factor *factor, struct pe_eigen_result *out)
{
	static const struct pe_eigen_transform transform = {map, adapt};
	*out = (struct pe_eigen_result){0};
	struct shifted shifted = {.factor = factor};
	struct pe_eigen_search search = {.ctx = ctx,
		.problem = problem,
		.request = request,
		.transform = &transform,
		.apply = apply,
		.arg = &shifted,
		.block = BLOCK,
		.spare = 10 * BLOCK,
		.first_look = 5 * BLOCK,
		.restarts = 60};
	int threads = pe_blas_threads_one();
	pe_status status = first_shift(ctx, problem, &shifted);
	if (status == PE_OK)
		status = pe_eigen_search_run(&search, shifted.factor, refactor, out);
	if (status == PE_OK)
		snprintf(out->note, sizeof out->note,
			"shift-invert, shift %.3g, %lld solves, %.3g numbers in the factor", shifted.shift,
			(long long)out->products, pe_sparse_factor_fill(shifted.factor));
	else
		pe_eigen_result_free(ctx, out);
	pe_eigen_search_free(&search);
	pe_blas_threads_restore(threads);
	return status;
}

pe_status pe_eigen_shift_invert(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out)
{
	*out = (struct pe_eigen_result){0};
	struct pe_sparse_factor *factor;
	struct pe_sparse_matrix matrix = pe_eigen_matrix(problem);
	PE_TRY(pe_sparse_factor_create(ctx, &matrix, &factor));
	pe_status status = pe_eigen_by_factor(ctx, problem, request, factor, out);
	pe_sparse_factor_destroy(ctx, &factor);
	return status;
}
