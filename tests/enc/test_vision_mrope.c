/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt_attend.h"
#include "xt_rotation.h"
#include "xt_window.h"

/* ---- golden values ------------------------------------------------------------------ */

/* The cases of golden/make_mrope.py. */
static const struct {
	const char *name, *with;
	int64_t width;
} cases[] = {
	{"qwen2_vl", "mrope:preset=qwen2_vl,head_dim=16,sections=2/3/3", 16},
	{"qwen3_vl", "mrope:preset=qwen3_vl,head_dim=24,sections=5/4/3", 24},
	{"qwen3_5", "mrope:preset=qwen3_5,head_dim=24,sections=3/3/2", 24},
	{"glm4v", "mrope:preset=glm4v,head_dim=16,sections=1/1/2", 16},
	{"timm", "mrope:head_dim=24,rotary_dim=24,sections=2/5/3,interleaved=1", 24},
};

static const struct {
	const char *name;
	int64_t frames, height, width;
} grids[] = {{"4x6", 1, 4, 6}, {"5x5", 1, 5, 5}, {"1x7", 1, 1, 7}, {"14x14", 1, 14, 14}, {"16x24", 1, 16, 24},
	{"3x2x4", 3, 2, 4}};

enum { CASES = sizeof cases / sizeof *cases, GRIDS = sizeof grids / sizeof *grids };

static bool find_golden(const pe_bundle *golden, int c, const char *where, pe_tensor *want)
{
	char name[64];
	snprintf(name, sizeof name, "%s.%s", cases[c].name, where);
	return pe_bundle_find(golden, name, want);
}

/* The vector of the golden file on every token. */
static double *everywhere(const pe_bundle *golden, int64_t tokens, int64_t width)
{
	const float *x = xt_array(golden, "x").data;
	double *out = malloc((size_t)(tokens * width) * sizeof *out);
	for (int64_t i = 0; i < tokens * width; i++)
		out[i] = (double)x[i % width];
	return out;
}

/* Which token the i-th of those kept is. */
static int64_t kept(int64_t i, int64_t tokens, int64_t count)
{
	return tokens == count ? i : i == count - 1 ? tokens - 1 : 29 * i;
}

static void compare(int c, const char *where, const pe_tensor *want, const double *got, int64_t tokens)
{
	int64_t width = cases[c].width, count = pe_tensor_count(want) / width;
	for (int64_t i = 0; i < count * width; i++) {
		double g = got[kept(i / width, tokens, count) * width + i % width],
			   w = (double)((float *)want->data)[i];
		if (!(fabs(g - w) <= 8e-6))
			fail_msg("%s.%s, number %lld: %.9g, not %.9g", cases[c].name, where, (long long)i, g, w);
	}
}

static void turns_grids_as_the_models_do(void **state)
{
	pe_bundle *golden = xt_golden_bundle(*state, "mrope/turned.npz");
	int compared = 0;
	for (int n = 0; n < CASES * GRIDS; n++) {
		int c = n / GRIDS, g = n % GRIDS;
		pe_tensor want;
		if (!find_golden(golden, c, grids[g].name, &want))
			continue;
		int64_t tokens = grids[g].frames * grids[g].height * grids[g].width;
		pe_domain *domain = xt_frames(*state, grids[g].frames, grids[g].height, grids[g].width, 0);
		pe_encoding *e = xt_encoding(*state, cases[c].with, domain, NULL, NULL);
		double *x = everywhere(golden, tokens, cases[c].width);
		for (int k = 0; k < 2; k++) {
			double *y = xt_rotated(e, k ? PE_F32 : PE_F64, x, 1, tokens, cases[c].width);
			compare(c, grids[g].name, &want, y, tokens);
			free(y);
		}
		compared++;
		free(x);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
	assert_int_equal(compared, CASES * GRIDS - 1); /* timm knows no frames */
	pe_bundle_destroy(&golden);
}

/* Two prompts of one batch: text, an image, text. */
static void turns_prompts_as_the_models_do(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *golden = xt_golden_bundle(ctx, "mrope/turned.npz");
	pe_tensor prompt = xt_array(golden, "prompt"), want;
	pe_domain *domain;
	assert_int_equal(pe_domain_positions(ctx, &prompt, 3, &domain), PE_OK);
	int64_t tokens = prompt.shape[1];
	for (int c = 0; c < CASES - 1; c++) {
		int64_t width = cases[c].width;
		pe_encoding *e = xt_encoding(ctx, cases[c].with, domain, NULL, NULL);
		double *x = everywhere(golden, 2 * tokens, width);
		pe_tensor t = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){2, 1, tokens, width});
		assert_int_equal(pe_encoding_rotate(e, PE_QUERIES, &t, &t), PE_OK);
		assert_true(find_golden(golden, c, "prompt", &want));
		compare(c, "prompt", &want, x, 2 * tokens);
		free(x);
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&golden);
}

