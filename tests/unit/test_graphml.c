/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <string.h>

static const struct pe_reader *const reader = &pe_reader_graphml;

#define HEAD "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
#define NODES "<node id=\"b\"/><node id=\"a\"/><node id=\"c\"/>\n"
#define GRAPH HEAD "<graph edgedefault=\"undirected\">" NODES
#define DIGRAPH HEAD "<graph edgedefault=\"directed\">" NODES
#define TAIL "</graph></graphml>\n"

static void golden_files(void **state)
{
	static const char *const names[] = {"graph.graphml", "digraph.graphml", "multidigraph.graphml"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(xt_recognises_golden(reader, names[i]));
		xt_reads_golden(*state, reader, names[i]);
	}
}

/* What yEd adds: its own namespaces, keys without a name, elements in data; and no namespace at all. */
static void dialects(void **state)
{
	xt_reads(*state, reader,
		"<graphml xmlns='http://graphml.graphdrawing.org/xmlns' xmlns:y='http://www.yworks.com/xml/graphml'>"
		"<desc>text</desc><key for='node' id='d0' yfiles.type='nodegraphics'/>"
		"<key attr.name='weight' attr.type='double' for='edge' id='d1'><desc>w</desc></key>"
		"<graph edgedefault='directed' id='G'><data key='d9'>x</data>"
		"<node id='n0'><data key='d0'><y:ShapeNode><y:node id='n0'/></y:ShapeNode></data></node><node "
		"id='n1'/>"
		"<edge id='e0' source='n0' target='n1'><data key='d2'><y:edge source='n1'/></data>"
		"<data key='d1'>\n 2.5\t</data></edge></graph></graphml>",
		NULL, "directed 2: 0-1=2.5");
	xt_reads(*state, reader,
		"<graphml><graph edgedefault='undirected'><edge source='x' target='y'/><node id='y'/>"
		"<node id='x'/></graph></graphml>",
		NULL, "undirected 2: 1-0");
	xt_reads(*state, reader, "<g:graphml xmlns:g='urn:g'><g:graph><g:node id='1'/></g:graph></g:graphml>",
		NULL, "undirected 1:");
	xt_reads(*state, reader,
		"\xEF\xBB\xBF<graphml>\r\n<graph><node id='1'>\r\n<port name='p'/></node></graph>"
		"<graph><node id='1'/><node id='2'/><edge source='1' target='2'/></graph>\r\n</graphml>",
		NULL, "undirected 1: | 2: 0-1");
	xt_reads(*state, reader, "<!DOCTYPE graphml SYSTEM 'graphml.dtd'><graphml><graph/></graphml>", NULL,
		"undirected 0:");
}

static void weights(void **state)
{
	const char *text = HEAD
		"<key id='w' for='edge' attr.name='weight' attr.type='int'><default>3</default></key>"
		"<key id='v' for='all' attr.name='weight' attr.type='double'/>"
		"<key id='n' for='node' attr.name='weight' attr.type='double'/>"
		"<key id='len' for='edge' attr.name='length' attr.type='double'/>"
		"<graph edgedefault='undirected'>" NODES "<edge source='a' target='b'><data key='w'>2</data></edge>"
		"<edge source='a' target='c'><data key='v'>1e-3</data><data key='len'>7</data></edge>"
		"<edge source='b' target='c'><data key='n'>9</data></edge>" TAIL;
	struct pe_graph_policy policy = xt_policy();
	xt_reads(*state, reader, text, &policy, "undirected 3: 1-0=2 1-2=0.001 0-2=3");
	policy.weight_name = "length";
	xt_reads(*state, reader, text, &policy, "undirected 3: 1-0=1 1-2=7 0-2=1");
	policy.weight_name = "height";
	xt_refuses(*state, reader, text, &policy, "input: no edge has a field named height");
	policy = (struct pe_graph_policy){.weight_column = 0};
	xt_reads(*state, reader, text, &policy, "undirected 3: 1-0 1-2 0-2");
	policy.weight_column = 3;
	xt_refuses(*state, reader, text, &policy, "give a field's name instead of column 3");
}

static void direction(void **state)
{
	const char *mixed =
		DIGRAPH "<edge source='a' target='b'/>\n<edge source='b' target='c' directed='false'/>" TAIL;
	struct pe_graph_policy policy = xt_policy();
	xt_refuses(*state, reader, mixed, NULL, "input:5: this edge is undirected, unlike the ones before");
	policy.edges = PE_DIRECTED;
	xt_reads(*state, reader, mixed, &policy, "directed 3: 1-0 0-2");
	policy.edges = PE_UNDIRECTED;
	xt_reads(*state, reader, mixed, &policy, "undirected 3: 1-0 0-2");
	xt_reads(
		*state, reader, GRAPH "<edge source='a' target='b' directed='true'/>" TAIL, NULL, "directed 3: 1-0");
	xt_reads(*state, reader, DIGRAPH TAIL, NULL, "directed 3:");
}

