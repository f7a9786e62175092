/* SPDX-License-Identifier: BSD-2-Clause
 * Learned tables of a grid against the loaders' own code, and what holds of every rule. */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"
#include "xt_window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor.h"

/* ---- helpers ---------------------------------------------------------------------------- */

/* A bundle with one weight; values must outlive it. */
static pe_bundle *one_weight(
	pe_context *ctx, const char *name, double *values, int32_t ndim, const int64_t *shape)
{
	pe_bundle *bundle;
	pe_tensor view = pe_tensor_dense(values, PE_F64, ndim, shape);
	assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
	assert_int_equal(pe_bundle_add(bundle, name, &view), PE_OK);
	return bundle;
}

/* Rows of a grid from a table (1, height, width, dim) with settings, to be freed. */
static double *resized(pe_context *ctx, const char *settings, double *table, const int64_t stored[3],
	int64_t height, int64_t width)
{
	const int64_t shape[] = {1, stored[0], stored[1], stored[2]};
	pe_bundle *bundle = one_weight(ctx, "pos_embed", table, 4, shape);
	pe_domain *domain = xt_grid(ctx, height, width, 0);
	pe_encoding *e = xt_encode(ctx, "learned_grid", settings, domain, NULL, bundle, NULL);
	pe_tensor got = xt_computed(e, "position_encoding");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
	return got.data;
}

static void fill(double *out, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		out[i] = sin((double)i * 1.7) + 0.1 * cos((double)i * i);
}

/* ---- against others --------------------------------------------------------------------- */

