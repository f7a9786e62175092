/* SPDX-License-Identifier: BSD-2-Clause
 * Learned rows and columns against the authors' code, and what holds of them. */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"
#include "xt_window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GOLDEN "learned_axial/learned_axial.npz"

static void is_what_the_authors_compute(void **state)
{
	static const char *const cases[][2] = {{"detr", "preset=detr"}, {"gemma4", "preset=gemma4"},
		{"reformer", "preset=reformer"}, {"axial_attention", "preset=axial_attention"},
		{"naflex", "preset=naflex"}, {"naflex_aspect", "preset=naflex,preserve_aspect=1"},
		{"naflex_same", "preset=naflex"}};
	for (int i = 0; i < 7; i++)
		xt_golden_case(*state, "learned_axial", GOLDEN, cases[i][0], cases[i][1], 0, i < 4 ? 0 : 1e-14);
}

enum { T = 2, H = 3, W = 4, D = 6 };

/* Weights of three axes in one bundle; values must outlive it. */
static pe_bundle *three(pe_context *ctx, double *values, int64_t width)
{
	static const char *const names[] = {"frame_embed", "row_embed", "col_embed"};
	static const int64_t rows[] = {T, H, W};
	pe_bundle *b;
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	for (int i = 0; i < 3; i++) {
		pe_tensor view = pe_tensor_dense(values, PE_F64, 2, (int64_t[]){rows[i], width});
		assert_int_equal(pe_bundle_add(b, names[i], &view), PE_OK);
		values += rows[i] * width;
	}
	return b;
}

static double value(const double *values, int axis, int64_t row, int64_t width, int64_t c)
{
	static const int64_t before[] = {0, T, T + H};
	return values[(before[axis] + row) * width + c];
}

/* By the formula, of every token; and merging leaves the first one, which has no place, alone. */
static void adds_and_joins_three_axes(void **state)
{
	static const char *const settings[] = {
		"merge=add", "merge=concat", "merge=concat,axes=xy", "merge=add,features=multiply"};
	double values[(T + H + W) * D], x[(1 + T * H * W) * D * 3], y[(1 + T * H * W) * D * 3];
	pe_domain *domain;
	for (int i = 0; i < (T + H + W) * D; i++)
		values[i] = sin(i * 1.3);
	for (int i = 0; i < (1 + T * H * W) * D * 3; i++)
		x[i] = cos(i * 0.7);
	assert_int_equal(pe_domain_grid(*state, T, H, W, 1, &domain), PE_OK);
	for (int k = 0; k < 4; k++) {
		bool joined = k == 1 || k == 2;
		int64_t width = joined ? 3 * D : D;
		pe_bundle *b = three(*state, values, D);
		pe_encoding *e = xt_encode(*state, "learned_axial", settings[k], domain, NULL, b, NULL);
		pe_tensor got = xt_computed(e, "position_encoding");
		pe_tensor from = pe_tensor_dense(x, PE_F64, 2, (int64_t[]){1 + T * H * W, width}), to = from;
		to.data = y;
		assert_int_equal(got.shape[1], width);
		assert_int_equal(pe_encoding_apply(e, &from, &to), PE_OK);
		for (int64_t i = 0; i < width; i++)
			assert_true(((double *)got.data)[i] == 0 && y[i] == x[i]);
		for (int64_t i = width; i < (1 + T * H * W) * width; i++) {
			int64_t place = i / width - 1, c = i % width, block = c / D;
			int64_t at[] = {place / (H * W), place / W % H, place % W};
			int axis = block == 0 ? 0 : (block == 1) == (k == 1) ? 1 : 2;
			double p = joined ? value(values, axis, at[axis], D, c % D)
							  : value(values, 0, at[0], D, c) + value(values, 1, at[1], D, c) +
					value(values, 2, at[2], D, c);
			xt_close_f64(((double *)got.data)[i], p, 0, joined ? 0 : 1e-15);
			xt_close_f64(y[i], k == 3 ? x[i] * p : x[i] + p, 0, 1e-15);
		}
		free(got.data);
		pe_encoding_destroy(&e);
		pe_bundle_destroy(&b);
	}
	pe_domain_destroy(&domain);
}

