/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt_attend.h"
#include "xt_rotation.h"
#include "xt_scores.h"
#include "xt_window.h"

/* ---- golden values ------------------------------------------------------------------ */

/* The cases of golden/make_rope2d.py. */
static const struct {
	const char *name, *with;
	int64_t heads, width;
} cases[] = {
	{"eva02", "rope2d:preset=eva02,head_dim=16", 1, 16},
	{"rope_vit_axial", "rope2d:preset=rope_vit_axial,head_dim=16", 1, 16},
	{"rope_vit_mixed", "rope2d:preset=rope_vit_mixed,head_dim=16,heads=2", 2, 16},
	{"perception", "rope2d:preset=perception,head_dim=16", 1, 16},
	{"dinov3", "rope2d:preset=dinov3,head_dim=16", 1, 16},
	{"dinov3_max", "rope2d:preset=dinov3,head_dim=16,denominator=max", 1, 16},
	{"dinov3_min", "rope2d:preset=dinov3,head_dim=16,denominator=min,start=0.25", 1, 16},
	{"dinov3_hf", "rope2d:preset=dinov3", 1, 64},
	{"dinov3_bf16", "rope2d:preset=dinov3_bf16", 1, 64},
	{"dinov3_bf16_48", "rope2d:preset=dinov3_bf16,head_dim=48", 1, 48},
	{"pixtral", "rope2d:preset=pixtral,head_dim=16", 1, 16},
	{"qwen2_vl", "rope2d:preset=qwen2_vl,head_dim=16", 1, 16},
	{"llama4", "rope2d:preset=llama4,head_dim=16", 1, 16},
	{"gemma4", "rope2d:preset=gemma4,head_dim=16", 1, 16},
};

static const int64_t grids[][3] = {
	{1, 2, 3}, {1, 4, 6}, {1, 5, 5}, {1, 1, 7}, {1, 14, 14}, {1, 16, 24}, {3, 2, 4}};

enum { CASES = sizeof cases / sizeof *cases, GRIDS = sizeof grids / sizeof *grids };

/* The same vectors on every token. */
static double *everywhere(const pe_bundle *golden, int64_t heads, int64_t tokens, int64_t width)
{
	const float *x = xt_array(golden, width > 16 ? "x64" : "x").data;
	double *out = malloc((size_t)(heads * tokens * width) * sizeof *out);
	for (int64_t i = 0; i < heads * tokens * width; i++)
		out[i] = (double)x[i / (tokens * width) * width + i % width];
	return out;
}

/* Which token the i-th of those kept is. */
static int64_t kept(int64_t i, int64_t tokens, int64_t count)
{
	return tokens == count ? i : i == count - 1 ? tokens - 1 : 29 * i;
}

/* What the models compute in f32: angles up to 24, whose last bit is 2e-6. */
static void compare(int c, const pe_tensor *want, const double *got, int64_t tokens)
{
	int64_t width = cases[c].width, count = want->shape[want->ndim - 2];
	const float *w = want->data;
	assert_int_equal(pe_tensor_count(want), cases[c].heads * count * width);
	for (int64_t h = 0; h < cases[c].heads; h++)
		for (int64_t i = 0; i < count; i++)
			for (int64_t k = 0; k < width; k++) {
				double g = got[(h * tokens + kept(i, tokens, count)) * width + k];
				double v = (double)w[(h * count + i) * width + k];
				if (!(fabs(g - v) <= 8e-6))
					fail_msg("%s, head %lld, token %lld, channel %lld: %.9g, not %.9g", cases[c].name,
						(long long)h, (long long)kept(i, tokens, count), (long long)k, g, v);
			}
}

static void turn_and_compare(
	pe_context *ctx, const pe_bundle *golden, int c, const int64_t g[3], const pe_tensor *want)
{
	int64_t tokens = g[0] * g[1] * g[2];
	pe_bundle *weights = NULL;
	if (strstr(cases[c].with, "mixed")) {
		pe_tensor freqs = xt_array(golden, "rope_vit_mixed.freqs");
		assert_int_equal(pe_bundle_create(ctx, &weights), PE_OK);
		assert_int_equal(pe_bundle_add(weights, "freqs", &freqs), PE_OK);
	}
	pe_domain *domain = xt_frames(ctx, g[0], g[1], g[2], 0);
	pe_encoding *e = xt_encoding(ctx, cases[c].with, domain, NULL, weights);
	double *x = everywhere(golden, cases[c].heads, tokens, cases[c].width);
	for (int k = 0; k < 2; k++) {
		double *y = xt_rotated(e, k ? PE_F32 : PE_F64, x, cases[c].heads, tokens, cases[c].width);
		compare(c, want, y, tokens);
		free(y);
	}
	free(x);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&weights);
}

