/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of lane_eigen_body.h in vectors of 8 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(64), may_alias));
typedef __mmask8 mask;

#define WIDTH 8
#define PACKS 4
#define GROUP 8

static inline vec vec_all(double a)
{
	return (vec)_mm512_set1_pd(a);
}

/* a b + c */
static inline vec vec_fma(vec a, vec b, vec c)
{
	return (vec)_mm512_fmadd_pd(a, b, c);
}

/* c - a b */
static inline vec vec_fnma(vec a, vec b, vec c)
{
	return (vec)_mm512_fnmadd_pd(a, b, c);
}

static inline vec vec_sqrt(vec a)
{
	return (vec)_mm512_sqrt_pd(a);
}

static inline vec vec_min(vec a, vec b)
{
	return (vec)_mm512_min_pd(a, b);
}

static inline vec vec_max(vec a, vec b)
{
	return (vec)_mm512_max_pd(a, b);
}

static inline vec vec_abs(vec a)
{
	return (vec)_mm512_andnot_pd(_mm512_set1_pd(-0.0), a);
}

/* |a| with the sign of b */
static inline vec vec_copysign(vec a, vec b)
{
	return (vec)_mm512_or_pd(vec_abs(a), _mm512_and_pd(_mm512_set1_pd(-0.0), b));
}

static inline mask vec_less(vec a, vec b)
{
	return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}

static inline vec vec_select(mask m, vec yes, vec no)
{
	return (vec)_mm512_mask_blend_pd(m, no, yes);
}

#include "lane_eigen_body.h"

void pe_lane_eigen_avx512(struct pe_kernels *kernels)
{
	fill_lane_eigen(kernels);
}
