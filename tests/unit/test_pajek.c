/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <string.h>

static const struct pe_reader *const reader = &pe_reader_pajek;

static void golden_files(void **state)
{
	static const char *const names[] = {"graph.net", "digraph.net", "multidigraph.net"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(xt_recognises_golden(reader, names[i]));
		xt_reads_golden(*state, reader, names[i]);
	}
}

static void sections(void **state)
{
	xt_reads(*state, reader,
		"% comment\r\n*Network x\r\n\r\n*VERTICES 4\r\n1 \"a b\" 0.5 0.5 ellipse ic Red\r\n*edges\r\n1 "
		"2\r\n2 4 0.5 c Blue\r\n"
		"3 3 l \"loop\"\r\n",
		NULL, "undirected 4: 0-1=1 1-3=0.5 2-2=1");
	xt_reads(*state, reader, "*Vertices 3\n*Arcs :1 \"likes\"\n1 2 3 [5-7]\n*Edges\n2 3\n3 3 2\n", NULL,
		"directed 3: 0-1=3 1-2=1 2-1=1 2-2=2");
	xt_reads(*state, reader, "*Vertices 4\n*Arcslist\n1 2 3\n4\n*edgesList\n2 3 4", NULL,
		"directed 4: 0-1 0-2 1-2 2-1 1-3 3-1");
	xt_reads(*state, reader, "*Vertices 4\n*Edgeslist\n2 3 4\n", NULL, "undirected 4: 1-2 1-3");
	xt_reads(*state, reader, "*Vertices 2\n*Matrix\n0 1.5\n1 2\n", NULL,
		"directed if one-way 2: 0-1=1.5 1-0=1 1-1=2");
	xt_reads(
		*state, reader, "*Vertices 2\n*Matrix\n0 1.5\n0 2\n", NULL, "directed if one-way 2: 0-1=1.5 1-1=2");
	xt_reads(*state, reader, "*Vertices 2\n*Arcs\n*Edges\n1 2", NULL, "undirected 2: 0-1");
	xt_reads(*state, reader, "*Vertices 2\n*Edges\n1 2 1.0\n", NULL, "undirected 2: 0-1");
	xt_reads(*state, reader, "*Vertices 0\n", NULL, "undirected 0:");
	struct pe_graph_policy policy = {.weight_column = 0};
	xt_reads(*state, reader, "*Vertices 2\n*Arcs\n1 2 5\n", &policy, "directed 2: 0-1");
	xt_reads(*state, reader, "*Vertices 2\n*Matrix\n0 5\n0 0\n", &policy, "directed if one-way 2: 0-1");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: there is no *Vertices"},
		{"*Edges\n", "input:1: *Edges before *Vertices"},
		{"*Vertices\n", "input:1: the line ends where a number of vertices should be"},
		{"*Vertices -1\n", "a number of vertices cannot be -1"},
		{"*Vertices 2000000000\n", "refused as damaged"},
		{"*Vertices 99999999999\n", "from 0 to 2147483647"},
		{"*Vertices 2\n3 \"c\"\n", "input:2: a vertex cannot be 3"},
		{"*Vertices 2\n*Arcs\n1 3\n", "input:3: a vertex cannot be 3: it must be from 1 to 2"},
		{"*Vertices 2\n*Arcs\n0 1\n", "a vertex cannot be 0"},
		{"*Vertices 2\n*Edges\n1\n", "input:3: the line ends where a vertex should be"},
		{"*Vertices 2\n*Edges\n1 2 0.x\n", "\"0.x\" is not a weight"},
		{"*Vertices 2\n*Edges\n1 2 1e999\n", "must be a finite number"},
		{"*Vertices 2\n*Matrix\n0 1\n", "the matrix has 1 rows for 2 vertices"},
		{"*Vertices 2\n*Matrix\n0 1\n1 0\n0 0\n", "input:5: the matrix has more rows"},
		{"*Vertices 2\n*Matrix\n0 1 2\n", "a row of the matrix is too long"},
		{"*Vertices 2\n*Matrix\n0\n", "an entry of the matrix should be"},
		{"*Vertices 2\n*Partition\n", "section \"*Partition\" is not supported"},
		{"*Vertices 2\n*Vertices 2\n", "a second *Vertices"},
		{"1 2\n", "a line that belongs to no section"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
	struct pe_graph_policy policy = xt_policy();
	policy.weight_name = "w";
	xt_refuses(*state, reader, "*Vertices 1\n", &policy, "no field named w");
	policy = (struct pe_graph_policy){.weight_column = 4};
	xt_refuses(*state, reader, "*Vertices 1\n", &policy, "column 3, not 4");
}

static void damaged_input(void **state)
{
	const char *text =
		"*Network a\n% c\n*Vertices 3\n1 \"a\"\n*Arcs\n1 2 3.5\n*Edges\n1 3\n*Edgeslist\n1 2 3\n"
		"*Matrix\n0 1 0\n1 0 0\n0 0 2\n";
	xt_survives(*state, reader, text, strlen(text));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_files),
		cmocka_unit_test(sections),
		cmocka_unit_test(refusals),
		cmocka_unit_test(damaged_input),
	};
	return xt_run(argc, argv, tests);
}
