/* SPDX-License-Identifier: BSD-2-Clause
 * How good eigenpairs are. Included by lane_eigen_body.h. */

typedef double quad __attribute__((vector_size(32), may_alias));

static inline double larger(double a, double b)
{
	return a > b || a != a ? a : b; /* keeps NaN */
}

/* Columns 4 b … 4 b + 3: the largest ‖Mv - λv‖₂². */
static double check_residual(const struct pe_lane_pairs *pairs, int32_t b)
{
	int32_t step = pairs->stride / 4;
	const quad *v = (const quad *)pairs->vectors + b;
	quad value = ((const quad *)pairs->values)[b], square = {0};
	for (int32_t i = 0; i < pairs->n; i++) {
		quad sum = (pairs->diag[i] - value) * v[(int64_t)i * step];
		for (int64_t p = pairs->row[i]; p < pairs->row[i + 1]; p++)
			sum += pairs->val[p] * v[(int64_t)pairs->col[p] * step];
		sum *= pairs->scale;
		square += sum * sum;
	}
	return larger(larger(square[0], square[1]), larger(square[2], square[3]));
}

/* Inner products of columns 4 b … 4 b + 3 with 4 c … 4 c + 3: the largest difference from I. */
static double check_orthogonality(const struct pe_lane_pairs *pairs, int32_t b, int32_t c)
{
	int32_t step = pairs->stride / 4;
	const quad *v = (const quad *)pairs->vectors;
	quad g[4] = {{0}};
	for (int32_t i = 0; i < pairs->n; i++) {
		quad x = v[(int64_t)i * step + b], y = v[(int64_t)i * step + c];
		for (int k = 0; k < 4; k++)
			g[k] += x[k] * y;
	}
	double worst = 0.0;
	for (int k = 0; k < 4; k++)
		for (int j = 0; j < 4; j++) {
			bool one = b == c && j == k && 4 * b + j < pairs->count;
			double off = g[k][j] - (one ? 1.0 : 0.0);
			worst = larger(off < 0.0 ? -off : off, worst);
		}
	return worst;
}

static void check_pairs(const struct pe_lane_pairs *pairs, double *residual, double *orthogonality)
{
	double square = 0.0, worst = 0.0;
	for (int32_t b = 0; b < pairs->stride / 4; b++) {
		square = larger(check_residual(pairs, b), square);
		for (int32_t c = b; c < pairs->stride / 4; c++)
			worst = larger(check_orthogonality(pairs, b, c), worst);
	}
	*residual = __builtin_sqrt(square);
	*orthogonality = worst;
}
