/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt_attend.h"
#include "xt_rotation.h"
#include "xt_window.h"

/* ---- golden values ------------------------------------------------------------------ */

/* The cases of golden/make_fourier.py. */
static const struct {
	const char *name, *settings;
} cases[] = {
	{"timm", "preset=timm,bands=4"},
	{"timm_32", "bands=3,max_res=32,grid=0"},
	{"timm_build", "preset=timm_build,bands=4"},
	{"log_grid", "preset=timm_build,bands=3,max_res=64,grid=1"},
	{"linear", "preset=timm_build,bands=4,frequencies=linear,reference=7/9"},
	{"index", "frequencies=geometric,coordinates=index,layout=axes,bands=4,start=1"},
	{"reference",
		"frequencies=geometric,coordinates=index,layout=axes,bands=4,axes=xy,reference=12/"
		"16,base=100,grid=0"},
	{"centred", "preset=timm_build,bands=4,coordinates=centred,denominator=max,start=0.25"},
	{"centred_min", "preset=timm_build,bands=4,coordinates=centred,denominator=min,grid=1"},
	{"one_band", "preset=timm_build,bands=1,grid=1"},
	{"perceiver", "preset=perceiver,bands=4,max_res=224/128"},
	{"sines", "preset=perceiver,bands=4,max_res=224/128,sine_only=1"},
};

static const int64_t grids[][3] = {{1, 4, 6}, {1, 5, 5}, {1, 1, 7}, {1, 14, 14}, {1, 16, 24}, {3, 4, 6}};

enum { CASES = sizeof cases / sizeof *cases, GRIDS = sizeof grids / sizeof *grids };

/* Which token the i-th of those kept is. */
static int64_t kept(int64_t i, int64_t tokens, int64_t count)
{
	return tokens == count ? i : i == count - 1 ? tokens - 1 : 29 * i;
}

/* Angles in f32, up to 352, whose last bit is 3e-5. */
static void compare(int c, const pe_tensor *want, const double *got, int64_t tokens, int64_t width)
{
	const float *v = want->data;
	assert_int_equal(want->shape[1], width);
	for (int64_t i = 0; i < want->shape[0]; i++)
		for (int64_t k = 0; k < width; k++, v++) {
			double g = got[kept(i, tokens, want->shape[0]) * width + k];
			if (!(fabs(g - (double)*v) <= 6e-5))
				fail_msg("%s of %lld tokens, row %lld, channel %lld: %.9g, not %.9g", cases[c].name,
					(long long)tokens, (long long)i, (long long)k, g, (double)*v);
		}
}

static void is_what_timm_and_perceiver_have(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *golden = xt_golden_bundle(ctx, "fourier/tables.npz");
	int compared = 0;
	for (int c = 0; c < CASES; c++)
		for (int g = 0; g < GRIDS; g++) {
			pe_tensor want;
			if (!xt_find_on_grid(golden, cases[c].name, grids[g], &want))
				continue;
			pe_domain *domain = xt_frames(ctx, grids[g][0], grids[g][1], grids[g][2], 0);
			int64_t width;
			double *got = xt_first_array(ctx, "fourier", cases[c].settings, domain, &width);
			compare(c, &want, got, pe_domain_tokens(domain), width);
			compared++;
			free(got);
			pe_domain_destroy(&domain);
		}
	assert_int_equal(compared, pe_bundle_count(golden));
	pe_bundle_destroy(&golden);
}

/* ---- what always holds -------------------------------------------------------------- */

enum { H = 4, W = 6, N = 5, AXES = 2, WIDTH = AXES * (1 + 2 * N) };

