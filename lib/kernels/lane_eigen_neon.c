/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of lane_eigen_body.h in NEON's vectors of 2 doubles. */
#include <arm_neon.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(16), may_alias));
typedef uint64x2_t mask;

#define WIDTH 2
#define PACKS 4
#define GROUP 8

static inline vec vec_all(double a)
{
	return (vec)vdupq_n_f64(a);
}

/* a b + c */
static inline vec vec_fma(vec a, vec b, vec c)
{
	return (vec)vfmaq_f64(c, a, b);
}

/* c - a b */
static inline vec vec_fnma(vec a, vec b, vec c)
{
	return (vec)vfmsq_f64(c, a, b);
}

static inline vec vec_sqrt(vec a)
{
	return (vec)vsqrtq_f64(a);
}

static inline vec vec_min(vec a, vec b)
{
	return (vec)vminq_f64(a, b);
}

static inline vec vec_max(vec a, vec b)
{
	return (vec)vmaxq_f64(a, b);
}

static inline vec vec_abs(vec a)
{
	return (vec)vabsq_f64(a);
}

/* |a| with the sign of b */
static inline vec vec_copysign(vec a, vec b)
{
	return (vec)vbslq_f64(vdupq_n_u64((uint64_t)1 << 63), b, a);
}

static inline mask vec_less(vec a, vec b)
{
	return vcltq_f64(a, b);
}

static inline vec vec_select(mask m, vec yes, vec no)
{
	return (vec)vbslq_f64(m, yes, no);
}

#include "lane_eigen_body.h"

void pe_lane_eigen_neon(struct pe_kernels *kernels)
{
	fill_lane_eigen(kernels);
}
