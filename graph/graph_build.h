/* SPDX-License-Identifier: BSD-2-Clause
 * What stands between edges as listed and a graph. */
#ifndef PE_GRAPH_BUILD_H
#define PE_GRAPH_BUILD_H

#include "graph.h"

/* What was done to the input, for pe_graph_say. */
struct pe_graph_changes {
	const struct pe_graph_policy *policy;
	enum pe_direction listed; /* the direction that the reader gave */
	bool mirrored;            /* every row stood for both directions */
	enum pe_duplicates duplicates;
	int64_t zeros;         /* edges of weight 0 that were dropped */
	int64_t unequal;       /* pairs whose directions had different weights */
	int64_t distinct;      /* edges, off the diagonal, in the directions in which they were listed */
	int64_t dropped_nodes; /* not in the largest component */
};

/* Says once, as warnings, what was changed, and everything as information. */
void pe_graph_say(pe_context *ctx, const pe_graph *graph, const struct pe_graph_changes *changes);

/* Keeps of every graph its largest component, the first of several. */
pe_status pe_graph_keep_largest(pe_context *ctx, pe_graph *graph, int64_t *dropped) PE_NODISCARD;

#endif
