/* SPDX-License-Identifier: BSD-2-Clause
 * edge_index in files, and as arrays. */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>

#include "edge_index.h"

static const struct pe_reader *const reader = &pe_reader_edge_index;

static void golden_files(void **state)
{
	static const char *const names[] = {"edge_index.npy", "edge_index_rows.npy", "edge_index_fortran.npy",
		"edge_index.npz", "edge_index.safetensors", "many.npz", "many.safetensors"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(xt_recognises_golden(reader, names[i]));
		xt_reads_golden(*state, reader, names[i]);
	}
	assert_false(xt_recognises_golden(reader, "csr.npz"));
}

/* Three edges between three nodes, with what a case adds or replaces. */
static const int64_t ids[] = {0, 1, 1, 1, 2, 0};
static const double halves[] = {0.5, 1, 1.5};

static char *file_of(
	pe_context *ctx, const char *format, struct xt_array extra, struct xt_array more, size_t *size)
{
	struct xt_array arrays[3] = {{"edge_index", xt_matrix(ids, PE_I64, 2, 3)}};
	size_t count = 1;
	if (extra.name && strcmp(extra.name, "edge_index") == 0)
		arrays[0] = extra;
	else if (extra.name)
		arrays[count++] = extra;
	if (more.name)
		arrays[count++] = more;
	return xt_bundle_bytes(ctx, format, arrays, count, size);
}

static void reads(pe_context *ctx, struct xt_array extra, struct xt_array more, const char *expected)
{
	static const char *const formats[] = {"npz", "safetensors"};
	for (int i = 0; i < 2; i++) {
		size_t size;
		char *bytes = file_of(ctx, formats[i], extra, more, &size);
		xt_reads_bytes(ctx, reader, bytes, size, NULL, expected);
		free(bytes);
	}
}

static void refuses(pe_context *ctx, struct xt_array extra, struct xt_array more, const char *message)
{
	size_t size;
	char *bytes = file_of(ctx, "npz", extra, more, &size);
	xt_refuses_bytes(ctx, reader, bytes, size, NULL, message);
	free(bytes);
}

#define NO ((struct xt_array){0})
#define VECTOR(name, values, dtype) \
	((struct xt_array){name, xt_vector(values, dtype, (int64_t)(sizeof(values) / sizeof *(values)))})

static void shapes(void **state)
{
	pe_context *ctx = *state;
	static const int32_t rows[] = {0, 1, 1, 2, 1, 0}, four[] = {0, 1, 2, 3};
	static const int64_t five[] = {5}, ptr[] = {0, 1, 1, 3}, one[] = {0, 3}, batch[] = {0, 0, 0};
	static const int64_t loops[] = {0, 1, 2, 0, 1, 2}, two[] = {0, 2, 2};
	reads(ctx, NO, NO, "unknown 3: 0-1 1-2 1-0");
	reads(ctx, (struct xt_array){"edge_index", xt_matrix(rows, PE_I32, 3, 2)}, NO, "unknown 3: 0-1 1-2 1-0");
	reads(ctx, (struct xt_array){"edge_index", xt_matrix(four, PE_I32, 2, 2)}, NO, "unknown 4: 0-2 1-3");
	reads(ctx, (struct xt_array){"edge_index", xt_matrix(four, PE_I32, 2, 0)}, NO, "unknown 0:");
	reads(ctx, VECTOR("num_nodes", five, PE_I64), NO, "unknown 5: 0-1 1-2 1-0");
	reads(ctx, VECTOR("edge_weight", halves, PE_F64), NO, "unknown 3: 0-1=0.5 1-2=1 1-0=1.5");
	reads(ctx, (struct xt_array){"edge_weight", xt_matrix(halves, PE_F64, 3, 1)}, NO,
		"unknown 3: 0-1=0.5 1-2=1 1-0=1.5");
	reads(ctx, VECTOR("ptr", one, PE_I64), VECTOR("batch", batch, PE_I64), "unknown 3: 0-1 1-2 1-0");
	struct xt_array self = {"edge_index", xt_matrix(loops, PE_I64, 2, 3)};
	reads(ctx, self, VECTOR("ptr", ptr, PE_I64), "unknown 1: 0-0 | 0: | 2: 0-0 1-1");
	reads(ctx, self, VECTOR("batch", two, PE_I64), "unknown 1: 0-0 | 0: | 2: 0-0 1-1");
}

