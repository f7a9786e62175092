/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain.h"
#include "xt.h"

#include <math.h>

static void takes_positions_of_every_shape(void **state)
{
	pe_context *ctx = *state;
	double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
	static const struct {
		int64_t axes;
		int32_t ndim;
		int64_t shape[3], tokens, batch;
		double last; /* of the last token of the last batch, last axis */
	} cases[] = {
		{0, 1, {12}, 12, 1, 11},
		{0, 2, {3, 4}, 4, 3, 11},
		{1, 2, {12, 1}, 12, 1, 11},
		{2, 2, {6, 2}, 6, 1, 11},
		{2, 3, {3, 2, 2}, 2, 3, 11},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		pe_domain *d;
		pe_tensor t = pe_tensor_dense(x, PE_F64, cases[k].ndim, cases[k].shape);
		assert_int_equal(pe_domain_positions(ctx, &t, cases[k].axes, &d), PE_OK);
		assert_int_equal(pe_domain_tokens(d), cases[k].tokens);
		assert_int_equal(d->batch, cases[k].batch);
		assert_true(pe_domain_coordinate(d, d->batch - 1, d->tokens - 1, d->axes - 1) == cases[k].last);
		assert_true(pe_domain_position(d, 0, 1) == (double)d->axes);
		pe_domain_destroy(&d);
	}
}

static void reads_positions_by_their_strides(void **state)
{
	pe_context *ctx = *state;
	pe_domain *d;
	int32_t x[] = {5, 4, 3, 2, 1, 0};
	/* (2, 3) backwards: 0 1 2, 3 4 5 */
	pe_tensor t = {x + 5, PE_I32, 2, {2, 3}, {-3, -1}};
	assert_int_equal(pe_domain_positions(ctx, &t, 0, &d), PE_OK);
	for (int64_t i = 0; i < 6; i++)
		assert_true(pe_domain_position(d, i / 3, i % 3) == (double)i);
	pe_domain_destroy(&d);
}

static void refuses_positions_that_cannot_be(void **state)
{
	pe_context *ctx = *state;
	pe_domain *d;
	double x[] = {0, NAN, 2, 3};
	pe_tensor nan = pe_tensor_dense(x, PE_F64, 1, (int64_t[]){4}),
			  scalar = pe_tensor_dense(x, PE_F64, 0, NULL);
	pe_tensor pairs = pe_tensor_dense(x + 2, PE_F64, 2, (int64_t[]){1, 2});
	xt_fails(ctx, pe_domain_positions(ctx, &nan, 0, &d), PE_ERR_SHAPE, "finite");
	xt_fails(ctx, pe_domain_positions(ctx, &scalar, 0, &d), PE_ERR_SHAPE, "(length)");
	xt_fails(ctx, pe_domain_positions(ctx, &pairs, 3, &d), PE_ERR_SHAPE, "(length, axes)");
	xt_fails(ctx, pe_domain_positions(ctx, &pairs, PE_MAX_AXES + 1, &d), PE_ERR_ARGUMENT, "9 axes");
	pe_tensor empty = pe_tensor_dense(x, PE_F64, 2, (int64_t[]){0, 4});
	xt_fails(ctx, pe_domain_positions(ctx, &empty, 0, &d), PE_ERR_SHAPE, "0 batches");
	assert_null(d);
}

/* However many batches nothing has, there is nothing to go through. */
static void takes_no_positions(void **state)
{
	pe_context *ctx = *state;
	pe_domain *d;
	double x = 0;
	pe_tensor none = pe_tensor_dense(&x, PE_F64, 2, (int64_t[]){(int64_t)1 << 60, 0});
	assert_int_equal(pe_domain_positions(ctx, &none, 0, &d), PE_OK);
	assert_true(d->batch == 1 && d->tokens == 0);
	pe_domain_destroy(&d);
}

