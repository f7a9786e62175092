/* SPDX-License-Identifier: BSD-2-Clause
 * Where the results of encoder lap go. */
#ifndef PE_LAP_OUTPUTS_H
#define PE_LAP_OUTPUTS_H

#include "lap_graph.h"

/* data NULL: not wanted. */
struct pe_lap_outputs {
	pe_tensor vectors; /* (nodes, k) */
	pe_tensor values;  /* (graphs, k), or, with values_by_node, (nodes, k, 1) */
	pe_tensor groups;  /* (graphs, k) */
	bool values_by_node;
	int64_t graph, node; /* that the first rows are of */
};

/* Stores the result of graph number g, rounded once; safe for different graphs at once. */
void pe_lap_store(const struct pe_lap_outputs *outputs, const pe_graph *graph, int64_t g, int64_t k,
	const struct pe_lap_result *result);

#endif
