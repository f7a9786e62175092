/* SPDX-License-Identifier: BSD-2-Clause
 * Rows of graphs so small that a row is a word of bits: molecules. What edge_rows.h does by sorting,
 * several times faster, for graphs without weights. */
#ifndef PE_BIT_ROWS_H
#define PE_BIT_ROWS_H

#include "edge_rows.h"

#define PE_BIT_NODES 64 /* the most nodes of a graph */

/* Bit j of out[i]: i→j; of in[i]: j→i. Nodes are numbered through the block. out is the place of the offsets
 * that the rows have in the end, and not theirs; in NULL: the same as out, as of pairs it always is. */
struct pe_bit_rows {
	uint64_t *out, *in;
};

/* Frees `in`. */
void pe_bit_rows_free(pe_context *ctx, struct pe_bit_rows *rows);

/* The edges of a block without weights and without PE_DUPLICATES_SUM, every graph of at most
 * PE_BIT_NODES nodes. rows->out is there, rows->in is made if it is needed. */
pe_status pe_bit_rows_sort(pe_context *ctx, const struct pe_edge_block *block, struct pe_bit_rows *rows,
	struct pe_row_counts *counts, struct pe_asymmetry *asymmetry) PE_NODISCARD;

struct pe_bit_counts {
	int64_t components, isolated;
};

/* Makes both directions of every edge one, if `undirected`, and counts. ptr as in edge_rows.h. */
struct pe_bit_counts pe_bit_rows_finish(
	struct pe_bit_rows *rows, const int64_t *ptr, int64_t graphs, bool undirected);

/* Turns the bits of nodes 0 … nodes-1 into offsets, from entry on, and writes col[entry … end-1]. */
void pe_bit_rows_write(struct pe_bit_rows *rows, int64_t nodes, int64_t entry, int64_t end, int32_t *col);

#endif
