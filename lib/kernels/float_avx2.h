/* SPDX-License-Identifier: BSD-2-Clause
 * What float_lanes.h asks for, in vectors of 8 floats. */
#include <immintrin.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(32), may_alias));
typedef int32_t vec_bits __attribute__((vector_size(32), may_alias));

#define VEC_LANES 8
#define ROWS 6

static inline vec vec_all(float a)
{
	return (vec)_mm256_set1_ps(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)_mm256_fmadd_ps(a, b, c);
}

static inline vec vec_max(vec a, vec b)
{
	return (vec)_mm256_max_ps(a, b);
}

#include "float_exp2.h"