static void turns_as_the_models_do(void **state)
{
	pe_bundle *golden = xt_golden_bundle(*state, "rope2d/turned.npz");
	int compared = 0;
	for (int c = 0; c < CASES; c++)
		for (int g = 0; g < GRIDS; g++) {
			pe_tensor want;
			if (!xt_find_on_grid(golden, cases[c].name, grids[g], &want))
				continue;
			turn_and_compare(*state, golden, c, grids[g], &want);
			compared++;
		}
	assert_int_equal(compared, 7 * 5 + 2 + 3 * 2 + 1 + 4); /* qwen2_vl: 3 grids of even sides, and frames */
	pe_bundle_destroy(&golden);
}

/* ---- what always holds -------------------------------------------------------------- */

/* Settings of every preset, with small heads. */
static const char *const all[] = {"rope2d:head_dim=12", "rope2d:preset=eva02,head_dim=12",
	"rope2d:preset=rope_vit_axial,head_dim=12", "rope2d:preset=rope_vit_mixed,head_dim=12,heads=3",
	"rope2d:preset=perception,head_dim=12", "rope2d:preset=dinov3,head_dim=12",
	"rope2d:preset=dinov3_bf16,head_dim=12", "rope2d:preset=pixtral,head_dim=12",
	"rope2d:preset=qwen2_vl,head_dim=12", "rope2d:preset=gemma4,head_dim=12"};

enum {
	ALL = sizeof all / sizeof *all,
	HEADS = 3,
	WIDTH = 12,
	PREFIX = 5,
	H = 4,
	W = 6,
	TOKENS = PREFIX + H * W
};

static double squares(const double *x)
{
	double sum = 0;
	for (int k = 0; k < WIDTH; k++)
		sum += x[k] * x[k];
	return sum;
}

static void keeps_norms_and_the_prefix(void **state)
{
	double x[HEADS * TOKENS * WIDTH];
	xt_numbers(x, HEADS * TOKENS * WIDTH);
	pe_domain *domain = xt_frames(*state, 1, H, W, PREFIX);
	for (int c = 0; c < ALL; c++) {
		pe_encoding *e = xt_encoding(*state, all[c], domain, NULL, NULL);
		double *y = xt_rotated(e, PE_F64, x, HEADS, TOKENS, WIDTH);
		int moved = 0;
		for (int i = 0; i < HEADS * TOKENS; i++) {
			const double *a = x + i * WIDTH, *b = y + i * WIDTH;
			xt_close_f64(squares(b), squares(a), 1e-14, 0);
			moved += memcmp(a, b, WIDTH * sizeof *a) != 0;
			if (i % TOKENS < PREFIX)
				assert_memory_equal(a, b, WIDTH * sizeof *a);
		}
		assert_true(moved >= HEADS * (H * W - 1));
		free(y);
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&domain);
}

