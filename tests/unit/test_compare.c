/* SPDX-License-Identifier: BSD-2-Clause
 * Comparison: entries, and eigenvectors up to what their definition leaves open. */
#include "xt.h"

#include <math.h>
#include <string.h>

enum { N = 700, K = 5 }; /* more rows than a chunk */

static pe_bundle *bundle(pe_context *ctx)
{
	pe_bundle *b;
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	return b;
}

static void add(
	pe_bundle *b, const char *name, const void *data, pe_dtype dtype, int32_t ndim, const int64_t *shape)
{
	void *pointer;
	memcpy(&pointer, &data, sizeof pointer);
	pe_tensor t = pe_tensor_dense(pointer, dtype, ndim, shape);
	assert_int_equal(pe_bundle_add(b, name, &t), PE_OK);
}

/* Compares, and gives the row of one array. */
static pe_compare_row compared(pe_context *ctx, pe_bundle *a, pe_bundle *b, const pe_compare_options *options,
	const char *name, bool alike)
{
	static char notes[8][200];
	static int next;
	pe_compare_report *report;
	pe_compare_row row = {0}, found = {0};
	assert_int_equal(pe_compare(ctx, a, b, options, &report), PE_OK);
	for (int64_t i = 0; i < pe_compare_count(report); i++) {
		assert_int_equal(pe_compare_at(report, i, &row), PE_OK);
		if (strcmp(row.name, name) == 0)
			found = row;
	}
	assert_non_null(found.name);
	assert_int_equal(pe_compare_alike(report), alike);
	assert_int_equal(pe_compare_at(report, pe_compare_count(report), &row), PE_ERR_ARGUMENT);
	found.note = strncpy(notes[next++ % 8], found.note, 199);
	pe_compare_destroy(&report);
	assert_null(report);
	return found;
}

/* One array a side; returns its row. */
static pe_compare_row entries(pe_context *ctx, const void *x, pe_dtype tx, const void *y, pe_dtype ty,
	int32_t ndim, const int64_t *shape, const pe_compare_options *options, bool alike)
{
	pe_bundle *a = bundle(ctx), *b = bundle(ctx);
	add(a, "x", x, tx, ndim, shape);
	add(b, "x", y, ty, ndim, shape);
	pe_compare_row row = compared(ctx, a, b, options, "x", alike);
	assert_int_equal(row.alike, alike);
	pe_bundle_destroy(&a);
	pe_bundle_destroy(&b);
	return row;
}

static void test_entries(void **state)
{
	pe_context *ctx = *state;
	double x[6] = {0, 1, -2, NAN, INFINITY, 1e5}, y[6];
	float f[6];
	int64_t shape[] = {2, 3};
	memcpy(y, x, sizeof y);
	for (int i = 0; i < 6; i++)
		f[i] = (float)x[i];
	pe_compare_row row = entries(ctx, x, PE_F64, f, PE_F32, 2, shape, NULL, true);
	assert_true(row.difference == 0);
	assert_int_equal(row.ndim, 2);
	assert_string_equal(row.note, "");
	y[2] += 0.05; /* within 1e-6 of the largest magnitude, 1e5 */
	row = entries(ctx, x, PE_F64, y, PE_F64, 2, shape, NULL, true);
	xt_close_f64(row.difference, 0.05, 1e-12, 0);
	assert_int_equal(row.where[0], 0);
	assert_int_equal(row.where[1], 2);
	y[5] += 0.2;
	row = entries(ctx, x, PE_F64, y, PE_F64, 2, shape, NULL, false);
	xt_close_f64(row.difference, 0.2, 1e-9, 0);
	assert_int_equal(row.where[0], 1);
	assert_int_equal(row.where[1], 2);
	pe_compare_options loose = {.size = sizeof loose, .tolerance = 1e-5};
	entries(ctx, x, PE_F64, y, PE_F64, 2, shape, &loose, true);
	y[3] = 7; /* a number where there was a NaN */
	row = entries(ctx, x, PE_F64, y, PE_F64, 2, shape, &loose, false);
	assert_true(isinf(row.difference));
	assert_int_equal(row.where[0], 1);
	assert_int_equal(row.where[1], 0);
	y[3] = NAN, y[4] = -INFINITY;
	entries(ctx, x, PE_F64, y, PE_F64, 2, shape, &loose, false);
	entries(ctx, x, PE_F64, x, PE_F64, 2, (int64_t[]){0, 3}, NULL, true);
	entries(ctx, x + 1, PE_F64, x + 2, PE_F64, 0, NULL, NULL, false);
}

