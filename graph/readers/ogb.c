/* SPDX-License-Identifier: BSD-2-Clause
 * OGB's raw layout: edge.csv holds "u,v" with ids from 0 in every graph, graphs one after another;
 * num-node-list.csv and num-edge-list.csv hold a count a graph. ogb/io/read_graph_raw.py. */
#include <inttypes.h>

#include "dataset_files.h"

struct counts {
	int64_t *nodes, *edges; /* of each graph; sums, in the end */
	int64_t graphs;
};

static void free_counts(pe_context *ctx, struct counts *counts)
{
	pe_free(ctx, counts->nodes);
	pe_free(ctx, counts->edges);
	*counts = (struct counts){0};
}

static pe_status read_counts(pe_context *ctx, const char *directory, struct counts *out)
{
	int64_t graphs;
	PE_TRY(pe_dataset_integers(ctx, directory, "num-node-list.csv", "the number of nodes of a graph", 0,
		PE_MAX_NODES, &out->nodes, &out->graphs));
	PE_TRY(pe_dataset_integers(ctx, directory, "num-edge-list.csv", "the number of edges of a graph", 0,
		INT64_MAX, &out->edges, &graphs));
	if (graphs != out->graphs)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: num-node-list.csv has %" PRId64 " graphs, num-edge-list.csv has %" PRId64, directory,
			out->graphs, graphs);
	if (graphs == 0)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: num-node-list.csv is empty", directory);
	return PE_OK;
}

/* Offsets from counts; NULL if the sum overflows, or without memory. */
static int64_t *offsets(pe_context *ctx, const int64_t *counts, int64_t graphs)
{
	int64_t *made = pe_alloc(ctx, graphs + 1, sizeof *made);
	if (!made)
		return NULL;
	made[0] = 0;
	for (int64_t g = 0; g < graphs; g++)
		if (!pe_add(made[g], counts[g], &made[g + 1])) {
			(void)pe_fail(ctx, PE_ERR_NOMEM, "the counts of a dataset add up to more than 2^63");
			pe_free(ctx, made);
			return NULL;
		}
	return made;
}

static pe_status prepare(pe_context *ctx, const struct counts *counts, const struct pe_dataset_file *edges,
	struct pe_raw_graphs *raw)
{
	*raw = (struct pe_raw_graphs){.format = "ogb", .graphs = counts->graphs};
	raw->ptr = offsets(ctx, counts->nodes, counts->graphs);
	raw->edge_ptr = offsets(ctx, counts->edges, counts->graphs);
	if (!raw->ptr || !raw->edge_ptr)
		return PE_ERR_NOMEM;
	raw->nodes = raw->ptr[raw->graphs];
	raw->rows = raw->edge_ptr[raw->graphs];
	if (pe_nodes_excessive(raw->nodes, edges->source.size))
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: num-node-list.csv declares %" PRId64 " nodes: refused as damaged", edges->path, raw->nodes);
	if (raw->rows > (int64_t)(edges->source.size + 1) / 4) /* "0,1" and a line end */
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: num-edge-list.csv declares %" PRId64 " edges, but the file has fewer rows", edges->path,
			raw->rows);
	raw->u = pe_alloc(ctx, raw->rows, sizeof *raw->u);
	raw->v = pe_alloc(ctx, raw->rows, sizeof *raw->v);
	return raw->u && raw->v ? PE_OK : PE_ERR_NOMEM;
}

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

/* Rows "12,3\n" as every writer writes them, one after another; stops before the first that is longer,
 * anything else, or wrong. Returns how many there were. */
static int64_t read_plain_rows(struct pe_scan *scan, int64_t nodes, int64_t rows, int32_t *u, int32_t *v)
{
	const char *at = scan->at;
	int64_t row = 0;
	for (; row < rows && scan->end - at >= 8; row++) {
		uint32_t from = 0, to = 0;
		int length = pe_scan_row8(at, &from, &to);
		if (length == 0 || from >= (uint64_t)nodes || to >= (uint64_t)nodes)
			break;
		u[row] = (int32_t)from;
		v[row] = (int32_t)to;
		at += length;
	}
	scan->at = at;
	scan->line += row;
	return row;
}

static pe_status read_rows(pe_context *ctx, const struct pe_source *source, struct pe_raw_graphs *raw)
{
	struct pe_scan scan = pe_scan_start(ctx, source);
	for (int64_t g = 0; g < raw->graphs; g++) {
		int64_t nodes = raw->ptr[g + 1] - raw->ptr[g];
		int64_t e = raw->edge_ptr[g], end = raw->edge_ptr[g + 1];
		while (e < end) {
			e += read_plain_rows(&scan, nodes, end - e, raw->u + e, raw->v + e);
			if (e == end)
				break;
			PE_TRY(read_row(&scan, nodes, &raw->u[e], &raw->v[e]));
			e++;
		}
	}
	pe_scan_blanks(&scan);
	if (raw->rows == 0 && pe_scan_at_line_end(&scan))
		PE_TRY(pe_dataset_end_line(&scan));
	if (!pe_scan_at_end(&scan))
		return pe_scan_fail(&scan,
			"there are more rows than the %" PRId64 " edges that num-edge-list.csv declares", raw->rows);
	return PE_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

static pe_status read_layout(
	pe_context *ctx, const char *directory, const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct counts counts = {0};
	struct pe_dataset_file edges;
	edges.bytes = NULL;
	struct pe_raw_graphs raw = {0};
	pe_status status = read_counts(ctx, directory, &counts);
	if (status == PE_OK)
		status = pe_dataset_open(ctx, directory, "edge.csv", &edges);
	if (status == PE_OK)
		status = prepare(ctx, &counts, &edges, &raw);
	if (status == PE_OK)
		status = read_rows(ctx, &edges.source, &raw);
	if (status == PE_OK)
		status = pe_dataset_weights(ctx, directory, "edge-feat.csv", policy, raw.rows, &raw.w);
	free_counts(ctx, &counts);
	pe_dataset_close(ctx, &edges);
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
