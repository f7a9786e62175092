/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt_attend.h"
#include "xt_rotation.h"
#include "xt_window.h"

static double *table(pe_context *ctx, const char *settings, int64_t height, int64_t width, int64_t prefix)
{
	pe_domain *domain = xt_frames(ctx, 1, height, width, prefix);
	double *out = xt_first_array(ctx, "axial", settings, domain, NULL);
	pe_domain_destroy(&domain);
	return out;
}

/* ---- golden values ------------------------------------------------------------------ */

/* The cases of golden/make_axial.py. Those of which the authors compute in double agree with it, VideoMAE's
 * is one rounding off, coordinates or angles in f32 are some 1e-7 of 24, the longest side. */
static const struct {
	const char *name, *settings;
	double tolerance;
} cases[] = {
	{"mae", "preset=mae,dim=16", 1e-14},
	{"moco", "preset=moco,dim=16", 1e-14},
	{"jepa", "preset=jepa,dim=16", 1e-14},
	{"vjepa", "preset=vjepa,dim=16", 1e-14},
	{"vjepa_uniform", "preset=vjepa,shares=1,rest=cut,dim=20", 1e-14},
	{"detr", "preset=detr,dim=16", 1e-14},
	{"detr_plain", "preset=detr,normalize=0,dim=16", 1e-14},
	{"deformable_detr", "preset=deformable_detr,dim=16", 1e-14},
	{"detr_padded", "preset=detr,dim=16", 1e-14},
	{"deformable_detr_padded", "preset=deformable_detr,dim=16", 2e-9}, /* angles of -0.5/1e-6 2 pi */
	{"detr_plain_padded", "preset=detr,normalize=0,dim=16", 1e-14},
	{"timm", "preset=timm,dim=16", 4e-6},
	{"timm_interleave", "preset=timm,layout=blocks,base=100,dim=16", 4e-6},
	{"timm_reverse", "preset=timm,axes=xy,order=columns,dim=16", 4e-6},
	{"simple_vit", "preset=simple_vit,dim=16", 4e-6},
	{"simple_vit_3d", "preset=simple_vit_3d,dim=20", 4e-6},
	{"diffusers", "preset=diffusers,dim=16", 4e-6},
	{"diffusers_scaled", "preset=diffusers,scale=4,dim=16", 4e-6},
	{"diffusers_3d", "preset=diffusers_3d,dim=32", 1e-14},
	{"diffusers_3d_scaled", "preset=diffusers_3d,scale=2/0.5333333333333333/0.5333333333333333,dim=32", 4e-6},
	{"xcit", "preset=xcit,dim=16", 4e-6},
	{"videomae", "preset=videomae,dim=16", 6e-8},
	{"positional_encodings", "preset=positional_encodings,dim=16", 4e-6},
	{"positional_encodings_10", "preset=positional_encodings,dim=10", 4e-6},
	{"positional_encodings_15", "preset=positional_encodings,dim=15", 4e-6},
	{"positional_encodings_3d", "preset=positional_encodings,dim=18", 4e-6},
	{"positional_encodings_3d_20", "preset=positional_encodings,dim=20", 4e-6},
};

static const int64_t grids[][3] = {
	{1, 4, 6}, {1, 5, 5}, {1, 1, 7}, {1, 14, 14}, {1, 16, 24}, {3, 4, 6}, {2, 5, 5}, {4, 1, 7}, {4, 7, 5}};

enum { CASES = sizeof cases / sizeof *cases, GRIDS = sizeof grids / sizeof *grids };

/* Which token the i-th of those kept is. */
static int64_t kept(int64_t i, int64_t tokens, int64_t count)
{
	return tokens == count ? i : i == count - 1 ? tokens - 1 : (tokens <= 30 ? 5 : 29) * i;
}

static double value(const pe_tensor *t, int64_t i)
{
	return t->dtype == PE_F64 ? ((const double *)t->data)[i] : (double)((const float *)t->data)[i];
}

static void compare(int c, const pe_tensor *want, const double *got, int64_t tokens, int64_t dim)
{
	int64_t count = want->shape[want->ndim - 2], rows = pe_tensor_count(want) / dim;
	assert_int_equal(want->shape[want->ndim - 1], dim);
	for (int64_t r = 0; r < rows; r++)
		for (int64_t k = 0; k < dim; k++) {
			double g = got[(r / count * tokens + kept(r % count, tokens, count)) * dim + k];
			double v = value(want, r * dim + k);
			if (!(fabs(g - v) <= cases[c].tolerance))
				fail_msg("%s of %lld tokens, row %lld, channel %lld: %.9g, not %.9g", cases[c].name,
					(long long)tokens, (long long)r, (long long)k, g, v);
		}
}

