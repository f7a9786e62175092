/* SPDX-License-Identifier: BSD-2-Clause
 * component=largest: drops from every graph all nodes outside of its largest component. */
#include "components.h"
#include "graph_build.h"

/* Marks in keep (nodes) the nodes that stay with their new number, the others with -1. */
static void choose(const pe_graph *graph, int32_t *keep, int32_t *sizes)
{
	for (int64_t g = 0; g < graph->count; g++) {
		struct pe_csr view = pe_graph_view(graph, g);
		int32_t *label = keep + graph->ptr[g];
		int32_t count, largest = 0, number = 0;
		pe_components(&view, label, sizes, &count);
		for (int32_t c = 1; c < count; c++)
			if (sizes[c] > sizes[largest])
				largest = c;
		for (int32_t i = 0; i < view.n; i++)
			label[i] = label[i] == largest ? number++ : -1;
	}
}

struct packing {
	pe_graph *graph;
	const int32_t *keep;
	int64_t node, entry, loops; /* written so far */
	bool negative;              /* some weight of those is */
};

/* Row `from` of a graph whose nodes begin at `begin`, its entries first … end-1. No edge leaves a
 * component: only the columns change. What is read always stands at or after what is written. */
static void pack_row(struct packing *p, int64_t begin, int64_t from, int64_t first, int64_t end)
{
	pe_graph *graph = p->graph;
	for (int64_t e = first; e < end; e++) {
		int32_t col = p->keep[begin + graph->col[e]];
		p->loops += col == p->keep[from];
		graph->col[p->entry] = col;
		if (graph->weight) {
			graph->weight[p->entry] = graph->weight[e];
			p->negative |= graph->weight[e] < 0;
		}
		p->entry++;
	}
	if (graph->node_ids)
		graph->node_ids[p->node] = graph->node_ids[from];
	if (graph->node_names)
		graph->node_names[p->node] = graph->node_names[from];
	graph->row[++p->node] = p->entry;
}

static void pack(pe_graph *graph, const int32_t *keep)
{
	struct packing p = {.graph = graph, .keep = keep};
	pe_graph_report *report = &graph->report;
	int64_t begin = 0, first = 0;
	report->components = report->isolated = 0;
	for (int64_t g = 0; g < graph->count; g++) {
		int64_t end = graph->ptr[g + 1], node = p.node;
		for (int64_t i = begin; i < end; i++) {
			int64_t stop = graph->row[i + 1];
			if (keep[i] >= 0)
				pack_row(&p, begin, i, first, stop);
			first = stop;
		}
		report->components += p.node > node;
		report->isolated += p.node - node == 1;
		graph->ptr[g + 1] = p.node;
		begin = end;
	}
	graph->negative = p.negative;
	graph->nodes = report->nodes = p.node;
	report->edges = graph->directed ? p.entry : (p.entry + p.loops) / 2;
}

pe_status pe_graph_keep_largest(pe_context *ctx, pe_graph *graph, int64_t *dropped)
{
	pe_status status = PE_ERR_NOMEM;
	int64_t before = graph->nodes;
	int32_t *keep = pe_alloc(ctx, before, sizeof *keep), *sizes = pe_alloc(ctx, before, sizeof *sizes);
	if (keep && sizes) {
		choose(graph, keep, sizes);
		pack(graph, keep);
		*dropped = before - graph->nodes;
		graph->report.renumbered |= *dropped > 0;
		status = PE_OK;
	}
	pe_free(ctx, keep);
	pe_free(ctx, sizes);
	return status;
}
