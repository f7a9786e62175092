/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of weighted_sum_body.h in vectors of 8 doubles. */
#include "kernels.h"

typedef double vec __attribute__((vector_size(64), may_alias));
typedef float half __attribute__((vector_size(32), may_alias));

#define VEC_LANES 8

#include "weighted_sum_body.h"

void pe_weighted_sum_avx512(struct pe_kernels *kernels)
{
	kernels->weighted_sum = weighted_sum;
	kernels->weighted_sum_f32 = weighted_sum_f32;
}
