/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>

static const struct pe_reader *const reader = &pe_reader_matrix_market;

#define REAL "%%MatrixMarket matrix coordinate real general\n"

static void coordinate(void **state)
{
	xt_reads(*state, reader, REAL "3 3 2\n1 2 2.5\n3 3 -1", NULL, "directed if one-way 3: 0-1=2.5 2-2=-1");
	xt_reads(*state, reader,
		"%%matrixmarket MATRIX Coordinate PATTERN Symmetric\r\n%c\r\n\r\n3 3 2\r\n2 1\r\n\r\n%c\r\n3 1\r\n",
		NULL, "undirected 3: 1-0 2-0");
	xt_reads(*state, reader, "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 2 3\n2 2 4\n",
		NULL, "undirected 2: 0-1=3 1-1=4");
	xt_reads(*state, reader, "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 3\n3 2 -4\n",
		NULL, "directed if one-way 3: 1-0=3 0-1=-3 2-1=-4 1-2=4");
	xt_reads(*state, reader, REAL "0 0 0\n", NULL, "directed if one-way 0:");
	struct pe_graph_policy policy = xt_policy();
	policy.weight_column = 0;
	xt_reads(*state, reader, REAL "3 3 2\n1 2 2.5\n3 3 -1\n", &policy, "directed if one-way 3: 0-1 2-2");
	policy.weight_column = 3;
	xt_reads(*state, reader, REAL "3 3 1\n1 2 2.5\n", &policy, "directed if one-way 3: 0-1=2.5");
	policy.weight_column = 4;
	xt_refuses(*state, reader, REAL "3 3 1\n1 2 2.5\n", &policy, "there is no column 4 of weights");
	policy = xt_policy();
	policy.weight_name = "w";
	xt_refuses(*state, reader, REAL "3 3 1\n1 2 2.5\n", &policy, "have no name");
}

static void dense(void **state)
{
	xt_reads(*state, reader, "%%MatrixMarket matrix array real general\n2 2\n0\n2\n3\n0\n", NULL,
		"directed if one-way 2: 1-0=2 0-1=3");
	xt_reads(*state, reader, "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n0\n", NULL,
		"undirected 2: 0-0=1 1-0=2");
	xt_reads(*state, reader, "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n0\n2\n", NULL,
		"directed if one-way 3: 1-0=1 0-1=-1 2-1=2 1-2=-2");
}

