/* SPDX-License-Identifier: BSD-2-Clause
 * Graphs as arrays: the one place that turns an edge_index into edges. */
#ifndef PE_EDGE_INDEX_H
#define PE_EDGE_INDEX_H

#include "graph.h"

/* Views; only edge_index is required. */
struct pe_graph_arrays {
	const pe_tensor *edge_index;  /* (2, E), an integer type: row 0 sources, row 1 targets */
	const pe_tensor *edge_weight; /* (E), any type but bool; finite */
	const pe_tensor *ptr;         /* (graphs + 1) node offsets, from 0, never falling. Ids are then global. */
	const pe_tensor *batch;       /* (nodes) the graph of each node, never falling. Ids are then global. */
	int64_t num_nodes;            /* -1: ptr or batch say, or else the largest id + 1 */
};

/* Checks everything, and copies. An edge may stand anywhere, not only among those of its graph, but
 * must not join two graphs. name goes before messages, as in "NAME: edge 3: …"; NULL: nothing does.
 * PE_ERR_FORMAT if values are wrong, PE_ERR_SHAPE if types or shapes are. On success *out is freed by
 * pe_raw_graphs_free, on failure there is nothing to free. */
pe_status pe_raw_from_arrays(pe_context *ctx, const char *name, const struct pe_graph_arrays *arrays,
	struct pe_raw_graphs *out) PE_NODISCARD;

#endif
