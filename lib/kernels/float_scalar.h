/* SPDX-License-Identifier: BSD-2-Clause
 * What float_lanes.h asks for, in vectors of 4 floats without a fused multiply-add. */
#include <stdint.h>

typedef float vec __attribute__((vector_size(16), may_alias));
typedef int32_t vec_bits __attribute__((vector_size(16), may_alias));

#define VEC_LANES 4
#define ROWS 6

static inline vec vec_all(float a)
{
	return (vec){a, a, a, a};
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return a * b + c;
}

static inline vec vec_max(vec a, vec b)
{
	vec_bits greater = a > b;
	return (vec)(((vec_bits)a & greater) | ((vec_bits)b & ~greater));
}

#include "float_exp2.h"
