/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <string.h>

static const struct pe_reader *const reader = &pe_reader_node_link;

static void golden_files(void **state)
{
	static const char *const names[] = {"graph.json", "digraph.json", "multidigraph.json"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(xt_recognises_golden(reader, names[i]));
		xt_reads_golden(*state, reader, names[i]);
	}
}

#define AB "{\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\"}], "
#define ONE_TWO "{\"nodes\": [{\"id\": 1}, {\"id\": 2}], "
#define EDGE(u, v) "\"edges\": [{\"source\": " u ", \"target\": " v "}]}"

static void ids_and_positions(void **state)
{
	xt_reads(*state, reader, AB EDGE("\"b\"", "\"a\""), NULL, "undirected 2: 1-0");
	xt_reads(*state, reader, ONE_TWO EDGE("2", "1"), NULL, "undirected 2: 1-0");
	xt_reads(*state, reader, AB EDGE("1", "0"), NULL, "undirected 2: 1-0");
	xt_reads(
		*state, reader, "{\"nodes\": [{\"id\": 1}, {\"id\": 0}], " EDGE("0", "0"), NULL, "undirected 2: 1-1");
	xt_reads(*state, reader, ONE_TWO EDGE("1", "0"), NULL, "undirected 2: 1-0");
	xt_reads(*state, reader,
		"{\"nodes\": [{\"name\": \"x\"}, {}], \"links\": [{\"source\": 0, \"target\": 1}]}", NULL,
		"undirected 2: 0-1");
	xt_reads(*state, reader, "{\"nodes\": [{\"id\": \"1\"}, {\"id\": \"0\"}], " EDGE("0", "0"), NULL,
		"undirected 2: 0-0");
	xt_reads(*state, reader, "\xEF\xBB\xBF\r\n{\"nodes\": [], \"edges\": []}\r\n", NULL, "undirected 0:");
	xt_reads(*state, reader, "[" AB EDGE("\"a\"", "\"b\"") ", " AB "\"links\": []}]", NULL,
		"undirected 2: 0-1 | 2:");
}

static void weights(void **state)
{
	const char *text =
		AB "\"directed\": true, \"edges\": [{\"source\": \"a\", \"target\": \"b\", \"weight\": 2, "
		   "\"len\": 0.5}, {\"source\": \"b\", \"target\": \"b\"}]}";
	struct pe_graph_policy policy = xt_policy();
	xt_reads(*state, reader, text, &policy, "directed 2: 0-1=2 1-1=1");
	policy.weight_name = "len";
	xt_reads(*state, reader, text, &policy, "directed 2: 0-1=0.5 1-1=1");
	policy.weight_name = "missing";
	xt_refuses(*state, reader, text, &policy, "no edge has a field named missing");
	policy = (struct pe_graph_policy){.weight_column = 0};
	xt_reads(*state, reader, text, &policy, "directed 2: 0-1 1-1");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: not valid JSON"},
		{"{\n\"nodes\": [}", "input:2: not valid JSON"},
		{"{\"nodes\": [], \"edges\": []} x", "not valid JSON: end of file expected"},
		{"{\"nodes\": [], \"nodes\": [], \"edges\": []}", "duplicate object key"},
		{"[]", "input: there is no graph"},
		{"[3]", "graph 0: a graph must be an object"},
		{"{}", "there is no list \"nodes\""},
		{"{\"nodes\": []}", "there is no list \"edges\" or \"links\""},
		{"{\"nodes\": [], \"edges\": [], \"links\": []}", "both \"edges\" and \"links\""},
		{"{\"nodes\": [1], \"edges\": []}", "node 0 is not an object"},
		{"{\"nodes\": [{\"id\": 1.5}], \"edges\": []}", "node 0: an id must be an integer or a string"},
		{"{\"nodes\": [{\"id\": null}], \"edges\": []}", "an id must be an integer or a string"},
		{"{\"nodes\": [{\"id\": 1}, {\"id\": \"2\"}], \"edges\": []}",
			"node 1: some ids are integers and some are not"},
		{"{\"nodes\": [{\"id\": 1}, {}], \"edges\": []}", "node 1: it has no id, others have one"},
		{"{\"nodes\": [{\"id\": 1}, {\"id\": 1}], \"edges\": []}", "node 1: the id 1 is listed again"},
		{AB EDGE("\"a\"", "\"z\""), "edge 0 names a node that is not listed"},
		{AB EDGE("0", "2"), "edge 0 names a node that is not listed"},
		{AB EDGE("-1", "0"), "edge 0 names a node that is not listed"},
		{AB EDGE("\"a\"", "1"), "edge 0 names a node that is not listed"},
		{AB EDGE("\"a\"", "null"), "edge 0: target must be an integer or a string"},
		{AB "\"edges\": [{\"source\": \"a\"}]}", "edge 0: target must be"},
		{AB "\"edges\": [[0, 1]]}", "edge 0 is not an object"},
		{AB "\"edges\": [{\"source\": \"a\", \"target\": \"b\", \"weight\": null}]}",
			"edge 0: weight is not a finite"},
		{AB "\"directed\": 1, \"edges\": []}", "\"directed\" must be true or false"},
		{"[" AB "\"edges\": []}, " AB "\"directed\": true, \"edges\": []}]",
			"graph 1: it is directed, unlike"},
		{"{\"nodes\": [{\"id\": 99999999999999999999}], \"edges\": []}", "too big integer"},
		{"{\"nodes\": [], \"edges\": [], \"x\": NaN}", "not valid JSON"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
}

static void depth(void **state)
{
	size_t size = 1000000;
	char *text = malloc(size);
	assert_non_null(text);
	memset(text, '[', size);
	xt_refuses_bytes(*state, reader, text, size, NULL, "maximum parsing depth reached");
	free(text);
}

static void damaged_input(void **state)
{
	const char *text = "[" ONE_TWO "\"links\": [{\"source\": 2, \"target\": 1, \"weight\": 0.5}]}, " AB EDGE(
		"\"a\"", "\"b\"") "]";
	xt_survives(*state, reader, text, strlen(text));
}

/* The header's length is 123, '{'. */
static void safetensors_is_not_json(void **state)
{
	(void)state;
	struct pe_source source = {"{\0\0\0\0\0\0\0{\"x\":", 14, "input"};
	assert_false(reader->recognise(&source));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_files),
		cmocka_unit_test(ids_and_positions),
		cmocka_unit_test(weights),
		cmocka_unit_test(refusals),
		cmocka_unit_test(depth),
		cmocka_unit_test(damaged_input),
		cmocka_unit_test(safetensors_is_not_json),
	};
	return xt_run(argc, argv, tests);
}
