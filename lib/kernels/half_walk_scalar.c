/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of half_walk_body.h in vectors of 2 doubles. */
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 2
#define MAX_VECS 4

static inline vec vec_all(double a)
{
	return (vec){a, a};
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return a * b + c;
}

static inline void vec_transpose(vec a[VEC_LANES])
{
	vec first = {a[0][0], a[1][0]}, second = {a[0][1], a[1][1]};
	a[0] = first;
	a[1] = second;
}

#include "half_walk_body.h"

void pe_half_walk_scalar(struct pe_kernels *kernels)
{
	fill_half_walk(kernels);
}
