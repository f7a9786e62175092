/* SPDX-License-Identifier: BSD-2-Clause
 * The register tile that products of f32 matrices share, once an instruction set. Before this is
 * included, float_SET.h defines:
 *   vec, VEC_LANES  a vector of floats that takes + - *
 *   ROWS            rows of a register tile of two vectors a row
 *   vec_all         vec_all(a): a in every lane
 *   vec_fused       vec_fused(a, b, c) = a b + c
 *   vec_max         the greater; b if either is NaN
 *   vec_gather      vec_gather(p, i, n, step): p[i · step + lane], or p[i] if step is 0; 0 unless 0 ≤ i < n
 *   vec_exp2        2^x within 2 ulp for -126 ≤ x ≤ 127, 0 for -inf */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define EACH(v) _Pragma("GCC unroll 2") for (int v = 0; v < vecs; v++)
#define EACH_ROW(r) _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++)

typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
typedef vec loose_vec __attribute__((aligned(4)));
typedef vec_bits loose_bits __attribute__((aligned(4)));

INLINE vec at(const float *p)
{
	return *(const vec *)p;
}

INLINE vec at_loose(const float *p)
{
	return *(const loose_vec *)p;
}

INLINE void put(float *p, vec a)
{
	*(vec *)p = a;
}

/* acc[r] += Σ a[i · a_step + r · a_row] · b[i], where b[i] is one of n rows of vecs vectors, b_step floats
 * apart. */
INLINE void tile_multiply(vec acc[ROWS][2], const int rows, const int vecs, int64_t n, const float *a,
	int64_t a_step, int64_t a_row, const float *b, int64_t b_step)
{
	for (int64_t i = 0; i < n; i++) {
		vec row[2];
		EACH(v) row[v] = at_loose(b + v * VEC_LANES);
		EACH_ROW(r)
		{
			vec factor = vec_all(a[r * a_row]);
			EACH(v) acc[r][v] = vec_fused(factor, row[v], acc[r][v]);
		}
		a += a_step;
		b += b_step;
	}
}

/* Calls fn(args, rows, vecs) with both known to the compiler. */
#if ROWS > 6
#define MORE_ROWS(fn, args, vecs) \
	case 7: \
		fn(args, 7, vecs); \
		break; \
	case 8: \
		fn(args, 8, vecs); \
		break; \
	case 9: \
		fn(args, 9, vecs); \
		break; \
	case 10: \
		fn(args, 10, vecs); \
		break; \
	case 11: \
		fn(args, 11, vecs); \
		break; \
	case 12: \
		fn(args, 12, vecs); \
		break;
#else
#define MORE_ROWS(fn, args, vecs)
#endif
#define WITH_ROWS(fn, args, rows, vecs) \
	switch (rows) { \
	case 1: \
		fn(args, 1, vecs); \
		break; \
	case 2: \
		fn(args, 2, vecs); \
		break; \
	case 3: \
		fn(args, 3, vecs); \
		break; \
	case 4: \
		fn(args, 4, vecs); \
		break; \
	case 5: \
		fn(args, 5, vecs); \
		break; \
	case 6: \
		fn(args, 6, vecs); \
		break; \
		MORE_ROWS(fn, args, vecs) \
	default: \
		break; \
	}
#define WITH_TILE(fn, args, rows, vecs) \
	do { \
		if ((vecs) == 2) { \
			WITH_ROWS(fn, args, rows, 2) \
		} else { \
			WITH_ROWS(fn, args, rows, 1) \
		} \
	} while (0)

/* dst[j][i] ← scale[j] · src[i][j] for a square of four. */
INLINE void transpose_quad(float *dst, int64_t dst_ld, const float *src, int64_t src_ld, const float *scale)
{
	quad a = *(const quad *)src, b = *(const quad *)(src + src_ld);
	quad c = *(const quad *)(src + 2 * src_ld), d = *(const quad *)(src + 3 * src_ld);
	quad ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	quad cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	*(quad *)dst = scale[0] * __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
	*(quad *)(dst + dst_ld) = scale[1] * __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
	*(quad *)(dst + 2 * dst_ld) = scale[2] * __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
	*(quad *)(dst + 3 * dst_ld) = scale[3] * __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}

/* dst[j · dst_ld + i] ← scale · src[i · src_ld + j · step], i < rows, j < cols; scale is scales[j] unless
 * that is NULL. */
INLINE void transpose_scaled(float *dst, int64_t dst_ld, const float *src, int64_t src_ld, int64_t step,
	int64_t rows, int64_t cols, float scale, const float *scales)
{
	const float alike[] = {scale, scale, scale, scale};
	int64_t whole_rows = step == 1 ? rows & ~INT64_C(3) : 0, whole_cols = cols & ~INT64_C(3);
	for (int64_t i = 0; i < whole_rows; i += 4) {
		const float *from = src + i * src_ld;
		for (int64_t j = 0; j < whole_cols; j += 4)
			transpose_quad(dst + j * dst_ld + i, dst_ld, from + j, src_ld, scales ? scales + j : alike);
		for (int64_t j = whole_cols; j < cols; j++)
			for (int64_t k = 0; k < 4; k++)
				dst[j * dst_ld + i + k] = (scales ? scales[j] : scale) * from[k * src_ld + j];
	}
	for (int64_t i = whole_rows; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			dst[j * dst_ld + i] = (scales ? scales[j] : scale) * src[i * src_ld + j * step];
}

INLINE void transpose(float *dst, int64_t dst_ld, const float *src, int64_t src_ld, int64_t step,
	int64_t rows, int64_t cols, float scale)
{
	transpose_scaled(dst, dst_ld, src, src_ld, step, rows, cols, scale, NULL);
}