static void is_what_the_models_have(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *golden = xt_golden_bundle(ctx, "axial/tables.npz");
	int compared = 0;
	for (int c = 0; c < CASES; c++)
		for (int g = 0; g < GRIDS; g++) {
			pe_tensor want, padding;
			if (!xt_find_on_grid(golden, cases[c].name, grids[g], &want))
				continue;
			pe_domain *domain = xt_frames(ctx, grids[g][0], grids[g][1], grids[g][2], 0), *padded = NULL;
			if (strstr(cases[c].name, "padded")) {
				assert_true(xt_find_on_grid(golden, "padding", grids[g], &padding));
				assert_int_equal(pe_domain_padded(ctx, domain, &padding, &padded), PE_OK);
			}
			int64_t dim;
			double *got = xt_first_array(ctx, "axial", cases[c].settings, padded ? padded : domain, &dim);
			compare(c, &want, got, pe_domain_tokens(domain), dim);
			compared++;
			free(got);
			pe_domain_destroy(&padded);
			pe_domain_destroy(&domain);
		}
	assert_int_equal(compared, pe_bundle_count(golden) - 3); /* masks */
	pe_bundle_destroy(&golden);
}

/* ---- what always holds -------------------------------------------------------------- */

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

/* Stored in another type, dense or in every other column, by any number of threads: double rounded once. */
static void stores(pe_context *ctx, const char *settings, const pe_domain *domain, int64_t step)
{
	int64_t dim, tokens = pe_domain_tokens(domain);
	char with[160];
	double *exact = xt_first_array(ctx, "axial", settings, domain, &dim);
	float *y = malloc((size_t)(tokens * dim * step) * sizeof *y);
	snprintf(with, sizeof with, "axial:%s", settings);
	pe_encoding *e = xt_encoding(ctx, with, domain, NULL, NULL);
	pe_tensor out = pe_tensor_dense(y, PE_F32, 2, (int64_t[]){tokens, dim});
	out.strides[0] = dim * step;
	out.strides[1] = step;
	assert_int_equal(pe_encoding_compute(e, &out, 1), PE_OK);
	for (int64_t i = 0; i < tokens * dim; i++)
		if (!(y[i * step] == (float)exact[i]))
			fail_msg("%s, number %lld", settings, (long long)i);
	pe_encoding_destroy(&e);
	free(y);
	free(exact);
}

static void storage_rounds_once(void **state)
{
	static const char *const settings[] = {"dim=16", "dim=16,layout=interleaved", "dim=16,layout=trig",
		"dim=24,axes=txy,layout=trig", "dim=22,axes=tyx,rest=cut", "dim=23,axes=tyx,rest=zeros,layout=trig",
		"dim=21,axes=tyx,rest=cut,layout=trig", "dim=16,axes=flat", "dim=200,preset=detr"};
	static const int64_t sides[][4] = {
		{1, 4, 6, 2}, {3, 4, 6, 1}, {2, 9, 70, 3}, {1, 130, 3, 0}, {1, 1, 100, 1}};
	pe_context *several = xt_context(4, NULL);
	for (int g = 0; g < 5; g++) {
		pe_domain *one = xt_frames(*state, sides[g][0], sides[g][1], sides[g][2], sides[g][3]);
		pe_domain *other = xt_frames(several, sides[g][0], sides[g][1], sides[g][2], sides[g][3]);
		for (int k = 0; k < 9; k++) {
			stores(*state, settings[k], one, 1);
			stores(*state, settings[k], one, 2);
			stores(several, settings[k], other, 1);
		}
		pe_domain_destroy(&one);
		pe_domain_destroy(&other);
	}
	pe_context_destroy(&several);
}

/* 32 MB and more are written past the caches. */
static void large_tables_are_the_same(void **state)
{
	enum { SIDE = 96, DIM = 1024 };
	pe_context *ctx = *state;
	pe_domain *domain = xt_frames(ctx, 1, SIDE, SIDE, 0);
	pe_encoding *e = xt_encoding(ctx, "axial:dim=1024,layout=trig", domain, NULL, NULL);
	float *y = aligned_alloc(64, sizeof *y * SIDE * SIDE * DIM);
	pe_tensor out = pe_tensor_dense(y, PE_F32, 2, (int64_t[]){SIDE * SIDE, DIM});
	assert_int_equal(pe_encoding_compute(e, &out, 1), PE_OK);
	pe_encoding_destroy(&e);
	for (int64_t i = 0; i < SIDE * SIDE; i++)
		for (int c = 0; c < DIM; c++) {
			int64_t place = c / (DIM / 4) % 2 == 0 ? i / SIDE : i % SIDE; /* of which y is the first */
			assert_true(y[i * DIM + c] == y[(place * SIDE + place) * DIM + c]);
		}
	for (int64_t i = 0; i < SIDE; i++)
		for (int k = 0; k < DIM / 4; k++) {
			double angle = (double)i * pow(10000, -k / 256.0);
			xt_close_f64((double)y[i * (SIDE + 1) * DIM + k], sin(angle), 0, 6e-8);
			xt_close_f64((double)y[i * (SIDE + 1) * DIM + 3 * DIM / 4 + k], cos(angle), 0, 6e-8);
		}
	free(y);
	pe_domain_destroy(&domain);
}

