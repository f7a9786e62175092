/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>

#include "xt.h"

static double *table(pe_context *ctx, const char *settings, int64_t height, int64_t width, int64_t prefix)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_grid(ctx, 1, height, width, prefix, &domain), PE_OK);
	double *out = xt_first_array(ctx, "axial", settings, domain, NULL);
	pe_domain_destroy(&domain);
	return out;
}

enum { H = 4, W = 6, D = 16, B = D / 4 };

static double band(double coordinate, int k)
{
	return coordinate * pow(10000, -(double)k / B);
}

/* Channel by channel from the published layouts. */
static void presets_have_their_layouts(void **state)
{
	pe_context *ctx = *state;
	double *mae = table(ctx, "dim=16,preset=mae", H, W, 0), *jepa = table(ctx, "dim=16,preset=jepa", H, W, 0);
	double *timm = table(ctx, "dim=16,preset=timm", H, W, 0),
		   *detr = table(ctx, "dim=16,preset=detr", H, W, 0);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			for (int k = 0; k < B; k++) {
				int at = (y * W + x) * D;
				xt_close_f64(mae[at + k], sin(band(x, k)), 0, 1e-14);
				xt_close_f64(mae[at + B + k], cos(band(x, k)), 0, 1e-14);
				xt_close_f64(mae[at + 2 * B + k], sin(band(y, k)), 0, 1e-14);
				xt_close_f64(mae[at + 3 * B + k], cos(band(y, k)), 0, 1e-14);
				xt_close_f64(jepa[at + k], sin(band(y, k)), 0, 1e-14);
				xt_close_f64(jepa[at + 3 * B + k], cos(band(x, k)), 0, 1e-14);
				xt_close_f64(timm[at + B + k], sin(band(x, k)), 0, 1e-14);
				xt_close_f64(timm[at + 2 * B + k], cos(band(y, k)), 0, 1e-14);
				double v = (y + 1) / (H + 1e-6) * 2 * acos(-1), u = (x + 1) / (W + 1e-6) * 2 * acos(-1);
				xt_close_f64(detr[at + 2 * k], sin(band(v, k)), 0, 1e-14);
				xt_close_f64(detr[at + 2 * k + 1], cos(band(v, k)), 0, 1e-14);
				xt_close_f64(detr[at + 2 * B + 2 * k], sin(band(u, k)), 0, 1e-14);
			}
	free(mae);
	free(jepa);
	free(timm);
	free(detr);
}

/* Exchanging the axes of the grid exchanges the halves of the channels. */
static void transposing_swaps_the_halves(void **state)
{
	pe_context *ctx = *state;
	double *a = table(ctx, "dim=16", H, W, 0), *b = table(ctx, "dim=16", W, H, 0);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			for (int c = 0; c < D; c++)
				assert_true(a[(y * W + x) * D + c] == b[(x * H + y) * D + (c + D / 2) % D]);
	free(a);
	free(b);
}

/* Single precision, dense or in every other column, is double precision rounded once. */
static void storage_rounds_once(void **state)
{
	pe_context *ctx = *state;
	static const char *const layouts[] = {"blocks", "interleaved", "trig"};
	enum { TOKENS = 2 + H * W };
	for (int k = 0; k < 6; k++) {
		char settings[64];
		int step = k < 3 ? 1 : 2;
		float y[TOKENS * D * 2];
		pe_domain *grid;
		pe_params *params;
		pe_encoding *e;
		snprintf(settings, sizeof settings, "dim=16,layout=%s", layouts[k % 3]);
		double *exact = table(ctx, settings, H, W, 2);
		assert_int_equal(pe_domain_grid(ctx, 1, H, W, 2, &grid), PE_OK);
		assert_int_equal(pe_params_create(ctx, "axial", &params), PE_OK);
		xt_set(params, settings);
		assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("axial"), params, grid, NULL, &e), PE_OK);
		pe_tensor out = pe_tensor_dense(y, PE_F32, 2, (int64_t[]){TOKENS, D});
		out.strides[0] = D * step;
		out.strides[1] = step;
		assert_int_equal(pe_encoding_compute(e, &out, 1), PE_OK);
		for (int i = 0; i < TOKENS * D; i++)
			assert_true(y[i * step] == (float)exact[i]);
		pe_encoding_destroy(&e);
		pe_params_destroy(&params);
		pe_domain_destroy(&grid);
		free(exact);
	}
}

