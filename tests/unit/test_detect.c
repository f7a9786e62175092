/* SPDX-License-Identifier: BSD-2-Clause
 * Which reader an input goes to, files, directories, memory. */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "detect.h"
#include "options.h"

static void is_read_as(
	pe_context *ctx, const char *text, const char *name, const char *from, const char *format)
{
	pe_graph *graph;
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, "graph", &params), PE_OK);
	if (from)
		assert_int_equal(pe_params_set(params, "from", from), PE_OK);
	if (pe_graph_from_bytes(ctx, text, strlen(text), name, params, &graph) != PE_OK)
		fail_msg("%s: %s", name, pe_context_message(ctx));
	assert_string_equal(pe_graph_get_report(graph)->format, format);
	pe_graph_destroy(&graph);
	pe_params_destroy(&params);
}

static void refuses(pe_context *ctx, const char *text, const char *name, const char *message)
{
	pe_graph *graph;
	xt_fails(ctx, pe_graph_from_bytes(ctx, text, strlen(text), name, NULL, &graph), PE_ERR_FORMAT, message);
	assert_null(graph);
}

static void content_first(void **state)
{
	const char *matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
	is_read_as(*state, matrix, "x.txt", NULL, "matrix-market");
	is_read_as(*state, matrix, "x.graph", NULL, "matrix-market");
	is_read_as(*state, matrix, NULL, NULL, "matrix-market");
	is_read_as(*state, "# Nodes: 2 Edges: 1\n0 1\n", "x.graph", NULL, "edgelist");
	is_read_as(*state, "% sym unweighted\n1 2\n", "out.karate", NULL, "edgelist");
	is_read_as(*state, "graph [ node [ id 1 ] ]", "x", NULL, "gml");
	is_read_as(*state, "*Vertices 2\n*Edges\n1 2\n", "x", NULL, "pajek");
	is_read_as(*state, "p edge 2 1\ne 1 2\n", "x", NULL, "dimacs");
	is_read_as(*state, "{\"nodes\": [{\"id\": 1}], \"links\": []}", "x", NULL, "node-link");
	is_read_as(*state, "Ch\n", "x", NULL, "graph6");
}

static void suffix_second(void **state)
{
	is_read_as(*state, "3 2\n2\n1 3\n2\n", "x.graph", NULL, "metis");
	is_read_as(*state, "1 2\n2 3\n", "x.edges", NULL, "edgelist");
	refuses(*state, "1 2\n2 3\n", "x.graph", "x.graph:2: a neighbour cannot be 2");
}

static void guesses_third(void **state)
{
	is_read_as(*state, "3 2\n2\n1 3\n2\n", "x", NULL, "metis");
	is_read_as(*state, "3 2\n2 1\n1 3\n2 2\n", "x.txt", NULL, "edgelist");
	is_read_as(*state, "5 6\n6 7\n", NULL, NULL, "edgelist");
	refuses(*state, "3 2\n2\n1\n", "x",
		"x: is of no known format; tried metis (x: 2 edges are declared, but the lines of nodes hold 2 "
		"neighbours, not twice that); edgelist (x:2: the line ends where a node id should be)");
	refuses(*state, "\x01\x02\x03", "x", "x: neither its content nor its name is that of a graph");
	refuses(*state, "", "x", "x: is empty");
}

static void from_overrides(void **state)
{
	is_read_as(*state, "3 3\n3 2\n1 3\n1 2\n", "x.graph", "edgelist", "edgelist");
	is_read_as(*state, "3 3\n3 2\n1 3\n1 2\n", "x.edges", "metis", "metis");
	is_read_as(*state, "2 2 1\n1 2 1\n", "x.mtx", "mtx", "matrix-market");
	pe_params *params;
	pe_graph *graph;
	assert_int_equal(pe_params_create(*state, "graph", &params), PE_OK);
	assert_int_equal(pe_params_set(params, "from", "excel"), PE_OK);
	xt_fails(*state, pe_graph_from_bytes(*state, "1 2", 3, "x", params, &graph), PE_ERR_RANGE,
		"there is no format \"excel\"; there are ogb, tu, matrix-market");
	pe_params_destroy(&params);
}

static void a_matrix_is_nothing_else(void **state)
{
	refuses(*state, "2 2 1\n1 2 1\n", "x.mtx", "x.mtx:1: the first line is not a %%MatrixMarket banner");
	refuses(*state, "2 1\n2\n1\n", "x.mtx.gz", "the first line is not a %%MatrixMarket banner");
	refuses(*state, "", "x.mtx", "not a %%MatrixMarket banner");
	refuses(*state, "%%MatrixMarket matrix coordinate real general\n2 2 1\n", "x.edges",
		"x.edges:3: 1 entries are declared");
}

