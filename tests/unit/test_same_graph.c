/* SPDX-License-Identifier: BSD-2-Clause
 * One graph in every format that can hold it is one graph, to the bit. */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>

static void read_golden(pe_context *ctx, const struct pe_reader *reader, const char *name, pe_graph **out)
{
	char path[128];
	size_t size;
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	snprintf(path, sizeof path, "tests/golden/graphs/%s", name);
	char *data = xt_file(path, &size);
	struct pe_source source = {data, size, name};
	if (reader->read(ctx, &source, &policy, &raw) != PE_OK ||
		pe_graph_build(ctx, &raw, &policy, out) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	pe_raw_graphs_free(ctx, &raw);
	free(data);
}

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
	const struct pe_reader *reader;
	const char *suffix;
	bool directed; /* the format says so */
};

static const struct file files[] = {
	{&pe_reader_dimacs, ".col", false},
	{&pe_reader_dimacs, "_twice.col", false},
	{&pe_reader_edge_index, ".npz", false},
	{&pe_reader_edge_index, ".safetensors", false},
	{&pe_reader_gml, ".gml", false},
	{&pe_reader_graphml, ".graphml", false},
	{&pe_reader_graphml, "_directed.graphml", true},
	{&pe_reader_node_link, ".json", false},
	{&pe_reader_node_link, "_edges.json", false},
	{&pe_reader_pajek, ".net", false},
	{&pe_reader_pajek, ".matrix.net", false},
	{&pe_reader_scipy_npz, "_csr.npz", false},
	{&pe_reader_scipy_npz, "_csc.npz", false},
	{&pe_reader_scipy_npz, "_coo.npz", false},
};

static void check_file(pe_context *ctx, const struct file *file, const char *name, bool weighted)
{
	pe_graph *graph;
	read_golden(ctx, file->reader, name, &graph);
	check(graph, name, weighted);
	assert_int_equal(graph->directed, file->directed);
	assert_int_equal(graph->report.edges, file->directed ? 14 : 7);
	assert_int_equal(graph->report.duplicates, 0);
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
	check_file(*state, &(struct file){&pe_reader_dimacs, "", true}, "weighted.gr", true);
}

static void plain_graph(void **state)
{
	check_all(*state, "plain", false);
	check_file(*state, &(struct file){&pe_reader_edge_index, "", false}, "plain.npy", false);
	check_file(*state, &(struct file){&pe_reader_graph6, "", false}, "plain.g6", false);
	check_file(*state, &(struct file){&pe_reader_graph6, "", false}, "plain.s6", false);
	check_file(*state, &(struct file){&pe_reader_graph6, "", true}, "plain.d6", false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weighted_graph),
		cmocka_unit_test(plain_graph),
	};
	return xt_run(argc, argv, tests);
}
