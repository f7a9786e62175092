/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of front_body.h and front_solve_body.h in vectors of 4 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(32), aligned(8), may_alias));
typedef double quad __attribute__((vector_size(32), may_alias));

#define VEC_LANES 4
#define TILE_COLUMNS 4

static inline vec vec_all(double a)
{
	return (vec)_mm256_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

static inline void vec_put_part(double *p, int32_t count, vec a)
{
	for (int32_t i = 0; i < count && i < VEC_LANES; i++)
		p[i] = a[i];
}

static inline void quad_fused(double a, const quad *b, quad *c)
{
	*c = (quad)_mm256_fmadd_pd(_mm256_set1_pd(a), (__m256d)*b, (__m256d)*c);
}

#include "front_body.h"
#include "front_solve_body.h"

void pe_front_avx2(struct pe_kernels *kernels)
{
	kernels->front_factor = front_factor;
	kernels->front_update = front_update;
	kernels->front_forward = front_forward;
	kernels->front_backward = front_backward;
	kernels->front_multiply = front_multiply;
}
