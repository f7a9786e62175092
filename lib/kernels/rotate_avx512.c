/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of rotate_body.h in vectors of 16 floats. */
#include <immintrin.h>

#include "kernels.h"

typedef float vec __attribute__((vector_size(64), may_alias));

#define VEC_LANES 16

static inline vec vec_twice(const float *p)
{
	__m512 low = _mm512_castps256_ps512(_mm256_loadu_ps(p));
	__m512i from = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
	return _mm512_permutexvar_ps(from, low);
}

static inline vec vec_swap(vec a)
{
	return _mm512_permute_ps(a, 0xb1);
}

static inline vec vec_turned(vec a, vec b)
{
	return _mm512_mask_sub_ps(_mm512_add_ps(a, b), 0x5555, a, b);
}

/* Inlined early: GCC takes a function that only does this for one without effect. */
static inline __attribute__((always_inline)) void vec_fetch(const float *p)
{
	_mm_prefetch(p, _MM_HINT_T1);
}

static inline void vec_stream(float *p, vec a)
{
	_mm512_stream_ps(p, a);
}

static inline void vec_fence(void)
{
	_mm_sfence();
}

#include "rotate_body.h"

void pe_rotate_avx512(struct pe_kernels *kernels)
{
	kernels->rotate = rotate_block;
}
