/* SPDX-License-Identifier: BSD-2-Clause
 * Products of tall, narrow, column-major matrices, by BLAS. Call pe_blas_threads_one before. */
#ifndef PE_PANEL_H
#define PE_PANEL_H

#include <stdint.h>

/* c (a_columns × b_columns, leading dimension ldc) ← aᵀ b; a and b have n rows, and leading dimension n. */
void pe_panel_dot(int32_t n, int32_t a_columns, const double *a, int32_t b_columns, const double *b,
	double *c, int32_t ldc);
/* b ← b·beta + alpha · a s; a is n × a_columns, s is a_columns × b_columns of leading dimension lds. */
void pe_panel_multiply(int32_t n, int32_t a_columns, const double *a, int32_t b_columns, const double *s,
	int32_t lds, double alpha, double beta, double *b);
/* The Cholesky factor R (upper) of the symmetric c (m × m): c = Rᵀ R; what is below is left as it was.
 * Returns 0, or where it failed. */
int32_t pe_panel_cholesky(int32_t m, double *c);
/* a ← a R⁻¹ for an upper triangular R (m × m); a is n × m. */
void pe_panel_divide(int32_t n, int32_t m, double *a, const double *r);
double pe_panel_norm(int32_t n, const double *a);

#endif
