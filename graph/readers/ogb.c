/* SPDX-License-Identifier: BSD-2-Clause
 * OGB's raw layout: edge.csv holds "u,v" with ids from 0 in every graph, graphs one after another;
 * num-node-list.csv and num-edge-list.csv hold a count a graph. ogb/io/read_graph_raw.py. */
#include <inttypes.h>

#include "dataset_files.h"
#include "kernels/kernels.h"
#include "lines.h"

/* ---- rows --------------------------------------------------------------------------- */

static pe_status read_row(struct pe_scan *scan, int64_t nodes, int32_t *u, int32_t *v)
{
	int64_t from, to;
	if (pe_scan_at_end(scan))
		return pe_scan_fail(scan, "the file ends before the edges that num-edge-list.csv declares");
	PE_TRY(pe_scan_i64(scan, "a node of the edge's graph", 0, nodes - 1, &from));
	pe_scan_blanks(scan);
	if (pe_scan_at_end(scan) || *scan->at != ',')
		return pe_scan_fail(scan, "there should be a comma after the first node");
	scan->at++;
	PE_TRY(pe_scan_i64(scan, "a node of the edge's graph", 0, nodes - 1, &to));
	*u = (int32_t)from;
	*v = (int32_t)to;
	return pe_dataset_end_line(scan);
}

static void skip_blank_lines(struct pe_scan *scan)
{
	for (bool blank = true; blank && !pe_scan_at_end(scan);) {
		struct pe_scan line = *scan;
		pe_scan_blanks(&line);
		blank = pe_scan_at_line_end(&line);
		if (blank)
			(void)pe_scan_next_line(scan);
	}
}

/* Rows of so many nodes, most of them by the kernel. */
static pe_status read_rows(struct pe_scan *scan, int64_t nodes, int64_t rows, int32_t *u, int32_t *v)
{
	for (int64_t e = 0;; e++) {
		int64_t plain = scan->ctx->kernels->number_pairs(&scan->at, scan->end, rows - e, u + e, v + e);
		scan->line += plain;
		e += plain;
		if (e == rows)
			return PE_OK;
		skip_blank_lines(scan);
		PE_TRY(read_row(scan, nodes, &u[e], &v[e]));
	}
}

/* The rows of graphs first … end-1, whose ids are below the nodes of their graph. */
static bool are_of_their_graphs(
	const struct pe_raw_graphs *raw, int64_t first, int64_t end, const int32_t *u, const int32_t *v)
{
	int32_t left = 0; /* negative where an id is beyond the last */
	for (int64_t g = first; g < end; g++) {
		int32_t last = (int32_t)(raw->ptr[g + 1] - raw->ptr[g] - 1);
		int64_t rows = raw->edge_ptr[g + 1] - raw->edge_ptr[g];
		for (int64_t e = 0; e < rows; e++)
			left |= (last - u[e]) | (last - v[e]);
		u += rows;
		v += rows;
	}
	return left >= 0;
}

/* The rows of graphs first … end-1. All at once, and if anything is wrong once more, row by row, to name the
 * first that is. */
static pe_status read_graphs(
	struct pe_scan *scan, const struct pe_raw_graphs *raw, int64_t first, int64_t end, int32_t *u, int32_t *v)
{
	struct pe_scan again = *scan;
	int64_t rows = raw->edge_ptr[end] - raw->edge_ptr[first];
	if (read_rows(scan, PE_MAX_NODES, rows, u, v) == PE_OK && are_of_their_graphs(raw, first, end, u, v))
		return PE_OK;
	*scan = again;
	for (int64_t g = first; g < end; g++) {
		int64_t nodes = raw->ptr[g + 1] - raw->ptr[g];
		for (int64_t e = raw->edge_ptr[g]; e < raw->edge_ptr[g + 1]; e++)
			PE_TRY(read_row(scan, nodes, u++, v++));
	}
	return PE_OK;
}

/* ---- rows when they are needed ------------------------------------------------------ */

struct edges {
	struct pe_row_source base;
	struct pe_dataset_file file;
	struct pe_lines lines;
};

