/* SPDX-License-Identifier: BSD-2-Clause
 * Householder tridiagonalisation of one matrix a lane, last row first, so that what is left is
 * always a leading block. The rank-2 update of a step is done together with the product of the
 * next: the matrix is gone through once a step. Included by lane_eigen_body.h. */

/* Below this, ‖x‖² of a row is taken for 0 (entries are about 1 at most). */
#define TINY_SQUARE 1e-200

/* x[0 … m-1] becomes v with (I - β v vᵀ) x = α e_{m-1}. Returns β, 0 for no reflection. */
static inline vec make_reflector(vec *x, int32_t m, vec *alpha)
{
	vec even = vec_all(0.0), odd = even;
	int32_t j = 0;
	for (; j + 1 < m; j += 2) {
		even = vec_fma(x[j], x[j], even);
		odd = vec_fma(x[j + 1], x[j + 1], odd);
	}
	if (j < m)
		even = vec_fma(x[j], x[j], even);
	vec square = even + odd, norm = vec_sqrt(square), pivot = x[m - 1];
	mask some = vec_less(vec_all(TINY_SQUARE), square);
	*alpha = vec_select(some, -vec_copysign(norm, pivot), pivot);
	x[m - 1] = pivot - *alpha;
	vec divisor = vec_fma(vec_abs(pivot), norm, square);
	return vec_select(some, vec_all(1.0) / divisor, vec_all(0.0));
}

struct update {
	const vec *v, *w; /* the pending A ← A - v wᵀ - w vᵀ */
	const vec *x;     /* y = A x for the updated A */
	vec *y;
};

/* Rows from i on, of which `row` is the first: the columns before i, then the triangle row after row. Several
 * rows at once, as registers allow, load v, w, x and y once. */
INLINE void update_rows(vec *row, int32_t i, const struct update *p, const int rows)
{
	vec *at[4], sum[4], v[4], w[4], x[4];
	UNROLL for (int r = 0; r < rows; r++)
	{
		at[r] = row + r * i + r * (r + 1) / 2;
		v[r] = p->v[i + r];
		w[r] = p->w[i + r];
		x[r] = p->x[i + r];
		sum[r] = vec_all(0.0);
	}
	for (int32_t j = 0; j < i; j++) {
		vec vj = p->v[j], wj = p->w[j], xj = p->x[j], yj = p->y[j];
		UNROLL for (int r = 0; r < rows; r++)
		{
			vec a = vec_fnma(w[r], vj, vec_fnma(v[r], wj, at[r][j]));
			at[r][j] = a;
			sum[r] = vec_fma(a, xj, sum[r]);
			yj = vec_fma(a, x[r], yj);
		}
		p->y[j] = yj;
	}
	UNROLL for (int r = 0; r < rows; r++) UNROLL for (int s = 0; s <= r; s++)
	{
		vec a = vec_fnma(w[r], v[s], vec_fnma(v[r], w[s], at[r][i + s]));
		at[r][i + s] = a;
		sum[r] = vec_fma(a, x[s], sum[r]);
		if (s < r)
			sum[s] = vec_fma(a, x[r], sum[s]);
	}
	UNROLL for (int r = 0; r < rows; r++) p->y[i + r] = sum[r];
}

static inline void update_block(vec *a, int32_t m, const struct update *p)
{
	int32_t i = 0;
	for (; i + GROUP / 2 <= m; i += GROUP / 2)
		update_rows(a + i * (i + 1) / 2, i, p, GROUP / 2);
	for (; GROUP > 4 && i + 2 <= m; i += 2)
		update_rows(a + i * (i + 1) / 2, i, p, 2);
	if (i < m)
		update_rows(a + i * (i + 1) / 2, i, p, 1);
}

/* w ← β w - (β² vᵀw / 2) v */
static inline void finish_update(vec *w, const vec *v, vec beta, int32_t m)
{
	vec even = vec_all(0.0), odd = even;
	int32_t j = 0;
	for (; j + 1 < m; j += 2) {
		even = vec_fma(v[j], w[j], even);
		odd = vec_fma(v[j + 1], w[j + 1], odd);
	}
	if (j < m)
		even = vec_fma(v[j], w[j], even);
	vec half = beta * beta * (even + odd) * vec_all(0.5);
	for (j = 0; j < m; j++)
		w[j] = vec_fnma(half, v[j], beta * w[j]);
}

/* Pack u. The reflectors stay in the rows of a, row m in its first m entries. */
static void tridiagonalise(const struct pe_lane_batch *batch, int32_t u)
{
	int32_t extent = batch->order, order = order_of_pack(batch, u);
	vec *a = (vec *)batch->a + (int64_t)u * extent * (extent + 1) / 2;
	vec *beta = (vec *)batch->beta + (int64_t)u * extent;
	vec *d = (vec *)batch->d + PACKS + u, *e = (vec *)batch->e + PACKS + u;
	vec *w = (vec *)batch->w + (int64_t)u * extent, *y = (vec *)batch->shifted;
	const vec *v = (const vec *)batch->h + (int64_t)u * extent;
	for (int32_t m = order - 1; m < extent; m++)
		d[m * PACKS] = e[m * PACKS] = vec_all(0.0);
	for (int32_t m = order - 1; m >= 0; m--) {
		vec *row = a + m * (m + 1) / 2;
		vec vm = v[m], wm = w[m];
		for (int32_t j = 0; j <= m; j++)
			row[j] = vec_fnma(wm, v[j], vec_fnma(vm, w[j], row[j]));
		d[m * PACKS] = row[m];
		if (m == 1)
			e[0] = row[0];
		if (m < 2)
			continue;
		beta[m] = make_reflector(row, m, &e[(m - 1) * PACKS]);
		update_block(a, m, &(struct update){v, w, row, y});
		finish_update(y, row, beta[m], m);
		vec *swap = w;
		w = y;
		y = swap;
		v = row;
	}
}
