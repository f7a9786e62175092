/* SPDX-License-Identifier: BSD-2-Clause
 * The dense engine: all eigenpairs by LAPACK. */
#include <stdio.h>
#include <string.h>

#include "eigen.h"
#include "linalg/dense.h"

/* The lower triangle of M + shift · null nullᵀ: the null vector is moved out of the way, above the
 * spectrum, and what is left below is orthogonal to it. */
static void fill(const struct pe_eigen_problem *p, double shift, double *a)
{
	int64_t n = p->n;
	for (int64_t j = 0; j < n; j++) {
		double scale = shift * p->null[j];
		for (int64_t i = j; i < n; i++)
			a[j * n + i] = scale * p->null[i];
		a[j * n + j] += p->diag[j];
		for (int64_t e = p->row[j]; e < p->row[j + 1]; e++)
			if (p->col[e] > j)
				a[j * n + p->col[e]] += p->val[e];
	}
}

/* The number of pairs to hand out: k, and the rest of the last group if it is not too large. */
static int32_t count_pairs(
	const struct pe_eigen_problem *p, const struct pe_eigen_request *r, const double *values, bool *complete)
{
	int32_t count = r->k, all = p->n - 1;
	int64_t limit = pe_min((int64_t)r->k + r->max_group, all);
	while (count < all && values[count] - values[count - 1] <= PE_GROUP_GAP * p->norm1) {
		if (count == limit) {
			*complete = false;
			return r->k;
		}
		count++;
	}
	*complete = true;
	return count;
}

static void judge(const struct pe_eigen_problem *p, const struct pe_eigen_request *r,
	struct pe_eigen_result *out, double *scratch)
{
	out->converged = true;
	for (int32_t j = 0; j < out->count; j++) {
		const double *vector = out->vectors + (int64_t)j * p->n;
		out->residuals[j] = pe_eigen_residual(p, out->values[j], vector, scratch);
		out->converged &= out->residuals[j] <= r->tolerance;
	}
	/* LAPACK has given the whole spectrum: nothing can be missing. */
	out->certified = out->converged;
}

pe_status pe_eigen_dense(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out)
{
	int64_t n = problem->n;
	*out = (struct pe_eigen_result){0};
	if (n > PE_DENSE_MAX_N)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"a component of %lld nodes is too large for a dense matrix, which can have %d", (long long)n,
			PE_DENSE_MAX_N);
	pe_status status = PE_ERR_NOMEM;
	double *a = pe_alloc(ctx, n * n, sizeof *a);
	double *values = pe_alloc(ctx, n, sizeof *values);
	if (!a || !values)
		goto done;
	/* Twice the bound, so that it stays apart from the largest eigenvalue. */
	fill(problem, 2 * problem->upper, a);
	status = pe_dense_eigen(ctx, problem->n, a, values);
	if (status != PE_OK)
		goto done;
	out->count = count_pairs(problem, request, values, &out->complete);
	status = PE_ERR_NOMEM;
	out->values = pe_alloc(ctx, out->count, 2 * sizeof *out->values);
	out->vectors = pe_alloc(ctx, out->count, (size_t)n * sizeof *out->vectors);
	if (!out->values || !out->vectors)
		goto done;
	out->residuals = out->values + out->count;
	memcpy(out->values, values, (size_t)out->count * sizeof *values);
	memcpy(out->vectors, a, (size_t)out->count * (size_t)n * sizeof *a);
	judge(problem, request, out, values);
	snprintf(out->note, sizeof out->note, "dense, n = %lld", (long long)n);
	status = PE_OK;
done:
	pe_free(ctx, a);
	pe_free(ctx, values);
	if (status != PE_OK)
		pe_eigen_result_free(ctx, out);
	return status;
}
