/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>

static const struct pe_reader *const reader = &pe_reader_metis;

static void headers(void **state)
{
	static const char *const texts[] = {"3 2\n2\n1 3\n2\n", "% c\n3 2 0\r\n2\r\n% c\r\n1 3\r\n2",
		"3 2 000\n 2 \n1\t3\n2\n\n\n",
		("\xEF\xBB\xBF"
		 " 3 2 10\n7 2\n7 1 3\n7 2\n"),
		"3 2 110 2\n5 7 8 2\n5 7 8 1 3\n5 7 8 2\n", "3 2 100\n1 2\n1 1 3\n1 2\n% c\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		xt_reads(*state, reader, texts[i], NULL, "undirected 3: 0-1 1-2");
}

static void isolated_nodes(void **state)
{
	xt_reads(*state, reader, "4 1\n\n3\n2\n\n", NULL, "undirected 4: 1-2");
	xt_reads(*state, reader, "4 1\n\n3\n2\n", NULL, "undirected 4: 1-2"); /* the last line is empty */
	xt_refuses(*state, reader, "4 1\n\n3\n2", NULL, "4 nodes are declared, but there are only 3 lines");
	xt_reads(*state, reader, "1 0\n", NULL, "undirected 1:");
	xt_reads(*state, reader, "0 0\n", NULL, "undirected 0:");
}

static void weights(void **state)
{
	xt_reads(*state, reader, "3 2 1\n2 5\n1 5 3 7\n2 7\n", NULL, "undirected 3: 0-1=5 1-2=7");
	xt_reads(*state, reader, "3 2 11\n9 2 5\n9 1 5 3 .5\n9 2 .5\n", NULL, "undirected 3: 0-1=5 1-2=0.5");
	struct pe_graph_policy policy = xt_policy();
	policy.weight_column = 0;
	xt_reads(*state, reader, "3 2 1\n2 5\n1 5 3 7\n2 7\n", &policy, "undirected 3: 0-1 1-2");
	policy.weight_column = 3;
	xt_refuses(*state, reader, "3 2\n2\n1 3\n2\n", &policy, "neither name nor column");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: the text ends where the number of nodes should be"},
		{"3\n", "input:1: the line ends where the number of edges should be"},
		{"3 2 2\n", "fmt is \"2\"; its digits must be 0 or 1"},
		{"3 2 0000\n", "fmt has at most three digits"},
		{"3 2 0 1 5\n", "more in the header"},
		{"-3 2\n", "the number of nodes cannot be -3"},
		{"1000000000000000000 0\n", "input:1: 1000000000000000000 nodes are declared, but there are fewer"},
		{"2000000000 0\n\n", "fewer lines"},
		{"3 2\n2\n1 3\n", "input: 2 edges are declared, but the lines of nodes hold 3 neighbours"},
		{"3 2\n2\n1 3\n2\n1\n", "input:5: there are more lines than the 3 declared nodes"},
		{"3 3\n2\n1 3\n2\n", "input: 3 edges are declared, but the lines of nodes hold 4 neighbours"},
		{"3 2\n2\n1 4\n2\n", "input:3: a neighbour cannot be 4: it must be from 1 to 3"},
		{"3 2\n2\n1 0\n2\n", "a neighbour cannot be 0"},
		{"3 2\n2\n1 -3\n2\n", "a neighbour cannot be -3"},
		{"3 2\n2\n1 2\n2\n", "input:3: node 2 lists itself"},
		{"3 2\n2\n1 3\n1\n", "do not list their edge alike"},
		{"3 2 1\n2 5\n1 5 3 7\n2 8\n", "input: the lines of nodes 2 and 3 do not list their edge alike"},
		{"3 2 1\n2 5\n1 5 3\n2 8\n", "input:3: the line ends where the weight of an edge should be"},
		{"3 2 1\n2 nan\n1 nan 3 1\n2 1\n", "input:2: the weight of an edge is \"nan\""},
		{"3 2 10\n\n1 1\n", "input:2: the line ends where a size or weight of a node should be"},
		{"3 2\n2 2\n1\n1\n", "do not list their edge alike"},
		{"3 2\nx\n1\n1\n", "input:2: \"x\" is not a neighbour"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
}

static void survives(void **state)
{
	static const char *const texts[] = {
		"% c\n4 3 11 2\r\n1 2 2 5 3 6\r\n1 2 1 5\r\n1 2 1 6 4 7\r\n% c\n1 2 3 7\n", "5 2\n3\n\n1 4\n3\n\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		xt_survives(*state, reader, texts[i], strlen(texts[i]));
}

static void real_files(void **state)
{
	static const struct {
		const char *name;
		int64_t nodes, edges, components;
	} files[] = {
		{"4elt", 15606, 45878, 1},
		{"airfoil1", 4253, 12289, 1},
		{"astro-ph", 16706, 121251, 1029},
		{"celegans_metabolic", 453, 2025, 1},
		{"jazz", 198, 2742, 1},
		{"karate", 34, 78, 1},
		{"lesmis", 77, 254, 1},
		{"polblogs", 1490, 16715, 268},
		{"power", 4941, 6594, 1},
		{"tiny_01", 7, 11, 1},
		{"tiny_02", 7, 11, 1},
		{"tiny_03", 7, 11, 1},
		{"tiny_04", 7, 11, 1},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[64];
		pe_graph *graph;
		snprintf(path, sizeof path, "graphs-metis/%s.graph", files[i].name);
		if (pe_graph_from_file(*state, xt_data(path), NULL, &graph) != PE_OK)
			fail_msg("%s", pe_context_message(*state));
		const pe_graph_report *r = pe_graph_get_report(graph);
		assert_string_equal(r->format, "metis");
		assert_int_equal(r->nodes, files[i].nodes);
		assert_int_equal(r->edges, files[i].edges);
		assert_int_equal(r->components, files[i].components);
		assert_true(r->duplicates == 0 && r->self_loops == 0 && !r->directed && r->base == 1);
		pe_graph_destroy(&graph);
	}
}

/* The manual's example with and without node weights has the same edges. */
static void the_manuals_graph(void **state)
{
	pe_graph *plain, *weighted;
	assert_int_equal(pe_graph_from_file(*state, xt_data("graphs-metis/tiny_01.graph"), NULL, &plain), PE_OK);
	for (int i = 2; i <= 4; i++) {
		char path[64];
		snprintf(path, sizeof path, "graphs-metis/tiny_0%d.graph", i);
		assert_int_equal(pe_graph_from_file(*state, xt_data(path), NULL, &weighted), PE_OK);
		assert_memory_equal(weighted->row, plain->row, 8 * sizeof(int64_t));
		assert_memory_equal(weighted->col, plain->col, 22 * sizeof(int32_t));
		assert_int_equal(weighted->weight != NULL, i < 4);
		pe_graph_destroy(&weighted);
	}
	pe_graph_destroy(&plain);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers),
		cmocka_unit_test(isolated_nodes),
		cmocka_unit_test(weights),
		cmocka_unit_test(refusals),
		cmocka_unit_test(survives),
		cmocka_unit_test(real_files),
		cmocka_unit_test(the_manuals_graph),
	};
	return xt_run(argc, argv, tests) != 0;
}