/* A table of part of a grid is part of the table, unless coordinates are normalized. */
static void only_plain_tables_can_be_cut(void **state)
{
	static const char *const settings[] = {
		"dim=16,preset=mae", "dim=16,preset=detr", "dim=16,preset=diffusers"};
	for (int k = 0; k < 3; k++) {
		double *small = table(*state, settings[k], 3, 4, 0), *large = table(*state, settings[k], 6, 8, 0);
		bool same = true;
		for (int i = 0; i < 3 * 4; i++)
			same = same && memcmp(small + i * D, large + (i / 4 * 8 + i % 4) * D, D * sizeof *small) == 0;
		assert_int_equal(same, k == 0);
		free(small);
		free(large);
	}
}

/* With axes=yx every frame is alike, with tyx the table of t = 0 is that of one frame; the last tokens of a
 * grid have the rows they have in the whole. */
static void frames_and_tails_are_parts_of_the_whole(void **state)
{
	enum { T = 3, PREFIX = 2, TOKENS = PREFIX + T * H * W, TAIL = H * W + 5 };
	pe_context *ctx = *state;
	pe_domain *video = xt_frames(ctx, T, H, W, PREFIX), *image = xt_frames(ctx, 1, H, W, 0), *tail;
	double *flat = xt_first_array(ctx, "axial", "dim=16,axes=yx", video, NULL);
	double *one = xt_first_array(ctx, "axial", "dim=16", image, NULL);
	for (int t = 0; t < T; t++)
		assert_memory_equal(flat + (PREFIX + t * H * W) * D, one, H * W * D * sizeof *one);
	assert_int_equal(pe_domain_tail(ctx, video, TAIL, &tail), PE_OK);
	static const char *const settings[] = {"dim=16", "dim=16,axes=flat", "dim=16,order=columns,axes=xy"};
	for (int k = 0; k < 3; k++) {
		double *whole = xt_first_array(ctx, "axial", settings[k], video, NULL);
		double *last = xt_first_array(ctx, "axial", settings[k], tail, NULL);
		assert_memory_equal(last, whole + (TOKENS - TAIL) * D, TAIL * D * sizeof *last);
		free(whole);
		free(last);
	}
	free(flat);
	free(one);
	pe_domain_destroy(&tail);
	pe_domain_destroy(&image);
	pe_domain_destroy(&video);
}

