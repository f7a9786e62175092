/* SPDX-License-Identifier: BSD-2-Clause */
#include "eigen.h"

#include <math.h>

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
