/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sparse_product_body.h in vectors of 8 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(64), may_alias));

#define VEC_LANES 8

static inline vec vec_all(double a)
{
	return (vec)_mm512_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return _mm512_fmadd_pd(a, b, c);
}

#include "sparse_product_body.h"

void pe_sparse_product_avx512(struct pe_kernels *kernels)
{
	kernels->sparse_product = sparse_product;
}
