/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernels.h"

void pe_kernels_avx2(struct pe_kernels *kernels)
{
	pe_attention_rows_avx2(kernels);
	pe_attention_tile_avx2(kernels);
	pe_copy_avx2(kernels);
	pe_depthwise_avx2(kernels);
	pe_front_avx2(kernels);
	pe_half_walk_avx2(kernels);
	pe_lane_eigen_avx2(kernels);
	pe_number_pairs_avx2(kernels);
	pe_rotate_avx2(kernels);
	pe_sincos_avx2(kernels);
	pe_sparse_product_avx2(kernels);
	pe_tall_avx2(kernels);
	pe_weighted_sum_avx2(kernels);
}
