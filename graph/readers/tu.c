/* SPDX-License-Identifier: BSD-2-Clause
 * TU collections: NAME_A.txt holds "u, v", nodes from 1 through all graphs; line i of
 * NAME_graph_indicator.txt is the graph of node i, from 1, never falling. NAME_edge_attributes.txt may
 * hold weights. Morris et al., "TUDataset", 2020. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>

#include "dataset_files.h"
#include "lines.h"

#define NAME_SIZE 200

struct collection {
	const char *directory;
	char name[NAME_SIZE];
	struct pe_dataset_file indicator, edges, attributes;
	struct pe_dataset_integers numbers;
	int64_t *graph;    /* of every node, from 0: the numbers' values */
	int32_t *graph_of; /* of every edge */
	struct pe_raw_graphs raw;
};

/* ---- finding it --------------------------------------------------------------------- */

static bool strip(const char *file, const char *ending, char *name)
{
	size_t length = strlen(file), cut = strlen(ending);
	if (length <= cut || length - cut >= NAME_SIZE || strcmp(file + length - cut, ending) != 0)
		return false;
	memcpy(name, file, length - cut);
	name[length - cut] = '\0';
	return true;
}

static void file_name(const char *name, const char *ending, char out[256])
{
	snprintf(out, 256, "%s%s", name, ending);
}

/* The NAME of a NAME_A.txt with its NAME_graph_indicator.txt; the first in alphabet of several. */
static bool find_name(const char *directory, char *name)
{
	DIR *open = opendir(directory);
	if (!open)
		return false;
	bool found = false;
	for (struct dirent *entry; (entry = readdir(open));) {
		char candidate[NAME_SIZE], indicator[256];
		if (!strip(entry->d_name, "_A.txt", candidate) && !strip(entry->d_name, "_A.txt.gz", candidate))
			continue;
		file_name(candidate, "_graph_indicator.txt", indicator);
		if (pe_dataset_has(directory, indicator) && (!found || strcmp(candidate, name) < 0)) {
			strcpy(name, candidate);
			found = true;
		}
	}
	closedir(open);
	return found;
}

/* ---- nodes -------------------------------------------------------------------------- */

static pe_status number_graphs(pe_context *ctx, struct collection *c)
{
	int64_t graphs = 0;
	for (int64_t i = 0; i < c->raw.nodes; i++) {
		if (c->graph[i] != graphs && c->graph[i] != graphs + 1)
			return pe_fail(ctx, PE_ERR_FORMAT,
				"%s: node %" PRId64 " is of graph %" PRId64 " after one of graph %" PRId64
				"; graphs must come one after another, from 1",
				c->indicator.path, i + 1, c->graph[i], graphs);
		graphs = c->graph[i]--;
	}
	if (c->raw.nodes == 0)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s is empty", c->indicator.path);
	c->raw.graphs = graphs;
	return PE_OK;
}

static pe_status take_indicator(pe_context *ctx, struct collection *c)
{
	struct pe_raw_graphs *raw = &c->raw;
	pe_dataset_close(ctx, &c->indicator);
	c->graph = c->numbers.values;
	raw->nodes = c->numbers.count;
	PE_TRY(number_graphs(ctx, c));
	raw->ptr = pe_alloc_zero(ctx, raw->graphs + 1, sizeof *raw->ptr);
	if (!raw->ptr)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < raw->nodes; i++)
		raw->ptr[c->graph[i] + 1]++;
	for (int64_t g = 0; g < raw->graphs; g++)
		raw->ptr[g + 1] += raw->ptr[g];
	return PE_OK;
}

/* ---- rows --------------------------------------------------------------------------- */

/* Nodes are numbered from 0 within their graph from here on. */
static pe_status read_row(struct pe_scan *scan, struct collection *c, int64_t e)
{
	int64_t u, v;
	PE_TRY(pe_scan_i64(scan, "a node", 1, c->raw.nodes, &u));
	pe_scan_blanks(scan);
	if (pe_scan_at_end(scan) || *scan->at != ',')
		return pe_scan_fail(scan, "there should be a comma after the first node");
	scan->at++;
	PE_TRY(pe_scan_i64(scan, "a node", 1, c->raw.nodes, &v));
	int64_t graph = c->graph[u - 1], other = c->graph[v - 1], first = c->raw.ptr[graph] + 1;
	if (graph != other)
		return pe_scan_fail(scan,
			"an edge from node %" PRId64 " of graph %" PRId64 " to node %" PRId64 " of graph %" PRId64, u,
			graph + 1, v, other + 1);
	c->graph_of[e] = (int32_t)graph;
	c->raw.u[e] = (int32_t)(u - first);
	c->raw.v[e] = (int32_t)(v - first);
	return pe_dataset_end_line(scan);
}

static pe_status read_rows(struct pe_scan *scan, void *arg, int64_t first, int64_t end)
{
	for (int64_t e = first; e < end; e++)
		PE_TRY(read_row(scan, arg, e));
	return PE_OK;
}

/* With blank lines, so that nobody knows how many rows there are. */
static pe_status read_any_rows(pe_context *ctx, struct collection *c)
{
	struct pe_scan scan = pe_scan_start(ctx, &c->edges.source);
	for (c->raw.rows = 0; !pe_scan_at_end(&scan); c->raw.rows++)
		PE_TRY(read_row(&scan, c, c->raw.rows));
	return PE_OK;
}