static void prefix_tokens_get_zeros(void **state)
{
	pe_context *ctx = *state;
	double *a = table(ctx, "dim=16", 1, 7, 2), *b = table(ctx, "dim=16", 1, 7, 0);
	for (int c = 0; c < 2 * D; c++)
		assert_true(a[c] == 0);
	assert_memory_equal(a + 2 * D, b, 7 * D * sizeof *b);
	free(a);
	free(b);
}

static void one_row_at_zero_stays_there(void **state)
{
	double *a = table(*state, "dim=16,normalize=1", 1, 3, 0);
	for (int t = 0; t < 3; t++)
		for (int k = 0; k < B; k++)
			assert_true(a[t * D + k] == 0 && a[t * D + B + k] == 1);
	free(a);
}

/* A class token is not multiplied by the zeros of its row. */
static void merging_leaves_prefix_tokens_alone(void **state)
{
	pe_context *ctx = *state;
	pe_params *params;
	pe_domain *grid;
	pe_encoding *e;
	double *p = table(ctx, "dim=16", 1, 3, 1), x[4 * D], y[4 * D];
	for (int i = 0; i < 4 * D; i++)
		x[i] = i + 1;
	assert_int_equal(pe_params_create(ctx, "axial", &params), PE_OK);
	xt_set(params, "dim=16,merge=multiply");
	assert_int_equal(pe_domain_grid(ctx, 1, 1, 3, 1, &grid), PE_OK);
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("axial"), params, grid, NULL, &e), PE_OK);
	pe_tensor tx = pe_tensor_dense(x, PE_F64, 2, (int64_t[]){4, D}), ty = tx;
	ty.data = y;
	assert_int_equal(pe_encoding_apply(e, &tx, &ty), PE_OK);
	for (int i = 0; i < 4 * D; i++)
		assert_true(y[i] == (i < D ? x[i] : x[i] * p[i]));
	pe_encoding_destroy(&e);
	pe_domain_destroy(&grid);
	pe_params_destroy(&params);
	free(p);
}

static void refuses_what_it_cannot_encode(void **state)
{
	pe_context *ctx = *state;
	pe_params *params;
	pe_domain *grid, *video, *sequence;
	pe_encoding *e;
	const pe_encoder *axial = pe_encoder_find("axial");
	assert_int_equal(pe_params_create(ctx, "axial", &params), PE_OK);
	xt_set(params, "dim=18");
	assert_int_equal(pe_domain_grid(ctx, 1, 3, 3, 0, &grid), PE_OK);
	assert_int_equal(pe_domain_grid(ctx, 2, 3, 3, 0, &video), PE_OK);
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &sequence), PE_OK);
	xt_fails(ctx, pe_encoding_create(ctx, axial, params, grid, NULL, &e), PE_ERR_RANGE, "multiple of 4");
	assert_null(e);
	xt_fails(ctx, pe_encoding_create(ctx, axial, NULL, video, NULL, &e), PE_ERR_UNSUPPORTED, "2 frames");
	xt_fails(ctx, pe_encoding_create(ctx, axial, NULL, sequence, NULL, &e), PE_ERR_ARGUMENT,
		"does not take a sequence");
	pe_domain_destroy(&grid);
	pe_domain_destroy(&video);
	pe_domain_destroy(&sequence);
	pe_params_destroy(&params);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(presets_have_their_layouts),
		cmocka_unit_test(transposing_swaps_the_halves),
		cmocka_unit_test(storage_rounds_once),
		cmocka_unit_test(prefix_tokens_get_zeros),
		cmocka_unit_test(one_row_at_zero_stays_there),
		cmocka_unit_test(merging_leaves_prefix_tokens_alone),
		cmocka_unit_test(refuses_what_it_cannot_encode),
	};
	return xt_run(argc, argv, tests);
}
