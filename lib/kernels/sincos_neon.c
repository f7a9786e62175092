/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sincos_body.h in NEON's vectors of 2 doubles. */
#include <arm_neon.h>
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(16), may_alias));
typedef int64_t ivec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 2

static inline vec vec_all(double a)
{
	return (vec)vdupq_n_f64(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)vfmaq_f64(c, a, b);
}

static inline vec vec_choose(ivec m, vec a, vec b)
{
	return (vec)vbslq_f64(vcltzq_s64(m), b, a);
}

static inline bool vec_within(vec a, double b)
{
	uint64x2_t is = vcaleq_f64(a, vdupq_n_f64(b));
	return vminvq_u32(vreinterpretq_u32_u64(is)) != 0;
}

#include "sincos_body.h"

void pe_sincos_neon(struct pe_kernels *kernels)
{
	kernels->sincos = sincos_all;
}
