/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of lane_eigen_body.h in vectors of 4 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(32), may_alias));
typedef __m256d mask;

#define WIDTH 4
#define PACKS 4
#define GROUP 4

static inline vec vec_all(double a)
{
	return (vec)_mm256_set1_pd(a);
}

/* a b + c */
static inline vec vec_fma(vec a, vec b, vec c)
{
	return (vec)_mm256_fmadd_pd(a, b, c);
}

/* c - a b */
static inline vec vec_fnma(vec a, vec b, vec c)
{
	return (vec)_mm256_fnmadd_pd(a, b, c);
}

static inline vec vec_sqrt(vec a)
{
	return (vec)_mm256_sqrt_pd(a);
}

static inline vec vec_min(vec a, vec b)
{
	return (vec)_mm256_min_pd(a, b);
}

static inline vec vec_max(vec a, vec b)
{
	return (vec)_mm256_max_pd(a, b);
}

static inline vec vec_abs(vec a)
{
	return (vec)_mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}

/* |a| with the sign of b */
static inline vec vec_copysign(vec a, vec b)
{
	return (vec)_mm256_or_pd(vec_abs(a), _mm256_and_pd(_mm256_set1_pd(-0.0), b));
}

static inline mask vec_less(vec a, vec b)
{
	return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
}

static inline vec vec_select(mask m, vec yes, vec no)
{
	return (vec)_mm256_blendv_pd(no, yes, m);
}

#include "lane_eigen_body.h"

void pe_lane_eigen_avx2(struct pe_kernels *kernels)
{
	fill_lane_eigen(kernels);
}
