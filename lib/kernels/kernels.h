/* SPDX-License-Identifier: BSD-2-Clause
 * The table of inner loops. scalar.c fills every slot; the file of each instruction set
 * overwrites the slots that it does better. Depends on nothing else of posenc. */
#ifndef PE_KERNELS_H
#define PE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "attention_rows.h"
#include "attention_tile.h"
#include "copy.h"
#include "depthwise.h"
#include "front.h"
#include "half_walk.h"
#include "lane_eigen.h"
#include "number_pairs.h"
#include "rotate.h"
#include "sincos.h"
#include "sparse_product.h"
#include "tall.h"
#include "weighted_sum.h"

/* Outputs of so many bytes and more do not stay in the caches. */
#define PE_PAST_CACHES ((int64_t)1 << 25)

struct pe_kernels {
	const char *name; /* "scalar", "avx2", … */

	int32_t tile_vec, tile_rows; /* attention_tile.h */
	pe_tile_queries_fn *tile_queries;
	pe_tile_pack_keys_fn *tile_pack_keys;
	pe_tile_pack_values_fn *tile_pack_values;
	pe_tile_round_fn *tile_round;
	pe_tile_most_fn *tile_most;
	pe_tile_scores_fn *tile_scores;
	pe_tile_adjust_fn *tile_adjust;
	pe_tile_gather_fn *tile_gather;
	pe_tile_slant_fn *tile_slant;
	pe_tile_shift_fn *tile_shift;
	pe_tile_copy_fn *tile_copy;
	pe_tile_mask_fn *tile_mask;
	pe_tile_hide_fn *tile_hide;
	pe_tile_max_fn *tile_max;
	pe_tile_softmax_fn *tile_softmax;
	pe_tile_sum_fn *tile_sum;
	pe_tile_apply_fn *tile_apply;
	pe_tile_finish_fn *tile_finish;
	pe_tile_convert_fn *tile_from_f16, *tile_from_bf16;

	pe_row_dots_fn *row_dots; /* attention_rows.h */
	pe_row_sum_fn *row_sum;

	pe_copy_fn *copy; /* copy.h */
	pe_fence_fn *copy_fence;

	pe_depthwise_fn *depthwise; /* depthwise.h */
	pe_depthwise_strip_fn *depthwise_strip;
	bool depthwise_streams; /* a strip's vectors are whole lines of a cache, fit to be written past it */

	pe_front_factor_fn *front_factor; /* front.h */
	pe_front_update_fn *front_update;
	pe_front_forward_fn *front_forward;
	pe_front_backward_fn *front_backward;
	pe_front_multiply_fn *front_multiply;

	pe_half_walk_fn *half_walk_unit; /* half_walk.h */
	pe_half_walk_fn *half_walk_weighted;
	pe_half_walk_fn *half_walk_directed;
	pe_half_walk_rows_fn *half_walk_rows;

	int32_t lane_width, lane_packs; /* lane_eigen.h */
	pe_lane_values_fn *lane_values;
	pe_lane_vectors_fn *lane_vectors;
	pe_lane_check_fn *lane_check;

	pe_number_pairs_fn *number_pairs; /* number_pairs.h */

	pe_rotate_fn *rotate; /* rotate.h */

	pe_sincos_fn *sincos; /* sincos.h */

	pe_sparse_product_fn *sparse_product; /* sparse_product.h */

	pe_tall_dot_fn *tall_dot; /* tall.h */
	pe_tall_subtract_fn *tall_subtract;

	pe_weighted_sum_fn *weighted_sum; /* weighted_sum.h */
	pe_weighted_sum_f32_fn *weighted_sum_f32;
};

/* The best set that this machine runs and that is not above `limit` (a set's name; NULL: no
 * limit). NULL if there is no set of that name, or this machine cannot run it. */
const struct pe_kernels *pe_kernels_select(const char *limit);
/* Names of the sets that this machine runs, best first. */
const char *pe_kernels_available(void);

/* Each overwrites what it has; declared for select.c only. */
void pe_kernels_scalar(struct pe_kernels *kernels);
void pe_kernels_avx2(struct pe_kernels *kernels);
void pe_kernels_avx512(struct pe_kernels *kernels);
void pe_kernels_neon(struct pe_kernels *kernels);

/* Likewise their parts, each in a file UNIT_SET.c; for scalar.c, avx2.c, … only. */
void pe_attention_rows_scalar(struct pe_kernels *kernels);
void pe_attention_tile_scalar(struct pe_kernels *kernels);
void pe_attention_rows_avx2(struct pe_kernels *kernels);
void pe_attention_tile_avx2(struct pe_kernels *kernels);
void pe_attention_rows_avx512(struct pe_kernels *kernels);
void pe_attention_tile_avx512(struct pe_kernels *kernels);
void pe_attention_rows_neon(struct pe_kernels *kernels);
void pe_attention_tile_neon(struct pe_kernels *kernels);
void pe_copy_scalar(struct pe_kernels *kernels);
void pe_copy_avx2(struct pe_kernels *kernels);
void pe_copy_avx512(struct pe_kernels *kernels);
void pe_depthwise_scalar(struct pe_kernels *kernels);
void pe_depthwise_avx2(struct pe_kernels *kernels);
void pe_depthwise_avx512(struct pe_kernels *kernels);
void pe_front_scalar(struct pe_kernels *kernels);
void pe_front_avx2(struct pe_kernels *kernels);
void pe_front_avx512(struct pe_kernels *kernels);
void pe_half_walk_scalar(struct pe_kernels *kernels);
void pe_half_walk_avx2(struct pe_kernels *kernels);
void pe_half_walk_avx512(struct pe_kernels *kernels);
void pe_half_walk_neon(struct pe_kernels *kernels);
void pe_lane_eigen_scalar(struct pe_kernels *kernels);
void pe_lane_eigen_avx2(struct pe_kernels *kernels);
void pe_lane_eigen_avx512(struct pe_kernels *kernels);
void pe_lane_eigen_neon(struct pe_kernels *kernels);
void pe_number_pairs_scalar(struct pe_kernels *kernels);
void pe_number_pairs_avx2(struct pe_kernels *kernels);
void pe_number_pairs_avx512(struct pe_kernels *kernels);

void pe_rotate_scalar(struct pe_kernels *kernels);
void pe_rotate_avx2(struct pe_kernels *kernels);
void pe_rotate_avx512(struct pe_kernels *kernels);
void pe_rotate_neon(struct pe_kernels *kernels);

void pe_sincos_scalar(struct pe_kernels *kernels);
void pe_sincos_avx2(struct pe_kernels *kernels);
void pe_sincos_avx512(struct pe_kernels *kernels);
void pe_sincos_neon(struct pe_kernels *kernels);

void pe_sparse_product_scalar(struct pe_kernels *kernels);
void pe_sparse_product_avx2(struct pe_kernels *kernels);
void pe_sparse_product_avx512(struct pe_kernels *kernels);
void pe_sparse_product_neon(struct pe_kernels *kernels);

void pe_tall_scalar(struct pe_kernels *kernels);
void pe_tall_avx2(struct pe_kernels *kernels);
void pe_tall_avx512(struct pe_kernels *kernels);

void pe_weighted_sum_scalar(struct pe_kernels *kernels);
void pe_weighted_sum_avx2(struct pe_kernels *kernels);
void pe_weighted_sum_avx512(struct pe_kernels *kernels);

#endif
