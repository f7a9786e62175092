/* SPDX-License-Identifier: BSD-2-Clause
 * Sorted rows of a block of consecutive graphs, whose nodes are numbered through the block in start,
 * and within their graph in col. Everything is linear in nodes and entries. */
#ifndef PE_EDGE_ROWS_H
#define PE_EDGE_ROWS_H

#include "graph.h"

struct pe_rows {
	int64_t nodes;
	int64_t *start; /* nodes + 1 offsets into col and w, from 0 */
	int32_t *col;
	double *w; /* or NULL: all 1 */
};

/* Graphs first … end-1 of the raw graphs. */
struct pe_edge_block {
	const struct pe_raw_graphs *raw; /* where graphs begin, and their edges */
	int64_t first, end;
	const int32_t *u, *v; /* of the edges, from that of the first graph on */
	const double *w;      /* likewise, or NULL: all 1 */
	bool pairs;           /* every row is an unordered pair: kept as (smaller, larger) */
	bool drop_loops;
	enum pe_duplicates duplicates; /* not AUTO */
};

struct pe_row_counts {
	int64_t loops, duplicates; /* rows as listed */
	int64_t zeros;             /* edges dropped for their weight 0 */
	int64_t diagonal;          /* loops that stayed */
	int64_t edges;             /* other entries that stayed */
};

void pe_rows_free(pe_context *ctx, struct pe_rows *rows);
/* Where a graph's nodes begin in the block, and its edges in the raw arrays. */
static inline int64_t pe_raw_node(const struct pe_raw_graphs *raw, int64_t graph)
{
	return raw->ptr ? raw->ptr[graph] : graph == 0 ? 0 : raw->nodes;
}

static inline int64_t pe_raw_edge(const struct pe_raw_graphs *raw, int64_t graph)
{
	return raw->edge_ptr ? raw->edge_ptr[graph] : graph == 0 ? 0 : raw->rows;
}

/* Rows by source: columns ascending, duplicates combined in the order of listing, loops dropped if so
 * told, edges of weight 0 dropped. out->w is made if there are weights, or duplicates are summed. */
pe_status pe_rows_sort(pe_context *ctx, const struct pe_edge_block *block, struct pe_rows *out,
	struct pe_row_counts *counts) PE_NODISCARD;
/* ptr: node offsets of `graphs` graphs, of which ptr[0] is the block's first. */
pe_status pe_rows_transpose(pe_context *ctx, const struct pe_rows *rows, const int64_t *ptr, int64_t graphs,
	struct pe_rows *out) PE_NODISCARD;

struct pe_asymmetry {
	int64_t one_way; /* entries, off the diagonal, that the transpose has not */
	int64_t unequal; /* pairs whose two weights differ */
};
struct pe_asymmetry pe_rows_asymmetry(const struct pe_rows *rows, const struct pe_rows *transpose);

/* The union of rows and their transpose. out->w is made if `weighted`. Symmetric to the bit. */
pe_status pe_rows_union(pe_context *ctx, const struct pe_rows *rows, const struct pe_rows *transpose,
	const int64_t *ptr, int64_t graphs, enum pe_symmetrise symmetrise, bool weighted,
	struct pe_rows *out) PE_NODISCARD;

#endif