/* The three kinds of frequencies, to the last bits; log is by powers of two, as timm writes it. */
static void frequencies_are_what_help_says(void **state)
{
	static const char *const kinds[] = {"linear,max_res=64", "log,max_res=64", "geometric,base=100"};
	const double pi = acos(-1);
	pe_domain *domain = xt_frames(*state, 1, H, W, 0);
	for (int f = 0; f < 3; f++) {
		char settings[80];
		snprintf(settings, sizeof settings, "bands=5,frequencies=%s", kinds[f]);
		double *a = xt_first_array(*state, "fourier", settings, domain, NULL);
		for (int i = 0; i < H * W; i++) {
			double c[] = {2.0 * (i / W) / (H - 1) - 1, 2.0 * (i % W) / (W - 1) - 1};
			for (int axis = 0; axis < AXES; axis++) {
				const double *row = a + i * WIDTH;
				xt_close_f64(row[axis], c[axis], 0, 1e-15);
				for (int k = 0; k < N; k++) {
					double w = f == 0 ? pi * (1 + k * 31 / 4.0)
						: f == 1      ? pi * exp2(k * 5 / 4.0)
									  : pow(100, -k / 5.0);
					xt_close_f64(row[AXES + k * AXES + axis], sin(c[axis] * w), 0, 1e-13);
					xt_close_f64(row[AXES + (N + k) * AXES + axis], cos(c[axis] * w), 0, 1e-13);
				}
			}
		}
		free(a);
	}
	pe_domain_destroy(&domain);
}

/* Exchanging the axes of the grid exchanges the channels of the axes; and so does exchanging `axes`. */
static void transposing_swaps_the_axes(void **state)
{
	static const char *const settings[] = {
		"bands=5", "bands=5,coordinates=centred,denominator=max", "bands=5,coordinates=index,start=2"};
	pe_domain *domain = xt_frames(*state, 1, H, W, 0), *across = xt_frames(*state, 1, W, H, 0);
	for (int c = 0; c < 3; c++) {
		char other[80];
		snprintf(other, sizeof other, "%s,axes=xy", settings[c]);
		double *a = xt_first_array(*state, "fourier", settings[c], domain, NULL);
		double *b = xt_first_array(*state, "fourier", settings[c], across, NULL);
		double *d = xt_first_array(*state, "fourier", other, domain, NULL);
		for (int i = 0; i < H * W * WIDTH; i++) {
			int y = i / WIDTH / W, x = i / WIDTH % W, swapped = i % WIDTH ^ 1;
			assert_true(a[i] == b[(x * H + y) * WIDTH + swapped]);
			assert_true(a[i] == d[i / WIDTH * WIDTH + swapped]);
		}
		free(a);
		free(b);
		free(d);
	}
	pe_domain_destroy(&across);
	pe_domain_destroy(&domain);
}

/* Prefix tokens have rows of zeros; the last tokens have those of the whole; frames have an axis, or are
 * alike. */
static void prefix_tails_and_frames(void **state)
{
	enum { T = 3, PREFIX = 2, TOKENS = PREFIX + T * H * W, TAIL = H * W + 5 };
	pe_domain *video = xt_frames(*state, T, H, W, PREFIX), *image = xt_frames(*state, 1, H, W, 0), *tail;
	assert_int_equal(pe_domain_tail(*state, video, TAIL, &tail), PE_OK);
	int64_t width;
	double *whole = xt_first_array(*state, "fourier", "bands=5", video, &width);
	double *last = xt_first_array(*state, "fourier", "bands=5", tail, NULL);
	double *alike = xt_first_array(*state, "fourier", "bands=5,axes=yx", video, NULL);
	double *one = xt_first_array(*state, "fourier", "bands=5", image, NULL);
	assert_int_equal(width, 3 * 11);
	for (int c = 0; c < PREFIX * width; c++)
		assert_true(whole[c] == 0);
	assert_memory_equal(last, whole + (TOKENS - TAIL) * width, (size_t)(TAIL * width) * sizeof *last);
	for (int t = 0; t < T; t++) {
		assert_memory_equal(alike + (PREFIX + t * H * W) * WIDTH, one, H * W * WIDTH * sizeof *one);
		assert_true(whole[(PREFIX + t * H * W) * width] == t - 1);
	}
	free(whole);
	free(last);
	free(alike);
	free(one);
	pe_domain_destroy(&tail);
	pe_domain_destroy(&image);
	pe_domain_destroy(&video);
}

