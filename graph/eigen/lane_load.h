/* SPDX-License-Identifier: BSD-2-Clause
 * A sparse matrix with its null vector, into a lane of a batch (lib/kernels/lane_eigen.h). */
#ifndef PE_LANE_LOAD_H
#define PE_LANE_LOAD_H

#include "eigen.h"
#include "kernels/kernels.h"

/* What is known of the matrix M in the lane: the problem's divided by 2^exponent so that ‖M‖₁ is about 1. */
struct pe_lane_matrix {
	double scale, unscale;
	double trace, square; /* ΣM_ii, ΣM_ij² */
	double h_last, h_beta;
};

/* Empties pack u of a, h and w, as far as matrices of this order go. */
void pe_lane_clear(
	const struct pe_kernels *kernels, const struct pe_lane_batch *batch, int64_t u, int64_t order);
/* Writes a, h and w of lane l, which is empty; n ≥ 2, and n - 1 at most the order that was cleared. */
struct pe_lane_matrix pe_lane_load(const struct pe_kernels *kernels, const struct pe_lane_batch *batch,
	int64_t l, const struct pe_eigen_problem *problem);

#endif