/* cos and sin, in the order of pairs, and the layout as help tells it. */
static void arrays_are_what_turns(void **state)
{
	static const int firsts[3][6] = {{0, 2, 4, 6, 8, 10}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 6, 7, 8}};
	static const int seconds[3][6] = {{1, 3, 5, 7, 9, 11}, {6, 7, 8, 9, 10, 11}, {3, 4, 5, 9, 10, 11}};
	static const char *const with[] = {
		"rope2d:head_dim=12", "rope2d:head_dim=12,layout=halves", "rope2d:head_dim=12,layout=axis_halves"};
	double x[TOKENS * WIDTH];
	xt_numbers(x, TOKENS * WIDTH);
	pe_domain *domain = xt_frames(*state, 1, H, W, PREFIX);
	for (int l = 0; l < 3; l++) {
		struct xt_turns turns = xt_turns_on(*state, with[l], domain);
		pe_encoding *e = xt_encoding(*state, with[l], domain, NULL, NULL);
		double *y = xt_rotated(e, PE_F64, x, 1, TOKENS, WIDTH);
		assert_int_equal(turns.info[0].shape[0], TOKENS);
		assert_int_equal(turns.info[0].shape[1], 6);
		for (int i = 0; i < TOKENS * 6; i++) {
			int row = i / 6 * WIDTH, a = row + firsts[l][i % 6], b = row + seconds[l][i % 6];
			double c = turns.arrays[0][i], s = turns.arrays[1][i];
			xt_close_f64(y[a], x[a] * c - x[b] * s, 0, 1e-15);
			xt_close_f64(y[b], x[a] * s + x[b] * c, 0, 1e-15);
		}
		free(y);
		pe_encoding_destroy(&e);
		xt_turns_free(&turns);
	}
	pe_domain_destroy(&domain);
}

/* Grids large enough that the turns of rows and columns are found once and copied: the bits of the turns
 * themselves, which a pair (1, 0) shows. */
static void copied_arrays_are_what_turns(void **state)
{
	static const char *const with[] = {"rope2d:head_dim=40,layout=halves",
		"rope2d:preset=qwen2_vl,head_dim=40", "rope2d:preset=perception,head_dim=40,layout=halves",
		"rope2d:preset=dinov3,head_dim=40,axes=xy", "rope2d:preset=pixtral,head_dim=40"};
	enum { FRAMES = 2, HEIGHT = 10, WIDE = 70, PAIRS = 20, ALL_TOKENS = 3 + FRAMES * HEIGHT * WIDE };
	double *x = calloc(ALL_TOKENS * 2 * PAIRS, sizeof *x);
	for (int i = 0; i < ALL_TOKENS * 2 * PAIRS; i++)
		x[i] = i % (2 * PAIRS) < PAIRS;
	pe_domain *whole = xt_frames(*state, FRAMES, HEIGHT, WIDE, 3), *tail;
	assert_int_equal(pe_domain_tail(*state, whole, ALL_TOKENS - 100, &tail), PE_OK);
	for (int c = 0; c < 10; c++) {
		pe_domain *domain = c < 5 ? whole : tail;
		int64_t tokens = pe_domain_tokens(domain);
		struct xt_turns turns = xt_turns_on(*state, with[c % 5], domain);
		pe_encoding *e = xt_encoding(*state, with[c % 5], domain, NULL, NULL);
		double *y = xt_rotated(e, PE_F64, x, 1, tokens, 2 * PAIRS);
		for (int64_t i = 0; i < tokens; i++)
			for (int k = 0; k < 2; k++)
				assert_memory_equal(turns.arrays[k] + i * PAIRS, y + (2 * i + k) * PAIRS, PAIRS * sizeof *y);
		free(y);
		pe_encoding_destroy(&e);
		xt_turns_free(&turns);
	}
	free(x);
	pe_domain_destroy(&tail);
	pe_domain_destroy(&whole);
}

/* Exchanging the axes of the grid exchanges the halves of the pairs; and so does exchanging `axes`. */
static void transposing_swaps_the_halves(void **state)
{
	static const char *const with[] = {"rope2d:head_dim=12", "rope2d:preset=eva02,head_dim=12",
		"rope2d:preset=perception,head_dim=12", "rope2d:preset=dinov3,head_dim=12"};
	enum { PAIRS = 6 };
	pe_domain *domain = xt_frames(*state, 1, H, W, 0), *across = xt_frames(*state, 1, W, H, 0);
	for (int c = 0; c < 4; c++) {
		char other[80];
		snprintf(other, sizeof other, "%s,axes=%s", with[c], c == 2 ? "yx" : "xy");
		struct xt_turns a = xt_turns_on(*state, with[c], domain), b = xt_turns_on(*state, with[c], across);
		struct xt_turns d = xt_turns_on(*state, other, domain);
		for (int k = 0; k < 2; k++)
			for (int i = 0; i < H * W * PAIRS; i++) {
				int y = i / PAIRS / W, x = i / PAIRS % W, swapped = (i + PAIRS / 2) % PAIRS;
				assert_true(a.arrays[k][i] == b.arrays[k][(x * H + y) * PAIRS + swapped]);
				assert_true(a.arrays[k][i] == d.arrays[k][i / PAIRS * PAIRS + swapped]);
			}
		assert_true(memcmp(a.arrays[1], b.arrays[1], (size_t)a.size * sizeof(double)) != 0);
		xt_turns_free(&a);
		xt_turns_free(&b);
		xt_turns_free(&d);
	}
	pe_domain_destroy(&domain);
	pe_domain_destroy(&across);
}