static void refusals(void **state)
{
	pe_context *ctx = *state;
	static const int64_t two[] = {2}, negative[] = {-2}, below[] = {0, -1, 1, 1, 2, 0},
						 far[] = {1000000000, 0};
	static const int64_t falls[] = {0, 2, 1, 3}, late[] = {1, 3}, cut[] = {0, 1, 3}, unsorted[] = {0, 1, 0};
	static const int64_t short_ptr[] = {0, 2}, hostile[] = {0, 0, INT64_MAX}, batch[] = {0, 0, 1},
						 single[] = {0};
	static const float infinite[] = {1, 2, 1e30F * 1e30F}, few[] = {1, 2};
	static const uint8_t flags[] = {0, 1, 1};
	refuses(ctx, (struct xt_array){"edge_index", xt_matrix(ids, PE_I64, 6, 1)}, NO,
		"input: edge_index has the shape (6, 1); it must be (2, edges) or (edges, 2)");
	refuses(
		ctx, (struct xt_array){"edge_index", xt_vector(ids, PE_I64, 6)}, NO, "edge_index has 1 dimensions");
	refuses(ctx, (struct xt_array){"edge_index", xt_matrix(halves, PE_F32, 2, 3)}, NO,
		"edge_index is of type f32; it must be of integers");
	refuses(ctx, (struct xt_array){"edge_index", xt_matrix(below, PE_I64, 2, 3)}, NO,
		"input: edge 1: node -1 is negative");
	refuses(ctx, (struct xt_array){"edge_index", xt_matrix(far, PE_I64, 2, 1)}, NO,
		"the largest id is 1000000000 among 1 edges");
	refuses(ctx, VECTOR("num_nodes", two, PE_I64), NO, "edge 1: node 2 is not among the 2 nodes");
	refuses(ctx, VECTOR("num_nodes", negative, PE_I64), NO, "num_nodes is -2");
	refuses(ctx, VECTOR("num_nodes", far, PE_I64), NO, "num_nodes must be one integer");
	refuses(ctx, (struct xt_array){"num_nodes", xt_vector(far, PE_I64, 1)}, NO, "refused as damaged");
	refuses(ctx, VECTOR("edge_weight", infinite, PE_F32), NO, "edge 2: the weight is not finite");
	refuses(ctx, VECTOR("edge_weight", few, PE_F32), NO, "edge_weight has 2 values for 3 edges");
	refuses(ctx, VECTOR("edge_weight", flags, PE_BOOL), NO, "edge_weight is of type bool");
	refuses(ctx, VECTOR("ptr", falls, PE_I64), NO, "ptr goes from 2 to 1 at graph 1");
	refuses(ctx, VECTOR("ptr", late, PE_I64), NO, "ptr begins with 1");
	refuses(ctx, VECTOR("ptr", single, PE_I64), NO, "ptr has 1 values");
	refuses(ctx, VECTOR("ptr", few, PE_F32), NO, "ptr is of type f32");
	refuses(ctx, VECTOR("ptr", cut, PE_I64), NO, "edge 0 joins node 0 of graph 0 to node 1 of graph 1");
	refuses(ctx, VECTOR("ptr", short_ptr, PE_I64), NO, "edge 1: node 2 is not among the 2 nodes");
	refuses(
		ctx, VECTOR("ptr", cut, PE_I64), VECTOR("num_nodes", two, PE_I64), "num_nodes is 2, but ptr has 3");
	refuses(ctx, VECTOR("batch", unsorted, PE_I64), NO, "batch[1] is 1, after 0 and before 0");
	refuses(ctx, VECTOR("batch", hostile, PE_I64), NO, "which is not the number of a graph");
	refuses(ctx, VECTOR("batch", below, PE_I64), NO, "batch[1] is -1, after 0 and before 0");
	refuses(ctx, VECTOR("ptr", cut, PE_I64), VECTOR("batch", batch, PE_I64),
		"node 1 is in graph 0 by batch, in 1");
	refuses(ctx, VECTOR("ptr", short_ptr, PE_I64), VECTOR("batch", batch, PE_I64),
		"batch has 3 nodes, ptr ends at 2");
}

static void policies(void **state)
{
	pe_context *ctx = *state;
	struct pe_graph_policy policy = xt_policy();
	size_t size;
	char *bytes = file_of(ctx, "npz", VECTOR("w", halves, PE_F64), VECTOR("edge_weight", ids, PE_I64), &size);
	xt_refuses_bytes(ctx, reader, bytes, size, NULL, "edge_weight has 6 values for 3 edges");
	policy.weight_name = "w";
	xt_reads_bytes(ctx, reader, bytes, size, &policy, "unknown 3: 0-1=0.5 1-2=1 1-0=1.5");
	policy.weight_name = "v";
	xt_refuses_bytes(ctx, reader, bytes, size, &policy, "there is no array v");
	policy = (struct pe_graph_policy){.weight_column = 0};
	xt_reads_bytes(ctx, reader, bytes, size, &policy, "unknown 3: 0-1 1-2 1-0");
	policy.weight_column = 2;
	xt_refuses_bytes(ctx, reader, bytes, size, &policy, "give an array's name instead of column 2");
	free(bytes);
}

