/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of half_walk_body.h in NEON's vectors of 2 doubles, with 32 registers. */
#include <arm_neon.h>
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 2
#define MAX_VECS 6

static inline vec vec_all(double a)
{
	return (vec)vdupq_n_f64(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)vfmaq_f64(c, a, b);
}

static inline void vec_transpose(vec a[VEC_LANES])
{
	vec first = (vec)vzip1q_f64(a[0], a[1]);
	a[1] = (vec)vzip2q_f64(a[0], a[1]);
	a[0] = first;
}

#include "half_walk_body.h"

void pe_half_walk_neon(struct pe_kernels *kernels)
{
	fill_half_walk(kernels);
}
