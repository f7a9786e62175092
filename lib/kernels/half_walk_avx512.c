/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of half_walk_body.h in vectors of 8 doubles. */
#include <immintrin.h>
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(64), may_alias));

#define VEC_LANES 8
#define MAX_GROUPS 3

static inline vec vec_all(double a)
{
	return (vec)_mm512_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return _mm512_fmadd_pd(a, b, c);
}

#include "half_walk_body.h"

void pe_half_walk_avx512(struct pe_kernels *kernels)
{
	fill_half_walk(kernels);
}
