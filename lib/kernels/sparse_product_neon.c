/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sparse_product_body.h in NEON's vectors of 2 doubles. */
#include <arm_neon.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 2

static inline vec vec_all(double a)
{
	return (vec)vdupq_n_f64(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)vfmaq_f64(c, a, b);
}

#include "sparse_product_body.h"

void pe_sparse_product_neon(struct pe_kernels *kernels)
{
	kernels->sparse_product = sparse_product;
}
