/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A folder with the three files of a dataset, in raw/ if `raw`; NULL: without that file. */
static const char *dataset(const char *nodes, const char *counts, const char *edges, bool raw)
{
	static int number;
	static char directory[256];
	const char *const texts[] = {nodes, counts, edges};
	const char *const names[] = {"num-node-list.csv", "num-edge-list.csv", "edge.csv"};
	snprintf(directory, sizeof directory, "%s/ogb%d", xt_temporary(), number++);
	assert_int_equal(mkdir(directory, 0700), 0);
	char inner[300];
	snprintf(inner, sizeof inner, "%s%s", directory, raw ? "/raw" : "");
	if (raw)
		assert_int_equal(mkdir(inner, 0700), 0);
	for (int i = 0; i < 3; i++) {
		char path[400];
		snprintf(path, sizeof path, "%s/%s", inner, names[i]);
		FILE *file = texts[i] ? fopen(path, "w") : NULL;
		if (!file)
			continue;
		fputs(texts[i], file);
		fclose(file);
	}
	return directory;
}

static void expect(pe_context *ctx, const char *directory, const char *expected)
{
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	bool is;
	if (pe_read_ogb(ctx, directory, &policy, &is, &raw) != PE_OK || pe_raw_graphs_load(ctx, &raw) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	assert_true(is);
	char *text = xt_raw_text(&raw);
	assert_string_equal(text, expected);
	free(text);
	pe_raw_graphs_free(ctx, &raw);
}

static void refuse(
	pe_context *ctx, const char *nodes, const char *counts, const char *edges, const char *message)
{
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	bool is;
	pe_status status = pe_read_ogb(ctx, dataset(nodes, counts, edges, false), &policy, &is, &raw);
	if (status == PE_OK) {
		status = pe_raw_graphs_load(ctx, &raw);
		pe_raw_graphs_free(ctx, &raw);
	}
	if (status == PE_OK || !strstr(pe_context_message(ctx), message))
		fail_msg("status %d, \"%s\"; expected \"%s\"", (int)status, pe_context_message(ctx), message);
}

static void layouts(void **state)
{
	const char *two = "unknown 3: 0-1 1-2 | 12: 10-11 | 1:";
	expect(*state, dataset("3\n12\n1\n", "2\n1\n0\n", "0,1\n1,2\n10,11\n", false), two);
	expect(*state, dataset("3\r\n12\r\n1", "2\r\n1\r\n0", "0,1\r\n1,2\r\n10,11", true), two);
	expect(*state, dataset("3\n12\n1\n", "2\n1\n0\n", "0, 1\n1 ,2\n\n10,11\n\n", false), two);
	expect(*state, dataset("2000000\n5\n", "1\n1\n", "1234567,1999999\n3,4\n", false),
		"unknown 2000000: 1234567-1999999 | 5: 3-4");
	expect(*state, dataset("2\n2\n", "0\n0\n", "", false), "unknown 2: | 2:");
}

static void not_of_that_layout(void **state)
{
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	bool is = true;
	assert_int_equal(pe_read_ogb(*state, dataset("1\n", "0\n", NULL, false), &policy, &is, &raw), PE_OK);
	assert_false(is);
	assert_int_equal(pe_read_ogb(*state, dataset(NULL, "0\n", "", true), &policy, &is, &raw), PE_OK);
	assert_false(is);
}

static void refusals(void **state)
{
	refuse(*state, "3\n", NULL, "0,1\n", "there is neither num-edge-list.csv nor num-edge-list.csv.gz");
	refuse(*state, "3\n", "1\n0\n", "0,1\n", "num-node-list.csv has 1 graphs, num-edge-list.csv has 2");
	refuse(*state, "", "", "", "num-node-list.csv is empty");
	refuse(*state, "3\nx\n", "1\n0\n", "0,1\n", "num-node-list.csv:2: \"x\" is not the number of nodes");
	refuse(*state, "3 4\n", "1\n", "0,1\n", "num-node-list.csv:1: there is more on the line");
	refuse(*state, "-3\n", "1\n", "0,1\n", "the number of nodes of a graph cannot be -3");
	refuse(*state, "3\n", "2\n", "0,1\n", "declares 2 edges, but the file has fewer rows");
	refuse(*state, "300\n", "2\n", "100,101\n", "edge.csv:2: the file ends before the edges");
	refuse(*state, "3\n", "1\n", "0,1\n1,2\n", "edge.csv:2: there are more rows than the 1 edges");
	refuse(*state, "3\n", "0\n", "0,1\n", "more rows than the 0 edges");
	refuse(*state, "3\n3\n", "1\n1\n", "0,1\n1,3\n", "edge.csv:2: a node of the edge's graph cannot be 3");
	refuse(
		*state, "3\n", "4\n", "0,1\n3,1\n0,1\n0,1\n", "edge.csv:2: a node of the edge's graph cannot be 3");
	refuse(
		*state, "3\n", "4\n", "0,1\n1,3\n0,1\n0,1\n", "edge.csv:2: a node of the edge's graph cannot be 3");
	refuse(*state, "3\n", "4\n", "0,1\n1;2\n0,1\n0,1\n", "edge.csv:2: there should be a comma");
	refuse(*state, "3\n", "4\n", "0,1\n1,\n0,1\n0,1\n", "edge.csv:2: the line ends where");
	refuse(*state, "3\n", "1\n", "0,-1\n", "cannot be -1");
	refuse(*state, "3\n", "1\n", "0 1\n", "edge.csv:1: there should be a comma");
	refuse(*state, "3\n", "1\n", "0,1,2\n", "edge.csv:1: there is more on the line");
	refuse(*state, "3\n", "1\n", "0,x\n", "\"x\" is not a node of the edge's graph");
	refuse(*state, "3\n0\n", "1\n1\n", "0,1\n0,0\n", "edge.csv:2: a node of the edge's graph cannot be 0");
	refuse(*state, "2000000000\n2000000000\n", "0\n0\n", "", "refused as damaged");
	refuse(*state, "1\n1\n", "9223372036854775807\n9223372036854775807\n", "", "add up to more");
	refuse(*state, "1\n", "9223372036854775807\n", "0,0\n", "but the file has fewer rows");
}

static void edge_features_as_weights(void **state)
{
	const char *directory = dataset("3\n2\n", "2\n1\n", "0,1\n1,2\n0,1\n", false);
	char path[400];
	snprintf(path, sizeof path, "%s/edge-feat.csv", directory);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("1,2.5\n3,4.5\n5,6.5\n", file);
	fclose(file);
	expect(*state, directory, "unknown 3: 0-1 1-2 | 2: 0-1");
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	bool is;
	policy.weight_column = 2;
	assert_int_equal(pe_read_ogb(*state, directory, &policy, &is, &raw), PE_OK);
	assert_true(raw.w[0] == 2.5 && raw.w[1] == 4.5 && raw.w[2] == 6.5);
	pe_raw_graphs_free(*state, &raw);
	policy.weight_column = 3;
	xt_fails(*state, pe_read_ogb(*state, directory, &policy, &is, &raw), PE_ERR_FORMAT, "no column 3");
	policy.weight_name = "bond";
	xt_fails(*state, pe_read_ogb(*state, directory, &policy, &is, &raw), PE_ERR_FORMAT, "have no names");
}

/* ---- real files --------------------------------------------------------------------- */

static pe_graph *molecules(pe_context *ctx, const char *name)
{
	pe_graph *graph;
	char path[64];
	snprintf(path, sizeof path, "molecules-zinc24k/%s", name);
	if (pe_graph_from_file(ctx, xt_data(path), NULL, &graph) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	const pe_graph_report *r = pe_graph_get_report(graph);
	assert_true(r->graphs == 24445 && r->nodes == 565429 && r->edges == 608155 && !r->directed);
	assert_true(r->duplicates == 0 && r->self_loops == 0 && r->isolated == 0 && r->components == 24445);
	return graph;
}

/* Bonds written once, twice, and as graph6 are the same molecules, to the bit, on any thread count. */
static void bonds_once_or_twice(void **state)
{
	pe_graph *first = molecules(*state, "ogb-one-direction");
	pe_context *two = xt_context(2, NULL);
	pe_graph *others[] = {molecules(two, "ogb-both-directions"), molecules(*state, "ogb-both-directions/raw"),
		molecules(two, "zinc24k.g6")};
	assert_int_equal(first->report.rows, 608155);
	assert_int_equal(others[0]->report.rows, 1216310);
	assert_int_equal(first->report.one_way, 608155);
	assert_int_equal(others[0]->report.one_way, 0);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		assert_memory_equal(others[i]->ptr, first->ptr, 24446 * sizeof(int64_t));
		assert_memory_equal(others[i]->row, first->row, 565430 * sizeof(int64_t));
		assert_memory_equal(others[i]->col, first->col, 2 * 608155 * sizeof(int32_t));
		assert_null(others[i]->weight);
		assert_memory_equal(others[i]->node_ids, first->node_ids, 565429 * sizeof(int64_t));
		pe_graph_destroy(&others[i]);
	}
	pe_graph_destroy(&first);
	pe_context_destroy(&two);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts),
		cmocka_unit_test(not_of_that_layout),
		cmocka_unit_test(refusals),
		cmocka_unit_test(edge_features_as_weights),
		cmocka_unit_test(bonds_once_or_twice),
	};
	return xt_run(argc, argv, tests) != 0;
}
