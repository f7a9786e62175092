/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of rotate_body.h in NEON's vectors of 4 floats. */
#include <arm_neon.h>

#include "kernels.h"

typedef float vec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 4

static inline vec vec_twice(const float *p)
{
	float32x4_t low = vcombine_f32(vld1_f32(p), vdup_n_f32(0));
	return (vec)vzip1q_f32(low, low);
}

static inline vec vec_swap(vec a)
{
	return (vec)vrev64q_f32(a);
}

static inline vec vec_turned(vec a, vec b)
{
	const vec sign = {-0.0f, 0.0f, -0.0f, 0.0f};
	return a + (vec)veorq_u32((uint32x4_t)b, (uint32x4_t)sign);
}

/* Inlined early: GCC takes a function that only does this for one without effect. */
static inline __attribute__((always_inline)) void vec_fetch(const float *p)
{
	__builtin_prefetch(p, 0, 2);
}

/* NEON's stores past the caches are for pairs of vectors, and no more than a hint. */
static inline void vec_stream(float *p, vec a)
{
	*(vec *)p = a;
}

static inline void vec_fence(void)
{
}

#include "rotate_body.h"

void pe_rotate_neon(struct pe_kernels *kernels)
{
	kernels->rotate = rotate_block;
}