/* Nodes that only num_nodes, or a gap among the ids, tells of. */
static void phantom_nodes(void **state)
{
	static const int64_t six[] = {6}, gap[] = {0, 3, 1, 3};
	static const struct xt_array cases[] = {{"num_nodes", {0}}, {"edge_index", {0}}};
	static const int64_t expected[] = {3, 1};
	struct pe_graph_policy policy = xt_policy();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct xt_array extra = cases[i];
		extra.tensor = i == 0 ? xt_vector(six, PE_I64, 1) : xt_matrix(gap, PE_I64, 2, 2);
		struct pe_source source = {.name = "input"};
		struct pe_raw_graphs raw;
		char *bytes = file_of(*state, "npz", extra, NO, &source.size);
		source.data = bytes;
		assert_int_equal(reader->read(*state, &source, &policy, &raw), PE_OK);
		assert_int_equal(raw.phantom, expected[i]);
		pe_raw_graphs_free(*state, &raw);
		free(bytes);
	}
}

/* Views of any stride, without copies. */
static void strided_arrays(void **state)
{
	int32_t pairs[] = {0, 1, -9, 1, 2, -9, 1, 0, -9};
	float weights[] = {1.5F, 1, 0.5F};
	pe_tensor e = {.data = pairs, .dtype = PE_I32, .ndim = 2, .shape = {2, 3}, .strides = {1, 3}};
	pe_tensor w = {.data = weights + 2, .dtype = PE_F32, .ndim = 1, .shape = {3}, .strides = {-1}};
	struct pe_graph_arrays arrays = {.edge_index = &e, .edge_weight = &w, .num_nodes = 3};
	struct pe_raw_graphs raw;
	assert_int_equal(pe_raw_from_arrays(*state, NULL, &arrays, &raw), PE_OK);
	char *text = xt_raw_text(&raw);
	assert_string_equal(text, "unknown 3: 0-1=0.5 1-2=1 1-0=1.5");
	free(text);
	pe_raw_graphs_free(*state, &raw);
	arrays.num_nodes = 2;
	xt_fails(*state, pe_raw_from_arrays(*state, NULL, &arrays, &raw), PE_ERR_FORMAT,
		"edge 1: node 2 is not among");
	assert_int_equal(pe_context_message(*state)[0], 'e'); /* no name, no colon */
}

/* More edges than are handled at a time, of many graphs and in no order. */
static void many_edges(void **state)
{
	enum { EDGES = 5000, GRAPHS = 100, NODES = 700 };
	int64_t *e = malloc(2 * EDGES * sizeof *e), ptr[GRAPHS + 1];
	double *w = malloc(EDGES * sizeof *w);
	assert_true(e && w);
	for (int g = 0; g <= GRAPHS; g++)
		ptr[g] = g * NODES / GRAPHS;
	for (int i = 0; i < EDGES; i++) {
		int g = i * 37 % GRAPHS;
		e[i] = ptr[g] + i % 7;
		e[EDGES + i] = ptr[g] + i % 5;
		w[i] = i;
	}
	pe_tensor index = xt_matrix(e, PE_I64, 2, EDGES), weight = xt_vector(w, PE_F64, EDGES);
	pe_tensor offsets = xt_vector(ptr, PE_I64, GRAPHS + 1);
	struct pe_graph_arrays arrays = {&index, &weight, &offsets, NULL, -1};
	struct pe_raw_graphs raw;
	assert_int_equal(pe_raw_from_arrays(*state, NULL, &arrays, &raw), PE_OK);
	assert_int_equal(raw.graphs, GRAPHS);
	assert_int_equal(raw.nodes, NODES);
	for (int g = 0; g < GRAPHS; g++)
		for (int64_t k = raw.edge_ptr[g]; k < raw.edge_ptr[g + 1]; k++) {
			int i = (int)raw.w[k];
			assert_int_equal(i * 37 % GRAPHS, g);
			assert_int_equal(raw.u[k], i % 7);
			assert_int_equal(raw.v[k], i % 5);
			assert_true(k == raw.edge_ptr[g] || raw.w[k - 1] < raw.w[k]);
		}
	assert_int_equal(raw.edge_ptr[GRAPHS], EDGES);
	pe_raw_graphs_free(*state, &raw);
	free(e);
	free(w);
}

static void damaged_input(void **state)
{
	static const char *const names[] = {"edge_index.npy", "many.npz", "many.safetensors"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[128];
		size_t size;
		snprintf(path, sizeof path, "tests/golden/graphs/%s", names[i]);
		char *data = xt_file(path, &size);
		xt_survives(*state, reader, data, size);
		free(data);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_files),
		cmocka_unit_test(shapes),
		cmocka_unit_test(refusals),
		cmocka_unit_test(policies),
		cmocka_unit_test(phantom_nodes),
		cmocka_unit_test(strided_arrays),
		cmocka_unit_test(many_edges),
		cmocka_unit_test(damaged_input),
	};
	return xt_run(argc, argv, tests);
}
