/* SPDX-License-Identifier: BSD-2-Clause
 * Tables of text, and the numbers in them. */
#include "xt.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bundles.h"
#include "number.h"
#include "tensor.h"

static pe_bundle *bundle(pe_context *ctx)
{
	pe_bundle *b;
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	return b;
}

static void add(
	pe_bundle *b, const char *name, void *data, pe_dtype dtype, int32_t ndim, const int64_t *shape)
{
	pe_tensor t = pe_tensor_dense(data, dtype, ndim, shape);
	assert_int_equal(pe_bundle_add(b, name, &t), PE_OK);
}

/* Writes the bundle, releases it, and compares the file. */
static void writes(pe_context *ctx, pe_bundle *b, const char *expected)
{
	size_t size;
	if (pe_bundle_write(b, xt_path("x.tsv"), NULL) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	pe_bundle_destroy(&b);
	char *text = xt_read_file(xt_path("x.tsv"), &size);
	assert_string_equal(text, expected);
	free(text);
}

static void refuses(pe_context *ctx, pe_bundle *b, const char *text)
{
	xt_fails(ctx, pe_bundle_write(b, xt_path("no.tsv"), NULL), PE_ERR_SHAPE, text);
	pe_bundle_destroy(&b);
}

static void test_one_graph(void **state)
{
	pe_bundle *b = bundle(*state);
	float vectors[6] = {0.1f, -0.0f, 1e-8f, -NAN, INFINITY, 16777216};
	double values[2] = {0.1, 1};
	int32_t groups[2] = {0, -1};
	int64_t ids[3] = {5, INT64_MIN, 7};
	add(b, "laplacian_eigenvector_pe", vectors, PE_F32, 2, (int64_t[]){3, 2});
	add(b, "laplacian_eigenvalues", values, PE_F64, 2, (int64_t[]){1, 2});
	add(b, "laplacian_groups", groups, PE_I32, 2, (int64_t[]){1, 2});
	add(b, "node_ids", ids, PE_I64, 1, (int64_t[]){3});
	assert_int_equal(pe_bundle_set_metadata(b, "encoder", "lap"), PE_OK);
	writes(*state, b,
		"# laplacian_eigenvector_pe_0\tlaplacian_eigenvector_pe_1\tnode_ids\n"
		"# laplacian_eigenvalues[0]\t0.10000000000000001\t1\n"
		"# laplacian_groups[0]\t0\t-1\n"
		"0.100000001\t-0\t5\n"
		"9.99999994e-09\tnan\t-9223372036854775808\n"
		"inf\t16777216\t7\n");
}

static void test_many_graphs(void **state)
{
	pe_bundle *b = bundle(*state);
	uint16_t half[3] = {0x3c01, 0x0001, 0xfbff}, brain[3] = {0x3f80, 0x3dcd, 0x7f7f};
	double values[6] = {1, 2, 3, 4, 5, 6}, mean[2] = {0.5, 0.25}, temperature = 2.5;
	int64_t ptr[3] = {0, 2, 3}, failed[1] = {1};
	uint8_t flags[3] = {1, 0, 1};
	add(b, "failed", failed, PE_I64, 1, (int64_t[]){1});
	add(b, "f16", half, PE_F16, 1, (int64_t[]){3});
	add(b, "bf16", brain, PE_BF16, 1, (int64_t[]){3});
	add(b, "EigVals", values, PE_F64, 3, (int64_t[]){3, 2, 1});
	add(b, "mean", mean, PE_F64, 1, (int64_t[]){2});
	add(b, "lap.laplacian_eigenvalues", values, PE_F64, 2, (int64_t[]){2, 2});
	add(b, "t", &temperature, PE_F64, 0, NULL);
	add(b, "mask", flags, PE_BOOL, 1, (int64_t[]){3});
	add(b, "ptr", ptr, PE_I64, 1, (int64_t[]){3});
	writes(*state, b,
		"# f16\tbf16\tEigVals_0\tEigVals_1\tmask\n"
		"# failed\t1\n"
		"# mean\t0.5\t0.25\n"
		"# lap.laplacian_eigenvalues[0]\t1\t2\n"
		"# lap.laplacian_eigenvalues[1]\t3\t4\n"
		"# t\t2.5\n"
		"# ptr\t0\t2\t3\n"
		"1.001\t1\t1\t2\t1\n"
		"5.9605e-08\t0.1001\t3\t4\t0\n"
		"-65504\t3.39e+38\t5\t6\t1\n");
}

/* A graph of one node: what is a graph's is known by its name. */
static void test_one_node(void **state)
{
	pe_bundle *b = bundle(*state);
	float x[2] = {1, 2};
	add(b, "laplacian_eigenvalues", x, PE_F32, 2, (int64_t[]){1, 2});
	add(b, "laplacian_eigenvector_pe", x, PE_F32, 2, (int64_t[]){1, 2});
	writes(*state, b,
		"# laplacian_eigenvector_pe_0\tlaplacian_eigenvector_pe_1\n"
		"# laplacian_eigenvalues[0]\t1\t2\n"
		"1\t2\n");
}

static void test_empty(void **state)
{
	writes(*state, bundle(*state), "");
	pe_bundle *b = bundle(*state);
	add(b, "x", NULL, PE_F32, 2, (int64_t[]){0, 2});
	writes(*state, b, "# x_0\tx_1\n");
	b = bundle(*state);
	int32_t ids[2] = {3, 4};
	add(b, "x", NULL, PE_F32, 2, (int64_t[]){2, 0});
	add(b, "node_ids", ids, PE_I32, 1, (int64_t[]){2});
	writes(*state, b, "# node_ids\n3\n4\n");
}

/* An offset alone promises rows that no array has. */
static void test_offsets_alone(void **state)
{
	pe_bundle *b = bundle(*state);
	int64_t ptr[2] = {0, INT64_MAX};
	add(b, "ptr", ptr, PE_I64, 1, (int64_t[]){2});
	writes(*state, b, "# ptr\t0\t9223372036854775807\n");
}

static void test_refused(void **state)
{
	float x[24] = {0};
	pe_bundle *b = bundle(*state);
	add(b, "bias", x, PE_F32, 3, (int64_t[]){2, 3, 4});
	refuses(*state, b, "bias has shape (2, 3, 4): text holds arrays with one row a node or token");
	b = bundle(*state);
	add(b, "x", x, PE_F32, 2, (int64_t[]){4, 2});
	add(b, "rrwp", x, PE_F32, 2, (int64_t[]){5, 2});
	refuses(*state, b, "rrwp has shape (5, 2)");
}

static void test_strides(void **state)
{
	float x[6] = {1, 2, 3, 4, 5, 6};
	pe_tensor t = {.data = x + 5, .dtype = PE_F32, .ndim = 2, .shape = {3, 2}, .strides = {-1, -3}};
	pe_bundle *b = bundle(*state);
	assert_int_equal(pe_bundle_add(b, "x", &t), PE_OK);
	writes(*state, b, "# x_0\tx_1\n6\t3\n5\t2\n4\t1\n");
}

/* ---- numbers ----------------------------------------------------------------------------- */

static void same_as_printf(double value, int digits)
{
	char ours[64], theirs[64];
	size_t length = pe_format_f64(ours, value, digits);
	int expected = snprintf(theirs, sizeof theirs, "%.*g", digits, value);
	if (strcmp(ours, theirs) != 0 || length != (size_t)expected)
		fail_msg("%.17g with %d digits: %s, not %s", value, digits, ours, theirs);
}

/* Uniform over the bit patterns of floats and of doubles, and over ordinary magnitudes; powers of ten
 * and their neighbours; exact halves, which round to even. */
static void test_numbers(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (int i = 0; i < 200000; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		uint64_t mixed = seed ^ seed >> 29;
		uint32_t low = (uint32_t)(mixed >> 11);
		double any;
		float single;
		memcpy(&any, &mixed, sizeof any);
		memcpy(&single, &low, sizeof single);
		int digits = 1 + (int)(mixed % 17);
		if (!isnan(any))
			same_as_printf(any, digits);
		if (!isnan(single))
			same_as_printf((double)single, 9);
		same_as_printf((double)(int32_t)low * 0x1p-31, digits);
		same_as_printf((double)(low % 100000) / 8, 1 + (int)(mixed % 7));
	}
	for (int exponent = -30; exponent <= 30; exponent++)
		for (int digits = 1; digits <= 17; digits++) {
			double power = pow(10, exponent);
			same_as_printf(power, digits);
			same_as_printf(-nextafter(power, 0), digits);
			same_as_printf(nextafter(power, INFINITY), digits);
		}
	same_as_printf(0, 9);
	same_as_printf(-0.0, 9);
	same_as_printf(5e-324, 17);
}

static void test_integers(void **state)
{
	(void)state;
	static const int64_t numbers[] = {0, 1, -1, 9, 10, 99, 100, -12345, INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		char ours[24], theirs[24];
		assert_int_equal(
			pe_format_i64(ours, numbers[i]), snprintf(theirs, sizeof theirs, "%lld", (long long)numbers[i]));
		assert_string_equal(ours, theirs);
	}
}

/* What is written comes back, in a locale with a decimal comma too. */
static void test_back(void **state)
{
	enum { N = 3000 };
	static double x[N];
	static float y[N];
	pe_bundle *b = bundle(*state);
	for (int i = 0; i < N; i++) {
		x[i] = sin(i) * pow(10, i % 40 - 25);
		y[i] = (float)x[i];
	}
	add(b, "x", x, PE_F64, 1, (int64_t[]){N});
	add(b, "y", y, PE_F32, 1, (int64_t[]){N});
	const char *locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C"};
	for (int i = 0; i < 3 && !setlocale(LC_NUMERIC, locales[i]); i++)
		;
	assert_int_equal(pe_bundle_write(b, xt_path("back.tsv"), NULL), PE_OK);
	setlocale(LC_NUMERIC, "C");
	size_t size;
	char *text = xt_read_file(xt_path("back.tsv"), &size), *line = strchr(text, '\n') + 1;
	for (int i = 0; i < N; i++) {
		assert_true(strtod(line, &line) == x[i]);
		assert_true(strtof(line, &line) == y[i]);
		assert_int_equal(*line++, '\n');
	}
	assert_int_equal(*line, '\0');
	free(text);
	pe_bundle_destroy(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_graph),
		cmocka_unit_test(test_many_graphs),
		cmocka_unit_test(test_one_node),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_offsets_alone),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_strides),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_back),
	};
	return xt_run(argc, argv, tests);
}
