/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of front_body.h and front_solve_body.h in vectors of 8 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(64), aligned(8), may_alias));
typedef double quad __attribute__((vector_size(32), may_alias));

#define VEC_LANES 8
#define TILE_COLUMNS 8

static inline vec vec_all(double a)
{
	return (vec)_mm512_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

static inline void vec_put_part(double *p, int32_t count, vec a)
{
	_mm512_mask_storeu_pd(p, (__mmask8)(count >= 8 ? 255 : (1 << count) - 1), (__m512d)a);
}

static inline void quad_fused(double a, const quad *b, quad *c)
{
	*c = (quad)_mm256_fmadd_pd(_mm256_set1_pd(a), (__m256d)*b, (__m256d)*c);
}

#include "front_body.h"
#include "front_solve_body.h"

void pe_front_avx512(struct pe_kernels *kernels)
{
	kernels->front_factor = front_factor;
	kernels->front_update = front_update;
	kernels->front_forward = front_forward;
	kernels->front_backward = front_backward;
	kernels->front_multiply = front_multiply;
}
