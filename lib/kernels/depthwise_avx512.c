/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of depthwise_body.h and depthwise_strip_body.h in vectors of 16 floats. */
#include <immintrin.h>

#include "kernels.h"

typedef float vec __attribute__((vector_size(64), may_alias));

#define VEC_LANES 16
#define VEC_COLUMNS 4

static inline void vec_stream(float *p, vec a)
{
	_mm512_stream_ps(p, a);
}

static inline vec vec_sum(vec a, vec b)
{
	return _mm512_fmadd_ps(a, _mm512_set1_ps(1), b);
}

static inline void vec_keep(vec *a, vec *b)
{
	__asm__ volatile("" : "+v"(*a), "+v"(*b));
}

static inline void vec_fence(void)
{
	_mm_sfence();
}

#include "depthwise_body.h"
#include "depthwise_strip_body.h"

void pe_depthwise_avx512(struct pe_kernels *kernels)
{
	kernels->depthwise = depthwise_row;
	kernels->depthwise_strip = depthwise_strip;
	kernels->depthwise_streams = VEC_LANES == PE_DEPTHWISE_LANES;
}
