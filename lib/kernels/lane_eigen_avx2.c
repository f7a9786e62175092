/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of lane_eigen_body.h in vectors of 4 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(32), may_alias));
typedef __m256d mask;

#define WIDTH 4
#define PACKS 4
#define GROUP 4
#define MM(name) _mm256_##name

static inline mask vec_less(vec a, vec b)
{
	return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
}

static inline vec vec_select(mask m, vec yes, vec no)
{
	return (vec)_mm256_blendv_pd(no, yes, m);
}

#include "lane_eigen_x86.h"

void pe_lane_eigen_avx2(struct pe_kernels *kernels)
{
	fill_lane_eigen(kernels);
}