static void is_what_the_loaders_compute(void **state)
{
	/* Those of packages compute in f32. */
	static const struct {
		const char *name, *settings;
		double tolerance;
	} cases[] = {
		{"deit", "preset=deit,grid=5", 1e-13},
		{"dino", "preset=dino,grid=5/5", 1e-13},
		{"dinov2", "preset=dinov2,grid=5/5", 1e-13},
		{"dinov2_reg", "preset=dinov2_reg,grid=5/5", 2e-6},
		{"timm", "preset=timm,grid=5/5", 2e-6},
		{"timm_turned", "preset=timm,grid=3/6,prefix_rows=0", 2e-6},
		{"timm_axes", "preset=timm", 2e-6},
		{"siglip2", "preset=siglip2,grid=6", 2e-6},
		{"qwen3_vl", "preset=qwen3_vl,grid=6", 2e-6},
		{"flax_vit", "preset=flax_vit,grid=5", 1e-13},
		{"sam2", "preset=sam2", 1e-13},
		{"aspect", "preset=timm,preserve_aspect=1", 1e-13},
		{"grid_sample", "preset=grid_sample", 2e-6},
		{"mae_st", "preset=mae_st,grid=2/4", 0},
		{"hiera", "grid=3", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_golden_case(*state, "learned_grid", "learned_grid/loaders.npz", cases[i].name, cases[i].settings,
			0, cases[i].tolerance);
}

/* Of its own code, in f32: enlarged, made smaller, one of each, and a single row. */
static void is_what_ggml_computes(void **state)
{
	static const char *const modes[][2] = {{"bilinear", "resize=bilinear"}, {"antialias", "preset=ggml"},
		{"corners", "resize=bilinear,coordinates=corners"}, {"bicubic", "resize=bicubic"},
		{"bicubic_corners", "resize=bicubic,coordinates=corners"}};
	static const char *const cases[] = {"larger", "smaller", "mixed", "one"};
	for (int m = 0; m < 5; m++)
		for (int c = 0; c < 4; c++) {
			char name[64];
			snprintf(name, sizeof name, "%s.%s", modes[m][0], cases[c]);
			xt_golden_case(*state, "learned_grid", "learned_grid/ggml.npz", name, modes[m][1], 0, 4e-6);
		}
}

/* Rows of frames: the last tokens of a video have the last ones; too few, or a window beside them, are
 * refused. */
static void frames_have_rows_of_their_own(void **state)
{
	pe_context *ctx = *state;
	pe_domain *video = xt_frames(ctx, 3, 2, 4, 2), *tail;
	int64_t width;
	double *all = xt_first_array(ctx, "learned_grid", "dim=5,frames=4,prefix_rows=1", video, &width);
	for (int64_t count = 1; count <= 26; count += 5) {
		assert_int_equal(pe_domain_tail(ctx, video, count, &tail), PE_OK);
		double *last =
			xt_first_array(ctx, "learned_grid", "dim=5,frames=4,prefix_rows=1,grid=2/4", tail, NULL);
		assert_memory_equal(last, all + (26 - count) * width, (size_t)(count * width) * sizeof *all);
		free(last);
		pe_domain_destroy(&tail);
	}
	double step = all[(2 + 8) * width] - all[2 * width]; /* frame 1's row less frame 0's, at every place */
	assert_true(fabs(step) > 1e-4);
	for (int64_t i = 0; i < 8; i++)
		xt_close_f64(all[(10 + i) * width] - all[(2 + i) * width], step, 0, 1e-15);
	xt_encode_refused(ctx, "learned_grid", "frames=2", video, PE_ERR_SHAPE,
		"the grid has 3 frames, and there are learned rows for 2");
	xt_encode_refused(
		ctx, "learned_grid", "frames=3,window=1/2", video, PE_ERR_UNSUPPORTED, "exclude each other");
	free(all);
	pe_domain_destroy(&video);
}

static void check_resize(pe_context *ctx, const pe_bundle *golden, const double *row, const int32_t *tokens,
	const float *out, const double *sums)
{
	char settings[160], name[16];
	pe_tensor table;
	snprintf(name, sizeof name, "table%d", (int)row[0]);
	assert_true(pe_bundle_find(golden, name, &table));
	double *values = malloc((size_t)pe_tensor_count(&table) * sizeof *values), sum[2] = {0}, largest = 0;
	pe_load_f64(values, table.data, table.dtype, 1, pe_tensor_count(&table));
	snprintf(settings, sizeof settings, "antialias=%d,interpolate_offset=%g", (int)row[3], row[4]);
	const int64_t stored[] = {(int64_t)row[0], (int64_t)row[0], 2};
	double *got = resized(ctx, settings, values, stored, (int64_t)row[1], (int64_t)row[2]);
	for (int64_t i = 0; i < (int64_t)row[1] * (int64_t)row[2]; i++)
		for (int c = 0; c < 2; c++) {
			sum[c] += got[2 * i + c];
			largest = fmax(largest, fabs(got[2 * i + c]));
		}
	for (int i = 0; i < 2 * (int)row[5]; i++)
		if (!(fabs(got[2 * tokens[i / 2] + i % 2] - out[i]) <= 1.2e-7 * largest)) /* the file is of f32 */
			fail_msg("%g to %g x %g, %s: number %d of token %d", row[0], row[1], row[2], settings, i % 2,
				(int)tokens[i / 2]);
	for (int c = 0; c < 2; c++)
		xt_close_f64(sum[c], sums[c], 1e-10, 1e-10);
	free(got);
	free(values);
}

/* 14 x 14 and 37 x 37 to seven grids: within 1.2e-7 of torch in f64, where 5e-6 is asked. */
static void resizes_as_torch_does(void **state)
{
	pe_bundle *golden = xt_golden_bundle(*state, "learned_grid/resize.npz");
	pe_tensor rows = xt_array(golden, "rows"), tokens = xt_array(golden, "tokens"),
			  out = xt_array(golden, "out"), sums = xt_array(golden, "sums");
	const int32_t *some = tokens.data;
	const float *values = out.data;
	assert_int_equal(rows.shape[0], 7 * 4);
	for (int64_t i = 0; i < rows.shape[0]; i++) {
		const double *row = (double *)rows.data + 6 * i;
		check_resize(*state, golden, row, some, values, (double *)sums.data + 2 * i);
		some += (int64_t)row[5];
		values += 2 * (int64_t)row[5];
	}
	assert_ptr_equal(some, (int32_t *)tokens.data + tokens.shape[0]);
	pe_bundle_destroy(&golden);
}

/* ---- what holds of every rule ----------------------------------------------------------- */

static const char *const rules[] = {"resize=bicubic", "resize=bilinear", "antialias=1",
	"resize=bilinear,antialias=1", "coordinates=corners", "resize=bilinear,coordinates=corners",
	"interpolate_offset=0.1", "interpolate_offset=0.1,antialias=1"};
enum { RULES = 8 };

static void the_same_grid_is_the_table(void **state)
{
	enum { H = 5, W = 7, D = 70 };
	double table[H * W * D];
	fill(table, H * W * D);
	table[3] = -0.0;
	for (int k = 0; k < RULES; k++) {
		double *got = resized(*state, rules[k], table, (int64_t[]){H, W, D}, H, W);
		assert_memory_equal(got, table, sizeof table);
		free(got);
	}
}

/* The table turned over gives the rows turned over, on any grid: what is cut out of a larger grid's does not.
 * DINO's offset moves everything to one side, and is left out. */
static void is_never_cut_out_of_a_larger_grid(void **state)
{
	static const int64_t grids[][2] = {{3, 4}, {10, 20}, {5, 1}, {1, 9}, {13, 6}};
	enum { H = 5, W = 6 };
	double table[H * W], turned[H * W];
	fill(table, H * W);
	for (int i = 0; i < H * W; i++)
		turned[H * W - 1 - i] = table[i];
	for (int k = 0; k < 6; k++)
		for (int g = 0; g < 5; g++) {
			int64_t count = grids[g][0] * grids[g][1];
			double *a = resized(*state, rules[k], table, (int64_t[]){H, W, 1}, grids[g][0], grids[g][1]);
			double *b = resized(*state, rules[k], turned, (int64_t[]){H, W, 1}, grids[g][0], grids[g][1]);
			bool one = strstr(rules[k], "corners") && (grids[g][0] == 1 || grids[g][1] == 1);
			for (int64_t i = 0; i < count && !one; i++) /* corners put a single place at the first */
				xt_close_f64(a[i], b[count - 1 - i], 0, 1e-13);
			free(a);
			free(b);
		}
	double *cut = resized(*state, "preserve_aspect=1", table, (int64_t[]){H, W, 1}, 3, 8);
	double *back = resized(*state, "preserve_aspect=1", turned, (int64_t[]){H, W, 1}, 3, 8);
	assert_true(fabs(cut[0] - back[23]) > 0.01); /* as its name says, this one is */
	free(cut);
	free(back);
}

/* Rows become columns with the grid; and blocks of channels do not meet. */
static void transposes_with_its_table(void **state)
{
	enum { H = 6, W = 4, D = 130, NEW_H = 3, NEW_W = 11 };
	double *table = malloc(2 * H * W * D * sizeof *table), *turned = table + H * W * D;
	fill(table, H * W * D);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			memcpy(turned + (x * H + y) * D, table + (y * W + x) * D, D * sizeof *table);
	for (int k = 0; k < RULES; k++) {
		double *a = resized(*state, rules[k], table, (int64_t[]){H, W, D}, NEW_H, NEW_W);
		double *b = resized(*state, rules[k], turned, (int64_t[]){W, H, D}, NEW_W, NEW_H);
		for (int i = 0; i < NEW_H * NEW_W * D; i++) {
			int y = i / D / NEW_W, x = i / D % NEW_W;
			xt_close_f64(a[i], b[(x * NEW_H + y) * D + i % D], 0, 1e-13);
		}
		double column[H * W];
		for (int i = 0; i < H * W; i++)
			column[i] = table[i * D + D - 1];
		double *one = resized(*state, rules[k], column, (int64_t[]){H, W, 1}, NEW_H, NEW_W);
		for (int i = 0; i < NEW_H * NEW_W; i++)
			assert_true(one[i] == a[i * D + D - 1]);
		free(a);
		free(b);
		free(one);
	}
	free(table);
}

/* ---- tokens ----------------------------------------------------------------------------- */

enum { P = 4, H = 3, W = 2, TOKENS = P + H * W, D = 3 };

/* The table has two rows before its grid, the tokens four. */
static pe_bundle *with_prefix_rows(pe_context *ctx, double *rows)
{
	fill(rows, (2 + H * W) * D);
	return one_weight(ctx, "pos_embed", rows, 3, (int64_t[]){1, 2 + H * W, D});
}

static void gives_prefix_tokens_their_rows(void **state)
{
	static const char *const merges[] = {"add", "multiply", "one_plus", "concat"};
	double rows[(2 + H * W) * D], x[TOKENS * D], y[TOKENS * 2 * D];
	pe_bundle *bundle = with_prefix_rows(*state, rows);
	pe_domain *domain = xt_grid(*state, H, W, P);
	fill(x, TOKENS * D);
	for (int m = 0; m < 4; m++) {
		char settings[64];
		snprintf(settings, sizeof settings, "grid=3/2,prefix_rows=2,merge=%s", merges[m]);
		pe_encoding *e = xt_encode(*state, "learned_grid", settings, domain, NULL, bundle, NULL);
		pe_tensor got = xt_computed(e, "position_encoding");
		int64_t width = m == 3 ? 2 * D : D;
		pe_tensor from = pe_tensor_dense(x, PE_F64, 2, (int64_t[]){TOKENS, D});
		pe_tensor to = pe_tensor_dense(y, PE_F64, 2, (int64_t[]){TOKENS, width});
		assert_int_equal(pe_encoding_apply(e, &from, &to), PE_OK);
		for (int i = 0; i < TOKENS * D; i++) {
			int t = i / D, row = t < 2 ? t : t < P ? -1 : t - 2;
			double p = row < 0 ? 0 : rows[row * D + i % D];
			assert_true(((double *)got.data)[i] == p);
			double want = m == 0 ? x[i] + p : m == 1 ? x[i] * p : m == 2 ? x[i] * (1 + p) : x[i];
			assert_true(y[t * width + i % D] == (row < 0 ? x[i] : want));
			if (m == 3)
				assert_true(y[t * width + D + i % D] == p);
		}
		free(got.data);
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
}

/* Without a class token, its row stays unused: MAE's encoder. */
static void needs_no_prefix_tokens(void **state)
{
	double rows[(2 + H * W) * D];
	pe_bundle *bundle = with_prefix_rows(*state, rows);
	pe_domain *domain = xt_grid(*state, H, W, 0);
	pe_encoding *e = xt_encode(*state, "learned_grid", "grid=3/2,prefix_rows=2", domain, NULL, bundle, NULL);
	pe_tensor got = xt_computed(e, "position_encoding");
	assert_memory_equal(got.data, rows + 2 * D, H * W * D * sizeof *rows);
	free(got.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
}

/* Every frame has the same rows; the last tokens alone have the last rows. */
static void takes_frames_and_tails(void **state)
{
	pe_context *ctx = *state;
	enum { FRAMES = 3 };
	double rows[6 * D];
	pe_domain *video, *tail, *picture = xt_grid(ctx, 4, 5, 0);
	fill(rows, 6 * D);
	pe_bundle *bundle = one_weight(ctx, "pos_embed", rows, 4, (int64_t[]){1, 2, 3, D});
	assert_int_equal(pe_domain_grid(ctx, FRAMES, 4, 5, 1, &video), PE_OK);
	pe_encoding *e = xt_encode(ctx, "learned_grid", "", picture, NULL, bundle, NULL);
	pe_encoding *f = xt_encode(ctx, "learned_grid", "", video, NULL, bundle, NULL);
	pe_tensor one = xt_computed(e, "position_encoding"), all = xt_computed(f, "position_encoding");
	for (int i = 0; i < D; i++)
		assert_true(((double *)all.data)[i] == 0);
	for (int k = 0; k < FRAMES; k++)
		assert_memory_equal((double *)all.data + (1 + 20 * k) * D, one.data, 20 * D * sizeof(double));
	for (int64_t last = 0; last <= 61; last += 7) {
		assert_int_equal(pe_domain_tail(ctx, video, last, &tail), PE_OK);
		pe_encoding *t = xt_encode(ctx, "learned_grid", "", tail, NULL, bundle, NULL);
		pe_tensor some = xt_computed(t, "position_encoding");
		assert_memory_equal(
			some.data, (double *)all.data + (61 - last) * D, (size_t)(last * D) * sizeof(double));
		free(some.data);
		pe_encoding_destroy(&t);
		pe_domain_destroy(&tail);
	}
	free(one.data);
	free(all.data);
	pe_encoding_destroy(&e);
	pe_encoding_destroy(&f);
	pe_domain_destroy(&video);
	pe_domain_destroy(&picture);
	pe_bundle_destroy(&bundle);
}

/* In every type and with strides, what double precision gives, rounded once. */
static void rounds_once(void **state)
{
	pe_context *ctx = *state;
	enum { N = 6 * 9, C = 70 };
	static const pe_dtype types[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
	pe_domain *domain = xt_grid(ctx, 6, 9, 0);
	pe_encoding *e = xt_encode(
		ctx, "learned_grid", "dim=70,grid=5/4,antialias=1,window=2/3,std=1", domain, NULL, NULL, NULL);
	pe_tensor exact = xt_computed(e, "position_encoding");
	double *buffer = calloc(N * C * 2, sizeof *buffer), *want = calloc(N * C, sizeof *want);
	for (int k = 0; k < 8; k++) {
		size_t size = pe_dtype_size(types[k % 4]);
		int64_t step = k < 4 ? 1 : 2;
		pe_tensor out = pe_tensor_dense(buffer, types[k % 4], 2, (int64_t[]){N, C});
		out.strides[0] = C * step;
		out.strides[1] = step;
		assert_int_equal(pe_encoding_compute(e, &out, 1), PE_OK);
		pe_store_f64(want, types[k % 4], 1, exact.data, 1, N * C);
		for (int64_t i = 0; i < N * C; i++)
			assert_memory_equal(
				(char *)buffer + (size_t)(i * step) * size, (char *)want + (size_t)i * size, size);
	}
	free(buffer);
	free(want);
	free(exact.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* Blocks of merged tokens: the rows of the other order, moved. */
static void orders_tokens_by_blocks(void **state)
{
	double table[30], *rows, *blocks;
	fill(table, 30);
	rows = resized(*state, "", table, (int64_t[]){5, 6, 1}, 4, 6);
	blocks = resized(*state, "block=2", table, (int64_t[]){5, 6, 1}, 4, 6);
	static const int order[] = {
		0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, 12, 13, 18, 19, 14, 15, 20, 21, 16, 17, 22, 23};
	for (int i = 0; i < 24; i++)
		assert_true(blocks[i] == rows[order[i]]);
	free(rows);
	free(blocks);
	pe_domain *odd = xt_grid(*state, 4, 5, 0);
	xt_weights_refused(*state, "learned_grid", "block=2", odd, NULL, PE_ERR_SHAPE,
		"blocks of 2 x 2 do not fill a grid of 4 x 5");
	pe_domain_destroy(&odd);
}

/* ---- weights ---------------------------------------------------------------------------- */

static void guesses_no_grid(void **state)
{
	pe_context *ctx = *state;
	double rows[17 * 2] = {0};
	pe_domain *domain = xt_grid(ctx, 4, 4, 1);
	pe_bundle *b = one_weight(ctx, "pos_embed", rows, 3, (int64_t[]){1, 17, 2});
	xt_weights_refused(ctx, "learned_grid", "", domain, b, PE_ERR_SHAPE,
		"17 rows and no axes: which grid they are, and how many stand before it, must be said: "
		"grid=4/4,prefix_rows=1 would fit");
	xt_weights_refused(ctx, "learned_grid", "grid=4/4", domain, b, PE_ERR_SHAPE,
		"17 rows, not those of prefix_rows=0 and grid=4/4: grid=4/4,prefix_rows=1 would fit");
	xt_weights_refused(ctx, "learned_grid", "preset=dinov2", domain, b, PE_ERR_SHAPE,
		"not those of prefix_rows=1 and grid=37/37");
	xt_weights_refused(
		ctx, "learned_grid", "grid=4/4/4", domain, b, PE_ERR_RANGE, "takes a height and a width");
	xt_weights_refused(ctx, "learned_grid", "grid=2/8,prefix_rows=1,resize=none", domain, b, PE_ERR_SHAPE,
		"the table is of a grid of 2 x 8");
	xt_weights_refused(
		ctx, "learned_grid", "grid=4/4,prefix_rows=1,dim=3", domain, b, PE_ERR_SHAPE, "must be (1, 17, 3)");
	xt_weights_refused(
		ctx, "learned_grid", "coordinates=corners,antialias=1", domain, NULL, PE_ERR_RANGE, "antialias=0");
	static const char *const idle[][2] = {{"antialias", "1"}, {"coordinates", "corners"},
		{"interpolate_offset", "0.1"}, {"preserve_aspect", "1"}};
	for (int i = 0; i < 4; i++) {
		char settings[64], text[64];
		snprintf(settings, sizeof settings, "resize=none,%s=%s", idle[i][0], idle[i][1]);
		snprintf(text, sizeof text, "%s has no effect with resize=none", idle[i][0]);
		xt_weights_refused(ctx, "learned_grid", settings, domain, NULL, PE_ERR_RANGE, text);
	}
	xt_weights_refused(ctx, "learned_grid", "coordinates=corners,interpolate_offset=0.1", domain, NULL,
		PE_ERR_RANGE, "no effect");
	xt_weights_refused(ctx, "learned_grid", "preset=sam2,prefix_rows=1", domain, NULL, PE_ERR_RANGE,
		"no rows before its grid");
	pe_bundle_destroy(&b);
	b = one_weight(ctx, "pos_embed", rows, 4, (int64_t[]){1, 2, 4, 2});
	xt_weights_refused(
		ctx, "learned_grid", "preset=sam2", domain, b, PE_ERR_ARGUMENT, "the weights lack pos_embed_window");
	xt_weights_refused(
		ctx, "learned_grid", "prefix_rows=1", domain, b, PE_ERR_RANGE, "has the axes of a grid");
	xt_weights_refused(ctx, "learned_grid", "grid=4/2", domain, b, PE_ERR_SHAPE,
		"must be (1, 4, 2, 2), and is (1, 2, 4, 2)");
	pe_bundle_destroy(&b);
	b = one_weight(ctx, "pos_embed", rows, 3, (int64_t[]){2, 4, 2});
	xt_weights_refused(ctx, "learned_grid", "", domain, b, PE_ERR_SHAPE, "is none of (rows, dim)");
	pe_bundle_destroy(&b);
	pe_domain_destroy(&domain);
}

/* A checkpoint's names, whatever stands before them. */
static void finds_its_weight_in_a_checkpoint(void **state)
{
	static const char *const names[] = {"pos_embed", "vit.embeddings.position_embeddings",
		"vision_model.embeddings.position_embedding.weight", "learned_grid.pos_embed",
		"a.b.pos_embed.weight"};
	pe_context *ctx = *state;
	pe_domain *domain = xt_grid(ctx, 2, 2, 0);
	double rows[4 * D], other[4 * D] = {0}, got[4 * D];
	fill(rows, 4 * D);
	pe_tensor view = pe_tensor_dense(rows, PE_F64, 2, (int64_t[]){4, D}), none = view;
	none.data = other;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		pe_bundle *b;
		assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
		assert_int_equal(pe_bundle_add(b, "x.pos_embedder", &none), PE_OK);
		assert_int_equal(pe_bundle_add(b, names[i], &view), PE_OK);
		pe_encoding *e = xt_encode(ctx, "learned_grid", "grid=2", domain, NULL, b, NULL);
		pe_tensor out = pe_tensor_dense(got, PE_F64, 2, (int64_t[]){4, D});
		assert_int_equal(pe_encoding_compute(e, &out, 1), PE_OK);
		assert_memory_equal(got, rows, sizeof got);
		assert_string_equal(pe_encoding_weight_source(e, 0), names[i]);
		pe_encoding_destroy(&e);
		assert_int_equal(pe_bundle_add(b, "text.pos_embed", &none), PE_OK);
		if (i == 1)
			xt_weights_refused(
				ctx, "learned_grid", "grid=2", domain, b, PE_ERR_ARGUMENT, "the weights hold both");
		pe_bundle_destroy(&b);
	}
	pe_domain_destroy(&domain);
}

/* Flax has '/' in names. */
static void takes_names_of_flax(void **state)
{
	pe_bundle *b = xt_golden_bundle(*state, "learned_grid/flax.npz");
	pe_domain *domain = xt_grid(*state, 5, 5, 1);
	pe_encoding *e = xt_encode(*state, "learned_grid", "preset=flax_vit,grid=5", domain, NULL, b, NULL);
	assert_string_equal(pe_encoding_weight_source(e, 0), "Transformer/posembed_input/pos_embedding");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&b);
}

static void begins_as_the_authors_do(void **state)
{
	pe_domain *domain = xt_grid(*state, 37, 37, 1);
	static const char *const settings[] = {"preset=dinov2,dim=64", "preset=siglip2,grid=37,dim=64", "std=3"};
	static const double wanted[] = {0.02, 0.125, 3};
	for (int k = 0; k < 3; k++) {
		double *p = xt_first_array(*state, "learned_grid", settings[k], domain, NULL), mean = 0, square = 0;
		int count = 37 * 37 * 64;
		for (int i = 64; i < 64 + count; i++)
			mean += p[i] / count, square += p[i] * p[i] / count;
		xt_close_f64(mean, 0, 0, 0.02 * wanted[k]);
		xt_close_f64(sqrt(square), wanted[k], 0.02, 0);
		free(p);
	}
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_the_loaders_compute),
		cmocka_unit_test(is_what_ggml_computes),
		cmocka_unit_test(frames_have_rows_of_their_own),
		cmocka_unit_test(resizes_as_torch_does),
		cmocka_unit_test(the_same_grid_is_the_table),
		cmocka_unit_test(is_never_cut_out_of_a_larger_grid),
		cmocka_unit_test(transposes_with_its_table),
		cmocka_unit_test(gives_prefix_tokens_their_rows),
		cmocka_unit_test(needs_no_prefix_tokens),
		cmocka_unit_test(takes_frames_and_tails),
		cmocka_unit_test(rounds_once),
		cmocka_unit_test(orders_tokens_by_blocks),
		cmocka_unit_test(guesses_no_grid),
		cmocka_unit_test(finds_its_weight_in_a_checkpoint),
		cmocka_unit_test(takes_names_of_flax),
		cmocka_unit_test(begins_as_the_authors_do),
	};
	return xt_run(argc, argv, tests);
}
