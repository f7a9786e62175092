/* SPDX-License-Identifier: BSD-2-Clause
 * How good eigenpairs are. Included by lane_eigen_body.h. */

typedef double quad __attribute__((vector_size(32), may_alias));

static inline double larger(double a, double b)
{
	return a > b || a != a ? a : b; /* keeps NaN */
}

/* Columns 4 b … 4 (b + quads) - 1: the largest square of ‖Mv - λv‖₂. */
static inline double check_columns(const struct pe_lane_pairs *pairs, int32_t b, int quads)
{
	int64_t step = pairs->stride / 4, p = pairs->row[0];
	const int64_t *row = pairs->row;
	const int32_t *col = pairs->col;
	const double *val = pairs->val, *diag = pairs->diag, scale = pairs->scale;
	const quad *v = (const quad *)pairs->vectors + b;
	quad value[2], square[2] = {{0}}, sum[2];
	for (int q = 0; q < quads; q++)
		value[q] = ((const quad *)pairs->values)[b + q];
	for (int32_t i = 0; i < pairs->n; i++) {
		for (int q = 0; q < quads; q++)
			sum[q] = (diag[i] - value[q]) * v[i * step + q];
		for (int64_t end = row[i + 1]; p < end; p++)
			for (int q = 0; q < quads; q++)
				sum[q] += val[p] * v[col[p] * step + q];
		for (int q = 0; q < quads; q++) {
			sum[q] *= scale;
			square[q] += sum[q] * sum[q];
		}
	}
	double worst = 0.0;
	for (int q = 0; q < quads; q++)
		for (int k = 0; k < 4; k++)
			worst = larger(square[q][k], worst);
	return worst;
}

static double check_pairs(const struct pe_lane_pairs *pairs)
{
	double square = 0.0;
	int32_t b = 0, quads = pairs->stride / 4;
	for (; b + 2 <= quads; b += 2)
		square = larger(check_columns(pairs, b, 2), square);
	if (b < quads)
		square = larger(check_columns(pairs, b, 1), square);
	return __builtin_sqrt(square);
}

/* Inner products of vectors b, b + 1 with c … c + 3 of a pack. */
static inline void inner_products(
	const vec *x, const vec *last, int32_t order, int32_t b, int32_t c, vec g[2][4])
{
	const vec *left = x + (int64_t)b * order, *right = x + (int64_t)c * order;
	for (int k = 0; k < 4; k++)
		g[0][k] = g[1][k] = vec_all(0.0);
	for (int32_t i = 0; i < order; i++) {
		vec x0 = left[i], x1 = left[order + i];
		for (int k = 0; k < 4; k++) {
			vec y = right[k * order + i];
			g[0][k] = vec_fma(x0, y, g[0][k]);
			g[1][k] = vec_fma(x1, y, g[1][k]);
		}
	}
	for (int k = 0; k < 4; k++) {
		g[0][k] = vec_fma(last[b], last[c + k], g[0][k]);
		g[1][k] = vec_fma(last[b + 1], last[c + k], g[1][k]);
	}
}

/* The largest |VᵀV - I| of each lane over its own vectors; there are zeros up to a multiple of 4. */
static inline vec check_orthogonality(const vec *x, const vec *last, int32_t order, int32_t count, vec counts)
{
	vec worst = vec_all(0.0), g[2][4];
	for (int32_t b = 0; b < count; b += 2)
		for (int32_t c = 0; c <= b; c += 4) {
			inner_products(x, last, order, b, c, g);
			for (int j = 0; j < 2; j++)
				for (int k = 0; k < 4; k++) {
					int32_t higher = b + j > c + k ? b + j : c + k;
					vec off = vec_abs(g[j][k] - vec_all(b + j == c + k ? 1.0 : 0.0));
					mask own = vec_less(vec_all((double)higher), counts);
					worst = vec_max(worst, vec_select(own, off, vec_all(0.0)));
				}
		}
	return worst;
}