/* On one grid the product of a query and a key that are as far apart is the same everywhere. */
static void scores_follow_the_difference_of_places(void **state)
{
	double q[HEADS * TOKENS * WIDTH], vector[WIDTH];
	xt_numbers(vector, WIDTH);
	for (int i = 0; i < HEADS * TOKENS * WIDTH; i++)
		q[i] = vector[i % WIDTH];
	pe_domain *domain = xt_frames(*state, 1, H, W, PREFIX);
	for (int c = 0; c < ALL; c++) {
		if (strstr(all[c], "qwen2_vl"))
			continue; /* its tokens do not come row by row */
		pe_encoding *e = xt_encoding(*state, all[c], domain, NULL, NULL);
		double *y = xt_rotated(e, PE_F64, q, HEADS, TOKENS, WIDTH);
		for (int step = 1; step <= W + 1; step += W) {
			double want = 0;
			for (int i = 0; i < (H - 1) * W; i++) {
				double *a = y + (PREFIX + i) * WIDTH, score = 0;
				for (int k = 0; k < WIDTH; k++)
					score += a[k] * a[step * WIDTH + k];
				want = i == 0 ? score : want;
				if (i % W < W - 1)
					xt_close_f64(score, want, 0, 1e-13);
			}
		}
		free(y);
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&domain);
}

/* Positions y, x are the places of a grid; with real numbers too. The last tokens are those of the whole. */
static void takes_positions_and_tails(void **state)
{
	pe_context *ctx = *state;
	double at[H * W + 1][2], x[(H * W + 1) * WIDTH];
	for (int i = 0; i < H * W; i++)
		at[i][0] = i / W, at[i][1] = i % W;
	at[H * W][0] = -1.5, at[H * W][1] = 2.25;
	pe_tensor t = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){H * W + 1, 2});
	pe_domain *positions, *domain = xt_frames(ctx, 1, H, W, 0), *tail;
	assert_int_equal(pe_domain_positions(ctx, &t, 2, &positions), PE_OK);
	assert_int_equal(pe_domain_tail(ctx, domain, 5, &tail), PE_OK);
	xt_numbers(x, (H * W + 1) * WIDTH);
	pe_encoding *list[] = {xt_encoding(ctx, all[0], domain, NULL, NULL),
		xt_encoding(ctx, all[0], positions, NULL, NULL), xt_encoding(ctx, all[0], tail, NULL, NULL)};
	double *y[] = {xt_rotated(list[0], PE_F64, x, 1, H * W, WIDTH),
		xt_rotated(list[1], PE_F64, x, 1, H * W + 1, WIDTH),
		xt_rotated(list[2], PE_F64, x + (H * W - 5) * WIDTH, 1, 5, WIDTH)};
	assert_memory_equal(y[0], y[1], H * W * WIDTH * sizeof *x);
	assert_memory_equal(y[0] + (H * W - 5) * WIDTH, y[2], 5 * WIDTH * sizeof *x);
	const double *a = x + H * W * WIDTH, *b = y[1] + H * W * WIDTH;
	xt_close_f64(b[0], a[0] * cos(-1.5) - a[1] * sin(-1.5), 0, 1e-15);
	xt_close_f64(b[7], a[6] * sin(2.25) + a[7] * cos(2.25), 0, 1e-15);
	for (int i = 0; i < 3; i++) {
		free(y[i]);
		pe_encoding_destroy(&list[i]);
	}
	pe_domain_destroy(&positions);
	pe_domain_destroy(&domain);
	pe_domain_destroy(&tail);
}

