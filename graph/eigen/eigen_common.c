/* SPDX-License-Identifier: BSD-2-Clause */
#include "eigen.h"

#include <math.h>
#include <string.h>

#include "eigen_parts.h"
#include "kernels/kernels.h"

#define LANES PE_EIGEN_LANES

void pe_eigen_result_free(pe_context *ctx, struct pe_eigen_result *result)
{
	pe_free(ctx, result->values);
	pe_free(ctx, result->vectors);
	*result = (struct pe_eigen_result){0};
}

void pe_eigen_apply(const struct pe_eigen_problem *problem, const double *x, double *y)
{
	for (int32_t i = 0; i < problem->n; i++) {
		double sum = problem->diag[i] * x[i];
		for (int64_t e = problem->row[i]; e < problem->row[i + 1]; e++)
			sum += problem->val[e] * x[problem->col[e]];
		y[i] = sum;
	}
}

double pe_eigen_residual(
	const struct pe_eigen_problem *problem, double value, const double *vector, double *scratch)
{
	double sum = 0;
	pe_eigen_apply(problem, vector, scratch);
	for (int32_t i = 0; i < problem->n; i++) {
		double r = scratch[i] - value * vector[i];
		sum += r * r;
	}
	return sqrt(sum) / problem->norm1;
}

double pe_eigen_group_gap(double residual)
{
	double gap = PE_GAP_RESIDUALS * residual;
	return gap < PE_EQUAL_GAP ? PE_EQUAL_GAP : gap < PE_GROUP_GAP ? gap : PE_GROUP_GAP;
}

void pe_eigen_interleave(int32_t n, int32_t count, const double *x, double *lanes)
{
	if (count < LANES)
		memset(lanes, 0, (size_t)n * LANES * sizeof *lanes);
	for (int32_t i = 0; i < n && count == LANES; i++)
		for (int32_t r = 0; r < LANES; r++)
			lanes[(int64_t)i * LANES + r] = x[(int64_t)r * n + i];
	for (int32_t i = 0; i < n && count < LANES; i++)
		for (int32_t r = 0; r < count; r++)
			lanes[(int64_t)i * LANES + r] = x[(int64_t)r * n + i];
}

void pe_eigen_separate(int32_t n, int32_t count, double scale, const double *lanes, double *x)
{
	for (int32_t i = 0; i < n && count == LANES; i++)
		for (int32_t r = 0; r < LANES; r++)
			x[(int64_t)r * n + i] = scale * lanes[(int64_t)i * LANES + r];
	for (int32_t i = 0; i < n && count < LANES; i++)
		for (int32_t r = 0; r < count; r++)
			x[(int64_t)r * n + i] = scale * lanes[(int64_t)i * LANES + r];
}

void pe_eigen_apply_all(pe_context *ctx, const struct pe_eigen_problem *p, int32_t count, const double *x,
	double *scratch, double *y)
{
	struct pe_product_matrix m = {.n = p->n, .row = p->row, .col = p->col, .val = p->val, .diag = p->diag};
	double *out = scratch + (int64_t)p->n * LANES;
	for (int32_t first = 0; first < count; first += LANES) {
		int32_t used = (int32_t)pe_min(LANES, count - first);
		pe_eigen_interleave(p->n, used, x + (int64_t)first * p->n, scratch);
		memset(out, 0, (size_t)p->n * LANES * sizeof *out);
		ctx->kernels->sparse_product(&m, 0, -1, scratch, out);
		pe_eigen_separate(p->n, used, 1, out, y + (int64_t)first * p->n);
	}
}
