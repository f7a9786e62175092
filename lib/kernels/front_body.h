/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of front.h that factor, once an instruction set. Before this is included are defined:
 *   vec           a vector of VEC_LANES doubles, at any address
 *   vec_all       vec_all(a): a in every lane
 *   vec_fused     vec_fused(a, b, c) = a b + c
 *   vec_put_part  vec_put_part(p, count, a): writes the first count
 *   TILE_COLUMNS  columns of a tile: as many sums as registers hold */
#include "front.h"

#define TILE_VECS 2
#define TILE_ROWS (TILE_VECS * VEC_LANES)
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