static void compressed_memory(void **state)
{
	static char bytes[1 << 18];
	FILE *file = fopen(xt_data("graphs-edgelist/facebook_combined.txt.gz"), "rb");
	assert_non_null(file);
	size_t size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	pe_graph *graph;
	assert_int_equal(pe_graph_from_bytes(*state, bytes, size, NULL, NULL, &graph), PE_OK);
	assert_int_equal(pe_graph_get_report(graph)->edges, 88234);
	pe_graph_destroy(&graph);
	assert_int_equal(pe_graph_from_bytes(*state, bytes, size - 9, "cut", NULL, &graph), PE_ERR_FORMAT);
}

static void no_arguments(void **state)
{
	pe_graph *graph;
	assert_int_equal(pe_graph_from_file(*state, "x", NULL, NULL), PE_ERR_ARGUMENT);
	assert_int_equal(pe_graph_from_file(*state, NULL, NULL, &graph), PE_ERR_ARGUMENT);
	assert_int_equal(pe_graph_from_file(NULL, "x", NULL, &graph), PE_ERR_ARGUMENT);
	assert_int_equal(pe_graph_from_bytes(*state, NULL, 3, NULL, NULL, &graph), PE_ERR_ARGUMENT);
	assert_null(graph);
	pe_params *params;
	assert_int_equal(pe_params_create(*state, "sinusoidal", &params), PE_OK);
	xt_fails(*state, pe_graph_from_bytes(*state, "1 2", 3, NULL, params, &graph), PE_ERR_ARGUMENT,
		"these are options of sinusoidal");
	pe_params_destroy(&params);
}

/* ---- directories -------------------------------------------------------------------- */

static void put(const char *directory, const char *name, const char *text)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static const char *folder(void)
{
	static int number;
	static char path[256];
	snprintf(path, sizeof path, "%s/graphs%d", xt_temporary(), number++);
	assert_int_equal(mkdir(path, 0700), 0);
	return path;
}

static void files_in_order(void **state)
{
	const char *directory = folder();
	put(directory, "b.g6", "Bw\nA_\n");               /* a triangle, an edge */
	put(directory, "c.graph", "3 1 1\n\n3 4\n2 4\n"); /* weights */
	put(directory, "a.edges", "x y\ny z\n");          /* names */
	put(directory, "README", "what this is\n");
	pe_graph *graph;
	if (pe_graph_from_file(*state, directory, NULL, &graph) != PE_OK)
		fail_msg("%s", pe_context_message(*state));
	const pe_graph_report *r = pe_graph_get_report(graph);
	assert_true(r->graphs == 4 && r->nodes == 11 && r->edges == 7 && r->weighted && !r->directed);
	assert_string_equal(r->format, "several");
	const int64_t ptr[] = {0, 3, 6, 8, 11};
	assert_memory_equal(pe_graph_ptr(graph), ptr, sizeof ptr);
	assert_string_equal(pe_graph_node_name(graph, 2), "z");
	assert_string_equal(pe_graph_node_name(graph, 3), "0");
	assert_string_equal(pe_graph_node_name(graph, 10), "3");
	const int32_t col[] = {1, 0, 2, 1, 1, 2, 0, 2, 0, 1, 1, 0, 2, 1};
	assert_memory_equal(graph->col, col, sizeof col);
	assert_true(graph->weight[0] == 1 && graph->weight[13] == 4);
	static const char *const files[] = {"a.edges", "b.g6", "b.g6", "c.graph"};
	for (int64_t g = 0; g < 4; g++)
		assert_string_equal(pe_graph_file(graph, g), files[g]);
	assert_ptr_equal(pe_graph_file(graph, 1), pe_graph_file(graph, 2));
	assert_null(pe_graph_file(graph, -1));
	assert_null(pe_graph_file(graph, 4));
	pe_graph *one; /* names are of its own: they outlive the others */
	assert_int_equal(pe_graph_select(*state, graph, 3, &one), PE_OK);
	pe_graph_destroy(&graph);
	assert_string_equal(pe_graph_file(one, 0), "c.graph");
	assert_string_equal(pe_graph_node_name(one, 2), "3");
	assert_true(one->col[0] == 2 && one->weight[1] == 4);
	pe_graph_destroy(&one);
	assert_int_equal(pe_graph_from_bytes(*state, "0 1\n", 4, "x.txt", NULL, &graph), PE_OK);
	assert_null(pe_graph_file(graph, 0));
	pe_graph_destroy(&graph);
}

