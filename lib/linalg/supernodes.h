/* SPDX-License-Identifier: BSD-2-Clause
 * Columns of L that share their rows: supernodes, each a dense block. Rows and columns are numbered by the
 * place at which they are eliminated. Small supernodes are merged with their parents even where that stores
 * zeros. */
#ifndef PE_SUPERNODES_H
#define PE_SUPERNODES_H

#include "elimination.h"

struct pe_supernodes {
	int32_t n, count;
	int32_t *first;  /* count + 1: supernode s is of columns first[s] … first[s + 1] - 1 */
	int32_t *parent; /* count: of the column after the last's first row; greater than s, -1 at a root */
	int64_t *below; /* count + 1: its rows below those are row[below[s]] … row[below[s + 1] - 1], ascending */
	int32_t *row;
	int32_t *seat;  /* the same rows as the parent's block numbers them, its own columns first */
	int64_t *value; /* count + 1: where its numbers begin in L, by columns */
	int64_t *start; /* n + 1: entries of the matrix below the diagonal, by columns … */
	int32_t *down;  /* … their rows, … */
	int64_t *at;    /* … their places in L, … */
	double *entry;  /* … and they themselves */
};

/* PE_ERR_NOMEM is all that may go wrong. */
pe_status pe_supernodes_create(pe_context *ctx, const struct pe_sparse_matrix *matrix,
	const struct pe_elimination *elimination, struct pe_supernodes *out) PE_NODISCARD;
void pe_supernodes_free(pe_context *ctx, struct pe_supernodes *supernodes);

static inline int32_t pe_supernode_width(const struct pe_supernodes *f, int32_t s)
{
	return f->first[s + 1] - f->first[s];
}

/* Rows below its own columns. */
static inline int32_t pe_supernode_below(const struct pe_supernodes *f, int32_t s)
{
	return (int32_t)(f->below[s + 1] - f->below[s]);
}

#endif
