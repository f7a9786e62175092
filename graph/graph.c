/* SPDX-License-Identifier: BSD-2-Clause
 * The graph object: what can be asked of it, and its end. graph_build.c makes it. */
#include "graph.h"

const pe_graph_report *pe_graph_get_report(const pe_graph *graph)
{
	return graph ? &graph->report : NULL;
}

const int64_t *pe_graph_ptr(const pe_graph *graph)
{
	return graph ? graph->ptr : NULL;
}

const int64_t *pe_graph_node_ids(const pe_graph *graph)
{
	return graph ? graph->node_ids : NULL;
}

const char *pe_graph_node_name(const pe_graph *graph, int64_t row)
{
	bool named = graph && graph->node_names && row >= 0 && row < graph->nodes;
	return named ? graph->node_names[row] : NULL;
}

const int64_t *pe_graph_failed(const pe_graph *graph)
{
	return graph ? graph->unread.graph : NULL;
}

const char *pe_graph_failure(const pe_graph *graph, int64_t index)
{
	return graph && index >= 0 && index < graph->unread.count ? graph->unread.why[index] : NULL;
}

void pe_graph_destroy(pe_graph **address)
{
	if (!address || !*address)
		return;
	pe_graph *graph = *address;
	*address = NULL;
	pe_allocator allocator = graph->allocator;
	for (int64_t i = 0; i < graph->unread.count; i++)
		allocator.release(allocator.opaque, graph->unread.why[i]);
	void *blocks[] = {graph->ptr, graph->row, graph->col, graph->weight, graph->node_ids, graph->node_names,
		graph->name_pool, graph->unread.graph, graph->unread.why, graph};
	for (int64_t i = 0; i < PE_COUNT(blocks); i++)
		allocator.release(allocator.opaque, blocks[i]);
}
