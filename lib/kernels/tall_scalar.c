/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of tall_body.h in vectors of 2 doubles. */
#include "kernels.h"

typedef double vec __attribute__((vector_size(16), aligned(8), may_alias));

#define VEC_LANES 2
#define TALL_A 2
#define TALL_B 4

static inline vec vec_all(double a)
{
	return (vec){a, a};
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return a * b + c;
}

#include "tall_body.h"

void pe_tall_scalar(struct pe_kernels *kernels)
{
	kernels->tall_dot = tall_dot;
	kernels->tall_subtract = tall_subtract;
}
