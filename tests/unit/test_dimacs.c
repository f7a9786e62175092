/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <string.h>

static const struct pe_reader *const reader = &pe_reader_dimacs;

static void colouring(void **state)
{
	xt_reads(*state, reader,
		"c FILE: x\r\ncolour me\r\nc\r\np edge 4 3\r\nn 1 2\r\ne 1 2\r\ne 3 1\r\ne 4 4\r\n", NULL,
		"undirected 4: 0-1 2-0 3-3");
	xt_reads(*state, reader, "p col 3 2\ne 1 2\ne 2 3", NULL, "undirected 3: 0-1 1-2");
	xt_reads(*state, reader, "p col 3 0\n", NULL, "undirected 3:");
	xt_reads(*state, reader, "p edges 3 2\ne 1 2 0.5\ne 2 3 7\n", NULL, "undirected 3: 0-1=0.5 1-2=7");
}

/* M counts the lines or the edges. */
static void both_directions(void **state)
{
	xt_reads(*state, reader, "p edge 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", NULL,
		"undirected as listed 3: 0-1 1-0 1-2 2-1");
	xt_reads(*state, reader, "p edge 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", NULL,
		"undirected as listed 3: 0-1 1-0 1-2 2-1");
	xt_refuses(
		*state, reader, "p edge 3 2\ne 1 2\ne 2 1\ne 3 1\ne 3 2\n", NULL, "promises 2 edges, here are 4");
	xt_refuses(
		*state, reader, "p edge 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 1\n", NULL, "promises 2 edges, here are 4");
}

static void shortest_path(void **state)
{
	xt_reads(
		*state, reader, "p sp 3 3\na 1 2 10\na 2 1 4\na 3 3 1.5\n", NULL, "directed 3: 0-1=10 1-0=4 2-2=1.5");
	struct pe_graph_policy policy = {.weight_column = 0};
	xt_reads(*state, reader, "p sp 3 1\na 1 2 10\n", &policy, "directed 3: 0-1");
	policy.weight_column = 3;
	xt_reads(*state, reader, "p sp 3 1\na 1 2 10\n", &policy, "directed 3: 0-1=10");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: there is no line p"},
		{"c only\n", "there is no line p"},
		{"e 1 2\n", "input:1: an edge before the line p"},
		{"p max 3 2\n", "problem \"max\" is not supported"},
		{"p edge 3\n", "a number of edges should be"},
		{"p edge -3 2\n", "a number of nodes cannot be -3"},
		{"p edge 3 2 1\n", "more on the line than it should hold"},
		{"p edge 2000000000 0\n", "refused as damaged"},
		{"p edge 3 2\np edge 3 2\n", "input:2: a second line p"},
		{"p edge 3 2\ne 1 2\n", "the line p promises 2 edges, here are 1"},
		{"p edge 3 1\ne 1 2\ne 2 3\n", "promises 1 edges, here are 2"},
		{"p edge 3 1\ne 1 4\n", "input:2: a node cannot be 4: it must be from 1 to 3"},
		{"p edge 3 1\ne 0 1\n", "a node cannot be 0"},
		{"p edge 3 1\ne 1\n", "the line ends where a node should be"},
		{"p edge 3 1\na 1 2 3\n", "a line a in a problem edge"},
		{"p sp 3 1\ne 1 2\n", "a line e in a problem sp"},
		{"p sp 3 1\na 1 2\n", "an edge without a weight"},
		{"p sp 3 1\na 1 2 x\n", "\"x\" is not a weight"},
		{"p sp 3 1\na 1 2 3 4\n", "more on the line"},
		{"p edge 3 2\ne 1 2 5\ne 2 3\n", "an edge without a weight"},
		{"p edge 3 2\ne 1 2\ne 2 3 5\n", "an edge with a weight after edges without"},
		{"p edge 3 1\nq 1 2\n", "a line \"q\"; lines begin with"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
	struct pe_graph_policy policy = xt_policy();
	policy.weight_name = "w";
	xt_refuses(*state, reader, "p sp 1 0\n", &policy, "no field named w");
	policy = (struct pe_graph_policy){.weight_column = 4};
	xt_refuses(*state, reader, "p sp 1 0\n", &policy, "column 3, not 4");
}

/* A line of one NUL is no line of colours. */
static void a_lone_nul(void **state)
{
	static const char text[] = "p edge 3 1\n\0\ne 1 2\n";
	xt_refuses_bytes(*state, reader, text, sizeof text - 1, NULL, "lines begin with c, p, e or a");
}

static void recognition(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is;
	} cases[] = {{"c x\nc\np edge 3 2\n", true}, {"p sp 3 2", true}, {"p edge\n", false}, {"p q\n", false},
		{"c d\nd c\n", false}, {"", false}, {"c\n", false}, {"0 1\n", false}, {"p a b c\n", false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct pe_source source = {cases[i].text, strlen(cases[i].text), "input"};
		assert_int_equal(reader->recognise(&source), cases[i].is);
	}
}

static void damaged_input(void **state)
{
	const char *text = "c comment\np col 4 3\ne 1 2 1.5\ne 2 3 2\ne 4 4 -3\n",
			   *arcs = "p sp 3 2\na 1 2 3\na 3 1 4\n";
	xt_survives(*state, reader, text, strlen(text));
	xt_survives(*state, reader, arcs, strlen(arcs));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colouring),
		cmocka_unit_test(both_directions),
		cmocka_unit_test(shortest_path),
		cmocka_unit_test(refusals),
		cmocka_unit_test(a_lone_nul),
		cmocka_unit_test(recognition),
		cmocka_unit_test(damaged_input),
	};
	return xt_run(argc, argv, tests);
}
