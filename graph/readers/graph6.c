/* SPDX-License-Identifier: BSD-2-Clause
 * Files of graph6, sparse6 and digraph6: a graph a line, read in pieces of many lines by several threads.
 * Lines of graph6 and sparse6 may be mixed. */
#include <inttypes.h>

#include "graph6_line.h"
#include "lines.h"
#include "pool.h"

/* All lines, some of which may be empty. */
static pe_status parse_any_lines(struct pe_graph6_builder *b)
{
	int64_t empty = 0; /* the line of the first empty one since the last graph */
	do {
		const char *text;
		size_t size;
		pe_scan_line(&b->scan, &text, &size);
		if (size == 0) {
			empty = empty ? empty : b->scan.line;
			continue;
		}
		if (empty) {
			b->scan.line = empty;
			return pe_scan_fail(&b->scan, "an empty line among the graphs");
		}
		PE_TRY(pe_graph6_line(b, text, size));
	} while (pe_scan_next_line(&b->scan));
	return PE_OK;
}

/* ---- pieces ------------------------------------------------------------------------- */

struct pieces {
	const struct pe_source *source;
	enum pe_graph6_kind first_kind;
	struct pe_lines lines;
	struct pe_graph6_builder *builders;
	int64_t count;
	struct pe_raw_graphs raw;
};

static pe_status parse_piece(struct pe_scan *scan, void *arg, int64_t first, int64_t end)
{
	struct pieces *p = arg;
	struct pe_graph6_builder b = {.scan = *scan, .bytes = p->source->size, .first_kind = p->first_kind};
	pe_status status = pe_graph6_start(&b);
	for (int64_t line = first; line < end && status == PE_OK; line++) {
		const char *text;
		size_t size;
		pe_scan_line(&b.scan, &text, &size);
		status = pe_graph6_line(&b, text, size);
		(void)pe_scan_next_line(&b.scan);
	}
	p->builders[first / p->lines.each] = b; /* of which the arrays are of interest now */
	return status;
}

/* What the lines hold: a builder for each piece, or one for all. */
static pe_status parse(pe_context *ctx, struct pieces *p)
{
	struct pe_scan scan = pe_scan_start(ctx, p->source);
	p->first_kind = pe_graph6_first_kind(scan);
	PE_TRY(pe_lines_count(ctx, p->source, &p->lines));
	p->count = p->lines.regular ? p->lines.pieces : 1;
	p->builders = pe_alloc_zero(ctx, p->count, sizeof *p->builders);
	if (!p->builders)
		return PE_ERR_NOMEM;
	if (p->lines.regular)
		return pe_lines_each(ctx, &p->lines, parse_piece, p);
	struct pe_graph6_builder *b = p->builders;
	*b = (struct pe_graph6_builder){.scan = scan, .bytes = p->source->size, .first_kind = p->first_kind};
	PE_TRY(pe_graph6_start(b));
	return parse_any_lines(b);
}

static pe_status add_up(pe_context *ctx, struct pieces *p)
{
	struct pe_raw_graphs *raw = &p->raw;
	for (int64_t i = 0; i < p->count; i++) {
		const struct pe_graph6_builder *b = &p->builders[i];
		raw->graphs += b->graphs;
		raw->nodes += b->ptr[b->graphs];
		raw->rows += b->edges;
	}
	if (raw->graphs == 0)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s:1: there is no graph", pe_source_name(p->source));
	if (pe_nodes_excessive(raw->nodes, p->source->size))
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: %" PRId64 " nodes in a file of %zu bytes: refused as damaged",
			pe_source_name(p->source), raw->nodes, p->source->size);
	return PE_OK;
}

/* The arrays of a single piece are those of the whole. */
static void take_arrays(struct pieces *p)
{
	struct pe_graph6_builder *b = p->builders;
	p->raw.u = b->u;
	p->raw.v = b->v;
	b->u = b->v = NULL;
	if (p->raw.graphs == 1)
		return;
	p->raw.ptr = b->ptr;
	p->raw.edge_ptr = b->edge_ptr;
	b->ptr = b->edge_ptr = NULL;
}

static pe_status copy_piece(pe_context *worker, void *arg, int64_t index)
{
	struct pieces *p = arg;
	struct pe_graph6_builder *b = &p->builders[index];
	const int64_t graph = b->place.graph, node = b->place.node, edge = b->place.edge;
	memcpy(p->raw.u + edge, b->u, (size_t)b->edges * sizeof *b->u);
	memcpy(p->raw.v + edge, b->v, (size_t)b->edges * sizeof *b->v);
	for (int64_t g = 1; g <= b->graphs; g++) {
		p->raw.ptr[graph + g] = node + b->ptr[g];
		p->raw.edge_ptr[graph + g] = edge + b->edge_ptr[g];
	}
	pe_graph6_free(worker, b);
	return PE_OK;
}

static pe_status join(pe_context *ctx, struct pieces *p)
{
	struct pe_raw_graphs *raw = &p->raw;
	raw->ptr = pe_alloc_zero(ctx, raw->graphs + 1, sizeof *raw->ptr);
	raw->edge_ptr = pe_alloc_zero(ctx, raw->graphs + 1, sizeof *raw->edge_ptr);
	raw->u = pe_alloc(ctx, raw->rows, sizeof *raw->u);
	raw->v = pe_alloc(ctx, raw->rows, sizeof *raw->v);
	if (!raw->ptr || !raw->edge_ptr || !raw->u || !raw->v)
		return PE_ERR_NOMEM;
	for (int64_t i = 1; i < p->count; i++) {
		const struct pe_graph6_builder *b = &p->builders[i - 1];
		p->builders[i].place.graph = b->place.graph + b->graphs;
		p->builders[i].place.node = b->place.node + b->ptr[b->graphs];
		p->builders[i].place.edge = b->place.edge + b->edges;
	}
	return pe_parallel(ctx, p->count, copy_piece, p, NULL);
}

static pe_status read_pieces(pe_context *ctx, struct pieces *p)
{
	PE_TRY(parse(ctx, p));
	PE_TRY(add_up(ctx, p));
	p->raw.format = pe_graph6_kind_name(p->first_kind);
	p->raw.direction = p->first_kind == PE_DIGRAPH6 ? PE_DIRECTED : PE_UNDIRECTED;
	p->raw.mirrored = p->first_kind != PE_DIGRAPH6;
	if (p->count > 1)
		return join(ctx, p);
	take_arrays(p);
	return PE_OK;
}

static pe_status read_graph6(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct pieces p = {.source = source};
	if (policy->weight_name)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s:1: graph6 has no weights, so none named %s",
			pe_source_name(source), policy->weight_name);
	pe_status status = read_pieces(ctx, &p);
	for (int64_t i = 0; p.builders && i < p.count; i++)
		pe_graph6_free(ctx, &p.builders[i]);
	pe_free(ctx, p.builders);
	pe_lines_free(ctx, &p.lines);
	if (status != PE_OK)
		pe_raw_graphs_free(ctx, &p.raw);
	else
		*out = p.raw;
	return status;
}

/* ---- recognition -------------------------------------------------------------------- */

/* Certain if the first line is a graph to the byte: no other format begins with such a line. */
static bool recognise(const struct pe_source *source)
{
	struct pe_scan scan = pe_scan_start(NULL, source);
	const char *text;
	size_t size;
	pe_scan_line(&scan, &text, &size);
	return pe_graph6_is_line(text, size);
}

const struct pe_reader pe_reader_graph6 = {
	.format = "graph6",
	.suffixes = ".g6 .s6 .d6",
	.recognise = recognise,
	.read = read_graph6,
};
