/* SPDX-License-Identifier: BSD-2-Clause
 * How good eigenpairs are. Included by lane_eigen_body.h. */

typedef double quad __attribute__((vector_size(32), may_alias));

/* ‖Mv - λv‖₂² of columns b · WIDTH and on. */
static inline vec check_columns(const struct pe_lane_pairs *pairs, int32_t b)
{
	int64_t step = pairs->stride / WIDTH, p = pairs->row[0];
	const int64_t *row = pairs->row;
	const int32_t *col = pairs->col;
	const double *val = pairs->val;
	const vec *v = (const vec *)pairs->vectors + b;
	const vec value = ((const vec *)pairs->values)[b], scale = vec_all(pairs->scale);
	vec square = vec_all(0.0);
	for (int32_t i = 0; i < pairs->n; i++) {
		vec sum = (vec_all(pairs->diag[i]) - value) * v[i * step];
		for (int64_t end = row[i + 1]; p < end; p++)
			sum = vec_fma(vec_all(val[p]), v[col[p] * step], sum);
		sum *= scale;
		square = vec_fma(sum, sum, square);
	}
	return square;
}

static double check_pairs(const struct pe_lane_pairs *pairs)
{
	double most = 0.0;
	for (int32_t b = 0; b < pairs->stride / WIDTH; b++) {
		vec square = check_columns(pairs, b);
		for (int k = 0; k < WIDTH; k++)
			most = square[k] > most || square[k] != square[k] ? square[k] : most; /* keeps NaN */
	}
	return __builtin_sqrt(most);
}

/* Vectors whose inner products with four others are taken at once, as registers allow. */
#define CHECKED (GROUP > 4 ? 4 : 2)

/* Inner products of vectors b … with c … c + 3 of a pack. */
static inline void inner_products(
	const vec *x, const vec *last, int32_t order, int32_t b, int32_t c, vec g[CHECKED][4])
{
	const vec *left = x + (int64_t)b * order, *right = x + (int64_t)c * order;
	UNROLL for (int j = 0; j < CHECKED; j++) UNROLL for (int k = 0; k < 4; k++) g[j][k] =
		last[b + j] * last[c + k];
	for (int32_t i = 0; i < order; i++) {
		vec y[4];
		UNROLL for (int k = 0; k < 4; k++) y[k] = right[k * order + i];
		UNROLL for (int j = 0; j < CHECKED; j++)
		{
			vec xi = left[j * order + i];
			UNROLL for (int k = 0; k < 4; k++) g[j][k] = vec_fma(xi, y[k], g[j][k]);
		}
	}
}

/* The largest |VᵀV - I| of each lane over its own vectors; there are zeros up to a multiple of 4. */
static inline vec check_orthogonality(const vec *x, const vec *last, int32_t order, int32_t count, vec counts)
{
	vec worst = vec_all(0.0), g[CHECKED][4];
	for (int32_t b = 0; b < count; b += CHECKED)
		for (int32_t c = 0; c <= b; c += 4) {
			inner_products(x, last, order, b, c, g);
			UNROLL for (int j = 0; j < CHECKED; j++) UNROLL for (int k = 0; k < 4; k++)
			{
				int32_t higher = b + j > c + k ? b + j : c + k;
				vec off = vec_abs(g[j][k] - vec_all(b + j == c + k ? 1.0 : 0.0));
				mask own = vec_less(vec_all((double)higher), counts);
				worst = vec_max(worst, vec_select(own, off, vec_all(0.0)));
			}
		}
	return worst;
}
