/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <string.h>

static const struct pe_reader *const reader = &pe_reader_gml;

static void golden_files(void **state)
{
	static const char *const names[] = {"graph.gml", "digraph.gml", "multidigraph.gml", "lesmis.gml"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(xt_recognises_golden(reader, names[i]));
		xt_reads_golden(*state, reader, names[i]);
	}
}

static void syntax(void **state)
{
	xt_reads(*state, reader,
		"# a comment [\r\nCreator \"me ] [\"\r\nVersion 1\r\ngraph\r\n[\r\n  comment \"spans\r\nlines "
		"&quot;\"\r\n"
		"  node [ id 7 label \"a ] b\" graphics [ x 1.0 points [ p [ ] ] ] ]\r\n  node[id 3]#end\r\n"
		"  edge [ source 3 target 7 ]\r\n]\r\n",
		NULL, "undirected 2: 1-0");
	xt_reads(*state, reader, "graph [ directed 1 edge [ target 0 source 1 ] node [ id 0 ] node [ id 1 ] ]",
		NULL, "directed 2: 1-0");
	xt_reads(*state, reader,
		"graph [ node [ id 5 ] ] graph [ node [ id 5 ] node [ id 6 ] edge [ source 5 target 6 ] ]", NULL,
		"undirected 1: | 2: 0-1");
	xt_reads(*state, reader, "graph [ ]", NULL, "undirected 0:");
}

#define NODES "graph [ node [ id 1 ] node [ id 2 ] "

static void weights(void **state)
{
	struct pe_graph_policy policy = xt_policy();
	const char *text =
		NODES "edge [ source 1 target 2 weight 2.5 value 4 ] edge [ source 2 target 2 value 3 ] ]";
	xt_reads(*state, reader, text, &policy, "undirected 2: 0-1=2.5 1-1=3");
	policy.weight_name = "value";
	xt_reads(*state, reader, text, &policy, "undirected 2: 0-1=4 1-1=3");
	policy.weight_name = "weight";
	xt_reads(*state, reader, text, &policy, "undirected 2: 0-1=2.5 1-1=1");
	policy.weight_name = "w";
	xt_refuses(*state, reader, text, &policy, "no edge has a field named w");
	policy = (struct pe_graph_policy){.weight_column = 0};
	xt_reads(*state, reader, text, &policy, "undirected 2: 0-1 1-1");
	xt_reads(*state, reader, NODES "edge [ source 1 target 2 value \"high\" ] ]", NULL, "undirected 2: 0-1");
	xt_reads(*state, reader, NODES "edge [ source 1 target 2 value [ a 1 ] ] ]", NULL, "undirected 2: 0-1");
	xt_reads(
		*state, reader, NODES "edge [ source 1 target 2 weight \"0.5\" ] ]", NULL, "undirected 2: 0-1=0.5");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: there is no graph"},
		{"Version 1\n", "there is no graph"},
		{"graph 3", "graph is \"3\"; it must be a list"},
		{"graph\n[\nnode [ id 1 ]\n", "input:1: the list that begins here is not closed"},
		{"graph [\nnode [ id 1 \n", "input:2: the list that begins here is not closed"},
		{"graph [\nnode [ id 1 x [ ", "input:2: the list that begins here is not closed"},
		{"graph [ ]\n ]", "input:2: a ']' without its '['"},
		{"graph [ node [ id ] ]", "id is \"]\"; it must be an integer"},
		{"graph [ node [ id 1.5 ] ]", "id is \"1.5\"; it must be an integer"},
		{"graph [ node [ id 1 id 2 ] ]", "a second id"},
		{"graph [\n node [ label \"a\" ] ]", "input:2: a node without an id"},
		{"graph [ node [ id 1 ]\n\nnode [ id 1 ] ]", "input:3: node 1 is listed again"},
		{NODES "edge [ source 1 ] ]", "an edge without a target"},
		{NODES "edge [ target 1 ] ]", "an edge without a source"},
		{NODES "\nedge [ source 1 target 9 ] ]", "input:2: an edge names node 9, which is not listed"},
		{NODES "edge [ source 1 target 2 weight x ] ]", "weight is \"x\"; it must be a finite number"},
		{NODES "edge [ source 1 target 2 weight 1e999 ] ]", "must be a finite number"},
		{"graph [ directed 2 ]", "directed is 2; it must be 0 or 1"},
		{"graph [ 3 4 ]", "expected a key, found \"3\""},
		{"graph [ label \"open ]\n", "the string that begins here does not end"},
		{"graph [ key ] ]", "key key has no value"},
		{"graph [ ] graph [ directed 1 ]", "this graph is directed, unlike the ones before"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
}

static void damaged_input(void **state)
{
	const char *text = "Version 1\n# c\ngraph [ directed 0\n node [ id 5 label \"a\" ] node [ id -6 ]\n"
					   "edge [ source 5 target -6 weight 2 x [ y 1 ] ] ]\ngraph [ node [ id 1 ] ]\n";
	xt_survives(*state, reader, text, strlen(text));
}

/* Lists in lists take no stack. */
static void depth(void **state)
{
	size_t deep = 200000, size = 0;
	char *text = malloc(4 * deep + 64);
	assert_non_null(text);
	size += (size_t)strlen(strcpy(text, "graph [ "));
	for (size_t i = 0; i < deep; i++, size += 2)
		memcpy(text + size, "a[", 2);
	memset(text + size, ']', deep + 1);
	xt_reads_bytes(*state, reader, text, size + deep + 1, NULL, "undirected 0:");
	xt_refuses_bytes(*state, reader, text, size + deep - 1, NULL, "is not closed");
	free(text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_files),
		cmocka_unit_test(syntax),
		cmocka_unit_test(weights),
		cmocka_unit_test(refusals),
		cmocka_unit_test(damaged_input),
		cmocka_unit_test(depth),
	};
	return xt_run(argc, argv, tests);
}