static pe_status read_edges(pe_context *ctx, struct collection *c)
{
	struct pe_lines lines;
	struct pe_raw_graphs *raw = &c->raw;
	PE_TRY(pe_lines_count(ctx, &c->edges.source, &lines));
	raw->rows = lines.regular ? lines.count : (int64_t)(c->edges.source.size + 1) / 4; /* "1,1", a line end */
	raw->u = pe_alloc(ctx, raw->rows, sizeof *raw->u);
	raw->v = pe_alloc(ctx, raw->rows, sizeof *raw->v);
	c->graph_of = pe_alloc(ctx, raw->rows, sizeof *c->graph_of);
	pe_status status = PE_ERR_NOMEM;
	if (raw->u && raw->v && c->graph_of)
		status = lines.regular ? pe_lines_each(ctx, &lines, read_rows, c) : read_any_rows(ctx, c);
	pe_lines_free(ctx, &lines);
	pe_dataset_close(ctx, &c->edges);
	return status;
}

/* ---- rows by graph ------------------------------------------------------------------ */

static pe_status count_edges(pe_context *ctx, struct collection *c, bool *sorted)
{
	struct pe_raw_graphs *raw = &c->raw;
	int32_t last = 0;
	*sorted = true;
	raw->edge_ptr = pe_alloc_zero(ctx, raw->graphs + 1, sizeof *raw->edge_ptr);
	if (!raw->edge_ptr)
		return PE_ERR_NOMEM;
	for (int64_t e = 0; e < raw->rows; e++) {
		raw->edge_ptr[c->graph_of[e] + 1]++;
		*sorted &= c->graph_of[e] >= last;
		last = c->graph_of[e];
	}
	for (int64_t g = 0; g < raw->graphs; g++)
		raw->edge_ptr[g + 1] += raw->edge_ptr[g];
	return PE_OK;
}

/* The elements of *array, `size` bytes each, by graph, in the order of the file. */
static pe_status place(pe_context *ctx, const struct collection *c, void *array_address, size_t size)
{
	const struct pe_raw_graphs *raw = &c->raw;
	char *from, *to = pe_alloc(ctx, raw->rows, size);
	int64_t *next = pe_alloc_copy(ctx, raw->edge_ptr, raw->graphs, sizeof *next);
	memcpy(&from, array_address, sizeof from);
	if (!to || !next) {
		pe_free(ctx, to);
		pe_free(ctx, next);
		return PE_ERR_NOMEM;
	}
	for (int64_t e = 0; e < raw->rows; e++)
		memcpy(to + next[c->graph_of[e]]++ * (int64_t)size, from + e * (int64_t)size, size);
	memcpy(array_address, &to, sizeof to);
	pe_free(ctx, from);
	pe_free(ctx, next);
	return PE_OK;
}

static pe_status place_edges(pe_context *ctx, struct collection *c)
{
	bool sorted;
	struct pe_raw_graphs *raw = &c->raw;
	PE_TRY(count_edges(ctx, c, &sorted));
	if (sorted)
		return PE_OK;
	PE_TRY(place(ctx, c, &raw->u, sizeof *raw->u));
	PE_TRY(place(ctx, c, &raw->v, sizeof *raw->v));
	return raw->w ? place(ctx, c, &raw->w, sizeof *raw->w) : PE_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

static pe_status open_files(
	pe_context *ctx, struct collection *c, const struct pe_graph_policy *policy, bool *weights)
{
	char indicator[256], attributes[256], edges[256];
	file_name(c->name, "_graph_indicator.txt", indicator);
	file_name(c->name, "_edge_attributes.txt", attributes);
	file_name(c->name, "_A.txt", edges);
	PE_TRY(pe_dataset_asks_weights(ctx, c->directory, attributes, policy, weights));
	c->numbers = (struct pe_dataset_integers){.what = "the number of a graph", .min = 1, .max = PE_MAX_NODES};
	const struct pe_dataset_part parts[] = {
		{indicator, &c->indicator, pe_dataset_then_integers, &c->numbers},
		{edges, &c->edges, NULL, NULL},
		{attributes, &c->attributes, NULL, NULL},
	};
	return pe_dataset_open(ctx, c->directory, parts, *weights ? 3 : 2);
}

static pe_status read_files(pe_context *ctx, const struct pe_graph_policy *policy, struct collection *c)
{
	bool weights;
	PE_TRY(open_files(ctx, c, policy, &weights));
	PE_TRY(take_indicator(ctx, c));
	PE_TRY(read_edges(ctx, c));
	if (weights)
		PE_TRY(pe_dataset_weights(ctx, &c->attributes.source, policy->weight_column, c->raw.rows, &c->raw.w));
	return place_edges(ctx, c);
}

static pe_status read_collection(
	pe_context *ctx, const struct pe_graph_policy *policy, struct collection *c, struct pe_raw_graphs *out)
{
	c->raw.format = "tu";
	c->raw.base = 1; /* within a graph, as if it stood alone */
	pe_status status = read_files(ctx, policy, c);
	pe_dataset_close(ctx, &c->indicator);
	pe_dataset_close(ctx, &c->attributes);
	pe_dataset_close(ctx, &c->edges);
	pe_free(ctx, c->numbers.values);
	pe_free(ctx, c->graph_of);
	if (status != PE_OK)
		pe_raw_graphs_free(ctx, &c->raw);
	*out = c->raw;
	return status;
}

pe_status pe_read_tu(pe_context *ctx, const char *directory, const struct pe_graph_policy *policy, bool *is,
	struct pe_raw_graphs *out)
{
	struct collection c = {.directory = directory};
	char raw[PE_PATH_SIZE];
	*is = find_name(directory, c.name);
	if (!*is && pe_dataset_path(raw, directory, "raw")) {
		c.directory = raw;
		*is = find_name(raw, c.name);
	}
	return *is ? read_collection(ctx, policy, &c, out) : PE_OK;
}