/* Without resize, a smaller grid has the first rows of the same tables. */
static void counts_from_the_first_row(void **state)
{
	pe_domain *large = xt_grid(*state, 7, 9, 0), *small = xt_grid(*state, 3, 2, 0),
			  *high = xt_grid(*state, 51, 2, 0);
	double *a = xt_first_array(*state, "learned_axial", "preset=detr,dim=8", large, NULL);
	double *b = xt_first_array(*state, "learned_axial", "preset=detr,dim=8", small, NULL);
	for (int i = 0; i < 3 * 2; i++)
		assert_memory_equal(b + i * 8, a + (i / 2 * 9 + i % 2) * 8, 8 * sizeof *a);
	xt_encode_refused(*state, "learned_axial", "preset=detr", high, PE_ERR_SHAPE,
		"the grid has 51 rows, and there are learned rows for 50 (resize=linear makes more)");
	double *c = xt_first_array(*state, "learned_axial", "preset=detr,resize=linear,dim=8", high, NULL);
	free(a), free(b), free(c);
	pe_domain_destroy(&large);
	pe_domain_destroy(&small);
	pe_domain_destroy(&high);
}

static void begins_as_the_authors_do(void **state)
{
	pe_domain *domain = xt_grid(*state, 40, 40, 0);
	int64_t width;
	double *u = xt_first_array(*state, "learned_axial", "preset=detr,dim=64", domain, &width), mean = 0,
		   square = 0;
	assert_int_equal(width, 64);
	for (int i = 0; i < 1600 * 64; i++) {
		assert_true(u[i] >= 0 && u[i] < 1);
		mean += u[i] / (1600 * 64);
	}
	xt_close_f64(mean, 0.5, 0, 0.02);
	double *n = xt_first_array(*state, "learned_axial", "preset=reformer,dim=128", domain, NULL);
	for (int i = 0; i < 1600 * 128; i++)
		square += n[i] * n[i] / (1600 * 128);
	xt_close_f64(square, 1, 0, 0.06);
	double *ones = xt_first_array(*state, "learned_axial", "preset=gemma4", domain, NULL);
	for (int i = 0; i < 1600 * 64; i++)
		assert_true(ones[i] == 2);
	free(u), free(n), free(ones);
	pe_domain_destroy(&domain);
}

