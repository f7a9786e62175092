/* SPDX-License-Identifier: BSD-2-Clause
 * A directed graph made undirected, for encoders that need that. */
#include <math.h>
#include <string.h>

#include "edge_rows.h"

static pe_status copy_ids(pe_context *ctx, const pe_graph *graph, pe_graph *made)
{
	if (graph->node_ids) {
		made->node_ids = pe_alloc_copy(ctx, graph->node_ids, graph->nodes, sizeof *made->node_ids);
		if (!made->node_ids)
			return PE_ERR_NOMEM;
	}
	if (!graph->node_names)
		return PE_OK;
	int64_t size = 0;
	for (int64_t i = 0; i < graph->nodes; i++)
		size =
			pe_max(size, graph->node_names[i] - graph->name_pool + (int64_t)strlen(graph->node_names[i]) + 1);
	made->name_pool = pe_alloc_copy(ctx, graph->name_pool, size, 1);
	made->node_names = pe_alloc(ctx, graph->nodes, sizeof *made->node_names);
	if (!made->name_pool || !made->node_names)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < graph->nodes; i++)
		made->node_names[i] = made->name_pool + (graph->node_names[i] - graph->name_pool);
	return PE_OK;
}

static pe_status unite(pe_context *ctx, const pe_graph *graph, pe_graph *made)
{
	const struct pe_rows rows = {graph->nodes, graph->row, graph->col, graph->weight};
	struct pe_rows transpose, united;
	bool weighted = graph->weight || graph->symmetrise != PE_SYMMETRISE_MAX;
	PE_TRY(pe_rows_transpose(ctx, &rows, graph->ptr, graph->count, &transpose));
	pe_status status =
		pe_rows_union(ctx, &rows, &transpose, graph->ptr, graph->count, graph->symmetrise, weighted, &united);
	pe_rows_free(ctx, &transpose);
	PE_TRY(status);
	made->row = united.start;
	made->col = united.col;
	made->weight = united.w;
	return PE_OK;
}

static pe_status count(pe_context *ctx, const pe_graph *graph, pe_graph *made)
{
	int64_t loops = 0;
	made->negative = false;
	for (int64_t g = 0; g < made->count; g++)
		for (int64_t i = made->ptr[g]; i < made->ptr[g + 1]; i++)
			for (int64_t e = made->row[i]; e < made->row[i + 1]; e++) {
				loops += made->col[e] == i - made->ptr[g];
				made->negative |= made->weight && made->weight[e] < 0;
				if (made->weight && !isfinite(made->weight[e]))
					return pe_fail(ctx, PE_ERR_RANGE,
						"the two weights of some edge, added up, are too large for a number");
			}
	made->report = graph->report;
	memcpy(made->digest, graph->digest, sizeof made->digest);
	made->report.digest = made->digest;
	made->report.edges = (made->row[made->nodes] + loops) / 2;
	made->report.directed = 0;
	made->report.weighted = made->weight != NULL;
	return PE_OK;
}

pe_status pe_graph_symmetrised(pe_context *ctx, const pe_graph *graph, pe_graph **out)
{
	*out = NULL;
	if (!graph->directed)
		return PE_OK;
	pe_graph *made = pe_alloc_zero(ctx, 1, sizeof *made);
	if (!made)
		return PE_ERR_NOMEM;
	made->allocator = ctx->allocator;
	made->ctx = ctx;
	made->count = graph->count;
	made->nodes = graph->nodes;
	made->loops = graph->loops;
	made->symmetrise = graph->symmetrise;
	made->number = graph->number;
	made->ptr = pe_alloc_copy(ctx, graph->ptr, graph->count + 1, sizeof *made->ptr);
	pe_status status = made->ptr ? copy_ids(ctx, graph, made) : PE_ERR_NOMEM;
	if (status == PE_OK)
		status = unite(ctx, graph, made);
	if (status == PE_OK)
		status = count(ctx, graph, made);
	if (status != PE_OK)
		pe_graph_destroy(&made);
	*out = made;
	return status;
}
