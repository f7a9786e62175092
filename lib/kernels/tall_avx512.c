/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of tall_body.h in vectors of 8 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(64), aligned(8), may_alias));

#define VEC_LANES 8
#define TALL_A 4
#define TALL_B 4

static inline vec vec_all(double a)
{
	return (vec)_mm512_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

#include "tall_body.h"

void pe_tall_avx512(struct pe_kernels *kernels)
{
	kernels->tall_dot = tall_dot;
	kernels->tall_subtract = tall_subtract;
}
