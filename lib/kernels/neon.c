/* SPDX-License-Identifier: BSD-2-Clause
 * Every aarch64 has NEON, so the loops of depthwise.h and weighted_sum.h, which may not fuse, are the same
 * instructions in the scalar set: those slots stay. */
#include "kernels.h"

void pe_kernels_neon(struct pe_kernels *kernels)
{
	pe_attention_tile_neon(kernels);
	pe_half_walk_neon(kernels);
	pe_lane_eigen_neon(kernels);
	pe_rotate_neon(kernels);
	pe_sincos_neon(kernels);
	pe_sparse_product_neon(kernels);
}