static void directories_of_one_kind(void **state)
{
	const char *directory = folder();
	put(directory, "2.txt", "7 9\n");
	put(directory, "1.txt", "5 4\n4 3\n");
	pe_graph *graph;
	assert_int_equal(pe_graph_from_file(*state, directory, NULL, &graph), PE_OK);
	const int64_t ids[] = {3, 4, 5, 7, 9};
	assert_memory_equal(pe_graph_node_ids(graph), ids, sizeof ids);
	pe_graph_destroy(&graph);
	put(directory, "3.txt", "5 4 3\n4\n");
	xt_fails(*state, pe_graph_from_file(*state, directory, NULL, &graph), PE_ERR_FORMAT, "3.txt");
	xt_fails(*state, pe_graph_from_file(*state, folder(), NULL, &graph), PE_ERR_FORMAT,
		"is no OGB or TU dataset, and holds no file");
	xt_fails(
		*state, pe_graph_from_file(*state, "/nowhere/at/all", NULL, &graph), PE_ERR_IO, "/nowhere/at/all");
}

static pe_status read_folder(pe_context *ctx, const char *directory, const char *settings, pe_graph **graph)
{
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, "graph", &params), PE_OK);
	xt_set(params, settings);
	pe_status status = pe_graph_from_file(ctx, directory, params, graph);
	pe_params_destroy(&params);
	return status;
}

