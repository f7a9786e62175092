/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of tall.h, once an instruction set. Before this is included are defined:
 *   vec           a vector of VEC_LANES doubles, at any address
 *   vec_all       vec_all(a): a in every lane
 *   vec_fused     vec_fused(a, b, c) = a b + c
 *   TALL_A, TALL_B   columns of a and of b that are taken at once: 4 or 2, and 4
 * A run of rows is done with all columns before the next: those of b then stay in the cache. */
#include "tall.h"

#define RUN 1024 /* rows */
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))

INLINE double lanes_sum(vec a)
{
	double sum = 0;
	for (int i = 0; i < VEC_LANES; i++)
		sum += a[i];
	return sum;
}

/* c ← c + aᵀ b of a run, `columns` of a and `others` of b. */
INLINE void dot_run(int64_t n, int64_t rows, int columns, const double *a, int others, const double *b,
	double *c, int64_t ldc)
{
	vec sum[TALL_A][TALL_B];
	UNROLL
	for (int i = 0; i < columns; i++) {
		UNROLL
		for (int j = 0; j < others; j++)
			sum[i][j] = vec_all(0);
	}
	int64_t at = 0;
	for (; at + VEC_LANES <= rows; at += VEC_LANES) {
		vec x[TALL_B];
		UNROLL
		for (int j = 0; j < others; j++)
			x[j] = *(const vec *)(b + j * n + at);
		UNROLL
		for (int i = 0; i < columns; i++) {
			vec y = *(const vec *)(a + i * n + at);
			UNROLL
			for (int j = 0; j < others; j++)
				sum[i][j] = vec_fused(y, x[j], sum[i][j]);
		}
	}
	UNROLL
	for (int i = 0; i < columns; i++) {
		UNROLL
		for (int j = 0; j < others; j++) {
			double all = lanes_sum(sum[i][j]);
			for (int64_t r = at; r < rows; r++)
				all += a[i * n + r] * b[j * n + r];
			c[j * ldc + i] += all;
		}
	}
}

/* b ← b - a s of a run. */
INLINE void subtract_run(int64_t n, int64_t rows, int columns, const double *a, int others, const double *s,
	int64_t lds, double *b)
{
	int64_t at = 0;
	for (; at + VEC_LANES <= rows; at += VEC_LANES) {
		vec x[TALL_A];
		UNROLL
		for (int i = 0; i < columns; i++)
			x[i] = *(const vec *)(a + i * n + at);
		UNROLL
		for (int j = 0; j < others; j++) {
			vec y = *(vec *)(b + j * n + at);
			UNROLL
			for (int i = 0; i < columns; i++)
				y = vec_fused(x[i], vec_all(-s[j * lds + i]), y);
			*(vec *)(b + j * n + at) = y;
		}
	}
	for (; at < rows; at++)
		for (int j = 0; j < others; j++)
			for (int i = 0; i < columns; i++)
				b[j * n + at] -= a[i * n + at] * s[j * lds + i];
}

/* All columns of a: TALL_A at once, then one by one. */
INLINE void dot_columns(int64_t n, int64_t rows, int32_t columns, const double *a, int others,
	const double *b, double *c, int64_t ldc)
{
	int32_t i = 0;
	for (; i + TALL_A <= columns; i += TALL_A)
		dot_run(n, rows, TALL_A, a + i * n, others, b, c + i, ldc);
	for (; i < columns; i++)
		dot_run(n, rows, 1, a + i * n, others, b, c + i, ldc);
}

INLINE void subtract_columns(int64_t n, int64_t rows, int32_t columns, const double *a, int others,
	const double *s, int64_t lds, double *b)
{
	int32_t i = 0;
	for (; i + TALL_A <= columns; i += TALL_A)
		subtract_run(n, rows, TALL_A, a + i * n, others, s + i, lds, b);
	for (; i < columns; i++)
		subtract_run(n, rows, 1, a + i * n, others, s + i, lds, b);
}

static void tall_dot(
	int64_t n, int32_t a_columns, const double *a, int32_t b_columns, const double *b, double *c, int64_t ldc)
{
	for (int32_t j = 0; j < b_columns; j++)
		for (int32_t i = 0; i < a_columns; i++)
			c[j * ldc + i] = 0;
	for (int64_t at = 0; at < n; at += RUN) {
		int64_t rows = n - at < RUN ? n - at : RUN;
		int32_t j = 0;
		for (; j + TALL_B <= b_columns; j += TALL_B)
			dot_columns(n, rows, a_columns, a + at, TALL_B, b + j * n + at, c + j * ldc, ldc);
		for (; j < b_columns; j++)
			dot_columns(n, rows, a_columns, a + at, 1, b + j * n + at, c + j * ldc, ldc);
	}
}

static void tall_subtract(
	int64_t n, int32_t a_columns, const double *a, int32_t b_columns, const double *s, int64_t lds, double *b)
{
	for (int64_t at = 0; at < n; at += RUN) {
		int64_t rows = n - at < RUN ? n - at : RUN;
		int32_t j = 0;
		for (; j + TALL_B <= b_columns; j += TALL_B)
			subtract_columns(n, rows, a_columns, a + at, TALL_B, s + j * lds, lds, b + j * n + at);
		for (; j < b_columns; j++)
			subtract_columns(n, rows, a_columns, a + at, 1, s + j * lds, lds, b + j * n + at);
	}
}
