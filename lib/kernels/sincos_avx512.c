/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sincos_body.h in vectors of 8 doubles. */
#include <immintrin.h>
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(64), may_alias));
typedef int64_t ivec __attribute__((vector_size(64), may_alias));

#define VEC_LANES 8

static inline vec vec_all(double a)
{
	return (vec)_mm512_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return _mm512_fmadd_pd(a, b, c);
}

static inline vec vec_choose(ivec m, vec a, vec b)
{
	return _mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)m), a, b);
}

static inline bool vec_within(vec a, double b)
{
	return _mm512_cmp_pd_mask(_mm512_abs_pd(a), _mm512_set1_pd(b), _CMP_LE_OQ) == 255;
}

#include "sincos_body.h"

void pe_sincos_avx512(struct pe_kernels *kernels)
{
	kernels->sincos = sincos_all;
}
