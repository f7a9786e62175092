/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sparse_product_body.h in vectors of 2 doubles. */
#include "kernels.h"

typedef double vec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 2

static inline vec vec_all(double a)
{
	return (vec){a, a};
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return a * b + c;
}

#include "sparse_product_body.h"

void pe_sparse_product_scalar(struct pe_kernels *kernels)
{
	kernels->sparse_product = sparse_product;
}
