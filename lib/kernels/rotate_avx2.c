/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of rotate_body.h in vectors of 8 floats. */
#include <immintrin.h>

#include "kernels.h"

typedef float vec __attribute__((vector_size(32), may_alias));

#define VEC_LANES 8

static inline vec vec_twice(const float *p)
{
	__m256 low = _mm256_castps128_ps256(_mm_loadu_ps(p));
	return _mm256_permutevar8x32_ps(low, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
}

static inline vec vec_swap(vec a)
{
	return _mm256_permute_ps(a, 0xb1);
}

static inline vec vec_turned(vec a, vec b)
{
	return _mm256_addsub_ps(a, b);
}

/* Inlined early: GCC takes a function that only does this for one without effect. */
static inline __attribute__((always_inline)) void vec_fetch(const float *p)
{
	_mm_prefetch(p, _MM_HINT_T1);
}

static inline void vec_stream(float *p, vec a)
{
	_mm256_stream_ps(p, a);
}

static inline void vec_fence(void)
{
	_mm_sfence();
}

#include "rotate_body.h"

void pe_rotate_avx2(struct pe_kernels *kernels)
{
	kernels->rotate = rotate_block;
}
