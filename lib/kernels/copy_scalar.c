/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of copy_body.h in vectors of 16 bytes. */
#include "kernels.h"

typedef float vec __attribute__((vector_size(16), may_alias));

static inline void vec_stream(float *p, vec a)
{
	*(vec *)p = a;
}

static void vec_fence(void)
{
}

#include "copy_body.h"

void pe_copy_scalar(struct pe_kernels *kernels)
{
	kernels->copy = copy;
	kernels->copy_fence = vec_fence;
}