/* ---- what always holds -------------------------------------------------------------- */

/* Which axis each pair of the published models goes by: told apart by positions that are 0 on two axes. */
static void deals_pairs_out(void **state)
{
	static const struct {
		const char *with, *axes; /* of the first pairs */
		int count[3];
	} dealt[] = {
		{"mrope:preset=qwen2_vl", "ttttttttttttttttHHHHHHHHHHHHHHHHHHHHHHHHwwwww", {16, 24, 24}},
		{"mrope:preset=qwen3_vl", "tHwtHwtHwtHw", {24, 20, 20}},
		{"mrope:preset=qwen3_5", "tHwtHwtHwtHwtHwtHwtHwtHwtHwtHwtH", {11, 11, 10}},
		{"mrope:preset=glm4v", "ttttttttHHHHHHHHHHHHwwwwwwwwwwww", {8, 12, 12}},
		{"mrope:head_dim=16,rotary_dim=16,sections=0/3/9,interleaved=1", "tHwtHwtH", {3, 3, 2}},
	};
	double at[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	pe_tensor t = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){3, 3});
	pe_domain *domain;
	assert_int_equal(pe_domain_positions(*state, &t, 3, &domain), PE_OK);
	for (int c = 0; c < (int)(sizeof dealt / sizeof *dealt); c++) {
		struct xt_turns turns = xt_turns_on(*state, dealt[c].with, domain);
		int64_t pairs = turns.info[0].shape[1], found = 0;
		for (int a = 0; a < 3; a++) {
			int count = 0;
			for (int64_t k = 0; k < pairs; k++) {
				bool mine = turns.arrays[1][a * pairs + k] > 0;
				count += mine;
				if (k < (int64_t)strlen(dealt[c].axes))
					assert_int_equal(mine, dealt[c].axes[k] == "tHw"[a]);
			}
			assert_int_equal(count, dealt[c].count[a]);
			found += count;
		}
		assert_int_equal(found, pairs);
		xt_turns_free(&turns);
	}
	pe_domain_destroy(&domain);
}

/* Text, whose three coordinates are one number, is turned as by rope, to the last bit. */
static void text_is_rope(void **state)
{
	static const double positions[] = {0, 1, -2.5, 40000.25};
	static const char *const with[] = {"mrope:base=1000000", "mrope:base=1000000,interleaved=1"};
	struct xt_turns rope = xt_turns_at(*state, "rope:head_dim=128,base=1000000", positions, 4);
	for (int c = 0; c < 2; c++) {
		struct xt_turns text = xt_turns_at(*state, with[c], positions, 4);
		assert_int_equal(text.size, rope.size);
		for (int k = 0; k < 2; k++)
			assert_memory_equal(text.arrays[k], rope.arrays[k], (size_t)rope.size * sizeof(double));
		xt_turns_free(&text);
	}
	xt_turns_free(&rope);
	double q[2 * 160], k[2 * 160], scores[2][2]; /* in more pairs than are turned at a time */
	xt_numbers(k, 2 * 160);
	for (int i = 0; i < 2 * 160; i++)
		q[i] = k[2 * 160 - 1 - i];
	xt_scores(*state, "rope:head_dim=160,layout=halves", 3, 40, q, k, 160, scores[0]);
	xt_scores(*state, "mrope:head_dim=160,sections=30/20/30", 3, 40, q, k, 160, scores[1]);
	assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
}

enum { F = 2, H = 3, W = 4, PREFIX = 2, TOKENS = PREFIX + F * H * W, WIDTH = 24, HEADS = 2 };

static double product(const double *a, const double *b)
{
	double sum = 0;
	for (int k = 0; k < WIDTH; k++)
		sum += a[k] * b[k];
	return sum;
}

