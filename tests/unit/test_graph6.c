/* SPDX-License-Identifier: BSD-2-Clause
 * graph6, sparse6 and digraph6 against networkx, nauty, and the molecules' edge list. */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>

#include "io/file_source.h"

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

/* The next integer of a comma-separated text, which ends with a NUL. */
static int64_t next_number(char **text)
{
	while (**text == ',' || **text == '\n' || **text == '\r')
		++*text;
	return strtoll(*text, text, 10);
}

static int by_column(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;
	return x[1] != y[1] ? (x[1] > y[1]) - (x[1] < y[1]) : (x[0] > y[0]) - (x[0] < y[0]);
}

static char *read_data(pe_context *ctx, const char *name)
{
	char path[256], *bytes;
	size_t size;
	snprintf(path, sizeof path, "molecules-zinc24k/ogb-one-direction/raw/%s", name);
	if (pe_file_read(ctx, xt_data(path), &bytes, &size) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	return bytes;
}

/* Every molecule is in the table of bonds as it is in graph6. */
static void molecules(void **state)
{
	pe_context *ctx = *state;
	struct pe_source source = {.name = "zinc24k.g6"};
	struct pe_graph_policy policy = xt_policy();
	struct pe_raw_graphs raw;
	char *text;
	if (pe_file_read(ctx, xt_data("molecules-zinc24k/zinc24k.g6"), &text, &source.size) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	source.data = text;
	assert_true(reader->recognise(&source));
	assert_int_equal(reader->read(ctx, &source, &policy, &raw), PE_OK);
	assert_int_equal(raw.graphs, 24445);
	assert_int_equal(raw.nodes, 565429);
	assert_int_equal(raw.rows, 608155);

	char *bonds = read_data(ctx, "edge.csv.gz"), *nodes = read_data(ctx, "num-node-list.csv.gz");
	char *counts = read_data(ctx, "num-edge-list.csv.gz"), *b = bonds, *n = nodes, *c = counts;
	for (int64_t g = 0; g < raw.graphs; g++) {
		int32_t pairs[256][2];
		int64_t count = next_number(&c);
		assert_in_range(count, 0, 255);
		for (int64_t e = 0; e < count; e++) {
			int32_t u = (int32_t)next_number(&b), v = (int32_t)next_number(&b);
			pairs[e][0] = u < v ? u : v;
			pairs[e][1] = u < v ? v : u;
		}
		qsort(pairs, (size_t)count, sizeof *pairs, by_column);
		assert_int_equal(raw.ptr[g + 1] - raw.ptr[g], next_number(&n));
		assert_int_equal(raw.edge_ptr[g + 1] - raw.edge_ptr[g], count);
		for (int64_t e = 0; e < count; e++) {
			assert_int_equal(raw.u[raw.edge_ptr[g] + e], pairs[e][0]);
			assert_int_equal(raw.v[raw.edge_ptr[g] + e], pairs[e][1]);
		}
	}
	pe_free(ctx, bonds);
	pe_free(ctx, nodes);
	pe_free(ctx, counts);
	pe_free(ctx, text);
	pe_raw_graphs_free(ctx, &raw);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_files),
		cmocka_unit_test(small_examples),
		cmocka_unit_test(refusals),
		cmocka_unit_test(damaged_input),
		cmocka_unit_test(recognition),
		cmocka_unit_test(molecules),
	};
	return xt_run(argc, argv, tests);
}