/* A mask without padding changes nothing; one of a rectangle gives the table of the smaller grid there. */
static void padding_is_not_counted(void **state)
{
	enum { PREFIX = 1, TOKENS = PREFIX + H * W, HIGH = 3, WIDE = 4 };
	static const char *const settings[] = {"dim=16", "dim=16,preset=detr",
		"dim=16,preset=deformable_detr,scale=3", "dim=18,preset=timm,rest=cut"};
	pe_context *ctx = *state;
	uint8_t padding[2][H][W] = {0};
	for (int i = 0; i < H * W; i++)
		padding[1][i / W][i % W] = i / W >= HIGH || i % W >= WIDE;
	pe_tensor mask = pe_tensor_dense(padding, PE_BOOL, 3, (int64_t[]){2, H, W});
	pe_domain *whole = xt_frames(ctx, 1, H, W, PREFIX), *small = xt_frames(ctx, 1, HIGH, WIDE, 0), *padded;
	assert_int_equal(pe_domain_padded(ctx, whole, &mask, &padded), PE_OK);
	for (int k = 0; k < 4; k++) {
		int64_t dim;
		double *a = xt_first_array(ctx, "axial", settings[k], padded, &dim);
		double *b = xt_first_array(ctx, "axial", settings[k], whole, NULL);
		double *c = xt_first_array(ctx, "axial", settings[k], small, NULL);
		assert_memory_equal(a, b, (size_t)(TOKENS * dim) * sizeof *a);
		for (int i = 0; i < HIGH * WIDE; i++)
			assert_memory_equal(
				a + (TOKENS + PREFIX + i / WIDE * W + i % WIDE) * dim, c + i * dim, (size_t)dim * sizeof *a);
		free(a);
		free(b);
		free(c);
	}
	pe_domain_destroy(&padded);
	pe_domain_destroy(&small);
	pe_domain_destroy(&whole);
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
	pe_domain *image = xt_frames(ctx, 1, 3, 3, 0), *video = xt_frames(ctx, 2, 3, 3, 0), *padded, *sequence;
	uint8_t padding[9] = {0};
	pe_tensor mask = pe_tensor_dense(padding, PE_U8, 2, (int64_t[]){3, 3});
	assert_int_equal(pe_domain_padded(ctx, image, &mask, &padded), PE_OK);
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &sequence), PE_OK);
	xt_refuses_on(ctx, "axial:dim=18", image, PE_ERR_RANGE, "must be a multiple of 4");
	xt_refuses_on(ctx, "axial:axes=tyx,dim=64", video, PE_ERR_RANGE, "must be a multiple of 6");
	xt_refuses_on(
		ctx, "axial:shares=4/2/2,axes=tyx,dim=20", video, PE_ERR_RANGE, "multiple of 8, sine and cosine");
	xt_refuses_on(ctx, "axial:shares=2/1", video, PE_ERR_RANGE, "shares has 2 numbers, and the grid 3 axes");
	xt_refuses_on(ctx, "axial:shares=1/0.5", image, PE_ERR_RANGE, "whole numbers from 1 on, not 0.5");
	xt_refuses_on(ctx, "axial:scale=1/2/3", image, PE_ERR_RANGE, "scale has 3 numbers, and the grid 2 axes");
	xt_refuses_on(ctx, "axial:dim=15,rest=first", image, PE_ERR_RANGE, "an odd channel remains");
	xt_refuses_on(ctx, "axial:dim=3,rest=zeros", image, PE_ERR_RANGE, "too small");
	xt_refuses_on(ctx, "axial:eps=0.5", image, PE_ERR_RANGE, "no effect with normalize=0");
	xt_refuses_on(ctx, "axial:axes=flat,order=columns", image, PE_ERR_RANGE, "no effect with axes=flat");
	xt_refuses_on(ctx, "axial:axes=flat", padded, PE_ERR_UNSUPPORTED, "axes=flat takes no padding mask");
	xt_refuses_on(ctx, "axial:preset=moco", padded, PE_ERR_UNSUPPORTED, "order=columns takes no padding");
	xt_refuses_on(ctx, "rope2d", padded, PE_ERR_UNSUPPORTED, "does not tell padding from the rest");
	xt_refuses_on(ctx, "axial", sequence, PE_ERR_ARGUMENT, "does not take a sequence");
	pe_domain_destroy(&padded);
	pe_domain_destroy(&image);
	pe_domain_destroy(&video);
	pe_domain_destroy(&sequence);
}

/* What remains goes to the first axis, or to the last. */
static void an_axis_takes_what_remains(void **state)
{
	pe_domain *video = xt_frames(*state, 2, 3, 4, 0);
	double *first = xt_first_array(*state, "axial", "dim=22,axes=tyx,rest=first", video, NULL);
	double *last = xt_first_array(*state, "axial", "dim=22,axes=tyx,rest=last", video, NULL);
	int64_t token = 1 * 12 + 2 * 4 + 3; /* t = 1, y = 2, x = 3 */
	const double *a = first + token * 22, *b = last + token * 22;
	for (int k = 0; k < 5; k++) {
		xt_close_f64(a[k], sin(pow(10000, -k / 5.0)), 0, 1e-14);
		xt_close_f64(b[12 + k], sin(3 * pow(10000, -k / 5.0)), 0, 1e-14);
	}
	for (int k = 0; k < 3; k++) {
		xt_close_f64(a[16 + 3 + k], cos(3 * pow(10000, -k / 3.0)), 0, 1e-14);
		xt_close_f64(b[6 + k], sin(2 * pow(10000, -k / 3.0)), 0, 1e-14);
	}
	free(first);
	free(last);
	pe_domain_destroy(&video);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_the_models_have),
		cmocka_unit_test(presets_have_their_layouts),
		cmocka_unit_test(transposing_swaps_the_halves),
		cmocka_unit_test(storage_rounds_once),
		cmocka_unit_test(large_tables_are_the_same),
		cmocka_unit_test(only_plain_tables_can_be_cut),
		cmocka_unit_test(frames_and_tails_are_parts_of_the_whole),
		cmocka_unit_test(padding_is_not_counted),
		cmocka_unit_test(an_axis_takes_what_remains),
		cmocka_unit_test(prefix_tokens_get_zeros),
		cmocka_unit_test(one_row_at_zero_stays_there),
		cmocka_unit_test(merging_leaves_prefix_tokens_alone),
		cmocka_unit_test(refuses_what_it_cannot_encode),
	};
	return xt_run(argc, argv, tests);
}
