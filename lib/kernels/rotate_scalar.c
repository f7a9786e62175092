/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of rotate_body.h in vectors of 4 floats. */
#include "kernels.h"

typedef float vec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 4

static inline vec vec_twice(const float *p)
{
	return (vec){p[0], p[0], p[1], p[1]};
}

static inline vec vec_swap(vec a)
{
	return (vec){a[1], a[0], a[3], a[2]};
}

static inline vec vec_turned(vec a, vec b)
{
	return a + b * (vec){-1, 1, -1, 1};
}

static inline void vec_fetch(const float *p)
{
	(void)p;
}

static inline void vec_stream(float *p, vec a)
{
	*(vec *)p = a;
}

static inline void vec_fence(void)
{
}

#include "rotate_body.h"

void pe_rotate_scalar(struct pe_kernels *kernels)
{
	kernels->rotate = rotate_block;
}
