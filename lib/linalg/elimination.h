/* SPDX-License-Identifier: BSD-2-Clause
 * In which order to eliminate the rows of a sparse symmetric matrix, and what comes of it. */
#ifndef PE_ELIMINATION_H
#define PE_ELIMINATION_H

#include "sparse_factor.h"

struct pe_elimination {
	int32_t n;
	int32_t *order;  /* the row that is eliminated at each place: minimum degree, a postorder of the tree */
	int32_t *place;  /* and back: row order[i] has place i */
	int32_t *parent; /* the elimination tree, by places; -1 at a root */
	int32_t *count;  /* numbers in each column of L, the diagonal among them */
	double fill;     /* numbers in L */
	double flops;    /* of one factorisation */
};

/* PE_ERR_UNSUPPORTED if the matrix is too large for 32-bit indices. */
pe_status pe_elimination_create(
	pe_context *ctx, const struct pe_sparse_matrix *matrix, struct pe_elimination *out) PE_NODISCARD;
void pe_elimination_free(pe_context *ctx, struct pe_elimination *elimination);

#endif