static void test_exact(void **state)
{
	double x[2] = {1, 2}, y[2] = {1, 2 + 4e-16};
	pe_compare_options exact = {.size = sizeof exact, .exact = 1};
	entries(*state, x, PE_F64, y, PE_F64, 1, (int64_t[]){2}, NULL, true);
	entries(*state, x, PE_F64, y, PE_F64, 1, (int64_t[]){2}, &exact, false);
	entries(*state, x, PE_F64, x, PE_F64, 1, (int64_t[]){2}, &exact, true);
	exact.tolerance = 1e-12;
	entries(*state, x, PE_F64, y, PE_F64, 1, (int64_t[]){2}, &exact, true);
}

/* Integers are the same or not: an offset of a million and one is not one of a million. */
static void test_integers(void **state)
{
	int64_t x[2] = {1000000000, (int64_t)1 << 60}, y[2] = {1000000000, ((int64_t)1 << 60) + 1};
	pe_compare_row row = entries(*state, x, PE_I64, y, PE_I64, 1, (int64_t[]){2}, NULL, false);
	assert_true(row.difference == 1);
	assert_int_equal(row.where[0], 1);
	int32_t z[2] = {1000000000, 5};
	entries(*state, x, PE_I64, z, PE_I32, 1, (int64_t[]){1}, NULL, true);
	int64_t low[1] = {INT64_MIN}, high[1] = {INT64_MAX};
	row = entries(*state, low, PE_I64, high, PE_I64, 1, (int64_t[]){1}, NULL, false);
	assert_true(row.difference > 1.8e19);
}

/* Long and strided rows, several dimensions: the place of a single difference is found. */
static void test_places(void **state)
{
	pe_context *ctx = *state;
	static double x[2 * 3 * 1100], y[2 * 3 * 1100];
	for (int i = 0; i < 2 * 3 * 1100; i++)
		x[i] = i * 1e-3;
	for (int at = 0; at < 6600; at += 613) {
		memcpy(y, x, sizeof y);
		y[at] += 1;
		pe_compare_row row = entries(ctx, x, PE_F64, y, PE_F64, 3, (int64_t[]){2, 3, 1100}, NULL, false);
		xt_close_f64(row.difference, 1, 1e-12, 0);
		assert_int_equal((row.where[0] * 3 + row.where[1]) * 1100 + row.where[2], at);
	}
	pe_bundle *a = bundle(ctx), *b = bundle(ctx);
	pe_tensor t = {.data = x, .dtype = PE_F64, .ndim = 2, .shape = {1100, 6}, .strides = {1, 1100}};
	static double transposed[6600];
	for (int i = 0; i < 6600; i++)
		transposed[i] = x[i % 6 * 1100 + i / 6];
	assert_int_equal(pe_bundle_add(a, "x", &t), PE_OK);
	add(b, "x", transposed, PE_F64, 2, (int64_t[]){1100, 6});
	assert_true(compared(ctx, a, b, NULL, "x", true).difference == 0);
	pe_bundle_destroy(&a);
	pe_bundle_destroy(&b);
}

static void test_names_and_shapes(void **state)
{
	pe_context *ctx = *state;
	double x[6] = {0};
	pe_bundle *a = bundle(ctx), *b = bundle(ctx);
	add(a, "same", x, PE_F64, 1, (int64_t[]){6});
	add(b, "same", x, PE_F64, 1, (int64_t[]){6});
	add(a, "shape", x, PE_F64, 2, (int64_t[]){2, 3});
	add(b, "shape", x, PE_F64, 2, (int64_t[]){3, 2});
	add(a, "left", x, PE_F64, 1, (int64_t[]){6});
	add(b, "right", x, PE_F64, 1, (int64_t[]){6});
	assert_true(compared(ctx, a, b, NULL, "same", false).alike);
	pe_compare_row row = compared(ctx, a, b, NULL, "shape", false);
	assert_true(isnan(row.difference) && !row.alike);
	assert_string_equal(row.note, "shapes (2, 3) and (3, 2)");
	row = compared(ctx, a, b, NULL, "left", false);
	assert_true(isnan(row.difference) && !row.alike);
	assert_string_equal(row.note, "only in the first");
	assert_string_equal(compared(ctx, a, b, NULL, "right", false).note, "only in the second");
	pe_compare_report *report;
	pe_compare_options bad = {.size = sizeof bad, .tolerance = -1};
	xt_fails(ctx, pe_compare(ctx, a, b, &bad, &report), PE_ERR_RANGE, "tolerance");
	bad.size = 1;
	xt_fails(ctx, pe_compare(ctx, a, b, &bad, &report), PE_ERR_ARGUMENT, "size");
	pe_bundle_destroy(&a);
	pe_bundle_destroy(&b);
}

