/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of copy_body.h in vectors of 32 bytes. */
#include <immintrin.h>

#include "kernels.h"

typedef float vec __attribute__((vector_size(32), may_alias));

static inline void vec_stream(float *p, vec a)
{
	_mm256_stream_ps(p, a);
}

static void vec_fence(void)
{
	_mm_sfence();
}

#include "copy_body.h"

void pe_copy_avx2(struct pe_kernels *kernels)
{
	kernels->copy = copy;
	kernels->copy_fence = vec_fence;
}
