/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of front.h, once an instruction set. Before this is included are defined:
 *   vec           a vector of VEC_LANES doubles, at any address
 *   vec_all       vec_all(a): a in every lane
 *   vec_fused     vec_fused(a, b, c) = a b + c
 *   vec_put_part  vec_put_part(p, count, a): writes the first count
 *   quad          a vector of PE_FRONT_LANES doubles, 32-byte aligned
 *   quad_fused    quad_fused(a, &b, &c): c += a b, for a number a
 *   TILE_COLUMNS  columns of a tile: as many sums as registers hold */
#include "front.h"

#define TILE_VECS 2
#define TILE_ROWS (TILE_VECS * VEC_LANES)
#define MOST_AT_ONCE 8 /* columns in a triangular solve */
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))

/* w ← L D of `columns` rows from `at` on and `depth` columns from l on, by columns of L; 0 where there is
 * none. */
static void pack(int32_t height, int32_t at, int32_t columns, int32_t depth, const double *l,
	const double *pivot, double *restrict w)
{
	for (int32_t k = 0; k < depth; k++, pivot += height + 1, l += height, w += TILE_COLUMNS)
		for (int32_t j = 0; j < TILE_COLUMNS; j++)
			w[j] = j < columns ? l[at + j] * *pivot : 0;
}

/* A tile of c ← (c if add, else 0) - a wᵀ. */
INLINE void tile(int32_t depth, const double *restrict a, int64_t lda, const double *restrict w,
	double *restrict c, int64_t ldc, int32_t rows, int32_t columns, bool add)
{
	vec sum[TILE_COLUMNS][TILE_VECS];
	UNROLL for (int j = 0; j < TILE_COLUMNS; j++) UNROLL for (int v = 0; v < TILE_VECS; v++) sum[j][v] =
		vec_all(0);
	for (int32_t k = 0; k < depth; k++, a += lda, w += TILE_COLUMNS) {
		vec from[TILE_VECS];
		UNROLL for (int v = 0; v < TILE_VECS; v++) from[v] = *(const vec *)(a + v * VEC_LANES);
		UNROLL for (int j = 0; j < TILE_COLUMNS; j++) UNROLL for (int v = 0; v < TILE_VECS; v++) sum[j][v] =
			vec_fused(from[v], vec_all(w[j]), sum[j][v]);
	}
	if (rows >= TILE_ROWS) {
		UNROLL for (int j = 0; j < TILE_COLUMNS; j++)
			UNROLL for (int v = 0; v < TILE_VECS; v++) if (j < columns)
		{
			vec *to = (vec *)(c + j * ldc + v * VEC_LANES);
			if (add)
				*to -= sum[j][v];
			else
				*to = -sum[j][v];
		}
		return;
	}
	UNROLL for (int j = 0; j < TILE_COLUMNS; j++)
		UNROLL for (int v = 0; v < TILE_VECS; v++) if (j < columns && v * VEC_LANES < rows)
	{
		double *to = c + j * ldc + v * VEC_LANES;
		int32_t left = rows - v * VEC_LANES;
		if (add)
			vec_put_part(to, left, *(const vec *)to - sum[j][v]);
		else
			vec_put_part(to, left, -sum[j][v]);
	}
}

/* Tiles down from row `top` of c: c ← (c if add, else 0) - l wᵀ. */
static void tiles_set(int32_t rows, int32_t columns, int32_t depth, const double *l, int64_t ldl,
	const double *w, double *c, int64_t ldc)
{
	for (int32_t i = 0; i < rows; i += TILE_ROWS)
		tile(depth, l + i, ldl, w, c + i, ldc, rows - i, columns, false);
}

static void tiles_add(int32_t rows, int32_t columns, int32_t depth, const double *l, int64_t ldl,
	const double *w, double *c, int64_t ldc)
{
	for (int32_t i = 0; i < rows; i += TILE_ROWS)
		tile(depth, l + i, ldl, w, c + i, ldc, rows - i, columns, true);
}

static void front_update(int32_t height, int32_t width, const double *l, double *update, double *scratch)
{
	int32_t size = height - width;
	for (int32_t first = 0; first < width; first += PE_FRONT_DEPTH) {
		int32_t depth = width - first < PE_FRONT_DEPTH ? width - first : PE_FRONT_DEPTH;
		const double *from = l + (int64_t)first * height;
		for (int32_t j = 0; j < size; j += TILE_COLUMNS) {
			int32_t columns = size - j < TILE_COLUMNS ? size - j : TILE_COLUMNS;
			double *to = update + (int64_t)j * size + j;
			pack(height, width + j, columns, depth, from, from + first, scratch);
			(first > 0 ? tiles_add : tiles_set)(
				size - j, columns, depth, from + width + j, height, scratch, to, size);
		}
	}
}

