/* SPDX-License-Identifier: BSD-2-Clause
 * One graph of many as a graph of its own. */
#include <string.h>

#include "components.h"

static pe_status copy_rows(pe_context *ctx, const pe_graph *graph, int64_t first, pe_graph *made)
{
	int64_t entry = graph->row[first], entries = graph->row[first + made->nodes] - entry;
	made->ptr = pe_alloc_zero(ctx, 2, sizeof *made->ptr);
	made->row = pe_alloc(ctx, made->nodes + 1, sizeof *made->row);
	made->col = pe_alloc_copy(ctx, graph->col + entry, entries, sizeof *made->col);
	if (graph->weight)
		made->weight = pe_alloc_copy(ctx, graph->weight + entry, entries, sizeof *made->weight);
	if (!made->ptr || !made->row || !made->col || (graph->weight && !made->weight))
		return PE_ERR_NOMEM;
	made->ptr[1] = made->nodes;
	for (int64_t i = 0; i <= made->nodes; i++)
		made->row[i] = graph->row[first + i] - entry;
	for (int64_t e = 0; made->weight && e < entries; e++)
		made->negative |= made->weight[e] < 0;
	return PE_OK;
}

static pe_status copy_ids(pe_context *ctx, const pe_graph *graph, int64_t first, pe_graph *made)
{
	int64_t size = 0;
	if (graph->node_ids) {
		made->node_ids = pe_alloc_copy(ctx, graph->node_ids + first, made->nodes, sizeof *made->node_ids);
		return made->node_ids ? PE_OK : PE_ERR_NOMEM;
	}
	for (int64_t i = 0; i < made->nodes; i++)
		size += (int64_t)strlen(graph->node_names[first + i]) + 1;
	made->node_names = pe_alloc(ctx, made->nodes, sizeof *made->node_names);
	made->name_pool = pe_alloc(ctx, size, 1);
	if (!made->node_names || !made->name_pool)
		return PE_ERR_NOMEM;
	char *at = made->name_pool;
	for (int64_t i = 0; i < made->nodes; i++) {
		size_t length = strlen(graph->node_names[first + i]) + 1;
		made->node_names[i] = memcpy(at, graph->node_names[first + i], length);
		at += length;
	}
	return PE_OK;
}

/* Why it could not be read, and which file it is of. */
static pe_status copy_origin(pe_context *ctx, const pe_graph *graph, int64_t index, pe_graph *made)
{
	const char *file = pe_graph_file(graph, index);
	int64_t at = 0;
	while (at < graph->unread.count && graph->unread.graph[at] != index)
		at++;
	if (at < graph->unread.count) {
		made->unread.graph = pe_alloc_zero(ctx, 1, sizeof *made->unread.graph);
		made->unread.why = pe_alloc_zero(ctx, 1, sizeof *made->unread.why);
		if (!made->unread.graph || !made->unread.why ||
			!(made->unread.why[0] = pe_strdup(ctx, graph->unread.why[at])))
			return PE_ERR_NOMEM;
		made->unread.count = 1;
	}
	if (!file)
		return PE_OK;
	made->files.name = pe_alloc_zero(ctx, 1, sizeof *made->files.name);
	made->files.first = pe_alloc_zero(ctx, 2, sizeof *made->files.first);
	if (!made->files.name || !made->files.first || !(made->files.name[0] = pe_strdup(ctx, file)))
		return PE_ERR_NOMEM;
	made->files.first[1] = made->files.count = 1;
	return PE_OK;
}

static pe_status count_components(pe_context *ctx, pe_graph *made)
{
	const struct pe_csr view = pe_graph_view(made, 0);
	int32_t *label = pe_alloc(ctx, made->nodes, sizeof *label),
			*sizes = pe_alloc(ctx, made->nodes, sizeof *sizes);
	int32_t components = 0;
	bool room = label && sizes;
	if (room)
		pe_components(&view, label, sizes, &components);
	made->report.components = components;
	for (int32_t c = 0; c < components; c++)
		made->report.isolated += sizes[c] == 1;
	pe_free(ctx, label);
	pe_free(ctx, sizes);
	return room ? PE_OK : PE_ERR_NOMEM;
}

static pe_status report(pe_context *ctx, const pe_graph *graph, pe_graph *made)
{
	pe_graph_report *r = &made->report;
	int64_t entries = made->row[made->nodes];
	*r = (pe_graph_report){.format = graph->report.format,
		.graphs = 1,
		.nodes = made->nodes,
		.failed = made->unread.count,
		.base = graph->report.base,
		.directed = graph->report.directed,
		.weighted = graph->report.weighted,
		.renumbered = graph->report.renumbered,
		.digest = made->digest};
	memcpy(made->digest, graph->digest, sizeof made->digest);
	for (int64_t i = 0; i < made->nodes; i++)
		for (int64_t e = made->row[i]; e < made->row[i + 1]; e++)
			r->self_loops += made->col[e] == i;
	r->edges = r->rows = made->directed ? entries : (entries + r->self_loops) / 2;
	return count_components(ctx, made);
}

pe_status pe_graph_select(pe_context *context, const pe_graph *graph, int64_t index, pe_graph **out)
{
	if (!out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!context || !graph)
		return PE_ERR_ARGUMENT;
	if (index < 0 || index >= graph->count)
		return pe_fail(context, PE_ERR_ARGUMENT, "there is no graph %lld: there are %lld", (long long)index,
			(long long)graph->count);
	pe_graph *made = pe_alloc_zero(context, 1, sizeof *made);
	if (!made)
		return PE_ERR_NOMEM;
	int64_t first = graph->ptr[index];
	made->allocator = context->allocator;
	made->ctx = context;
	made->count = 1;
	made->number = graph->number + index;
	made->nodes = graph->ptr[index + 1] - first;
	made->directed = graph->directed;
	made->loops = graph->loops;
	made->symmetrise = graph->symmetrise;
	pe_status status = copy_rows(context, graph, first, made);
	if (status == PE_OK)
		status = copy_ids(context, graph, first, made);
	if (status == PE_OK)
		status = copy_origin(context, graph, index, made);
	if (status == PE_OK)
		status = report(context, graph, made);
	if (status != PE_OK)
		pe_graph_destroy(&made);
	*out = made;
	return status;
}
