/* SPDX-License-Identifier: BSD-2-Clause
 * Laplacian eigenvectors of many graphs, over the worker threads, into the outputs. */
#ifndef PE_LAP_BATCH_H
#define PE_LAP_BATCH_H

#include "encoder.h"
#include "lap_graph.h"

/* What all graphs together came to; failures are noted in e. */
struct pe_lap_summary {
	int64_t padded;   /* graphs with fewer than k columns, failed ones left out */
	pe_status status; /* of the only graph, if there is one and it failed */
};

/* Encodes every graph of the undirected `graph` into outs: vectors, values (a row a node, or else a graph),
 * groups. Fails only where the whole must stop. */
pe_status pe_lap_run(pe_encoding *e, const struct pe_lap_options *options, const pe_graph *graph,
	bool values_by_node, const pe_tensor *outs, struct pe_lap_summary *summary) PE_NODISCARD;

#endif
