/* SPDX-License-Identifier: BSD-2-Clause
 * graph6, sparse6 and digraph6 against networkx, nauty, and the molecules' edge list. */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>

static const struct pe_reader *const reader = &pe_reader_graph6;

static void golden_files(void **state)
{
	static const char *const names[] = {"graph6.g6", "header.g6", "sparse6.s6", "large.s6", "digraph6.d6"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(xt_recognises_golden(reader, names[i]));
		xt_reads_golden(*state, reader, names[i]);
	}
}

/* The examples of formats.txt, and what follows from it. */
static void small_examples(void **state)
{
	xt_reads(*state, reader, "Ch\n", NULL, "undirected 4: 0-1 1-2 2-3");
	xt_reads(*state, reader, "DQc\n", NULL, "undirected 5: 0-2 1-3 0-4 3-4");
	xt_reads(*state, reader, ":Fa@x^\n", NULL, "undirected 7: 0-1 0-2 1-2 5-6");
	xt_reads(*state, reader, "&DI?AO?\n", NULL, "directed 5: 0-2 0-4 3-1 3-4");
	xt_reads(*state, reader, ">>graph6<<Ch", NULL, "undirected 4: 0-1 1-2 2-3");
	xt_reads(*state, reader, ">>sparse6<<:Cdv\r\n", NULL, "undirected 4: 0-1 1-2 2-3");
	xt_reads(*state, reader,
		"\xEF\xBB\xBF"
		"Ch\r\n@\r\n:Cdv\r\n\r\n",
		NULL, "undirected 4: 0-1 1-2 2-3 | 1: | 4: 0-1 1-2 2-3");
	xt_reads(*state, reader, ">>graph6<<\n?\n", NULL, "undirected 0:");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: there is no graph"},
		{"\n\n", "there is no graph"},
		{">>graph6<<", "there is no graph"},
		{"Ch\nC\n", "input:2: a graph6 graph of 4 nodes takes 1 bytes, here are 0"},
		{"Chh\n", "input:1: a graph6 graph of 4 nodes takes 1 bytes, here are 2"},
		{"Ch \n", "byte 32 in a graph6 graph"},
		{"Ch\n\nCh\n", "input:2: an empty line among the graphs"},
		{"C\x7f\n", "byte 127 in a graph6 graph"},
		{"Bx\n", "padding at the end of the graph is not zero"},
		{"~?\n", "ends before its number of nodes"},
		{"~~?????\n", "ends before its number of nodes"},
		{":\n", "a sparse6 graph that ends before its number of nodes"},
		{"&\n", "a digraph6 graph that ends before"},
		{";Fa@x^\n", "incremental sparse6"},
		{"Ch\n&@?\n", "input:2: this graph is digraph6, the first one graph6"},
		{"&@?\n:@\n", "this graph is sparse6, the first one digraph6"},
		{">>graph6<<:Fa@x^\n", "the header is >>graph6<<, but the graph is sparse6"},
		{":Fa@x^~\n", "go beyond the last node before their end"},
		{":Fa@x]\n", "padding at the end of the graph is not of ones"},
		{":F~a@x^\n", "go beyond the last node"},
		{"~~~~~~~~\n", "a graph has at most 2^31 - 1"},
		{":~~@?????\n", "refused as damaged"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
	struct pe_graph_policy policy = xt_policy();
	policy.weight_name = "weight";
	xt_refuses(*state, reader, "Ch\n", &policy, "no weights");
}

static void damaged_input(void **state)
{
	static const char text[] = ">>graph6<<Ch\nDQc\n?\n@\nBw";
	static const char sparse[] = ">>sparse6<<:Fa@x^\n:Cdv\n:@\n:?\n";
	static const char directed[] = "&DI?AO?\n&@_\n&?\n";
	xt_survives(*state, reader, text, sizeof text - 1);
	xt_survives(*state, reader, sparse, sizeof sparse - 1);
	xt_survives(*state, reader, directed, sizeof directed - 1);
}

static void recognition(void **state)
{
	(void)state;
	static const char *const others[] = {"", "0 1\n", "a b\n", "Graph\n", "c comment\n", "%%MatrixMarket\n",
		"{", "<graphml>", "source,target\n", "*Vertices 3\n", "3 3\n"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct pe_source source = {others[i], strlen(others[i]), "input"};
		assert_false(reader->recognise(&source));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_files),
		cmocka_unit_test(small_examples),
		cmocka_unit_test(refusals),
		cmocka_unit_test(damaged_input),
		cmocka_unit_test(recognition),
	};
	return xt_run(argc, argv, tests);
}
