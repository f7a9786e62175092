/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sparse_product_body.h in vectors of 4 doubles. */
#include <immintrin.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(32), may_alias));

#define VEC_LANES 4

static inline vec vec_all(double a)
{
	return (vec)_mm256_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return _mm256_fmadd_pd(a, b, c);
}

#include "sparse_product_body.h"

void pe_sparse_product_avx2(struct pe_kernels *kernels)
{
	kernels->sparse_product = sparse_product;
}
