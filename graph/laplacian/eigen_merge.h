/* SPDX-License-Identifier: BSD-2-Clause
 * The eigenpairs of a graph out of those of its components: order, groups, choice, basis. */
#ifndef PE_EIGEN_MERGE_H
#define PE_EIGEN_MERGE_H

#include "canonical.h"
#include "laplacian.h"

struct pe_pair {
	double value;
	double norm1;                    /* ‖M‖₁ of its component */
	double residual;                 /* relative to that */
	const double *vector;            /* on its component's places, unit; entries step apart; or NULL: … */
	struct pe_canonical_class twins; /* … one of the vectors on these places that sum to 0 */
	int64_t step;
	int32_t component;
	int32_t group; /* set by pe_pairs_sort */
	bool zero;     /* a null vector that is known from the components */
	bool open;     /* more pairs of its component may belong to its group */
};

/* Ascending by value, known null vectors before all else of value 0, then by component. Numbers the
 * groups from 0: known null vectors are one group; other neighbours belong together by their gap, as
 * told in eigen.h, where the larger of what their components and residuals allow counts. */
void pe_pairs_sort(struct pe_pair *pairs, int64_t count);

struct pe_pair_range {
	int64_t first, end; /* pairs that become columns */
	bool split;         /* the last group has more members than fit */
};

/* At most k pairs after the first `skip`. A last group that does not fit is cut, or, with whole,
 * left out. */
struct pe_pair_range pe_pairs_choose(
	const struct pe_pair *pairs, int64_t count, int64_t skip, int64_t k, bool whole);

/* Writes the vectors of pairs first … end-1 into rows: node i's entry of pair j at
 * rows[i * stride + j - first]. Pairs whose values are equal as far as doubles can tell get the
 * canonical basis of their space, as if all of them were written; of a class of twins all its space counts,
 * however few pairs stand for it. */
pe_status pe_pairs_write(pe_context *ctx, const struct pe_laplacian *laplacian, const struct pe_pair *pairs,
	int64_t count, struct pe_pair_range range, double *rows, int64_t stride) PE_NODISCARD;

#endif
