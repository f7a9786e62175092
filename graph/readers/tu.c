/* SPDX-License-Identifier: BSD-2-Clause
 * TU collections: NAME_A.txt holds "u, v", nodes from 1 through all graphs; line i of
 * NAME_graph_indicator.txt is the graph of node i, from 1, never falling. NAME_edge_attributes.txt may
 * hold weights. Morris et al., "TUDataset", 2020. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>

#include "dataset_files.h"

#define NAME_SIZE 200

struct collection {
	const char *directory;
	char name[NAME_SIZE];
	int64_t *graph; /* of every node, from 0 */
	int64_t nodes;
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

static pe_status read_indicator(pe_context *ctx, struct collection *c)
{
	char file[256];
	file_name(c->name, "_graph_indicator.txt", file);
	PE_TRY(pe_dataset_integers(
		ctx, c->directory, file, "the number of a graph", 1, PE_MAX_NODES, &c->graph, &c->nodes));
	int64_t graphs = 0;
	for (int64_t i = 0; i < c->nodes; i++) {
		if (c->graph[i] != graphs && c->graph[i] != graphs + 1)
			return pe_fail(ctx, PE_ERR_FORMAT,
				"%s/%s: node %" PRId64 " is of graph %" PRId64 " after one of graph %" PRId64
				"; graphs must come one after another, from 1",
				c->directory, file, i + 1, c->graph[i], graphs);
		graphs = c->graph[i]--;
	}
	if (c->nodes == 0)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s/%s is empty", c->directory, file);
	c->raw.graphs = graphs;
	c->raw.nodes = c->nodes;
	c->raw.ptr = pe_alloc_zero(ctx, graphs + 1, sizeof *c->raw.ptr);
	c->raw.edge_ptr = pe_alloc_zero(ctx, graphs + 1, sizeof *c->raw.edge_ptr);
	if (!c->raw.ptr || !c->raw.edge_ptr)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < c->nodes; i++)
		c->raw.ptr[c->graph[i] + 1]++;
	for (int64_t g = 0; g < graphs; g++)
		c->raw.ptr[g + 1] += c->raw.ptr[g];
	return PE_OK;
}

/* ---- edges -------------------------------------------------------------------------- */

static pe_status read_row(struct pe_scan *scan, const struct collection *c, int64_t *u, int64_t *v)
{
	PE_TRY(pe_scan_i64(scan, "a node", 1, c->nodes, u));
	pe_scan_blanks(scan);
	if (pe_scan_at_end(scan) || *scan->at != ',')
		return pe_scan_fail(scan, "there should be a comma after the first node");
	scan->at++;
	PE_TRY(pe_scan_i64(scan, "a node", 1, c->nodes, v));
	if (c->graph[*u - 1] != c->graph[*v - 1])
		return pe_scan_fail(scan,
			"an edge from node %" PRId64 " of graph %" PRId64 " to node %" PRId64 " of graph %" PRId64, *u,
			c->graph[*u - 1] + 1, *v, c->graph[*v - 1] + 1);
	return pe_dataset_end_line(scan);
}

static pe_status read_edges(pe_context *ctx, const struct collection *c, struct pe_edge_buffer *edges)
{
	char name[256];
	struct pe_dataset_file file;
	file_name(c->name, "_A.txt", name);
	PE_TRY(pe_dataset_open(ctx, c->directory, name, &file));
	struct pe_scan scan = pe_scan_start(ctx, &file.source);
	pe_status status = PE_OK;
	while (status == PE_OK && !pe_scan_at_end(&scan)) {
		int64_t u, v;
		status = read_row(&scan, c, &u, &v);
		if (status == PE_OK)
			status = pe_edge_push(ctx, edges, u - 1, v - 1);
	}
	pe_dataset_close(ctx, &file);
	return status;
}

/* Edges of a graph together, in the order of the file, with ids of their graph. */
static pe_status place_edges(
	pe_context *ctx, struct collection *c, const struct pe_edge_buffer *edges, const double *w)
{
	struct pe_raw_graphs *raw = &c->raw;
	raw->rows = edges->count;
	raw->u = pe_alloc(ctx, raw->rows, sizeof *raw->u);
	raw->v = pe_alloc(ctx, raw->rows, sizeof *raw->v);
	raw->w = w ? pe_alloc(ctx, raw->rows, sizeof *raw->w) : NULL;
	int64_t *next = pe_alloc(ctx, raw->graphs, sizeof *next);
	if (!raw->u || !raw->v || (w && !raw->w) || !next) {
		pe_free(ctx, next);
		return PE_ERR_NOMEM;
	}
	for (int64_t e = 0; e < edges->count; e++)
		raw->edge_ptr[c->graph[edges->u[e]] + 1]++;
	for (int64_t g = 0; g < raw->graphs; g++) {
		next[g] = raw->edge_ptr[g];
		raw->edge_ptr[g + 1] += raw->edge_ptr[g];
	}
	for (int64_t e = 0; e < edges->count; e++) {
		int64_t g = c->graph[edges->u[e]], place = next[g]++;
		raw->u[place] = (int32_t)(edges->u[e] - raw->ptr[g]);
		raw->v[place] = (int32_t)(edges->v[e] - raw->ptr[g]);
		if (w)
			raw->w[place] = w[e];
	}
	pe_free(ctx, next);
	return PE_OK;
}

static pe_status read_collection(
	pe_context *ctx, const struct pe_graph_policy *policy, struct collection *c, struct pe_raw_graphs *out)
{
	char attributes[256];
	struct pe_edge_buffer edges = {0};
	double *w = NULL;
	file_name(c->name, "_edge_attributes.txt", attributes);
	pe_status status = read_indicator(ctx, c);
	if (status == PE_OK)
		status = read_edges(ctx, c, &edges);
	if (status == PE_OK)
		status = pe_dataset_weights(ctx, c->directory, attributes, policy, edges.count, &w);
	if (status == PE_OK)
		status = place_edges(ctx, c, &edges, w);
	pe_free(ctx, w);
	pe_edge_buffer_free(ctx, &edges);
	pe_free(ctx, c->graph);
	c->raw.format = "tu";
	c->raw.base = 1; /* within a graph, as if it stood alone */
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