/* L and D of the square on the diagonal; c gets L D of what is below it, by columns. */
static bool factor_square(
	int32_t height, int32_t columns, double *l, double c[TILE_COLUMNS][TILE_COLUMNS], double *inverse)
{
	for (int32_t k = 0; k < columns; k++) {
		double *from = l + (int64_t)k * height, pivot = from[k];
		if (!(pivot < 0 || pivot > 0))
			return false;
		inverse[k] = 1 / pivot;
		for (int32_t j = k + 1; j < columns; j++) {
			double factor = from[j] * inverse[k], *to = l + (int64_t)j * height;
			for (int32_t i = j; i < columns; i++)
				to[i] -= factor * from[i];
			c[k][j] = factor;
		}
		for (int32_t i = k + 1; i < columns; i++)
			from[i] *= inverse[k];
	}
	return true;
}

/* The rows below the square: x ← x L⁻ᵀ D⁻¹. */
INLINE void divide_rows(int32_t height, int32_t rows, int columns, double *l,
	double c[TILE_COLUMNS][TILE_COLUMNS], const double *inverse)
{
	for (int32_t i = 0; i < rows; i += VEC_LANES) {
		vec x[TILE_COLUMNS];
		int32_t left = rows - i;
		UNROLL for (int k = 0; k < columns; k++) x[k] = *(const vec *)(l + (int64_t)k * height + i);
		UNROLL for (int k = 0; k < columns; k++) UNROLL for (int j = k + 1; j < columns; j++) x[j] =
			vec_fused(-x[k], vec_all(c[k][j]), x[j]);
		UNROLL for (int k = 0; k < columns; k++)
			vec_put_part(l + (int64_t)k * height + i, left, x[k] * vec_all(inverse[k]));
	}
}

static void divide(int32_t height, int32_t rows, int32_t columns, double *l,
	double c[TILE_COLUMNS][TILE_COLUMNS], const double *inverse)
{
	switch (columns) {
	case 1:
		divide_rows(height, rows, 1, l, c, inverse);
		break;
	case 2:
		divide_rows(height, rows, 2, l, c, inverse);
		break;
	case 3:
		divide_rows(height, rows, 3, l, c, inverse);
		break;
#if TILE_COLUMNS > 4
	case 4:
		divide_rows(height, rows, 4, l, c, inverse);
		break;
	case 5:
		divide_rows(height, rows, 5, l, c, inverse);
		break;
	case 6:
		divide_rows(height, rows, 6, l, c, inverse);
		break;
	case 7:
		divide_rows(height, rows, 7, l, c, inverse);
		break;
#endif
	default:
		divide_rows(height, rows, TILE_COLUMNS, l, c, inverse);
		break;
	}
}

/* l has lost what columns before it take. */
static bool factor_panel(int32_t height, int32_t rows, int32_t width, double *l, double *scratch)
{
	for (int32_t j = 0; j < width; j += TILE_COLUMNS) {
		double c[TILE_COLUMNS][TILE_COLUMNS], inverse[TILE_COLUMNS];
		int32_t columns = width - j < TILE_COLUMNS ? width - j : TILE_COLUMNS;
		double *square = l + (int64_t)j * height + j;
		if (j > 0) {
			pack(height, j, columns, j, l, l, scratch);
			tiles_add(rows - j, columns, j, l + j, height, scratch, square, height);
		}
		if (!factor_square(height, columns, square, c, inverse))
			return false;
		divide(height, rows - j - columns, columns, square + columns, c, inverse);
	}
	return true;
}

/* Panels of columns: each is factored, and then taken from all that follow. */
static bool front_factor(int32_t height, int32_t width, double *l, double *scratch)
{
	for (int32_t first = 0; first < width; first += PE_FRONT_DEPTH) {
		int32_t depth = width - first < PE_FRONT_DEPTH ? width - first : PE_FRONT_DEPTH;
		double *panel = l + (int64_t)first * height;
		if (!factor_panel(height, height - first, depth, panel + first, scratch))
			return false;
		for (int32_t j = first + depth; j < width; j += TILE_COLUMNS) {
			int32_t columns = width - j < TILE_COLUMNS ? width - j : TILE_COLUMNS;
			pack(height, j, columns, depth, panel, panel + first, scratch);
			tiles_add(
				height - j, columns, depth, panel + j, height, scratch, l + (int64_t)j * height + j, height);
		}
	}
	return true;
}

/* Rows of x ← rows of x - a y, for `columns` rows of y. */
INLINE void spread(int32_t rows, int columns, const double *a, int64_t lda, const quad *y, quad *x)
{
	quad from[MOST_AT_ONCE];
	UNROLL
	for (int k = 0; k < columns; k++)
		from[k] = -y[k];
	for (int32_t i = 0; i < rows; i++) {
		quad sum = x[i];
		UNROLL
		for (int k = 0; k < columns; k++)
			quad_fused(a[k * lda + i], &from[k], &sum);
		x[i] = sum;
	}
}