/* A table of part of a grid is part of the table with coordinates=index alone. */
static void only_plain_tables_can_be_cut(void **state)
{
	static const char *const settings[] = {"bands=5,coordinates=index", "bands=5",
		"bands=5,coordinates=centred", "bands=5,coordinates=index,reference=16"};
	pe_domain *part = xt_frames(*state, 1, 3, 4, 0), *domain = xt_frames(*state, 1, 6, 8, 0);
	for (int k = 0; k < 4; k++) {
		double *small = xt_first_array(*state, "fourier", settings[k], part, NULL);
		double *large = xt_first_array(*state, "fourier", settings[k], domain, NULL);
		bool same = true;
		for (int i = 0; i < 3 * 4; i++)
			same = same &&
				memcmp(small + i * WIDTH, large + (i / 4 * 8 + i % 4) * WIDTH, WIDTH * sizeof *small) == 0;
		assert_int_equal(same, k == 0);
		free(small);
		free(large);
	}
	pe_domain_destroy(&domain);
	pe_domain_destroy(&part);
}

/* Rows are put behind the features. */
static void features_come_first(void **state)
{
	double x[H * W][3], y[H * W][3 + WIDTH];
	int64_t shape[] = {H * W, 3};
	xt_numbers(x[0], H * W * 3);
	pe_domain *domain = xt_frames(*state, 1, H, W, 0);
	double *rows = xt_first_array(*state, "fourier", "bands=5", domain, NULL);
	pe_encoding *e = xt_encoding(*state, "fourier:bands=5", domain, NULL, NULL);
	assert_int_equal(pe_encoding_apply_shape(e, 2, shape, shape), PE_OK);
	assert_int_equal(shape[1], 3 + WIDTH);
	pe_tensor from = pe_tensor_dense(x, PE_F64, 2, (int64_t[]){H * W, 3});
	pe_tensor to = pe_tensor_dense(y, PE_F64, 2, shape);
	assert_int_equal(pe_encoding_apply(e, &from, &to), PE_OK);
	for (int i = 0; i < H * W; i++) {
		assert_memory_equal(y[i], x[i], sizeof x[i]);
		assert_memory_equal(y[i] + 3, rows + i * WIDTH, WIDTH * sizeof *rows);
	}
	free(rows);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void refuses_what_says_nothing(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain = xt_frames(ctx, 1, 3, 4, 0);
	xt_refuses_on(
		ctx, "fourier:max_res=1/2/3", domain, PE_ERR_RANGE, "max_res has 3 numbers, and the grid 2 axes");
	xt_refuses_on(ctx, "fourier:axes=tyx,reference=1/2", domain, PE_ERR_RANGE, "reference has 2 numbers");
	xt_refuses_on(ctx, "fourier:start=1", domain, PE_ERR_RANGE, "start has no effect with coordinates=pixel");
	xt_refuses_on(ctx, "fourier:denominator=max", domain, PE_ERR_RANGE, "no effect with coordinates=pixel");
	xt_refuses_on(ctx, "fourier:base=3", domain, PE_ERR_RANGE, "no effect with frequencies=linear");
	xt_refuses_on(
		ctx, "fourier:frequencies=geometric,max_res=9", domain, PE_ERR_RANGE, "with frequencies=geometric");
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_timm_and_perceiver_have),
		cmocka_unit_test(frequencies_are_what_help_says),
		cmocka_unit_test(transposing_swaps_the_axes),
		cmocka_unit_test(prefix_tails_and_frames),
		cmocka_unit_test(only_plain_tables_can_be_cut),
		cmocka_unit_test(features_come_first),
		cmocka_unit_test(refuses_what_says_nothing),
	};
	return xt_run(argc, argv, tests);
}