static pe_status read_source(
	pe_context *worker, const struct pe_raw_graphs *raw, int64_t first, int64_t end, int32_t *u, int32_t *v)
{
	const struct edges *edges = (const struct edges *)raw->source;
	struct pe_scan scan = pe_lines_at(worker, &edges->lines, raw->edge_ptr[first]);
	return read_graphs(&scan, raw, first, end, u, v);
}

static void release(pe_context *ctx, struct pe_row_source *source)
{
	struct edges *edges = (struct edges *)source;
	edges->file.bytes = source->text;
	pe_dataset_close(ctx, &edges->file);
	pe_lines_free(ctx, &edges->lines);
	pe_free(ctx, edges);
}

static struct edges *make_edges(pe_context *ctx)
{
	struct edges *edges = pe_alloc_zero(ctx, 1, sizeof *edges);
	if (edges)
		edges->base = (struct pe_row_source){.read = read_source, .release = release};
	return edges;
}

/* A file with blank lines, or more or fewer than there should be. */
static pe_status read_any(pe_context *ctx, const struct pe_source *source, struct pe_raw_graphs *raw)
{
	struct pe_scan scan = pe_scan_start(ctx, source);
	raw->u = pe_alloc(ctx, raw->rows, sizeof *raw->u);
	raw->v = pe_alloc(ctx, raw->rows, sizeof *raw->v);
	if (!raw->u || !raw->v)
		return PE_ERR_NOMEM;
	PE_TRY(read_graphs(&scan, raw, 0, raw->graphs, raw->u, raw->v));
	skip_blank_lines(&scan);
	if (!pe_scan_at_end(&scan))
		return pe_scan_fail(&scan,
			"there are more rows than the %" PRId64 " edges that num-edge-list.csv declares", raw->rows);
	return PE_OK;
}

/* ---- counts ------------------------------------------------------------------------- */

/* Offsets from counts; NULL if the sum overflows, or without memory. */
static int64_t *offsets(pe_context *ctx, const struct pe_dataset_integers *counts)
{
	int64_t *made = pe_alloc(ctx, counts->count + 1, sizeof *made);
	if (!made)
		return NULL;
	made[0] = 0;
	for (int64_t g = 0; g < counts->count; g++)
		if (!pe_add(made[g], counts->values[g], &made[g + 1])) {
			(void)pe_fail(ctx, PE_ERR_NOMEM, "the counts of a dataset add up to more than 2^63");
			pe_free(ctx, made);
			return NULL;
		}
	return made;
}

static pe_status check_counts(
	pe_context *ctx, const char *directory, const struct pe_dataset_integers *nodes, int64_t edges)
{
	if (nodes->count != edges)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: num-node-list.csv has %" PRId64 " graphs, num-edge-list.csv has %" PRId64, directory,
			nodes->count, edges);
	if (edges == 0)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: num-node-list.csv is empty", directory);
	return PE_OK;
}

static pe_status take_counts(pe_context *ctx, const struct pe_dataset_file *file,
	const struct pe_dataset_integers *nodes, const struct pe_dataset_integers *edges,
	struct pe_raw_graphs *raw)
{
	raw->graphs = nodes->count;
	raw->ptr = offsets(ctx, nodes);
	raw->edge_ptr = offsets(ctx, edges);
	if (!raw->ptr || !raw->edge_ptr)
		return PE_ERR_NOMEM;
	raw->nodes = raw->ptr[raw->graphs];
	raw->rows = raw->edge_ptr[raw->graphs];
	if (pe_nodes_excessive(raw->nodes, file->source.size))
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: num-node-list.csv declares %" PRId64 " nodes: refused as damaged", file->path, raw->nodes);
	if (raw->rows > (int64_t)(file->source.size + 1) / 4) /* "0,1" and a line end */
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: num-edge-list.csv declares %" PRId64 " edges, but the file has fewer rows", file->path,
			raw->rows);
	return PE_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

