/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernels.h"

void pe_kernels_scalar(struct pe_kernels *kernels)
{
	pe_attention_rows_scalar(kernels);
	pe_attention_tile_scalar(kernels);
	pe_copy_scalar(kernels);
	pe_depthwise_scalar(kernels);
	pe_front_scalar(kernels);
	pe_half_walk_scalar(kernels);
	pe_lane_eigen_scalar(kernels);
	pe_number_pairs_scalar(kernels);
	pe_rotate_scalar(kernels);
	pe_sincos_scalar(kernels);
	pe_sparse_product_scalar(kernels);
	pe_tall_scalar(kernels);
	pe_weighted_sum_scalar(kernels);
}