/* Begun as the authors do: of each head a direction, frequencies along it and across it. */
static void learned_frequencies_begin_with_directions(void **state)
{
	enum { N = 3 };
	pe_domain *domain = xt_frames(*state, 1, 1, 1, 0);
	pe_encoding *e = xt_encoding(*state, all[3], domain, NULL, NULL);
	const char *name;
	pe_tensor freqs;
	assert_int_equal(pe_encoding_weight_at(e, 0, &name, &freqs), PE_OK);
	assert_string_equal(name, "freqs");
	const double *u = freqs.data, *v = u + HEADS * 2 * N;
	double direction[HEADS];
	for (int h = 0; h < HEADS; h++) {
		const double *a = u + h * 2 * N, *b = v + h * 2 * N;
		direction[h] = atan2(b[0], a[0]);
		for (int k = 0; k < N; k++) {
			xt_close_f64(hypot(a[k], b[k]), pow(10, -k / 3.0), 1e-14, 0);
			xt_close_f64(a[k] * a[N + k] + b[k] * b[N + k], 0, 0, 1e-15);
			xt_close_f64(atan2(b[k], a[k]), direction[h], 1e-13, 0);
			assert_true(a[k] * b[N + k] - b[k] * a[N + k] > 0);
		}
	}
	assert_true(fabs(direction[0] - direction[1]) > 1e-3 && fabs(direction[1] - direction[2]) > 1e-3);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* The rows of cos and sin with freqs as given. */
static double *turned_by(pe_context *ctx, const char *with, pe_tensor *freqs)
{
	pe_bundle *weights;
	pe_domain *domain = xt_frames(ctx, 1, 3, 4, 1);
	assert_int_equal(pe_bundle_create(ctx, &weights), PE_OK);
	assert_int_equal(pe_bundle_add(weights, "freqs", freqs), PE_OK);
	pe_encoding *e = xt_encoding(ctx, with, domain, NULL, weights);
	pe_tensor sines = xt_computed(e, "sin");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&weights);
	return sines.data;
}

/* Of freqs of several layers one is taken, as if it were given alone. */
static void takes_one_layer_of_several(void **state)
{
	enum { LAYERS = 4, PAIRS = 6, ONE = HEADS * PAIRS, ROWS = HEADS * 13 * PAIRS };
	double all_layers[2 * LAYERS * ONE], alone[2 * ONE];
	for (int i = 0; i < 2 * LAYERS * ONE; i++)
		all_layers[i] = sin(i + 1.0);
	for (int axis = 0; axis < 2; axis++)
		memcpy(alone + axis * ONE, all_layers + (axis * LAYERS + 2) * ONE, ONE * sizeof *alone);
	pe_tensor one = pe_tensor_dense(alone, PE_F64, 3, (int64_t[]){2, HEADS, PAIRS});
	pe_tensor several[] = {pe_tensor_dense(all_layers, PE_F64, 4, (int64_t[]){2, LAYERS, HEADS, PAIRS}),
		pe_tensor_dense(all_layers, PE_F64, 3, (int64_t[]){2, LAYERS, ONE})};
	char with[96];
	double *want = turned_by(*state, all[3], &one);
	snprintf(with, sizeof with, "%s,layer=2", all[3]);
	/* Of four axes, they tell heads and head_dim too. */
	const char *const ways[] = {with, with, "rope2d:preset=rope_vit_mixed,layer=2"};
	for (int i = 0; i < 3; i++) {
		double *got = turned_by(*state, ways[i], &several[i % 2]);
		assert_memory_equal(got, want, ROWS * sizeof *got);
		free(got);
	}
	free(want);
}

/* ---- attention ---------------------------------------------------------------------- */

/* Few queries at the end of a grid; heads of more pairs than are turned at a time. */
static void ways_of_attention_agree(void **state)
{
	pe_domain *keys = xt_frames(*state, 1, 8, 10, PREFIX), *queries;
	assert_int_equal(pe_domain_tail(*state, keys, 37, &queries), PE_OK);
	for (int c = 0; c < ALL; c++)
		xt_tiles_agree_on(*state, all[c], keys, queries, HEADS, HEADS, WIDTH, 1e-5);
	static const char *const wide[] = {"rope2d:head_dim=164", "rope2d:head_dim=164,layout=axis_halves",
		"rope2d:head_dim=164,heads=4,frequencies=learned"};
	for (int c = 0; c < 3; c++) {
		xt_tiles_agree_on(*state, wide[c], keys, queries, 4, c < 2 ? 2 : 4, 164, 1e-5);
		xt_turned_before_agrees(*state, wide[c], keys, queries, 4, c < 2 ? 2 : 4, 164, 1e-5);
	}
	pe_domain_destroy(&queries);
	pe_domain_destroy(&keys);
}

