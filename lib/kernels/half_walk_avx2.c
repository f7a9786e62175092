/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of half_walk_body.h in vectors of 4 doubles. */
#include <immintrin.h>
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(32), may_alias));

#define VEC_LANES 4
#define MAX_GROUPS 2

static inline vec vec_all(double a)
{
	return (vec)_mm256_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return _mm256_fmadd_pd(a, b, c);
}

#include "half_walk_body.h"

void pe_half_walk_avx2(struct pe_kernels *kernels)
{
	fill_half_walk(kernels);
}