static void gives_a_grid_its_coordinates(void **state)
{
	pe_context *ctx = *state;
	pe_domain *d;
	assert_int_equal(pe_domain_grid(ctx, 2, 3, 4, 1, &d), PE_OK);
	assert_false(pe_domain_is_placed(d, 0));
	int64_t token = 1 + 1 * 12 + 2 * 4 + 3;
	for (int64_t axis = 0; axis < 3; axis++)
		assert_true(pe_domain_coordinate(d, 0, token, axis) == (double)(axis + 1));
	pe_domain_destroy(&d);
}

static void cuts_off_the_last_tokens(void **state)
{
	pe_context *ctx = *state;
	pe_domain *all, *last;
	double x[] = {7, 5, 3, 1, 6, 4, 2, 0};
	pe_tensor t = pe_tensor_dense(x, PE_F64, 2, (int64_t[]){2, 4});
	assert_int_equal(pe_domain_positions(ctx, &t, 0, &all), PE_OK);
	assert_int_equal(pe_domain_tail(ctx, all, 2, &last), PE_OK);
	for (int64_t b = 0; b < 2; b++)
		for (int64_t i = 0; i < 2; i++)
			assert_true(pe_domain_position(last, b, i) == pe_domain_position(all, b, 2 + i));
	pe_domain_destroy(&last);
	xt_fails(ctx, pe_domain_tail(ctx, all, 5, &last), PE_ERR_SHAPE, "5 queries");
	pe_domain_destroy(&all);

	assert_int_equal(pe_domain_sequence(ctx, 10, -2.5, &all), PE_OK);
	assert_int_equal(pe_domain_tail(ctx, all, 3, &last), PE_OK);
	assert_true(pe_domain_position(last, 0, 0) == 4.5 && pe_domain_is_regular(last, all));
	pe_domain_destroy(&last);
	pe_domain_destroy(&all);

	/* The same numbers, not nearly the same: a query sees its own key. */
	assert_int_equal(pe_domain_sequence(ctx, 80, -4.514, &all), PE_OK);
	assert_int_equal(pe_domain_tail(ctx, all, 17, &last), PE_OK);
	for (int64_t i = 0; i < 17; i++)
		assert_true(pe_domain_position(last, 0, i) == pe_domain_position(all, 0, 63 + i));
	pe_domain_destroy(&last);
	pe_domain_destroy(&all);

	assert_int_equal(pe_domain_grid(ctx, 1, 3, 4, 2, &all), PE_OK);
	assert_int_equal(pe_domain_tail(ctx, all, 13, &last), PE_OK);
	assert_false(pe_domain_is_placed(last, 0));
	for (int64_t i = 1; i < 13; i++)
		for (int64_t axis = 0; axis < 3; axis++)
			assert_true(pe_domain_coordinate(last, 0, i, axis) == pe_domain_coordinate(all, 0, i + 1, axis));
	pe_domain_destroy(&last);
	pe_domain_destroy(&all);
}

/* ---- padding ------------------------------------------------------------------------ */

static void takes_padding_of_every_type_and_stride(void **state)
{
	pe_context *ctx = *state;
	static const uint8_t want[] = {0, 0, 1, 1, 0, 1};
	uint8_t backwards[] = {9, 0, 1, 1, 0, 0};
	int64_t wide[] = {0, 7, 0, 7, -1, 7, 2, 7, 0, 7, 1, 7};
	pe_tensor tensors[] = {{backwards + 5, PE_U8, 2, {2, 3}, {-3, -1}}, {wide, PE_I64, 2, {2, 3}, {6, 2}},
		{wide, PE_I64, 3, {1, 2, 3}, {0, 6, 2}}};
	pe_domain *grid, *padded;
	assert_int_equal(pe_domain_grid(ctx, 1, 2, 3, 4, &grid), PE_OK);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(pe_domain_padded(ctx, grid, &tensors[k], &padded), PE_OK);
		assert_int_equal(pe_domain_tokens(padded), 10);
		assert_int_equal(padded->batch, 1);
		assert_memory_equal(padded->padding, want, 6);
		assert_true(pe_domain_coordinate(padded, 0, 9, 2) == 2);
		pe_domain_destroy(&padded);
	}
	pe_domain_destroy(&grid);
}

