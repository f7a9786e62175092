/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of lane_eigen_body.h in vectors of 8 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(64), may_alias));
typedef __mmask8 mask;

#define WIDTH 8
#define PACKS 4
#define GROUP 8
#define MM(name) _mm512_##name

static inline mask vec_less(vec a, vec b)
{
	return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}

static inline vec vec_select(mask m, vec yes, vec no)
{
	return (vec)_mm512_mask_blend_pd(m, no, yes);
}

#include "lane_eigen_x86.h"

void pe_lane_eigen_avx512(struct pe_kernels *kernels)
{
	fill_lane_eigen(kernels);
}