struct layout {
	const char *directory;
	struct pe_dataset_integers nodes, edges;
	struct pe_dataset_file node_file, edge_file, weight_file;
	struct edges *source;
};

static pe_status open_files(
	pe_context *ctx, struct layout *l, const struct pe_graph_policy *policy, bool *weights)
{
	PE_TRY(pe_dataset_asks_weights(ctx, l->directory, "edge-feat.csv", policy, weights));
	l->nodes = (struct pe_dataset_integers){.what = "the number of nodes of a graph", .max = PE_MAX_NODES};
	l->edges = (struct pe_dataset_integers){.what = "the number of edges of a graph", .max = INT64_MAX};
	const struct pe_dataset_part parts[] = {
		{"num-node-list.csv", &l->node_file, pe_dataset_then_integers, &l->nodes},
		{"num-edge-list.csv", &l->edge_file, pe_dataset_then_integers, &l->edges},
		{"edge-feat.csv", &l->weight_file, NULL, NULL},
		{"edge.csv", &l->source->file, NULL, NULL},
	};
	if (*weights)
		return pe_dataset_open(ctx, l->directory, parts, PE_COUNT(parts));
	const struct pe_dataset_part without[] = {parts[0], parts[1], parts[3]};
	return pe_dataset_open(ctx, l->directory, without, PE_COUNT(without));
}

static pe_status read_edges(pe_context *ctx, struct layout *l, struct pe_raw_graphs *raw)
{
	struct edges *edges = l->source;
	PE_TRY(check_counts(ctx, l->directory, &l->nodes, l->edges.count));
	PE_TRY(take_counts(ctx, &edges->file, &l->nodes, &l->edges, raw));
	PE_TRY(pe_lines_count(ctx, &edges->file.source, &edges->lines));
	if (edges->lines.count != raw->rows)
		return read_any(ctx, &edges->file.source, raw);
	raw->source = &edges->base;
	raw->source->text = edges->file.bytes;
	raw->source->text_size = (int64_t)edges->file.source.size;
	l->source = NULL;
	return PE_OK;
}

static pe_status read_files(
	pe_context *ctx, struct layout *l, const struct pe_graph_policy *policy, struct pe_raw_graphs *raw)
{
	bool weights;
	PE_TRY(open_files(ctx, l, policy, &weights));
	PE_TRY(read_edges(ctx, l, raw));
	return weights
		? pe_dataset_weights(ctx, &l->weight_file.source, policy->weight_column, raw->rows, &raw->w)
		: PE_OK;
}

static void close_layout(pe_context *ctx, struct layout *l)
{
	pe_free(ctx, l->nodes.values);
	pe_free(ctx, l->edges.values);
	pe_dataset_close(ctx, &l->node_file);
	pe_dataset_close(ctx, &l->edge_file);
	pe_dataset_close(ctx, &l->weight_file);
	if (!l->source)
		return;
	l->source->base.text = l->source->file.bytes;
	release(ctx, &l->source->base);
}

static pe_status read_layout(
	pe_context *ctx, const char *directory, const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct layout l = {.directory = directory, .source = make_edges(ctx)};
	struct pe_raw_graphs raw = {.format = "ogb"};
	pe_status status = l.source ? read_files(ctx, &l, policy, &raw) : PE_ERR_NOMEM;
	close_layout(ctx, &l);
	if (status != PE_OK)
		pe_raw_graphs_free(ctx, &raw);
	*out = raw;
	return status;
}

static bool has_layout(const char *directory)
{
	return pe_dataset_has(directory, "edge.csv") && pe_dataset_has(directory, "num-node-list.csv");
}

pe_status pe_read_ogb(pe_context *ctx, const char *directory, const struct pe_graph_policy *policy, bool *is,
	struct pe_raw_graphs *out)
{
	char raw[PE_PATH_SIZE];
	*is = has_layout(directory);
	if (*is)
		return read_layout(ctx, directory, policy, out);
	*is = pe_dataset_path(raw, directory, "raw") && has_layout(raw);
	return *is ? read_layout(ctx, raw, policy, out) : PE_OK;
}
