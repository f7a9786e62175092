/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernels.h"

void pe_kernels_avx512(struct pe_kernels *kernels)
{
	pe_attention_rows_avx512(kernels);
	pe_attention_tile_avx512(kernels);
	pe_copy_avx512(kernels);
	pe_depthwise_avx512(kernels);
	pe_front_avx512(kernels);
	pe_half_walk_avx512(kernels);
	pe_lane_eigen_avx512(kernels);
	pe_number_pairs_avx512(kernels);
	pe_rotate_avx512(kernels);
	pe_sincos_avx512(kernels);
	pe_sparse_product_avx512(kernels);
	pe_tall_avx512(kernels);
	pe_weighted_sum_avx512(kernels);
}
