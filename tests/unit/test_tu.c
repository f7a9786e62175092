/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void put(const char *directory, const char *name, const char *text)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static const char *collection(const char *indicator, const char *edges)
{
	static int number;
	static char directory[256];
	snprintf(directory, sizeof directory, "%s/tu%d", xt_temporary(), number++);
	assert_int_equal(mkdir(directory, 0700), 0);
	put(directory, "DS_A.txt", edges);
	put(directory, "DS_graph_indicator.txt", indicator);
	put(directory, "README.txt", "text");
	return directory;
}

static void expect(pe_context *ctx, const char *directory, int32_t column, const char *expected)
{
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	bool is;
	policy.weight_column = column;
	if (pe_read_tu(ctx, directory, &policy, &is, &raw) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	assert_true(is);
	assert_string_equal(raw.format, "tu");
	char *text = xt_raw_text(&raw);
	assert_string_equal(text, expected);
	free(text);
	pe_raw_graphs_free(ctx, &raw);
}

static void refuse(pe_context *ctx, const char *indicator, const char *edges, const char *message)
{
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	bool is;
	xt_fails(ctx, pe_read_tu(ctx, collection(indicator, edges), &policy, &is, &raw), PE_ERR_FORMAT, message);
}

static void layouts(void **state)
{
	const char *indicator = "1\n1\n1\n2\n2\n3\n";
	const char *expected = "unknown 3: 0-1 1-0 2-1 | 2: 0-1 1-0 | 1:";
	expect(*state, collection(indicator, "1, 2\n2, 1\n3, 2\n4, 5\n5, 4\n"), -1, expected);
	expect(*state, collection("1\r\n1\r\n1\r\n2\r\n2\r\n3", "1,2\r\n2,1\r\n3,2\r\n4,5\r\n5,4"), -1, expected);
	/* Graphs mixed, nodes at the end without edges. */
	expect(*state, collection(indicator, "4,5\n1,2\n5,4\n2,1\n3,2\n"), -1, expected);
	expect(*state, collection("1\n2\n", ""), -1, "unknown 1: | 1:");
}

static void weights(void **state)
{
	const char *directory = collection("1\n1\n2\n2\n", "4,3\n1,2\n");
	put(directory, "DS_edge_attributes.txt", "1, 2.5\n3, 4.5\n");
	expect(*state, directory, -1, "unknown 2: 0-1 | 2: 1-0");
	expect(*state, directory, 2, "unknown 2: 0-1=4.5 | 2: 1-0=2.5");
}

static void refusals(void **state)
{
	refuse(*state, "", "", "DS_graph_indicator.txt is empty");
	refuse(*state, "1\n3\n", "", "node 2 is of graph 3 after one of graph 1");
	refuse(*state, "1\n2\n1\n", "", "node 3 is of graph 1 after one of graph 2");
	refuse(*state, "2\n", "", "node 1 is of graph 2");
	refuse(*state, "0\n", "", "DS_graph_indicator.txt:1: the number of a graph cannot be 0");
	refuse(*state, "9223372036854775807\n", "", "cannot be 9223372036854775807");
	refuse(*state, "1\n1\n", "1,3\n", "DS_A.txt:1: a node cannot be 3: it must be from 1 to 2");
	refuse(*state, "1\n1\n", "1,2\n0,1\n", "DS_A.txt:2: a node cannot be 0");
	refuse(*state, "1\n1\n", "1 2\n", "there should be a comma");
	refuse(*state, "1\n1\n", "1,2,3\n", "more on the line");
	refuse(*state, "1\n1\n2\n", "1,3\n", "DS_A.txt:1: an edge from node 1 of graph 1 to node 3 of graph 2");
}

static void through_the_front_door(void **state)
{
	pe_graph *graph;
	const char *directory = collection("1\n1\n2\n", "1,2\n2,1\n");
	assert_int_equal(pe_graph_from_file(*state, directory, NULL, &graph), PE_OK);
	const pe_graph_report *r = pe_graph_get_report(graph);
	assert_true(r->graphs == 2 && r->edges == 1 && r->isolated == 1 && r->base == 1 && r->phantom == 0);
	pe_graph_destroy(&graph);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts),
		cmocka_unit_test(weights),
		cmocka_unit_test(refusals),
		cmocka_unit_test(through_the_front_door),
	};
	return xt_run(argc, argv, tests) != 0;
}