/* y ← aᵀ x. */
INLINE void collect(int32_t rows, int columns, const double *a, int64_t lda, const quad *x, quad *y)
{
	quad sum[MOST_AT_ONCE];
	UNROLL
	for (int k = 0; k < columns; k++)
		sum[k] = (quad){0};
	for (int32_t i = 0; i < rows; i++) {
		UNROLL
		for (int k = 0; k < columns; k++)
			quad_fused(a[k * lda + i], &x[i], &sum[k]);
	}
	UNROLL
	for (int k = 0; k < columns; k++)
		y[k] = sum[k];
}

/* How many of the columns left to take at once. */
INLINE int32_t some(int32_t left)
{
	return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

INLINE void forward_some(int32_t height, int32_t at, int columns, const double *l, quad *x)
{
	const double *a = l + (int64_t)at * height + at;
	x += at;
	UNROLL
	for (int k = 0; k < columns; k++) {
		UNROLL
		for (int i = k + 1; i < columns; i++)
			quad_fused(-a[(int64_t)k * height + i], &x[k], &x[i]);
	}
	spread(height - at - columns, columns, a + columns, height, x, x + columns);
}

static void front_forward(int32_t height, int32_t width, const double *l, double *x)
{
	for (int32_t at = 0, now; at < width; at += now) {
		now = some(width - at);
		switch (now) {
		case 8:
			forward_some(height, at, 8, l, (quad *)x);
			break;
		case 4:
			forward_some(height, at, 4, l, (quad *)x);
			break;
		case 2:
			forward_some(height, at, 2, l, (quad *)x);
			break;
		default:
			forward_some(height, at, 1, l, (quad *)x);
			break;
		}
	}
}

INLINE void backward_some(int32_t height, int32_t at, int columns, const double *l, quad *x)
{
	const double *a = l + (int64_t)at * height + at;
	quad sum[MOST_AT_ONCE];
	x += at;
	collect(height - at - columns, columns, a + columns, height, x + columns, sum);
	UNROLL
	for (int k = columns - 1; k >= 0; k--) {
		UNROLL
		for (int i = k + 1; i < columns; i++)
			quad_fused(a[(int64_t)k * height + i], &x[i], &sum[k]);
		x[k] = x[k] / a[(int64_t)k * height + k] - sum[k];
	}
}

static void front_backward(int32_t height, int32_t width, const double *l, double *x)
{
	for (int32_t left = width, now; left > 0; left -= now) {
		now = some(left);
		switch (now) {
		case 8:
			backward_some(height, left - 8, 8, l, (quad *)x);
			break;
		case 4:
			backward_some(height, left - 4, 4, l, (quad *)x);
			break;
		case 2:
			backward_some(height, left - 2, 2, l, (quad *)x);
			break;
		default:
			backward_some(height, left - 1, 1, l, (quad *)x);
			break;
		}
	}
}

/* A block at a time: t = -D Lᵀ x, then y ← y - L t. */
INLINE void multiply_some(int32_t height, int32_t at, int columns, const double *l, const quad *x, quad *y)
{
	const double *a = l + (int64_t)at * height + at;
	quad t[MOST_AT_ONCE];
	x += at;
	y += at;
	collect(height - at - columns, columns, a + columns, height, x + columns, t);
	UNROLL
	for (int k = 0; k < columns; k++) {
		UNROLL
		for (int i = k + 1; i < columns; i++)
			quad_fused(a[(int64_t)k * height + i], &x[i], &t[k]);
		t[k] = (t[k] + x[k]) * -a[(int64_t)k * height + k];
	}
	UNROLL
	for (int k = 0; k < columns; k++) {
		y[k] -= t[k];
		UNROLL
		for (int i = k + 1; i < columns; i++)
			quad_fused(-a[(int64_t)k * height + i], &t[k], &y[i]);
	}
	spread(height - at - columns, columns, a + columns, height, t, y + columns);
}

static void front_multiply(int32_t height, int32_t width, const double *l, const double *x, double *y)
{
	for (int32_t at = 0, now; at < width; at += now) {
		now = some(width - at);
		switch (now) {
		case 8:
			multiply_some(height, at, 8, l, (const quad *)x, (quad *)y);
			break;
		case 4:
			multiply_some(height, at, 4, l, (const quad *)x, (quad *)y);
			break;
		case 2:
			multiply_some(height, at, 2, l, (const quad *)x, (quad *)y);
			break;
		default:
			multiply_some(height, at, 1, l, (const quad *)x, (quad *)y);
			break;
		}
	}
}
