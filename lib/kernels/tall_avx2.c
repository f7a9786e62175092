/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of tall_body.h in vectors of 4 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(32), aligned(8), may_alias));

#define VEC_LANES 4
#define TALL_A 2
#define TALL_B 4

static inline vec vec_all(double a)
{
	return (vec)_mm256_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

#include "tall_body.h"

void pe_tall_avx2(struct pe_kernels *kernels)
{
	kernels->tall_dot = tall_dot;
	kernels->tall_subtract = tall_subtract;
}
