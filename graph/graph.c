/* SPDX-License-Identifier: BSD-2-Clause
 * The graph object: what can be asked of it, and its end. graph_build.c makes it. */
#include "graph.h"

#include "tensor.h"

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

/* Writes the edges of a row of graph g behind the first `at`, and gives their number. */
static int64_t put_row(const pe_graph *graph, int64_t g, int64_t row, int64_t at, const pe_tensor *out)
{
	int64_t count = 0;
	for (int64_t i = graph->row[row]; i < graph->row[row + 1]; i++) {
		int64_t ends[2] = {row, graph->ptr[g] + graph->col[i]};
		if (!graph->directed && ends[1] < row)
			continue;
		for (int end = 0; end < 2; end++) {
			int64_t offset = end * out->strides[0] + (at + count) * out->strides[1];
			pe_store_i64((char *)out->data + offset * (int64_t)pe_dtype_size(out->dtype), out->dtype, 1,
				&ends[end], 1);
		}
		count++;
	}
	return count;
}

pe_status pe_graph_edges(const pe_graph *graph, const pe_tensor *edge_index)
{
	if (!graph || !edge_index)
		return PE_ERR_ARGUMENT;
	PE_TRY(pe_tensor_check_output(
		graph->ctx, edge_index, "edge_index", PE_I64, 2, (int64_t[]){2, graph->report.edges}));
	int64_t at = 0;
	for (int64_t g = 0; g < graph->count; g++)
		for (int64_t row = graph->ptr[g]; row < graph->ptr[g + 1]; row++)
			at += put_row(graph, g, row, at, edge_index);
	return PE_OK;
}

const int64_t *pe_graph_failed(const pe_graph *graph)
{
	return graph ? graph->unread.graph : NULL;
}

const char *pe_graph_failure(const pe_graph *graph, int64_t index)
{
	return graph && index >= 0 && index < graph->unread.count ? graph->unread.why[index] : NULL;
}

const char *pe_graph_file(const pe_graph *graph, int64_t index)
{
	if (!graph || index < 0 || index >= graph->count || graph->files.count == 0)
		return NULL;
	int64_t low = 0, high = graph->files.count; /* first[low] ≤ index < first[high] */
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		if (graph->files.first[middle] <= index)
			low = middle;
		else
			high = middle;
	}
	return graph->files.name[low];
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
	for (int64_t i = 0; i < graph->files.count; i++)
		allocator.release(allocator.opaque, graph->files.name[i]);
	void *blocks[] = {graph->ptr, graph->row, graph->col, graph->weight, graph->node_ids, graph->node_names,
		graph->name_pool, graph->unread.graph, graph->unread.why, graph->files.name, graph->files.first,
		graph};
	for (int64_t i = 0; i < PE_COUNT(blocks); i++)
		allocator.release(allocator.opaque, blocks[i]);
}
