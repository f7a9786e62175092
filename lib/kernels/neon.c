/* SPDX-License-Identifier: BSD-2-Clause
 * Every aarch64 has NEON, so loops that have nothing to fuse are the same instructions in the scalar set:
 * the slots of copy.h, depthwise.h and weighted_sum.h stay. */
#include "kernels.h"

void pe_kernels_neon(struct pe_kernels *kernels)
{
	pe_attention_rows_neon(kernels);
	pe_attention_tile_neon(kernels);
	pe_half_walk_neon(kernels);
	pe_lane_eigen_neon(kernels);
	pe_rotate_neon(kernels);
	pe_sincos_neon(kernels);
	pe_sparse_product_neon(kernels);
}
