/* SPDX-License-Identifier: BSD-2-Clause
 * Half walks: from every start vertex of a block at once, one a SIMD lane, powers of a matrix that
 * is symmetric in pattern, and the diagonals that their inner products give. */
#ifndef PE_HALF_WALK_KERNEL_H
#define PE_HALF_WALK_KERNEL_H

#include <stdint.h>

/* Start vertices come in groups of so many; the lanes of a block are a multiple of it. */
#define PE_WALK_LANES 4

/* Consecutive rows of one shape: so many neighbours that are rows themselves, and whether there are
 * leaves besides, which are not (see below). */
struct pe_walk_run {
	int32_t rows, degree, leaves;
};

/* x[m & 1] holds step m of every lane: rows × lanes, 64-byte aligned. Rows that no walk has yet
 * reached are zero in both buffers, and so is the row behind the last, which stands for neighbours
 * outside the block, and for none where a row has fewer than its run.
 *
 * A leaf hangs on one vertex p alone, so its value is that of p one step before, times the weight of
 * the edge: leaves are no rows, their part in p's sums comes from what p's row held two steps ago. */
struct pe_walk_block {
	int64_t lanes;
	int32_t first, half; /* step `first` is there; steps first + 1 … half are to be made */
	const struct pe_walk_run *runs;
	const int32_t *reach; /* half + 1: step m is zero outside the rows of the first reach[m] runs */
	const uint32_t *col;  /* row · lanes of the neighbours of each row in turn */
	const double *value;  /* aligned with col: the matrix S. unit: not read */
	const double *back;   /* likewise, its transpose. directed alone */
	/* Of each row of a run with leaves in turn: how many leaves (unit), Σ S² over them (weighted). */
	const double *pull;
	const double *inverse; /* unit: 1 / d of each row */
	double *x[2];
	double *y[2]; /* directed alone: the walk by `back` */
	/* (2 half) × lanes, rows 2 first … are written; row k-1 is for k steps:
	 *   weighted  ⟨x_m, x_m'⟩ with x_m = S^m e_i,           m + m' = k, m' - m ≤ 1
	 *   unit      d_i times the same, where x_m = P^m e_i and S = D^-½ A D^-½, A of zeros and ones
	 *   directed  ⟨y_m, x_m'⟩ with x_m = S^m e_i, y_m = (Sᵀ)^m e_i */
	double *diagonal;
};

typedef void pe_half_walk_fn(const struct pe_walk_block *block);

/* out[node[lane] * steps + k] = scale[lane] * diagonal[k * lanes + lane], k < steps ≤ 2 half, for all
 * lanes; scale NULL: 1. node and scale have a value for every lane. */
typedef void pe_half_walk_rows_fn(
	const struct pe_walk_block *block, const int32_t *node, const double *scale, int64_t steps, double *out);

#endif
