/* SPDX-License-Identifier: BSD-2-Clause
 * Products of tall and narrow matrices, whose columns lie one after the other, of n rows each. */
#ifndef PE_TALL_H
#define PE_TALL_H

#include <stdint.h>

/* c (a_columns × b_columns, leading dimension ldc) ← aᵀ b. */
typedef void pe_tall_dot_fn(int64_t n, int32_t a_columns, const double *a, int32_t b_columns, const double *b,
	double *c, int64_t ldc);
/* b ← b - a s; s is a_columns × b_columns, of leading dimension lds. */
typedef void pe_tall_subtract_fn(int64_t n, int32_t a_columns, const double *a, int32_t b_columns,
	const double *s, int64_t lds, double *b);

#endif