/* ---- eigenvectors ---------------------------------------------------------------------- */

/* Two graphs of N/2 nodes; the columns are cosines, which are orthogonal on each half. */
struct basis {
	double vectors[N][K];
	double values[2][K];
	int32_t groups[2][K];
	int64_t ptr[3];
};

static struct basis make_basis(void)
{
	struct basis s = {.values = {{0.5, 1, 1, 1.5, 2}, {0, 1, 2, 2, 2}},
		.groups = {{0, 1, 1, 2, 3}, {0, 1, 2, 2, 2}},
		.ptr = {0, N / 2, N}};
	for (int i = 0; i < N; i++)
		for (int j = 0; j < K; j++)
			s.vectors[i][j] =
				sqrt(4.0 / N) * cos(3.14159265358979323846 * (i % (N / 2) + 0.5) * (j + 1) / (N / 2));
	return s;
}

static pe_bundle *bundle_of(pe_context *ctx, const struct basis *s, bool with_groups)
{
	pe_bundle *b = bundle(ctx);
	add(b, "laplacian_eigenvector_pe", s->vectors, PE_F64, 2, (int64_t[]){N, K});
	add(b, "laplacian_eigenvalues", s->values, PE_F64, 2, (int64_t[]){2, K});
	if (with_groups)
		add(b, "laplacian_groups", s->groups, PE_I32, 2, (int64_t[]){2, K});
	add(b, "ptr", s->ptr, PE_I64, 1, (int64_t[]){3});
	return b;
}

static void rotate(struct basis *s, int graph, int x, int y, double angle)
{
	for (int64_t i = s->ptr[graph]; i < s->ptr[graph + 1]; i++) {
		double p = s->vectors[i][x], q = s->vectors[i][y];
		s->vectors[i][x] = cos(angle) * p - sin(angle) * q;
		s->vectors[i][y] = sin(angle) * p + cos(angle) * q;
	}
}

static void flip(struct basis *s, int graph, int x)
{
	for (int64_t i = s->ptr[graph]; i < s->ptr[graph + 1]; i++)
		s->vectors[i][x] = -s->vectors[i][x];
}

static pe_compare_row compare_bases(
	pe_context *ctx, const struct basis *x, const struct basis *y, bool groups, bool exact, bool alike)
{
	pe_compare_options options = {.size = sizeof options, .exact = exact};
	pe_bundle *a = bundle_of(ctx, x, groups), *b = bundle_of(ctx, y, groups);
	pe_compare_row row = compared(ctx, a, b, &options, "laplacian_eigenvector_pe", alike);
	pe_bundle_destroy(&a);
	pe_bundle_destroy(&b);
	return row;
}

static void test_rotations(void **state)
{
	pe_context *ctx = *state;
	struct basis x = make_basis(), y = x;
	rotate(&y, 0, 1, 2, 0.7);
	flip(&y, 0, 0);
	rotate(&y, 1, 2, 3, 2.1);
	rotate(&y, 1, 3, 4, -1.3);
	flip(&y, 1, 4);
	for (int groups = 0; groups < 2; groups++) {
		pe_compare_row row = compare_bases(ctx, &x, &y, groups, false, true);
		assert_true(row.difference < 1e-14);
		assert_string_equal(row.note, "up to sign and rotation inside groups");
		compare_bases(ctx, &x, &y, groups, true, false);
	}
}

/* What a rotation inside a group must not hide. */
static void test_differences(void **state)
{
	pe_context *ctx = *state;
	struct basis x = make_basis(), y = x;
	rotate(&y, 0, 2, 3, 1e-3); /* across groups */
	pe_compare_row row = compare_bases(ctx, &x, &y, true, false, false);
	assert_true(row.difference > 1e-5 && row.difference < 1e-3);
	assert_true(row.where[0] < N / 2 && row.where[1] >= 1 && row.where[1] <= 3);
	y = x;
	for (int i = 0; i < N; i++)
		y.vectors[i][0] *= 1.001; /* not of the same norm */
	assert_int_equal(compare_bases(ctx, &x, &y, true, false, false).where[1], 0);
	y = x;
	for (int i = N / 2; i < N; i++)
		y.vectors[i][3] = y.vectors[i][2]; /* a group of lower rank */
	row = compare_bases(ctx, &x, &y, true, false, false);
	assert_true(row.where[0] >= N / 2 && row.where[1] >= 2);
	compare_bases(ctx, &y, &x, true, false, false);
	y = x;
	for (int i = 0; i < N; i++) /* nothing at all on one side */
		y.vectors[i][0] = 0;
	assert_int_equal(compare_bases(ctx, &x, &y, true, false, false).where[1], 0);
	assert_int_equal(compare_bases(ctx, &y, &x, true, false, false).where[1], 0);
	y = x;
	for (int i = 0; i < N / 2; i++)
		y.vectors[i][2] = 0;
	assert_true(compare_bases(ctx, &x, &y, true, false, false).where[0] < N / 2);
	assert_true(compare_bases(ctx, &y, &x, true, false, false).where[0] < N / 2);
	y = x;
	for (int i = 0; i < N / 2; i++)
		y.vectors[i][4] = 0;
	row = compare_bases(ctx, &x, &y, true, false, false);
	assert_non_null(strstr(row.note, "cut at k"));
	y = x;
	y.vectors[3][1] = NAN;
	assert_true(isinf(compare_bases(ctx, &x, &y, true, false, false).difference));
	assert_true(isinf(compare_bases(ctx, &y, &x, true, false, false).difference));
	for (int i = 0; i < N / 2; i++)
		y.vectors[i][1] = y.vectors[i][2] = NAN;
	assert_true(isinf(compare_bases(ctx, &x, &y, true, false, false).difference));
	assert_true(isinf(compare_bases(ctx, &y, &x, true, false, false).difference));
	assert_true(compare_bases(ctx, &y, &y, true, false, true).difference == 0);
}

