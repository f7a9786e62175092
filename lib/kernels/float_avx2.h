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

static inline vec vec_gather(const float *from, vec_bits index, int32_t count, int32_t step)
{
	const vec_bits lane = {0, 1, 2, 3, 4, 5, 6, 7};
	vec_bits some = (index >= 0) & (index < count);
	if (step != 0)
		index = index * step + lane;
	return (vec)_mm256_mask_i32gather_ps(_mm256_setzero_ps(), from, (__m256i)index, (__m256)some, 4);
}

#include "float_exp2.h"