static void a_tail_keeps_the_padding_of_the_whole(void **state)
{
	pe_context *ctx = *state;
	uint8_t mask[2 * 3 * 2 * 2];
	for (int i = 0; i < 24; i++)
		mask[i] = i % 5 == 0;
	pe_tensor t = pe_tensor_dense(mask, PE_BOOL, 4, (int64_t[]){2, 3, 2, 2});
	pe_domain *grid, *padded, *tail;
	assert_int_equal(pe_domain_grid(ctx, 3, 2, 2, 0, &grid), PE_OK);
	assert_int_equal(pe_domain_padded(ctx, grid, &t, &padded), PE_OK);
	assert_int_equal(padded->batch, 2);
	assert_int_equal(pe_domain_tail(ctx, padded, 5, &tail), PE_OK);
	assert_int_equal(tail->batch, 2);
	assert_memory_equal(tail->padding, mask, sizeof mask);
	pe_domain *out;
	xt_fails(
		ctx, pe_domain_padded(ctx, tail, &t, &out), PE_ERR_ARGUMENT, "only a whole grid without padding");
	assert_null(out);
	pe_domain_destroy(&tail);
	pe_domain_destroy(&padded);
	pe_domain_destroy(&grid);
}

static void refuses_padding_that_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	double mask[12] = {0};
	pe_tensor real = pe_tensor_dense(mask, PE_F64, 2, (int64_t[]){2, 3});
	pe_tensor other = pe_tensor_dense(mask, PE_I64, 2, (int64_t[]){3, 2});
	pe_tensor none = pe_tensor_dense(mask, PE_I64, 3, (int64_t[]){0, 2, 3});
	pe_tensor flat = pe_tensor_dense(mask, PE_I64, 1, (int64_t[]){6});
	pe_domain *image, *video, *sequence, *out;
	assert_int_equal(pe_domain_grid(ctx, 1, 2, 3, 0, &image), PE_OK);
	assert_int_equal(pe_domain_grid(ctx, 2, 3, 2, 0, &video), PE_OK);
	assert_int_equal(pe_domain_sequence(ctx, 6, 0, &sequence), PE_OK);
	xt_fails(ctx, pe_domain_padded(ctx, image, &real, &out), PE_ERR_SHAPE, "bool or of an integer type");
	xt_fails(ctx, pe_domain_padded(ctx, image, NULL, &out), PE_ERR_SHAPE, "bool or of an integer type");
	xt_fails(ctx, pe_domain_padded(ctx, image, &other, &out), PE_ERR_SHAPE, "is (3, 2), but must be (2, 3)");
	xt_fails(ctx, pe_domain_padded(ctx, image, &none, &out), PE_ERR_SHAPE, "is (0, 2, 3), but");
	xt_fails(ctx, pe_domain_padded(ctx, image, &flat, &out), PE_ERR_SHAPE, "is (6), but");
	xt_fails(ctx, pe_domain_padded(ctx, video, &other, &out), PE_ERR_SHAPE, "must be (2, 3, 2)");
	xt_fails(ctx, pe_domain_padded(ctx, sequence, &other, &out), PE_ERR_ARGUMENT, "only a whole grid");
	xt_fails(ctx, pe_domain_padded(ctx, NULL, &other, &out), PE_ERR_ARGUMENT, "only a whole grid");
	assert_null(out);
	pe_domain_destroy(&image);
	pe_domain_destroy(&video);
	pe_domain_destroy(&sequence);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_positions_of_every_shape),
		cmocka_unit_test(reads_positions_by_their_strides),
		cmocka_unit_test(refuses_positions_that_cannot_be),
		cmocka_unit_test(takes_no_positions),
		cmocka_unit_test(gives_a_grid_its_coordinates),
		cmocka_unit_test(cuts_off_the_last_tokens),
		cmocka_unit_test(takes_padding_of_every_type_and_stride),
		cmocka_unit_test(a_tail_keeps_the_padding_of_the_whole),
		cmocka_unit_test(refuses_padding_that_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