static void type_lines(void **state)
{
#define TYPED(field, type) \
	"%%MatrixMarket matrix coordinate " field " general\n%%GraphBLAS type " type "\n2 2 2\n"
	xt_reads(*state, reader, TYPED("integer", "bool") "1 2 1\n2 1 0\n", NULL, "directed if one-way 2: 0-1");
	xt_reads(*state, reader, TYPED("integer", "double") "1 2 1.5\n2 1 0\n", NULL,
		"directed if one-way 2: 0-1=1.5 1-0=0");
	xt_reads(*state, reader, TYPED("integer", "int8_t") "1 2 127\n2 1 -128\n", NULL,
		"directed if one-way 2: 0-1=127 1-0=-128");
	xt_refuses(*state, reader, TYPED("integer", "int8_t") "1 2 128\n2 1 1\n", NULL,
		"input:4: the value 128 does not fit into the type");
	xt_refuses(*state, reader, TYPED("integer", "uint32_t") "1 2 -1\n2 1 1\n", NULL, "does not fit");
	xt_refuses(*state, reader, TYPED("real", "int32_t") "1 2 1.5\n2 1 1\n", NULL, "1.5 is not an integer");
	xt_refuses(*state, reader, TYPED("integer", "bool") "1 2 2\n2 1 1\n", NULL, "does not fit");
	xt_refuses(
		*state, reader, TYPED("real", "double complex") "1 2 2\n2 1 1\n", NULL, "names none of the types");
	xt_refuses(*state, reader, "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1.5\n", NULL,
		"input:3: the value 1.5 is not an integer");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "input:1: the first line is not a %%MatrixMarket banner"},
		{"2 2 1\n1 2 3\n", "not a %%MatrixMarket banner"},
		{"%%MatrixMarket matrix coordinate real\n", "input:1: \"\" in the banner is not a symmetry"},
		{"%%MatrixMarket matrix coordinate real general x\n", "more in the banner"},
		{"%%MatrixMarket vector coordinate real general\n", "\"vector\" in the banner"},
		{"%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "input:1: the matrix is complex"},
		{"%%MatrixMarket matrix coordinate complex hermitian\n1 1 0\n", "the matrix is complex"},
		{"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", "can only be general"},
		{REAL, "the file ends before the line of sizes"},
		{REAL "%\n", "the file ends before the line of sizes"},
		{REAL "2 3 0\n", "input:2: the matrix has 2 rows and 3 columns"},
		{REAL "2 2\n1 1 1\n", "input:2: the line ends where the number of entries should be"},
		{REAL "2 2 1 1\n", "more on the line of sizes"},
		{REAL "-2 -2 0\n", "the number of rows cannot be -2"},
		{REAL "2 2 2\n1 2 3\n", "2 entries are declared, but there are only 1"},
		{REAL "2 2 1\n1 2 3\n2 1 3\n", "input:4: there are more entries than the 1 declared"},
		{REAL "2 2 1\n0 1 3\n", "input:3: a row cannot be 0: it must be from 1 to 2"},
		{REAL "2 2 1\n1 3 3\n", "a column cannot be 3"},
		{REAL "2 2 1\n1 -1 3\n", "a column cannot be -1"},
		{REAL "2 2 1\n1 2\n", "the line ends where a value should be"},
		{REAL "2 2 1\n1 2 3 4\n", "more on the line than a row, a column and a value"},
		{REAL "2 2 1\n1 2 nan\n", "input:3: a value is \"nan\""},
		{REAL "2 2 1\n1 2 -inf\n", "which is infinite"},
		{REAL "1000000000000000000 1000000000000000000 0\n", "refused as damaged"},
		{REAL "2000000000 2000000000 0\n", "refused as damaged"},
		{REAL "2 2 9223372036854775807\n1 2 3\n", "entries are declared, but there are only 1"},
		{"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 3\n",
			"diagonal of a skew-symmetric"},
		{"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "4 entries are declared"},
		{"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n", "more values than the 4"},
		{"%%MatrixMarket matrix array real general\n100000 100000\n1\n", "does not fit into the file"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_refuses(*state, reader, cases[i].text, NULL, cases[i].message);
}

static void survives(void **state)
{
	static const char *const texts[] = {
		REAL "%%GraphBLAS type double\r\n4 4 3\r\n1 2 2.5\r\n% c\n\n3 3 -1\n4 1 1e5",
		"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n0\n2\n",
		"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		xt_survives(*state, reader, texts[i], strlen(texts[i]));
}

static void without_a_banner(void **state)
{
	struct pe_graph_policy policy = xt_policy();
	policy.format = "mtx";
	xt_reads(*state, reader, "2 2 1\n1 2 3\n", &policy, "directed if one-way 2: 0-1=3");
	xt_reads(*state, reader, "%c\n2 2 1\n%c\n1 2\n", &policy, "directed if one-way 2: 0-1");
	xt_reads(*state, reader, "2 2\n0\n1\n0\n0\n", &policy, "directed if one-way 2: 1-0=1");
}

/* ---- real files --------------------------------------------------------------------- */

static pe_status read_real(pe_context *ctx, const char *name, const char *settings, pe_graph **out)
{
	char path[128];
	pe_params *params;
	snprintf(path, sizeof path, "matrix-market/%s.mtx", name);
	const char *found = xt_data(path); /* may skip the test: before anything is allocated */
	assert_int_equal(pe_params_create(ctx, "graph", &params), PE_OK);
	xt_set(params, settings);
	pe_status status = pe_graph_from_file(ctx, found, params, out);
	pe_params_destroy(&params);
	return status;
}

static void real_files(void **state)
{
	static const struct {
		const char *name, *settings;
		int64_t nodes, edges, loops, directed, weighted;
	} files[] = {
		{"karate", "", 34, 78, 0, 0, 0},
		{"jagmesh7", "", 1138, 4294, 1138, 0, 0},
		{"bcsstk13", "", 2003, 42943, 2003, 0, 1},
		{"cryg2500", "", 2500, 12349, 2500, 1, 1},
		{"west0067", "", 67, 294, 2, 1, 1},
		{"west0067_jumbled", "", 67, 294, 2, 1, 1},
		{"west0067_noheader", "from=mtx", 67, 294, 2, 1, 1},
		{"full", "", 3, 6, 3, 0, 1},
		{"full_noheader", "from=matrix-market", 3, 6, 3, 0, 1},
		{"full_symmetric", "", 4, 10, 4, 0, 1},
		{"cover", "", 7, 12, 0, 1, 1},
		{"cover_structure", "", 7, 12, 0, 1, 0},
		{"structure", "", 7, 12, 0, 1, 0},
		{"matrix_bool", "", 7, 7, 0, 1, 0},
		{"matrix_int32", "", 7, 11, 0, 1, 1},
		{"ldbc-directed-example", "", 10, 17, 0, 1, 1},
		{"ldbc-undirected-example", "", 9, 12, 0, 0, 1},
		{"ldbc-undirected-example-bool", "", 9, 12, 0, 0, 0},
		{"ldbc-undirected-example-unweighted", "", 9, 12, 0, 0, 0},
		{"tree-example", "", 6, 5, 0, 0, 1},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		pe_graph *graph;
		if (read_real(*state, files[i].name, files[i].settings, &graph) != PE_OK)
			fail_msg("%s", pe_context_message(*state));
		const pe_graph_report *r = pe_graph_get_report(graph);
		if (r->nodes != files[i].nodes || r->edges != files[i].edges || r->self_loops != files[i].loops ||
			r->directed != files[i].directed || r->weighted != files[i].weighted || r->base != 1)
			fail_msg("%s: %d nodes, %d edges, %d loops, %d, %d", files[i].name, (int)r->nodes, (int)r->edges,
				(int)r->self_loops, r->directed, r->weighted);
		pe_graph_destroy(&graph);
	}
}

/* The same matrix in another order of entries, and with and without a banner. */
static void the_same_matrix(void **state)
{
	pe_graph *graphs[3];
	assert_int_equal(read_real(*state, "west0067", "", &graphs[0]), PE_OK);
	assert_int_equal(read_real(*state, "west0067_jumbled", "", &graphs[1]), PE_OK);
	assert_int_equal(read_real(*state, "west0067_noheader", "from=mtx", &graphs[2]), PE_OK);
	for (int i = 1; i < 3; i++) {
		assert_memory_equal(graphs[i]->row, graphs[0]->row, 68 * sizeof(int64_t));
		assert_memory_equal(graphs[i]->col, graphs[0]->col, 294 * sizeof(int32_t));
		assert_memory_equal(graphs[i]->weight, graphs[0]->weight, 294 * sizeof(double));
	}
	for (int i = 0; i < 3; i++)
		pe_graph_destroy(&graphs[i]);
}

static void real_files_to_refuse(void **state)
{
	static const struct {
		const char *name, *message;
	} files[] = {
		{"mangled1", "mangled1.mtx:1: \"mangled\" in the banner is not an object"},
		{"mangled2", ":1: \"mangled\" in the banner is not a format"},
		{"mangled3", ":1: \"mangled\" in the banner is not a type of values"},
		{"mangled4", ":1: \"mangled\" in the banner is not a symmetry"},
		{"mangled5", ":1: a pattern can only be general or symmetric"},
		{"mangled6", ":1: only a complex matrix can be hermitian"},
		{"mangled7", ":2: the type line names none of the types"},
		{"mangled8", ":4: the line ends where the number of columns should be"},
		{"mangled_format", ":1: an array cannot be a pattern"},
		{"mangled_skew", ":2: a skew-symmetric matrix cannot be of type uint8_t"},
		{"empty", "empty.mtx:4: the matrix has 3 rows and 4 columns"},
		{"lp_afiro", ":65: the matrix has 27 rows and 51 columns"},
		{"complex", "complex.mtx:1: the matrix is complex"},
		{"comments_west0067", ":6: a value is \"nan\""},
		{"matrix_fp64", ":7: a value is -inf"},
		{"skew_fp64", ":4: a value is inf"},
		{"west0067_noheader", ":1: the first line is not a %%MatrixMarket banner"},
		{"full_noheader", ":1: the first line is not a %%MatrixMarket banner"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		pe_graph *graph;
		pe_status status = read_real(*state, files[i].name, "", &graph);
		assert_true(status == PE_ERR_FORMAT || status == PE_ERR_UNSUPPORTED);
		assert_null(graph);
		if (!strstr(pe_context_message(*state), files[i].message))
			fail_msg("\"%s\", expected \"%s\"", pe_context_message(*state), files[i].message);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coordinate),
		cmocka_unit_test(dense),
		cmocka_unit_test(type_lines),
		cmocka_unit_test(refusals),
		cmocka_unit_test(survives),
		cmocka_unit_test(without_a_banner),
		cmocka_unit_test(real_files),
		cmocka_unit_test(the_same_matrix),
		cmocka_unit_test(real_files_to_refuse),
	};
	return xt_run(argc, argv, tests) != 0;
}