static void keeps_norms_the_prefix_and_the_rest(void **state)
{
	double x[HEADS * TOKENS * WIDTH];
	xt_numbers(x, HEADS * TOKENS * WIDTH);
	pe_domain *domain = xt_frames(*state, F, H, W, PREFIX);
	pe_encoding *e = xt_encoding(*state, "mrope:head_dim=24,sections=2/3/3", domain, NULL, NULL);
	double *y = xt_rotated(e, PE_F64, x, HEADS, TOKENS, WIDTH);
	for (int i = 0; i < HEADS * TOKENS; i++) {
		const double *a = x + i * WIDTH, *b = y + i * WIDTH;
		xt_close_f64(product(b, b), product(a, a), 1e-14, 0);
		assert_memory_equal(a + 16, b + 16, 8 * sizeof *a);
		if (i % TOKENS <= PREFIX) /* the first place of the grid is 0, 0, 0 */
			assert_memory_equal(a, b, WIDTH * sizeof *a);
		else
			assert_true(memcmp(a, b, WIDTH * sizeof *a) != 0);
	}
	free(y);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* Places that are one frame, row and column apart. */
static void scores_follow_the_difference_of_places(void **state)
{
	static const char *const with[] = {"mrope:head_dim=24,sections=4/4/4",
		"mrope:head_dim=24,sections=4/4/4,interleaved=1,layout=interleaved"};
	double vector[WIDTH], x[TOKENS * WIDTH];
	xt_numbers(vector, WIDTH);
	for (int i = 0; i < TOKENS * WIDTH; i++)
		x[i] = vector[i % WIDTH];
	pe_domain *domain = xt_frames(*state, F, H, W, PREFIX);
	for (int c = 0; c < 2; c++) {
		pe_encoding *e = xt_encoding(*state, with[c], domain, NULL, NULL);
		double *y = xt_rotated(e, PE_F64, x, 1, TOKENS, WIDTH);
		const double *first = y + PREFIX * WIDTH;
		enum { STEP = (H * W + W + 1) * WIDTH };
		double want = product(first, first + STEP);
		assert_true(fabs(want - product(first, first)) > 1e-3);
		for (int i = 0; i < (H - 1) * W; i++)
			if (i % W < W - 1)
				xt_close_f64(product(first + i * WIDTH, first + i * WIDTH + STEP), want, 0, 1e-13);
		free(y);
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&domain);
}

/* Heads of more pairs than are turned at a time. */
static void ways_of_attention_agree(void **state)
{
	static const char *const with[] = {
		"mrope:head_dim=160,sections=30/20/30", "mrope:head_dim=160,sections=30/20/29,interleaved=1"};
	pe_domain *keys = xt_frames(*state, 3, 4, 5, PREFIX), *queries;
	assert_int_equal(pe_domain_tail(*state, keys, 37, &queries), PE_OK);
	for (int c = 0; c < 2; c++) {
		xt_tiles_agree_on(*state, with[c], keys, queries, 4, 2, 160, 1e-5);
		xt_turned_before_agrees(*state, with[c], keys, queries, 4, 2, 160, 1e-5);
	}
	pe_domain_destroy(&queries);
	pe_domain_destroy(&keys);
}

static void refuses_what_it_cannot_take(void **state)
{
	static const struct {
		const char *with, *text;
	} wrong[] = {
		{"mrope:sections=16/24", "sections has 2 numbers, and must have three"},
		{"mrope:sections=16/24/24.5", "must be whole numbers of pairs"},
		{"mrope:sections=16/24/25", "130 channels are to be turned, but heads are 128 wide"},
		{"mrope:rotary_dim=64", "sections are 64 pairs together, but rotary_dim is 64"},
		{"mrope:rotary_dim=63,interleaved=1", "rotary_dim 63 is odd"},
	};
	pe_context *ctx = *state;
	for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); i++)
		xt_refuses_settings(ctx, wrong[i].with, PE_ERR_RANGE, wrong[i].text);
	double at[2] = {1, 2};
	pe_tensor t = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){1, 2});
	pe_domain *domain;
	assert_int_equal(pe_domain_positions(ctx, &t, 2, &domain), PE_OK);
	xt_refuses_on(ctx, "mrope", domain, PE_ERR_SHAPE, "three numbers a position");
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_grids_as_the_models_do),
		cmocka_unit_test(turns_prompts_as_the_models_do),
		cmocka_unit_test(deals_pairs_out),
		cmocka_unit_test(text_is_rope),
		cmocka_unit_test(keeps_norms_the_prefix_and_the_rest),
		cmocka_unit_test(scores_follow_the_difference_of_places),
		cmocka_unit_test(ways_of_attention_agree),
		cmocka_unit_test(refuses_what_it_cannot_take),
	};
	return xt_run(argc, argv, tests);
}
