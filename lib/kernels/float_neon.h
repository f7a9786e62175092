/* SPDX-License-Identifier: BSD-2-Clause
 * What float_lanes.h asks for, in NEON's vectors of 4 floats and its 32 registers. */
#include <arm_neon.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(16), may_alias));
typedef int32_t vec_bits __attribute__((vector_size(16), may_alias));

#define VEC_LANES 4
#define ROWS 12

static inline vec vec_all(float a)
{
	return (vec)vdupq_n_f32(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)vfmaq_f32(c, a, b);
}

/* Not vmaxq_f32, which gives NaN if a is. */
static inline vec vec_max(vec a, vec b)
{
	return (vec)vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline vec vec_gather(const float *from, vec_bits index, int32_t count, int32_t step)
{
	vec out = {0, 0, 0, 0};
	for (int i = 0; i < VEC_LANES; i++)
		if (index[i] >= 0 && index[i] < count)
			out[i] = from[step != 0 ? index[i] * step + i : index[i]];
	return out;
}

#include "float_exp2.h"
