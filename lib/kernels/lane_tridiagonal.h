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

/* Rows i and i + 1 up to the diagonal. */
static inline void update_two_rows(vec *row, int32_t i, const struct update *p)
{
	vec *next = row + i + 1;
	const vec *v = p->v, *w = p->w, *x = p->x;
	vec *y = p->y;
	vec v0 = v[i], w0 = w[i], x0 = x[i], v1 = v[i + 1], w1 = w[i + 1], x1 = x[i + 1];
	vec y0 = vec_all(0.0), y1 = y0;
	for (int32_t j = 0; j < i; j++) {
		vec vj = v[j], wj = w[j], xj = x[j];
		vec a0 = vec_fnma(w0, vj, vec_fnma(v0, wj, row[j]));
		vec a1 = vec_fnma(w1, vj, vec_fnma(v1, wj, next[j]));
		row[j] = a0;
		next[j] = a1;
		y0 = vec_fma(a0, xj, y0);
		y1 = vec_fma(a1, xj, y1);
		y[j] = vec_fma(a1, x1, vec_fma(a0, x0, y[j]));
	}
	vec a00 = vec_fnma(w0, v0, vec_fnma(v0, w0, row[i]));
	vec a10 = vec_fnma(w1, v0, vec_fnma(v1, w0, next[i]));
	vec a11 = vec_fnma(w1, v1, vec_fnma(v1, w1, next[i + 1]));
	row[i] = a00;
	next[i] = a10;
	next[i + 1] = a11;
	y[i] = vec_fma(a10, x1, vec_fma(a00, x0, y0));
	y[i + 1] = vec_fma(a11, x1, vec_fma(a10, x0, y1));
}

static inline void update_row(vec *row, int32_t i, const struct update *p)
{
	vec vi = p->v[i], wi = p->w[i], xi = p->x[i], yi = vec_all(0.0);
	for (int32_t j = 0; j < i; j++) {
		vec a = vec_fnma(wi, p->v[j], vec_fnma(vi, p->w[j], row[j]));
		row[j] = a;
		yi = vec_fma(a, p->x[j], yi);
		p->y[j] = vec_fma(a, xi, p->y[j]);
	}
	vec a = vec_fnma(wi, vi, vec_fnma(vi, wi, row[i]));
	row[i] = a;
	p->y[i] = vec_fma(a, xi, yi);
}

static inline void update_block(vec *a, int32_t m, const struct update *p)
{
	int32_t i = 0;
	for (; i + 1 < m; i += 2)
		update_two_rows(a + i * (i + 1) / 2, i, p);
	if (i < m)
		update_row(a + i * (i + 1) / 2, i, p);
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
	int32_t order = batch->order;
	vec *a = (vec *)batch->a + (int64_t)u * order * (order + 1) / 2;
	vec *beta = (vec *)batch->beta + (int64_t)u * order;
	vec *d = (vec *)batch->d + PACKS + u, *e = (vec *)batch->e + PACKS + u;
	vec *w = (vec *)batch->w + (int64_t)u * order, *y = (vec *)batch->shifted;
	const vec *v = (const vec *)batch->h + (int64_t)u * order;
	e[(order - 1) * PACKS] = vec_all(0.0);
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
