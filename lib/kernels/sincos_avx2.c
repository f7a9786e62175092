/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sincos_body.h in vectors of 4 doubles. */
#include <immintrin.h>
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(32), may_alias));
typedef int64_t ivec __attribute__((vector_size(32), may_alias));

#define VEC_LANES 4

static inline vec vec_all(double a)
{
	return (vec)_mm256_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return _mm256_fmadd_pd(a, b, c);
}

static inline vec vec_choose(ivec m, vec a, vec b)
{
	return _mm256_blendv_pd(a, b, (__m256d)m);
}

static inline bool vec_within(vec a, double b)
{
	__m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
	return _mm256_movemask_pd(_mm256_cmp_pd(size, _mm256_set1_pd(b), _CMP_LE_OQ)) == 15;
}

#include "sincos_body.h"

void pe_sincos_avx2(struct pe_kernels *kernels)
{
	kernels->sincos = sincos_all;
}
