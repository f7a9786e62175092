/* SPDX-License-Identifier: BSD-2-Clause
 * For encoders that do one graph after the other: all graphs cut into parts of neighbours, which the worker
 * threads do in any order. A part is a function of the graphs alone.
 *
 *	PE_TRY(pe_graph_parts_plan(ctx, graph, large, &parts));
 *	status = pe_graph_parts_run(e, &parts, outs, fn, arg);
 *	pe_graph_parts_free(ctx, &parts);
 */
#ifndef PE_GRAPH_PARTS_H
#define PE_GRAPH_PARTS_H

#include "encoder.h"
#include "graph.h"

struct pe_graph_parts {
	const pe_graph *graph;
	int64_t large; /* a graph of more nodes is a part of its own, done by the calling thread */
	int64_t count;
	int64_t *ends; /* one past the last graph of each */
};

/* Graphs first … end-1. */
struct pe_part {
	int64_t number; /* 0 … parts.count - 1, ascending with first */
	int64_t first, end;
	bool large;
	int64_t node;                  /* the first one's first node */
	pe_tensor outs[PE_MAX_ARRAYS]; /* the rows of these graphs alone; data NULL: not wanted */
};

pe_status pe_graph_parts_plan(
	pe_context *ctx, const pe_graph *graph, int64_t large, struct pe_graph_parts *out) PE_NODISCARD;
void pe_graph_parts_free(pe_context *ctx, struct pe_graph_parts *parts);

/* Does one part. ctx is a worker's; of a large part, the encoding's own, with its threads and its log. */
typedef pe_status (*pe_part_fn)(pe_context *ctx, void *arg, const struct pe_part *part);

/* Calls fn for every part: first the others, by the threads, then the large ones in turn. outs are all rows,
 * as encoders get them. Returns the status of the first part that failed. */
pe_status pe_graph_parts_run(pe_encoding *e, const struct pe_graph_parts *parts, const pe_tensor *outs,
	pe_part_fn fn, void *arg) PE_NODISCARD;

#endif
