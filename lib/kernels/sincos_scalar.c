/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sincos_body.h in vectors of 2 doubles. fma() is slow where the processor has none, but
 * without it the bits would not be those of the other sets. */
#include <math.h>
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(16), may_alias));
typedef int64_t ivec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 2

static inline vec vec_all(double a)
{
	return (vec){a, a};
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
}

static inline vec vec_choose(ivec m, vec a, vec b)
{
	ivec negative = m < 0;
	return (vec)(((ivec)a & ~negative) | ((ivec)b & negative));
}

static inline bool vec_within(vec a, double b)
{
	return fabs(a[0]) <= b && fabs(a[1]) <= b;
}

#include "sincos_body.h"

void pe_sincos_scalar(struct pe_kernels *kernels)
{
	kernels->sincos = sincos_all;
}