static void refuses_tables_that_do_not_fit(void **state)
{
	pe_context *ctx = *state;
	double values[(T + H + W) * D] = {0};
	pe_domain *domain = xt_grid(ctx, H, W, 0), *video;
	pe_bundle *b = three(ctx, values, D);
	assert_int_equal(pe_domain_grid(ctx, T + 1, H, W, 0, &video), PE_OK);
	xt_weights_refused(ctx, "learned_axial", "", video, b, PE_ERR_SHAPE,
		"the grid has 3 frames, and there are learned rows for 2");
	xt_weights_refused(
		ctx, "learned_axial", "dim=7", domain, b, PE_ERR_SHAPE, "make rows of 6 numbers, and dim is 7");
	xt_weights_refused(
		ctx, "learned_axial", "dim=6,merge=concat", domain, b, PE_ERR_SHAPE, "make rows of 18 numbers");
	xt_weights_refused(
		ctx, "learned_axial", "grid=5/4", domain, b, PE_ERR_SHAPE, "must be (5, 6), and is (3, 6)");
	xt_weights_refused(
		ctx, "learned_axial", "dim=1,merge=concat", domain, NULL, PE_ERR_RANGE, "too few for 2 axes");
	static const char *const idle[][2] = {{"axes=xy", "axes has no effect with merge=add"},
		{"preserve_aspect=1", "preserve_aspect has no effect with resize=none"},
		{"preset=detr,std=1", "std has no effect with initial=uniform"}};
	for (int i = 0; i < 3; i++)
		xt_weights_refused(ctx, "learned_axial", idle[i][0], domain, NULL, PE_ERR_RANGE, idle[i][1]);
	pe_bundle_destroy(&b);
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	pe_tensor view = pe_tensor_dense(values, PE_F64, 2, (int64_t[]){H, D});
	assert_int_equal(pe_bundle_add(b, "a.row_embed.weight", &view), PE_OK);
	xt_weights_refused(ctx, "learned_axial", "", domain, b, PE_ERR_ARGUMENT, "the weights lack col_embed");
	view = pe_tensor_dense(values, PE_F64, 2, (int64_t[]){W, D - 1});
	assert_int_equal(pe_bundle_add(b, "a.col_embed.weight", &view), PE_OK);
	xt_weights_refused(
		ctx, "learned_axial", "", domain, b, PE_ERR_SHAPE, "rows of 6 and of 5 numbers cannot be added");
	pe_bundle_destroy(&b);
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	view = pe_tensor_dense(values, PE_F64, 3, (int64_t[]){3, 2, 4});
	assert_int_equal(pe_bundle_add(b, "pos_embed_y", &view), PE_OK);
	xt_weights_refused(
		ctx, "learned_axial", "", domain, b, PE_ERR_SHAPE, "must have one row for each place of one axis");
	assert_int_equal(pe_bundle_add(b, "position_embedding_table", &view), PE_OK);
	xt_weights_refused(ctx, "learned_axial", "", domain, b, PE_ERR_SHAPE, "must be (2, rows, width)");
	pe_bundle_destroy(&b);
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	view = pe_tensor_dense(values, PE_F64, 3, (int64_t[]){2, H, 0});
	assert_int_equal(pe_bundle_add(b, "position_embedding_table", &view), PE_OK);
	xt_weights_refused(ctx, "learned_axial", "", domain, b, PE_ERR_SHAPE, "must be (2, rows, width)");
	view = pe_tensor_dense(values, PE_F64, 2, (int64_t[]){H, 0});
	pe_bundle_destroy(&b);
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	assert_int_equal(pe_bundle_add(b, "row_embed", &view), PE_OK);
	view = pe_tensor_dense(values, PE_F64, 2, (int64_t[]){W, D});
	assert_int_equal(pe_bundle_add(b, "col_embed", &view), PE_OK);
	xt_weights_refused(
		ctx, "learned_axial", "", domain, b, PE_ERR_SHAPE, "row_embed must have one row for each place");
	pe_bundle_destroy(&b);
	pe_domain_destroy(&domain);
	pe_domain_destroy(&video);
}

/* The last tokens alone have the last rows. */
static void takes_the_last_tokens(void **state)
{
	pe_domain *domain, *tail;
	assert_int_equal(pe_domain_grid(*state, T, H, W, 2, &domain), PE_OK);
	double *all = xt_first_array(*state, "learned_axial", "dim=5", domain, NULL);
	for (int64_t count = 0; count <= 2 + T * H * W; count += 5) {
		assert_int_equal(pe_domain_tail(*state, domain, count, &tail), PE_OK);
		double *some = xt_first_array(*state, "learned_axial", "dim=5", tail, NULL);
		assert_memory_equal(some, all + (2 + T * H * W - count) * 5, (size_t)count * 5 * sizeof *all);
		free(some);
		pe_domain_destroy(&tail);
	}
	free(all);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_the_authors_compute),
		cmocka_unit_test(adds_and_joins_three_axes),
		cmocka_unit_test(counts_from_the_first_row),
		cmocka_unit_test(begins_as_the_authors_do),
		cmocka_unit_test(refuses_tables_that_do_not_fit),
		cmocka_unit_test(takes_the_last_tokens),
	};
	return xt_run(argc, argv, tests);
}