/* Random-walk eigenvectors are orthogonal only in the metric of the degrees. */
static void test_random_walk(void **state)
{
	struct basis x = make_basis(), y = x;
	rotate(&y, 1, 2, 4, 0.4);
	flip(&y, 0, 1);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < K; j++) {
			double scale = 1 / sqrt(1 + i % 7);
			x.vectors[i][j] *= scale;
			y.vectors[i][j] *= scale;
		}
	assert_true(compare_bases(*state, &x, &y, true, false, true).difference < 1e-14);
}

/* Padding: columns of group -1 are compared as they are. */
static void test_padding(void **state)
{
	struct basis x = make_basis(), y;
	x.groups[0][4] = -1;
	x.values[0][4] = NAN;
	for (int i = 0; i < N / 2; i++)
		x.vectors[i][4] = 0;
	y = x;
	flip(&y, 0, 3);
	compare_bases(*state, &x, &y, true, false, true);
	compare_bases(*state, &x, &y, false, false, true);
	y.vectors[7][4] = 0.25;
	for (int groups = 0; groups < 2; groups++) {
		pe_compare_row row = compare_bases(*state, &x, &y, groups, false, false);
		assert_int_equal(row.where[0], 7);
		assert_int_equal(row.where[1], 4);
	}
}

/* The names and shapes of GraphGPS; a prefix; and without eigenvalues nothing may be rotated. */
static void test_other_names(void **state)
{
	pe_context *ctx = *state;
	struct basis x = make_basis(), y = x;
	double values[N][K];
	rotate(&y, 0, 1, 2, 0.7);
	for (int i = 0; i < N; i++)
		memcpy(values[i], x.values[i >= N / 2], sizeof values[i]);
	for (int form = 0; form < 3; form++) {
		pe_bundle *b[2];
		for (int side = 0; side < 2; side++) {
			b[side] = bundle(ctx);
			add(b[side], "ptr", x.ptr, PE_I64, 1, (int64_t[]){3});
			add(b[side], form == 1 ? "lap.laplacian_eigenvector_pe" : "EigVecs", side ? y.vectors : x.vectors,
				PE_F64, 2, (int64_t[]){N, K});
			if (form == 0)
				add(b[side], "EigVals", values, PE_F64, 3, (int64_t[]){N, K, 1});
			if (form == 1)
				add(b[side], "lap.laplacian_eigenvalues", x.values, PE_F64, 2, (int64_t[]){2, K});
		}
		compared(ctx, b[0], b[1], NULL, "ptr", form < 2);
		pe_bundle_destroy(&b[0]);
		pe_bundle_destroy(&b[1]);
	}
}

static void test_out_of_memory(void **state)
{
	pe_context *ctx = *state;
	struct basis x = make_basis();
	pe_bundle *a = bundle_of(ctx, &x, true), *b = bundle_of(ctx, &x, false);
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		pe_compare_report *report;
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_compare(ctx, a, b, NULL, &report));
		assert_int_equal(report != NULL, s.over);
		if (report)
			assert_int_equal(pe_compare_count(report), 4);
		pe_compare_destroy(&report);
	}
	assert_true(s.failed > 9);
	pe_bundle_destroy(&a);
	pe_bundle_destroy(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_names_and_shapes),
		cmocka_unit_test(test_rotations),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_random_walk),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_out_of_memory),
	};
	return xt_run(argc, argv, tests);
}