static void refuses_what_it_cannot_take(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain = xt_frames(ctx, 1, 3, 4, 0), *positions;
	double at[2] = {1, 2};
	pe_tensor t = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){1, 2});
	assert_int_equal(pe_domain_positions(ctx, &t, 2, &positions), PE_OK);
	xt_refuses_on(ctx, "rope2d:head_dim=6", domain, PE_ERR_RANGE, "must be a multiple of 4");
	xt_refuses_on(ctx, "rope2d:preset=eva02,reference=1/2/3", domain, PE_ERR_RANGE, "must have one, or two");
	static const char *const idle[][2] = {
		{"rope2d:reference=8", "reference has no effect with coordinates=index"},
		{"rope2d:preset=dinov3,reference=8", "reference has no effect with coordinates=centred"},
		{"rope2d:denominator=max", "denominator has no effect with coordinates=index"},
		{"rope2d:frequencies=learned,periods=bf16", "periods has no effect with frequencies=learned"},
		{"rope2d:layer=1", "layer has no effect with frequencies=shared"}};
	for (int i = 0; i < 5; i++)
		xt_refuses_on(ctx, idle[i][0], domain, PE_ERR_RANGE, idle[i][1]);
	xt_refuses_on(ctx, "rope2d:block=2", domain, PE_ERR_SHAPE, "blocks of 2 x 2 do not fill a grid of 3 x 4");
	xt_refuses_on(ctx, "rope2d:block=2", positions, PE_ERR_UNSUPPORTED, "block needs the size of a grid");
	xt_refuses_on(
		ctx, "rope2d:preset=dinov3", positions, PE_ERR_UNSUPPORTED, "coordinates needs the size of a grid");
	xt_refuses_settings(ctx, "rope2d", PE_ERR_SHAPE, "it takes a grid, or two numbers a position");
	xt_refuses_on(ctx, "rope2d:frequencies=learned,layer=1", domain, PE_ERR_ARGUMENT, "layer has no effect");
	static const struct {
		const char *settings, *text;
	} layers[] = {{"preset=rope_vit_mixed,heads=3,head_dim=12", "freqs are of 2 layers: the option layer"},
		{"preset=rope_vit_mixed,heads=3,head_dim=12,layer=2", "freqs are of 2 layers"}};
	double freqs[2 * 2 * 3 * 6] = {0};
	pe_tensor several = pe_tensor_dense(freqs, PE_F64, 4, (int64_t[]){2, 2, 3, 6});
	for (int i = 0; i < 2; i++) {
		pe_bundle *weights;
		pe_params *params;
		pe_encoding *e;
		assert_int_equal(pe_bundle_create(ctx, &weights), PE_OK);
		assert_int_equal(pe_bundle_add(weights, "freqs", &several), PE_OK);
		assert_int_equal(pe_params_create(ctx, "rope2d", &params), PE_OK);
		xt_set(params, layers[i].settings);
		pe_encoding_options options = {sizeof options, .weights = weights};
		xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("rope2d"), params, domain, &options, &e),
			PE_ERR_RANGE, layers[i].text);
		pe_params_destroy(&params);
		pe_bundle_destroy(&weights);
	}
	pe_domain_destroy(&positions);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_as_the_models_do),
		cmocka_unit_test(keeps_norms_and_the_prefix),
		cmocka_unit_test(arrays_are_what_turns),
		cmocka_unit_test(copied_arrays_are_what_turns),
		cmocka_unit_test(transposing_swaps_the_halves),
		cmocka_unit_test(scores_follow_the_difference_of_places),
		cmocka_unit_test(takes_positions_and_tails),
		cmocka_unit_test(learned_frequencies_begin_with_directions),
		cmocka_unit_test(takes_one_layer_of_several),
		cmocka_unit_test(ways_of_attention_agree),
		cmocka_unit_test(refuses_what_it_cannot_take),
	};
	return xt_run(argc, argv, tests);
}