/* Files that cannot be read fail the whole, or are graphs of 0 nodes, as one asks. */
static void unreadable_files(void **state)
{
	pe_context *ctx = *state;
	const char *directory = folder();
	put(directory, "a.graph", "3 2\n2\n1\n"); /* METIS: node 3 is not there */
	put(directory, "b.g6", "Bw\nA_\n");       /* a triangle, an edge */
	put(directory, "c.mtx", "no matrix\n");
	put(directory, "d.graph", "3 1 1\n\n3 4\n2 4\n"); /* weights */
	put(directory, "e.g6.gz", "\x1f\x8b not gzip");
	pe_graph *graph;
	xt_fails(ctx, pe_graph_from_file(ctx, directory, NULL, &graph), PE_ERR_FORMAT, "a.graph:");
	xt_fails(ctx, read_folder(ctx, directory, "unreadable=fail", &graph), PE_ERR_FORMAT, "a.graph:");
	if (read_folder(ctx, directory, "unreadable=empty", &graph) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	const pe_graph_report *r = pe_graph_get_report(graph);
	assert_true(r->graphs == 6 && r->nodes == 8 && r->edges == 5 && r->failed == 3 && r->weighted);
	const int64_t ptr[] = {0, 0, 3, 5, 5, 8, 8}, failed[] = {0, 3, 5};
	assert_memory_equal(pe_graph_ptr(graph), ptr, sizeof ptr);
	assert_memory_equal(pe_graph_failed(graph), failed, sizeof failed);
	assert_non_null(strstr(pe_graph_failure(graph, 0), "a.graph:"));
	assert_non_null(strstr(pe_graph_failure(graph, 1), "c.mtx:1"));
	assert_non_null(strstr(pe_graph_failure(graph, 2), "e.g6.gz"));
	assert_null(pe_graph_failure(graph, 3));
	assert_null(pe_graph_failure(graph, -1));
	pe_graph *one;
	assert_int_equal(pe_graph_select(ctx, graph, 3, &one), PE_OK);
	assert_true(pe_graph_get_report(one)->failed == 1 && pe_graph_failed(one)[0] == 0);
	assert_string_equal(pe_graph_failure(one, 0), pe_graph_failure(graph, 1));
	pe_graph_destroy(&one);
	assert_int_equal(pe_graph_select(ctx, graph, 4, &one), PE_OK);
	assert_int_equal(pe_graph_get_report(one)->failed, 0);
	pe_graph_destroy(&one);
	pe_graph_destroy(&graph);
	assert_int_equal(read_folder(ctx, directory, "unreadable=empty,component=largest", &graph), PE_OK);
	assert_memory_equal(pe_graph_failed(graph), failed, sizeof failed);
	pe_graph_destroy(&graph);
	const char *none = folder();
	put(none, "a.mtx", "no matrix\n");
	put(none, "b.mtx", "no matrix\n");
	xt_fails(ctx, read_folder(ctx, none, "unreadable=empty", &graph), PE_ERR_FORMAT, "a.mtx:1");
	/* A wrong option is no fault of a file. */
	xt_fails(ctx, read_folder(ctx, directory, "unreadable=empty,from=nothing", &graph), PE_ERR_RANGE,
		"no format \"nothing\"");
}

/* The words that help and completion name are formats, and all of them. */
static void formats_are_named(void **state)
{
	pe_params *params;
	char message[1024];
	int words = 0, commas = 0;
	pe_graph *graph;
	assert_int_equal(pe_params_create(*state, "graph", &params), PE_OK);
	xt_set(params, "from=nothing");
	assert_int_equal(pe_graph_from_bytes(*state, "", 0, NULL, params, &graph), PE_ERR_RANGE);
	snprintf(message, sizeof message, "%s", pe_context_message(*state));
	for (const char *at = strstr(message, "there are "); *at; at++)
		commas += *at == ',';
	for (const char *at = pe_params_info(params, "from").choices; *at; words++) {
		char word[40];
		size_t size = strcspn(at, "|");
		snprintf(word, sizeof word, " %.*s", (int)size, at);
		if (!strstr(message, word))
			fail_msg("%s is no format: %s", word, message);
		at += size + (at[size] == '|');
	}
	assert_int_equal(words, commas + 1);
	pe_params_destroy(&params);
}

static char logged[2000];

static void keep_log(void *opaque, pe_log_level level, const char *text)
{
	(void)opaque;
	if (level == PE_LOG_WARNING)
		snprintf(logged + strlen(logged), sizeof logged - strlen(logged), "%s\n", text);
}

static pe_context *logging_context(void)
{
	const pe_context_options options = {.size = sizeof options, .log = keep_log};
	pe_context *ctx;
	logged[0] = '\0';
	assert_int_equal(pe_context_create(&options, &ctx), PE_OK);
	return ctx;
}

/* What the others are is not changed by one that could not be read. */
static void unreadable_files_change_nothing_else(void **state)
{
	(void)state;
	pe_context *ctx = logging_context();
	const char *directory = folder();
	put(directory, "a.mtx", "no matrix\n");
	put(directory, "b.net", "*Vertices 2\n*Arcs\n1 2 5\n");
	put(directory, "c.net", "*Vertices 2\n*Arcs\n2 1 3\n");
	pe_graph *graph;
	assert_int_equal(read_folder(ctx, directory, "unreadable=empty", &graph), PE_OK);
	const pe_graph_report *r = pe_graph_get_report(graph);
	assert_string_equal(r->format, "pajek");
	assert_true(r->directed && r->weighted && r->edges == 2 && r->base == 1);
	assert_int_equal(pe_graph_node_ids(graph)[3], 2);
	assert_null(strstr(logged, "some graphs"));
	pe_graph_destroy(&graph);
	pe_context_destroy(&ctx);
}

static void sub_folders_are_said(void **state)
{
	(void)state;
	pe_context *ctx = logging_context();
	pe_graph *graph;
	char path[400];
	const char *directory = folder(), *const folders[] = {"x", "y.mtx", ".hidden"};
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", directory, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	xt_fails(ctx, pe_graph_from_file(ctx, directory, NULL, &graph), PE_ERR_FORMAT, "but 2 sub-folders");
	put(directory, "1.txt", "1 2\n");
	assert_int_equal(pe_graph_from_file(ctx, directory, NULL, &graph), PE_OK);
	pe_graph_destroy(&graph);
	const char *said = strstr(logged, "2 sub-folders were left out");
	assert_non_null(said);
	assert_null(strstr(said + strlen("2 sub-folders"), "sub-folder"));
	pe_context_destroy(&ctx);
}

static void out_of_memory(void **state)
{
	const char *directory = folder();
	put(directory, "b.g6", "Bw\nA_\n");
	put(directory, "c.graph", "3 1 1\n\n3 4\n2 4\n");
	put(directory, "a.edges", "x y\ny z\n");
	put(directory, "d.mtx", "no matrix\n");
	pe_params *params;
	assert_int_equal(pe_params_create(*state, "graph", &params), PE_OK);
	xt_set(params, "unreadable=empty");
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		pe_graph *graph;
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_graph_from_file(*state, directory, params, &graph));
		pe_graph_destroy(&graph);
	}
	pe_params_destroy(&params);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content_first),
		cmocka_unit_test(suffix_second),
		cmocka_unit_test(guesses_third),
		cmocka_unit_test(from_overrides),
		cmocka_unit_test(a_matrix_is_nothing_else),
		cmocka_unit_test(compressed_memory),
		cmocka_unit_test(no_arguments),
		cmocka_unit_test(files_in_order),
		cmocka_unit_test(directories_of_one_kind),
		cmocka_unit_test(unreadable_files),
		cmocka_unit_test(formats_are_named),
		cmocka_unit_test(unreadable_files_change_nothing_else),
		cmocka_unit_test(sub_folders_are_said),
		cmocka_unit_test(out_of_memory),
	};
	return xt_run(argc, argv, tests) != 0;
}
