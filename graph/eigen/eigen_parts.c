/* SPDX-License-Identifier: BSD-2-Clause */
#include "eigen_parts.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/panel.h"

static double gap_before(const struct pe_eigen_problem *problem, const struct pe_eigen_estimate *e, int32_t j)
{
	return problem->norm1 * pe_eigen_group_gap(fmax(e->residuals[j - 1], e->residuals[j]) / problem->norm1);
}

bool pe_eigen_one_group(const struct pe_eigen_problem *problem, const struct pe_eigen_estimate *e, int32_t j)
{
	return e->values[j] - e->values[j - 1] <= gap_before(problem, e, j);
}

bool pe_eigen_is_blurred(
	const struct pe_eigen_problem *problem, const struct pe_eigen_estimate *e, int32_t count)
{
	double equal = PE_EQUAL_GAP * problem->norm1;
	for (int32_t j = 1; j <= count && j < e->count; j++)
		if (e->values[j] - e->values[j - 1] > equal && pe_eigen_one_group(problem, e, j))
			return true;
	return false;
}

int32_t pe_eigen_settle(const struct pe_eigen_problem *problem, const struct pe_eigen_request *request,
	const struct pe_eigen_estimate *e, double bound, bool *complete)
{
	int64_t limit = (int64_t)request->k + request->max_group;
	int32_t count = request->k;
	if (e->count < count)
		return 0;
	while (count < e->count && count <= limit && pe_eigen_one_group(problem, e, count))
		count++;
	*complete = count <= limit;
	if (!*complete)
		count = request->k;
	else if (count == e->count && !e->all)
		return 0;
	else if (count < e->count &&
		!(e->values[count] - e->errors[count] - e->values[count - 1] > gap_before(problem, e, count)))
		return 0;
	for (int32_t j = 0; j < count; j++)
		if (!(e->residuals[j] <= bound))
			return 0;
	return count;
}

/* vectors ← vectors R⁻¹ with Rᵀ R their Gram matrix; twice, since once leaves the rounding of G. */
static pe_status orthonormalise(
	pe_context *ctx, const struct pe_eigen_problem *p, int32_t count, double *vectors, double *gram)
{
	for (int32_t pass = 0; pass < 2; pass++) {
		pe_panel_dot(p->n, 1, p->null, count, vectors, gram, 1);
		pe_panel_multiply(p->n, 1, p->null, count, gram, 1, -1, 1, vectors);
		pe_panel_dot(p->n, count, vectors, count, vectors, gram, count);
		if (pe_panel_cholesky(count, gram) != 0)
			return pe_fail(ctx, PE_ERR_INTERNAL, "eigenvectors found are dependent");
		pe_panel_divide(p->n, count, vectors, gram);
	}
	return PE_OK;
}

/* ‖y - λx‖ */
static double distance(int32_t n, double lambda, const double *x, const double *y)
{
	double sum = 0;
	for (int32_t i = 0; i < n; i++)
		sum += (y[i] - lambda * x[i]) * (y[i] - lambda * x[i]);
	return sqrt(sum);
}

pe_status pe_eigen_refine(pe_context *ctx, const struct pe_eigen_problem *p, int32_t count, double *vectors,
	double *values, double *residuals)
{
	pe_status status = PE_ERR_NOMEM;
	size_t bytes = (size_t)p->n * (size_t)count * sizeof *vectors;
	double *gram = pe_alloc(ctx, (int64_t)count * count, sizeof *gram);
	double *product = pe_alloc(ctx, (int64_t)p->n * count, sizeof *product);
	double *scratch = pe_alloc(ctx, p->n, 2 * PE_EIGEN_LANES * sizeof *scratch);
	if (!gram || !product || !scratch)
		goto done;
	status = orthonormalise(ctx, p, count, vectors, gram);
	if (status != PE_OK)
		goto done;
	pe_eigen_apply_all(ctx, p, count, vectors, scratch, product);
	pe_panel_dot(p->n, count, vectors, count, product, gram, count);
	status = pe_dense_eigen(ctx, count, gram, values);
	if (status != PE_OK)
		goto done;
	pe_panel_multiply(p->n, count, vectors, count, gram, count, 1, 0, product);
	memcpy(vectors, product, bytes);
	pe_eigen_apply_all(ctx, p, count, vectors, scratch, product);
	for (int32_t j = 0; j < count; j++)
		residuals[j] =
			distance(p->n, values[j], vectors + (int64_t)j * p->n, product + (int64_t)j * p->n) / p->norm1;
done:
	pe_free(ctx, scratch);
	pe_free(ctx, gram);
	pe_free(ctx, product);
	return status;
}

struct pe_sparse_matrix pe_eigen_matrix(const struct pe_eigen_problem *p)
{
	return (struct pe_sparse_matrix){.n = p->n, .row = p->row, .col = p->col, .val = p->val, .diag = p->diag};
}

/* 0 is an eigenvalue too: it must not lie in the interval, where a point could come near it. */
pe_status pe_eigen_count_below(pe_context *ctx, struct pe_sparse_factor *factor, double below, double above,
	double *point, int64_t *count, bool *valid)
{
	/* No simple fractions: between whole eigenvalues parts of the matrix may have theirs there. */
	static const double places[] = {0.4877, 0.3083, 0.6947, 0.1531};
	*valid = false;
	if (below < 0 && above > 0) {
		if (above > -below)
			below = 0;
		else
			above = 0;
	}
	for (int32_t i = 0; i < PE_COUNT(places) && above > below && !*valid; i++) {
		bool exists;
		double error;
		*point = below + places[i] * (above - below);
		PE_TRY(pe_sparse_factor_numeric(ctx, factor, *point, &exists));
		if (!exists)
			continue;
		PE_TRY(pe_sparse_factor_error(ctx, factor, (uint64_t)i, &error));
		*valid = error < 0.5 * fmin(*point - below, above - *point);
		*count = pe_sparse_factor_negative(factor);
	}
	return PE_OK;
}
