/* SPDX-License-Identifier: BSD-2-Clause
 * One graph in every format that can hold it is one graph, to the bit. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include "graph.h"

/* The golden script's make_same, by hand. */
static void check(const pe_graph *graph, const char *name, bool weighted)
{
	static const int64_t row[] = {0, 2, 4, 7, 10, 12, 14};
	static const int32_t col[] = {1, 2, 0, 2, 0, 1, 3, 2, 4, 5, 3, 5, 3, 4};
	static const double weight[] = {5, 2, 5, 7, 2, 7, 3, 3, 1, 4, 1, 6, 4, 6};
	if (graph->count != 1 || graph->nodes != 6 || graph->row[6] != 14)
		fail_msg("%s: %lld nodes, %lld entries", name, (long long)graph->nodes, (long long)graph->row[6]);
	print_message("%s\n", name);
	assert_memory_equal(graph->row, row, sizeof row);
	assert_memory_equal(graph->col, col, sizeof col);
	assert_int_equal(graph->weight != NULL, weighted);
	if (weighted)
		assert_memory_equal(graph->weight, weight, sizeof weight);
}

struct file {
	const char *suffix, *format;
	bool directed; /* the format says so */
};

/* Recognised by content, or by suffix. */
static const struct file files[] = {
	{".col", "dimacs", false},
	{"_twice.col", "dimacs", false},
	{".edges", "edgelist", false},
	{".npz", "edge-index", false},
	{".safetensors", "edge-index", false},
	{".gml", "gml", false},
	{".graphml", "graphml", false},
	{"_directed.graphml", "graphml", true},
	{"_general.mtx", "matrix-market", false},
	{"_symmetric.mtx", "matrix-market", false},
	{".metis", "metis", false},
	{".json", "node-link", false},
	{"_edges.json", "node-link", false},
	{".net", "pajek", false},
	{".matrix.net", "pajek", false},
	{"_csr.npz", "scipy-npz", false},
	{"_csc.npz", "scipy-npz", false},
	{"_coo.npz", "scipy-npz", false},
};

static void check_file(pe_context *ctx, const struct file *file, const char *name, bool weighted)
{
	pe_graph *graph;
	char path[128];
	snprintf(path, sizeof path, "tests/golden/graphs/%s", name);
	if (pe_graph_from_file(ctx, xt_source(path), NULL, &graph) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	assert_string_equal(graph->report.format, file->format);
	check(graph, name, weighted);
	assert_int_equal(graph->directed, file->directed);
	assert_int_equal(graph->report.edges, file->directed ? 14 : 7);
	assert_int_equal(graph->report.duplicates, 0);
	assert_int_equal(graph->report.phantom, 0);
	pe_graph_destroy(&graph);
}

static void check_all(pe_context *ctx, const char *stem, bool weighted)
{
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char name[64];
		snprintf(name, sizeof name, "%s%s", stem, files[i].suffix);
		check_file(ctx, &files[i], name, weighted);
	}
}

static void weighted_graph(void **state)
{
	check_all(*state, "weighted", true);
	check_file(*state, &(struct file){"", "dimacs", true}, "weighted.gr", true);
}

static void plain_graph(void **state)
{
	check_all(*state, "plain", false);
	check_file(*state, &(struct file){"", "edge-index", false}, "plain.npy", false);
	check_file(*state, &(struct file){"", "graph6", false}, "plain.g6", false);
	check_file(*state, &(struct file){"", "sparse6", false}, "plain.s6", false);
	check_file(*state, &(struct file){"", "digraph6", true}, "plain.d6", false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weighted_graph),
		cmocka_unit_test(plain_graph),
	};
	return xt_run(argc, argv, tests);
}
