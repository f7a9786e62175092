/* SPDX-License-Identifier: BSD-2-Clause
 * Graphs under construction, in chunks of consecutive ones. What a chunk becomes depends on nothing but its
 * edges and the policies. */
#ifndef PE_GRAPH_CHUNKS_H
#define PE_GRAPH_CHUNKS_H

#include "bit_rows.h"

struct pe_chunk {
	int64_t first, end; /* graphs */
	struct pe_rows rows, transpose;
	bool small;              /* all graphs are, and without weights: bits instead */
	struct pe_bit_rows bits; /* bits.out is a part of the build's row */
	struct pe_row_counts counts;
	struct pe_asymmetry asymmetry;
	int64_t entries, components, isolated;
	int64_t entry;                      /* where its entries begin in the graph */
	bool negative, not_one, not_finite; /* some weight is */
};

struct pe_build {
	struct pe_raw_graphs *raw;
	const struct pe_graph_policy *policy;
	enum pe_duplicates duplicates;
	int64_t *ptr; /* node offsets of the graphs: raw's, then the graph's */
	int64_t *row; /* the graph's in the end; NULL where no chunk is small */
	struct pe_chunk *chunks;
	int64_t chunk_count;
	bool given;        /* weights */
	bool ids_count_up; /* from raw's base, in every graph */
	bool directed, weighted;
	bool edges_decide;     /* which it is, once all chunks are sorted */
	struct pe_chunk total; /* sums, and ors, over the chunks */
	pe_graph *graph;
};

/* Cuts b->raw into b->chunks, and makes b->row. */
pe_status pe_chunks_cut(pe_context *ctx, struct pe_build *b) PE_NODISCARD;

/* For pe_parallel over the chunks of a struct pe_build, one after the other: sorts and counts what is listed;
 * makes it undirected, unless b->directed, and looks at it, for small chunks at once unless edges_decide;
 * writes it, from the chunk's entry on, to b->graph's row, col, weight and, if they count up, node_ids. */
pe_status pe_chunk_sort(pe_context *ctx, void *build, int64_t index) PE_NODISCARD;
pe_status pe_chunk_finish(pe_context *ctx, void *build, int64_t index) PE_NODISCARD;
pe_status pe_chunk_write(pe_context *ctx, void *build, int64_t index) PE_NODISCARD;

/* Writes the ids of the chunk's nodes alone. */
void pe_chunk_count_ids(const struct pe_build *b, const struct pe_chunk *chunk);

void pe_chunks_free(pe_context *ctx, struct pe_build *b);

#endif