static void ids(void **state)
{
	struct pe_raw_graphs raw;
	struct pe_graph_policy policy = xt_policy();
	struct pe_source source = {GRAPH TAIL, strlen(GRAPH TAIL), NULL};
	assert_int_equal(reader->read(*state, &source, &policy, &raw), PE_OK);
	assert_null(raw.node_ids);
	assert_string_equal(raw.node_names[0], "b");
	assert_string_equal(raw.node_names[2], "c");
	assert_int_equal(raw.base, -1);
	pe_raw_graphs_free(*state, &raw);

	source.data =
		"<graphml><graph><node id='30'/><node id='-7'/></graph><graph><node id='30'/></graph></graphml>";
	source.size = strlen(source.data);
	assert_int_equal(reader->read(*state, &source, &policy, &raw), PE_OK);
	assert_null(raw.node_names);
	assert_int_equal(raw.node_ids[0], 30);
	assert_int_equal(raw.node_ids[1], -7);
	assert_int_equal(raw.node_ids[2], 30);
	assert_int_equal(raw.base, -7);
	pe_raw_graphs_free(*state, &raw);

	source.data =
		"<graphml><graph><node id='1'/><node id='2'/></graph><graph><node id='1'/></graph></graphml>";
	source.size = strlen(source.data);
	assert_int_equal(reader->read(*state, &source, &policy, &raw), PE_OK);
	assert_null(raw.node_ids);
	assert_null(raw.node_names);
	assert_int_equal(raw.base, 1);
	pe_raw_graphs_free(*state, &raw);

	source.data = "<graphml><graph><node id='01'/><node id='1'/></graph></graphml>";
	source.size = strlen(source.data);
	assert_int_equal(reader->read(*state, &source, &policy, &raw), PE_OK);
	assert_string_equal(raw.node_names[0], "01");
	pe_raw_graphs_free(*state, &raw);
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: no element found"},
		{"<html/>", "input:1: the root element is <html>, not <graphml>"},
		{"<graphml/>", "there is no graph"},
		{HEAD "<graph edgedefault='sideways'/></graphml>", "input:3: edgedefault is \"sideways\""},
		{GRAPH "<node/>" TAIL, "input:4: a node without an id"},
		{GRAPH "\n<node id='a'/>" TAIL, "input:5: node \"a\" is listed again"},
		{GRAPH "<edge source='a'/>" TAIL, "an edge without a target"},
		{GRAPH "<edge target='a'/>" TAIL, "an edge without a source"},
		{GRAPH "\n<edge source='a' target='z'/>" TAIL,
			"input:5: an edge names node \"z\", which is not listed"},
		{GRAPH "<edge source='a' target='b' directed='maybe'/>" TAIL, "directed is \"maybe\""},
		{GRAPH "<hyperedge/>" TAIL, "hyperedges are not supported"},
		{GRAPH "<node id='d'><graph/></node>" TAIL, "nested graphs are not supported"},
		{HEAD "<key id='w' for='edge' attr.name='weight'><default>x</default></key>" TAIL,
			"weight \"x\" is not a finite number"},
		{HEAD "<key id='w' for='edge' attr.name='weight'/><graph>" NODES
			  "<edge source='a' target='b'><data key='w'>nan</data></edge>" TAIL,
			"weight \"nan\" is not a finite"},
		{HEAD "<key id='w' for='edge' attr.name='weight'/><graph>" NODES
			  "<edge source='a' target='b'><data key='w'>1</data><data key='w'>1</data></edge>" TAIL,
			"an edge with two values of weight"},
		{HEAD "<graph/><key id='w' for='edge' attr.name='weight'/></graphml>", "stands after a graph"},
		{"<!DOCTYPE g [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><graphml><graph/></graphml>",
			"declares the entity \"a\""},
		{GRAPH "</node>" TAIL, "input:4: mismatched tag"},
		{GRAPH, "no element found"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
}

static void damaged_input(void **state)
{
	const char *text = HEAD "<key id='w' for='edge' attr.name='weight'><default>3</default></key>"
							"<graph edgedefault='undirected'>" NODES
							"<edge source='a' target='b'><data key='w'>2</data></edge>"
							"</graph><graph edgedefault='undirected'><node id='x'/></graph></graphml>";
	xt_survives(*state, reader, text, strlen(text));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_files),
		cmocka_unit_test(dialects),
		cmocka_unit_test(weights),
		cmocka_unit_test(direction),
		cmocka_unit_test(ids),
		cmocka_unit_test(refusals),
		cmocka_unit_test(damaged_input),
	};
	return xt_run(argc, argv, tests);
}
