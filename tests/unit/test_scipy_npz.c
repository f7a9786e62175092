/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>

static const struct pe_reader *const reader = &pe_reader_scipy_npz;

static void golden_files(void **state)
{
	static const char *const names[] = {
		"csr.npz", "csr_stored.npz", "csc.npz", "coo.npz", "bool.npz", "ones.npz"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(xt_recognises_golden(reader, names[i]));
		xt_reads_golden(*state, reader, names[i]);
	}
	xt_reads_golden(*state, reader, "csr.safetensors");
	assert_false(xt_recognises_golden(reader, "csr.safetensors"));
	assert_false(xt_recognises_golden(reader, "edge_index.npz"));
	assert_false(xt_recognises_golden(reader, "edge_index.npy"));
}

static void refuse_golden(pe_context *ctx, const char *name, const char *message)
{
	char path[128];
	size_t size;
	snprintf(path, sizeof path, "tests/golden/graphs/%s", name);
	char *data = xt_file(path, &size);
	xt_refuses_bytes(ctx, reader, data, size, NULL, message);
	free(data);
}

static void other_matrices(void **state)
{
	refuse_golden(*state, "bsr.npz", "input: sparse format \"bsr\" is not supported; save it after .tocsr()");
	refuse_golden(*state, "dia.npz", "sparse format \"dia\" is not supported");
	refuse_golden(*state, "rectangular.npz", "a matrix of shape (2, 3)");
	refuse_golden(*state, "edge_index.npz", "there is no array \"format\"");
}

/* A csr matrix of 2 rows, one of whose arrays is replaced. */
static void with_array(pe_context *ctx, const char *name, pe_tensor replacement, const char *message)
{
	static const int64_t shape[] = {2, 2}, indptr[] = {0, 1, 2}, indices[] = {1, 0};
	static const double data[] = {0.5, 2};
	static const uint8_t format[] = "csr";
	struct xt_array arrays[] = {
		{"shape", xt_vector(shape, PE_I64, 2)},
		{"format", xt_vector(format, PE_U8, 3)},
		{"indptr", xt_vector(indptr, PE_I64, 3)},
		{"indices", xt_vector(indices, PE_I64, 2)},
		{"data", xt_vector(data, PE_F64, 2)},
	};
	for (size_t i = 0; name && i < sizeof arrays / sizeof *arrays; i++)
		if (strcmp(arrays[i].name, name) == 0)
			arrays[i].tensor = replacement;
	size_t size;
	char *bytes = xt_bundle_bytes(ctx, "npz", arrays, sizeof arrays / sizeof *arrays, &size);
	if (message)
		xt_refuses_bytes(ctx, reader, bytes, size, NULL, message);
	else
		xt_reads_bytes(ctx, reader, bytes, size, NULL, "directed if one-way 2: 0-1=0.5 1-0=2");
	free(bytes);
}

static void refusals(void **state)
{
	pe_context *ctx = *state;
	static const int64_t falling[] = {0, 2, 1}, late[] = {1, 1, 2}, beyond[] = {0, 1, 3},
						 negative[] = {0, 0, -1};
	static const int64_t outside[] = {0, 2}, below[] = {0, -1}, square[] = {2, 2, 2},
						 huge[] = {1LL << 31, 1LL << 31};
	static const double nan[] = {1, 0.0 / 0.0}, fraction[] = {0, 1};
	with_array(ctx, NULL, (pe_tensor){0}, NULL);
	with_array(ctx, "indptr", xt_vector(falling, PE_I64, 3), "indptr[1] is 2 after 0");
	with_array(ctx, "indptr", xt_vector(late, PE_I64, 3), "indptr[0] is 1 after 0");
	with_array(ctx, "indptr", xt_vector(beyond, PE_I64, 3), "\"indices\" has 2 values; it needs 3");
	with_array(ctx, "indptr", xt_vector(negative, PE_I64, 3), "indptr ends with -1");
	with_array(ctx, "indptr", xt_vector(falling, PE_I64, 2), "\"indptr\" has 2 values; it needs 3");
	with_array(ctx, "indices", xt_vector(outside, PE_I64, 2), "indices[1] is 2, outside of the 2 rows");
	with_array(ctx, "indices", xt_vector(below, PE_I64, 2), "indices[1] is -1, outside");
	with_array(ctx, "indices", xt_vector(fraction, PE_F64, 2), "must be of integers");
	with_array(ctx, "indices", xt_vector(outside, PE_I64, 1), "\"indices\" has 1 values; it needs 2");
	with_array(ctx, "data", xt_vector(nan, PE_F64, 2), "data[1] is not finite");
	with_array(ctx, "data", xt_vector(nan, PE_F64, 1), "data has 1 values for 2 entries");
	with_array(ctx, "shape", xt_vector(square, PE_I64, 3), "a matrix of 3 dimensions");
	with_array(ctx, "shape", xt_vector(below, PE_I64, 2), "a matrix of shape (0, -1)");
	with_array(ctx, "shape", xt_vector(huge, PE_I64, 2), "a graph has from 0 to 2^31 - 1 nodes");
	with_array(ctx, "format", xt_vector("CSR", PE_U8, 3), "sparse format \"CSR\"");
	with_array(ctx, "format", xt_vector(nan, PE_F64, 2), "not a string");
}

static void policies(void **state)
{
	size_t size;
	char *data = xt_file("tests/golden/graphs/coo.npz", &size);
	struct pe_graph_policy policy = {.weight_column = 0};
	xt_reads_bytes(*state, reader, data, size, &policy, "directed if one-way 3: 0-1 2-0 0-1 1-1");
	policy.weight_column = 1;
	xt_refuses_bytes(*state, reader, data, size, &policy, "the weights are the matrix's entries");
	policy = xt_policy();
	policy.weight_name = "row";
	xt_refuses_bytes(*state, reader, data, size, &policy, "the weights are the matrix's entries");
	policy.weight_name = "data";
	xt_reads_bytes(*state, reader, data, size, &policy, "directed if one-way 3: 0-1=1 2-0=2 0-1=3 1-1=4");
	free(data);
}

static void damaged_input(void **state)
{
	static const char *const names[] = {"csr.npz", "coo.npz", "bool.npz"};
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
		cmocka_unit_test(other_matrices),
		cmocka_unit_test(refusals),
		cmocka_unit_test(policies),
		cmocka_unit_test(damaged_input),
	};
	return xt_run(argc, argv, tests);
}
