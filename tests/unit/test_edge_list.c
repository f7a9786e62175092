/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <string.h>

static const struct pe_reader *const reader = &pe_reader_edge_list;

static void separators(void **state)
{
	static const char *const texts[] = {"0 1\n1 2\n", "0\t1\n1\t2", "0,1\r\n1,2\r\n", "0, 1 \n 1 ; 2\n",
		("\xEF\xBB\xBF"
		 "0;1\n\n1;2\n\n"),
		"# a comment\n0 1 # another\n% and one\n1 2\n", "source,target\n0,1\n1,2\n", "u v\n0 1\n1 2",
		"0 1 {}\n1 2 {}\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		xt_reads(*state, reader, texts[i], NULL, "unknown 3: 0-1 1-2");
}

static void weights(void **state)
{
	xt_reads(*state, reader, "0 1 2.5\n1 2 -1e3\n", NULL, "unknown 3: 0-1=2.5 1-2=-1000");
	xt_reads(*state, reader, "a,b,w\n0,1,2\n1,2,3\n", NULL, "unknown 3: 0-1=2 1-2=3");
	xt_reads(*state, reader, "0 1 x 7\n1 2 y 8\n", NULL, "unknown 3: 0-1 1-2");
	xt_reads(*state, reader, "0 1 {'weight': 2.5, 'c': 'x'}\n1 2 {\"weight\":3}\n", NULL,
		"unknown 3: 0-1=2.5 1-2=3");
	struct pe_graph_policy policy = xt_policy();
	policy.weight_column = 4;
	xt_reads(*state, reader, "0 1 x 7\n1 2 y 8\n", &policy, "unknown 3: 0-1=7 1-2=8");
	xt_refuses(*state, reader, "0 1 7\n", &policy, "input:1: there is no column 4 for the weights");
	policy.weight_column = 0;
	xt_reads(*state, reader, "0 1 2.5\n1 2 -1e3\n", &policy, "unknown 3: 0-1 1-2");
	policy.weight_column = 2;
	xt_refuses(*state, reader, "0 1 7\n", &policy, "column 2 holds node ids");
	policy.weight_column = -1;
	policy.weight_name = "cost";
	xt_reads(*state, reader, "from,to,x,cost\n0,1,9,2\n1,2,9,3\n", &policy, "unknown 3: 0-1=2 1-2=3");
	xt_reads(*state, reader, "0 1 {'cost': 2}\n1 2 {'cost': 3}\n", &policy, "unknown 3: 0-1=2 1-2=3");
	xt_refuses(*state, reader, "0 1 7\n", &policy, "the columns have no names");
	xt_refuses(*state, reader, "from,to,x\n0,1,7\n", &policy, "input:1: no column is named cost");
}

static void ids(void **state)
{
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	const char *text = "1000000007 -5\n-5 99999999999999\n";
	struct pe_source source = {text, strlen(text), "x"};
	assert_int_equal(reader->read(*state, &source, &policy, &raw), PE_OK);
	assert_true(raw.nodes == 3 && raw.base == -5 && raw.node_ids[1] == 1000000007 && raw.u[0] == 1);
	pe_raw_graphs_free(*state, &raw);
	source = (struct pe_source){"alice bob\nbob 7\nalice alice", 27, "x"};
	assert_int_equal(reader->read(*state, &source, &policy, &raw), PE_OK);
	assert_true(raw.nodes == 3 && raw.base == -1 && !raw.node_ids);
	assert_string_equal(raw.node_names[0], "alice");
	assert_string_equal(raw.node_names[2], "7");
	pe_raw_graphs_free(*state, &raw);
	xt_reads(*state, reader, "source target weight\na b 2\nb c 3\n", NULL, "unknown 3: 0-1=2 1-2=3");
	xt_reads(*state, reader, "src,dst\na,b\nb,c\n", NULL, "unknown 3: 0-1 1-2");
	xt_reads(*state, reader, "x y\na b\n", NULL, "unknown 4: 0-1 2-3");
}

static void snap(void **state)
{
	const char *head = "# Directed graph: x\n# Nodes: 4 Edges: 2\n# FromNodeId\tToNodeId\n";
	char text[200];
	xt_reads(
		*state, reader, strcat(strcpy(text, head), "0\t1\n1\t2\n"), NULL, "directed if one-way 4: 0-1 1-2");
	xt_reads(
		*state, reader, strcat(strcpy(text, head), "1\t2\n2\t4\n"), NULL, "directed if one-way 4: 0-1 1-3");
	xt_reads(
		*state, reader, strcat(strcpy(text, head), "9\t8\n7\t6\n"), NULL, "directed if one-way 4: 3-2 1-0");
	xt_reads(
		*state, reader, strcat(strcpy(text, head), "9\t8\n8\t6\n"), NULL, "directed if one-way 3: 2-1 1-0");
	xt_refuses(*state, reader, strcat(strcpy(text, head), "0\t1\n"), NULL,
		"input: the header declares 2 edges, but there are 1 rows");
	xt_refuses(
		*state, reader, strcat(strcpy(text, head), "0 1\n1 2\n2 3\n1 3\n0 2\n"), NULL, "there are 5 rows");
	xt_refuses(*state, reader, strcat(strcpy(text, head), "0 1\n5 6\n7 1\n"), NULL,
		"the header declares 4 nodes, but there are 5 node ids");
	xt_reads(*state, reader, "# Undirected graph: y\n# Nodes: 2 Edges: 1\n0 1\n1 0\n", NULL,
		"undirected as listed 2: 0-1 1-0");
	xt_reads(*state, reader, "# Directed graph (each unordered pair of nodes is saved once): z\n0 1\n", NULL,
		"undirected as listed 2: 0-1");
	xt_reads(*state, reader, "# Nodes: 3 Edges: 0\n", NULL, "unknown 3:");
	xt_refuses(*state, reader, "# Nodes: 1000000000000000000 Edges: 0\n", NULL, "refused as damaged");
	xt_refuses(*state, reader, "# Nodes: 2000000000 Edges: 0\n", NULL, "refused as damaged");
}

static void konect(void **state)
{
	xt_reads(*state, reader, "% sym unweighted\n% 2 4 4\n1 2\n4 2\n", NULL, "undirected 4: 0-1 3-1");
	xt_reads(*state, reader, "% asym positive\n1 2 3\n2 1 4\n", NULL, "directed if one-way 2: 0-1=3 1-0=4");
	xt_refuses(*state, reader, "% bip unweighted\n1 1\n", NULL, "bipartite");
	xt_refuses(*state, reader, "% sym unweighted\n% 2 3 3\n1 2\n4 2\n", NULL, "numbered from 1");
	xt_refuses(*state, reader, "% sym unweighted\n% 1 3 3\n1 2\n3 2\n", NULL, "declares 1 edges");
}

static void phantom_nodes(void **state)
{
	const char *text = "# Nodes: 5 Edges: 2\n0 2\n2 2\n";
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	assert_int_equal(
		reader->read(*state, &(struct pe_source){text, strlen(text), "x"}, &policy, &raw), PE_OK);
	assert_true(raw.nodes == 5 && raw.phantom == 3);
	pe_raw_graphs_free(*state, &raw);
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: there is no edge"},
		{"# only\n\n", "there is no edge"},
		{"0\n", "input:1: a row of an edge list needs two node ids"},
		{"0 1\n2\n", "input:2: the line ends where a node id should be"},
		{"0 1\n1 2 3\n", "input:2: a row of 3 columns, where the first, on line 1, has 2"},
		{"0 1 5\n1 2\n", "input:2: a row of 2 columns"},
		{"0 1\n1 x\n", "input:2: \"x\" is not a node id"},
		{"0 1\n1.5 2\n", "\"1.5\" is not a node id"},
		{"0 1\n1 99999999999999999999\n", "must fit into 64 bits"},
		{"0 1 1\n1 2 nan\n", "input:2: a weight is \"nan\""},
		{"0 1 1\n1 2 inf\n", "which is infinite"},
		{"0 1 1\n\n1 2 1e999\n", "input:3: a weight is 1e999"},
		{"0 1 {'weight': 1}\n1 2 {'weight': nan}\n", "input:2: the weight must be a finite number"},
		{"a b\nc\n", "input:2: the line ends where a node id should be"},
		{"a b\nc\x01 d\n", "input:2: a control character"},
		{"0,,1\n0,,1\n", "needs two node ids"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
}

static void survives(void **state)
{
	static const char *const texts[] = {
		"# Directed graph: x\n# Nodes: 4 Edges: 3\r\n0\t1\r\n1\t3\n3\t2",
		"from,to,w\n10,20,1.5\n20,99999999999,2\n10,20,3\n",
		"a b {'weight': 2}\nb c {'weight': 3}\nc c {}\n",
		"% sym weighted\n% 2 3 3\n1 2 5\n3 2 6\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		xt_survives(*state, reader, texts[i], strlen(texts[i]));
}

/* ---- real files --------------------------------------------------------------------- */

static pe_graph_report report_of(pe_context *ctx, const char *path)
{
	pe_graph *graph;
	if (pe_graph_from_file(ctx, path, NULL, &graph) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	pe_graph_report report = *pe_graph_get_report(graph);
	pe_graph_destroy(&graph);
	return report;
}

static void real_files(void **state)
{
	pe_graph_report r = report_of(*state, xt_data("graphs-edgelist/cora.cites"));
	assert_true(r.nodes == 2708 && r.rows == 5429 && r.edges == 5278 && r.renumbered && r.base == 35);
	assert_true(r.components == 78 && r.one_way == 5127 && !r.directed && !r.weighted && !r.phantom);
	assert_string_equal(r.format, "edgelist");
	r = report_of(*state, xt_data("graphs-edgelist/facebook_combined.txt.gz"));
	assert_true(r.nodes == 4039 && r.edges == 88234 && r.components == 1 && !r.renumbered && r.base == 0);
	r = report_of(*state, xt_data("graphs-edgelist/C-elegans-frontal.txt"));
	assert_true(r.nodes == 131 && r.edges == 764 && r.directed);
	r = report_of(*state, xt_data("graphs-edgelist/lanl_routes.edgelist"));
	assert_true(r.rows == 1363 && r.weighted);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(separators),
		cmocka_unit_test(weights),
		cmocka_unit_test(ids),
		cmocka_unit_test(snap),
		cmocka_unit_test(konect),
		cmocka_unit_test(phantom_nodes),
		cmocka_unit_test(refusals),
		cmocka_unit_test(survives),
		cmocka_unit_test(real_files),
	};
	return xt_run(argc, argv, tests) != 0;
}
