/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor.h"

static const pe_dtype types[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
static const double roundings[] = {1e-13, 1e-6, 0x1p-11, 0x1p-8}; /* of results, relative or absolute */

/* Values of x in another type, dense. */
static pe_tensor converted(const pe_tensor *x, pe_dtype dtype)
{
	int64_t count = pe_tensor_count(x);
	double *values = malloc((size_t)(count + 1) * sizeof *values);
	pe_tensor out = pe_tensor_dense(NULL, dtype, x->ndim, x->shape);
	out.data = malloc((size_t)count * pe_dtype_size(dtype) + 1);
	pe_load_f64(values, x->data, x->dtype, 1, count);
	pe_store_f64(out.data, dtype, 1, values, 1, count);
	free(values);
	return out;
}

struct grid {
	int64_t frames, height, width, prefix;
};

/* y of x, both dense, y new; in place if it is asked. */
static pe_tensor applied(pe_context *ctx, const char *settings, const struct grid *grid,
	const pe_bundle *weights, const pe_tensor *x, bool in_place)
{
	pe_domain *domain;
	int64_t shape[PE_MAX_DIMS];
	assert_int_equal(
		pe_domain_grid(ctx, grid->frames, grid->height, grid->width, grid->prefix, &domain), PE_OK);
	pe_encoding *e = xt_encode(ctx, "peg", settings, domain, NULL, weights, NULL);
	assert_int_equal(pe_encoding_apply_shape(e, x->ndim, x->shape, shape), PE_OK);
	pe_tensor y = in_place ? converted(x, x->dtype) : pe_tensor_dense(NULL, x->dtype, x->ndim, shape);
	if (!in_place)
		y.data = aligned_alloc(64, ((size_t)pe_tensor_count(&y) * sizeof(double) / 64 + 1) * 64);
	if (pe_encoding_apply(e, in_place ? &y : x, &y) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	return y;
}

/* In every type; the features of the smaller ones are rounded, so twelve times their rounding. */
static void check_golden(pe_context *ctx, const char *name, const char *settings, struct grid grid)
{
	char file[64];
	snprintf(file, sizeof file, "peg/%s.npz", name);
	pe_bundle *bundle = xt_golden_bundle(ctx, file);
	pe_tensor x = xt_array(bundle, "x"), want = xt_array(bundle, "y");
	for (int t = 0; t < 4; t++) {
		pe_tensor rounded = converted(&x, types[t]);
		pe_tensor got = applied(ctx, settings, &grid, bundle, &rounded, false), y = converted(&got, PE_F64);
		assert_memory_equal(got.shape, want.shape, 3 * sizeof *got.shape);
		for (int64_t i = 0; i < pe_tensor_count(&y); i++)
			xt_close_f64(
				((double *)y.data)[i], ((double *)want.data)[i], 12 * roundings[t], 12 * roundings[t]);
		int64_t prefix = grid.prefix * x.shape[2] * (int64_t)pe_dtype_size(types[t]);
		for (int64_t b = 0; b < x.shape[0]; b++)
			assert_memory_equal(pe_tensor_row(&got, b), pe_tensor_row(&rounded, b), (size_t)prefix);
		free(rounded.data), free(got.data), free(y.data);
	}
	pe_bundle_destroy(&bundle);
}

static void is_what_torch_computes(void **state)
{
	check_golden(*state, "edges", "", (struct grid){1, 3, 5, 0});
	check_golden(*state, "five", "", (struct grid){1, 3, 5, 1});
	check_golden(*state, "wide", "", (struct grid){1, 4, 6, 0});
	check_golden(*state, "stride", "stride=2", (struct grid){1, 5, 4, 2});
	check_golden(*state, "hop", "stride=4", (struct grid){1, 9, 7, 0});
	check_golden(*state, "plain", "residual=0", (struct grid){1, 3, 5, 0});
	check_golden(*state, "reflect", "padding=reflect", (struct grid){1, 4, 5, 1});
	check_golden(*state, "circular", "padding=circular", (struct grid){1, 4, 5, 1});
	check_golden(*state, "replicate", "padding=replicate", (struct grid){1, 4, 5, 1});
	check_golden(*state, "video", "", (struct grid){4, 3, 2, 0});
	check_golden(*state, "causal", "causal=1", (struct grid){4, 3, 2, 0});
}

static void is_what_the_models_compute(void **state)
{
	static const struct {
		const char *file, *settings;
		struct grid grid;
	} models[] = {{"twins", "preset=twins", {1, 4, 3, 0}}, {"twins", "preset=cpvt", {1, 4, 3, 0}},
		{"coat", "preset=coat", {1, 4, 3, 1}}, {"davit", "preset=davit", {1, 4, 3, 0}},
		{"davit_act", "preset=davit_act", {1, 4, 3, 0}}, {"pvt_v2", "preset=pvt_v2", {1, 4, 3, 0}},
		{"pvt_v2_linear", "preset=pvt_v2_linear", {1, 4, 3, 0}}, {"xcit", "preset=xcit", {1, 4, 3, 0}},
		{"uniformer", "preset=uniformer", {3, 4, 3, 0}}};
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		check_golden(*state, models[i].file, models[i].settings, models[i].grid);
}

enum { LARGE = 14 * 14, WIDE = 768 };

/* The numbers of make_peg.py; single precision holds all of them and their products and sums. */
static void is_what_torch_computes_of_many_channels(void **state)
{
	pe_bundle *bundle = xt_golden_bundle(*state, "peg/large.npz"), *weights;
	float *x = malloc(LARGE * WIDE * sizeof *x), *weight = malloc(WIDE * 9 * sizeof *weight), bias[WIDE];
	for (int i = 0; i < LARGE * WIDE; i++)
		x[i] = (float)((i / WIDE * 37 + i % WIDE * 101) % 257 - 128) / 64;
	for (int i = 0; i < WIDE * 9; i++)
		weight[i] = (float)((i / 9 * 13 + i % 9 * 29) % 61 - 30) / 64;
	for (int i = 0; i < WIDE; i++)
		bias[i] = (float)(i % 17 - 8) / 64;
	pe_tensor w = pe_tensor_dense(weight, PE_F32, 4, (int64_t[]){WIDE, 1, 3, 3});
	pe_tensor b = pe_tensor_dense(bias, PE_F32, 1, (int64_t[]){WIDE});
	pe_tensor features = pe_tensor_dense(x, PE_F32, 2, (int64_t[]){LARGE, WIDE});
	assert_int_equal(pe_bundle_create(*state, &weights), PE_OK);
	assert_int_equal(pe_bundle_add(weights, "weight", &w), PE_OK);
	assert_int_equal(pe_bundle_add(weights, "bias", &b), PE_OK);
	pe_tensor y = applied(*state, "", &(struct grid){1, 14, 14, 0}, weights, &features, false);
	pe_tensor sums = xt_array(bundle, "sums"), tokens = xt_array(bundle, "tokens"),
			  some = xt_array(bundle, "y");
	for (int i = 0; i < LARGE; i++) {
		double sum = 0;
		for (int c = 0; c < WIDE; c++)
			sum += ((float *)y.data)[i * WIDE + c];
		assert_true(sum == ((double *)sums.data)[i]);
	}
	for (int i = 0; i < 3 * WIDE; i++)
		assert_true(((float *)y.data)[((int64_t *)tokens.data)[i / WIDE] * WIDE + i % WIDE] ==
			((double *)some.data)[i]);
	free(x), free(weight), free(y.data);
	pe_bundle_destroy(&weights);
	pe_bundle_destroy(&bundle);
}

static pe_tensor make_features(pe_dtype dtype, int64_t batch, int64_t tokens, int64_t width)
{
	pe_tensor x = pe_tensor_dense(NULL, PE_F64, 3, (int64_t[]){batch, tokens, width});
	x.data = malloc((size_t)pe_tensor_count(&x) * sizeof(double));
	for (int64_t i = 0; i < pe_tensor_count(&x); i++)
		((double *)x.data)[i] = sin((double)(i * i % 1009));
	pe_tensor out = converted(&x, dtype);
	free(x.data);
	return out;
}

static const char *const variants[] = {"dim=70", "dim=70,kernel=5", "dim=70,kernel=7,padding=circular",
	"dim=70,kernel=5,padding=reflect", "dim=70,kernel=9,padding=replicate", "dim=70,frames=3,padding=reflect",
	"dim=70,frames=2,causal=1,kernel=1", "dim=70,residual=0", "dim=70,activation=gelu",
	"dim=70,relu_first=1,activation=relu"};
enum { VARIANTS = 10 };

/* To the same bits in every type, in place, and at any step of channels. */
static void is_the_same_in_place(void **state)
{
	const struct grid grid = {3, 7, 9, 2};
	for (int v = 0; v < VARIANTS; v++)
		for (int t = 0; t < 4; t++) {
			pe_tensor x = make_features(types[t], 2, 2 + 3 * 7 * 9, 70);
			pe_tensor a = applied(*state, variants[v], &grid, NULL, &x, false);
			pe_tensor b = applied(*state, variants[v], &grid, NULL, &x, true);
			assert_memory_equal(a.data, b.data, (size_t)pe_tensor_bytes(&a));
			assert_memory_not_equal(a.data, x.data, (size_t)pe_tensor_bytes(&a));
			free(x.data), free(a.data), free(b.data);
		}
}

static void takes_channels_that_lie_apart(void **state)
{
	enum { H = 37, W = 4, C = 20 }; /* more rows than a strip */
	for (int t = 0; t < 2; t++) {
		pe_tensor x = make_features(types[t], 1, H * W, C), turned = converted(&x, types[t]), y = turned;
		size_t size = pe_dtype_size(types[t]);
		y.strides[1] = 1, y.strides[2] = H * W;
		for (int i = 0; i < H * W * C; i++)
			memcpy((char *)y.data + (size_t)(i % C * H * W + i / C) * size, (char *)x.data + (size_t)i * size,
				size);
		pe_tensor want = applied(*state, "dim=20", &(struct grid){1, H, W, 0}, NULL, &x, false);
		pe_domain *domain;
		assert_int_equal(pe_domain_grid(*state, 1, H, W, 0, &domain), PE_OK);
		pe_encoding *e = xt_encode(*state, "peg", "dim=20", domain, NULL, NULL, NULL);
		assert_int_equal(pe_encoding_apply(e, &y, &y), PE_OK);
		for (int i = 0; i < H * W * C; i++)
			assert_memory_equal((char *)y.data + (size_t)(i % C * H * W + i / C) * size,
				(char *)want.data + (size_t)i * size, size);
		free(x.data), free(turned.data), free(want.data);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
}

/* Large enough for several strips and pieces, of which those with 512 channels lie badly and 70 and 300 are
 * not whole vectors; 64 x 160 x 256 is past the caches. */
static const struct {
	const char *settings;
	struct grid grid;
	int64_t dim;
} large_cases[] = {{"dim=16", {1, 70, 1, 0}, 16}, {"dim=32", {1, 66, 70, 1}, 32},
	{"dim=70", {1, 65, 33, 1}, 70}, {"dim=300,residual=0", {2, 9, 18, 2}, 300},
	{"dim=512", {1, 20, 37, 0}, 512}, {"dim=256", {1, 64, 160, 0}, 256}, {"dim=512", {1, 40, 110, 0}, 512}};
enum { LARGE_CASES = 7 };

/* One value of y = x + conv(x), or without x, rounded after each product and sum. */
static float expected_value(const struct grid *g, const float *x, const double *weight, double bias,
	int64_t dim, int64_t place, int64_t c, bool residual)
{
	int64_t row = place / g->width % g->height, column = place % g->width;
	float sum = (float)bias;
	for (int64_t t = 0; t < 9; t++) {
		int64_t r = row + t / 3 - 1, i = column + t % 3 - 1;
		bool inside = r >= 0 && r < g->height && i >= 0 && i < g->width;
		float in = inside ? x[(place + (t / 3 - 1) * g->width + t % 3 - 1) * dim + c] : 0;
		float product = (float)weight[c * 9 + t] * in;
		sum = sum + product;
	}
	return residual ? x[place * dim + c] + sum : sum;
}

static void is_the_formula_in_strips(void **state)
{
	for (int k = 0; k < LARGE_CASES; k++) {
		const struct grid *g = &large_cases[k].grid;
		int64_t dim = large_cases[k].dim, places = g->frames * g->height * g->width;
		pe_tensor x = make_features(PE_F32, 1, g->prefix + places, dim);
		pe_domain *domain;
		assert_int_equal(pe_domain_grid(*state, 1, 1, 1, 0, &domain), PE_OK);
		pe_encoding *e = xt_encode(*state, "peg", large_cases[k].settings, domain, NULL, NULL, NULL);
		pe_tensor weight = xt_computed(e, "weight");
		bool residual = !strstr(large_cases[k].settings, "residual=0");
		for (int in_place = 0; in_place < 2; in_place++) {
			pe_tensor y = applied(*state, large_cases[k].settings, g, NULL, &x, in_place);
			const float *from = (const float *)x.data + g->prefix * dim, *to = (float *)y.data;
			for (int64_t i = 0; i < places * dim; i++)
				assert_true(to[g->prefix * dim + i] ==
					expected_value(g, from, weight.data, 0, dim, i / dim, i % dim, residual));
			free(y.data);
		}
		free(x.data), free(weight.data);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
}

static void is_the_same_in_every_set_and_at_any_thread_count(void **state)
{
	static const pe_context_options options[] = {{.size = sizeof *options, .cpu = "scalar"},
		{.size = sizeof *options, .cpu = "avx2", .threads = 3}, {.size = sizeof *options, .threads = 2}};
	const struct grid grid = {2, 17, 19, 1};
	for (int v = 0; v <= VARIANTS + 1; v++) {
		const char *settings = v < VARIANTS ? variants[v] : v == VARIANTS ? "dim=512" : "dim=70,residual=0";
		int64_t dim = v == VARIANTS ? 512 : 70;
		pe_tensor x = make_features(PE_F32, 2, 1 + 2 * 17 * 19, dim);
		pe_tensor want = applied(*state, settings, &grid, NULL, &x, false);
		for (int o = 0; o < 3; o++) {
			pe_context *ctx;
			if (pe_context_create(&options[o], &ctx) != PE_OK)
				continue; /* this machine has no such set */
			pe_tensor y = applied(ctx, settings, &grid, NULL, &x, v % 3 == 0);
			assert_memory_equal(y.data, want.data, (size_t)pe_tensor_bytes(&y));
			free(y.data);
			pe_context_destroy(&ctx);
		}
		free(x.data), free(want.data);
	}
}

/* y is x plus the rounded convolution, bit by bit. */
static void adds_x_exactly(void **state)
{
	const struct grid grid = {1, 8, 6, 0};
	pe_tensor x = make_features(PE_F32, 1, 48, 70);
	pe_tensor conv = applied(*state, "dim=70,residual=0", &grid, NULL, &x, false);
	pe_tensor y = applied(*state, "dim=70", &grid, NULL, &x, false);
	for (int64_t i = 0; i < pe_tensor_count(&y); i++) {
		float sum = ((float *)x.data)[i] + ((float *)conv.data)[i];
		assert_memory_equal(&((float *)y.data)[i], &sum, sizeof sum);
	}
	free(x.data), free(conv.data), free(y.data);
}

enum { H = 8, W = 9, D = 3 };

/* Where value i goes when the grid is turned by (2, 3) round both edges. */
static int turned(int i)
{
	int token = i / D, row = (token / W + 2) % H, column = (token % W + 3) % W;
	return (row * W + column) * D + i % D;
}

/* The largest difference between y of a turned x and y turned alike. */
static double shift_difference(pe_context *ctx, const char *settings)
{
	pe_tensor x = make_features(PE_F64, 1, H * W, D), moved = make_features(PE_F64, 1, H * W, D);
	for (int i = 0; i < H * W * D; i++)
		((double *)moved.data)[turned(i)] = ((double *)x.data)[i];
	const struct grid grid = {1, H, W, 0};
	pe_tensor a = applied(ctx, settings, &grid, NULL, &x, false);
	pe_tensor b = applied(ctx, settings, &grid, NULL, &moved, false);
	double most = 0;
	for (int i = 0; i < H * W * D; i++) {
		double difference = fabs(((double *)a.data)[i] - ((double *)b.data)[turned(i)]);
		most = difference > most ? difference : most;
	}
	free(x.data), free(moved.data), free(a.data), free(b.data);
	return most;
}

static void moves_with_its_input_round_a_circle(void **state)
{
	assert_true(shift_difference(*state, "dim=3,padding=circular") == 0);
	assert_true(shift_difference(*state, "dim=3,kernel=7,padding=circular") == 0);
	assert_true(shift_difference(*state, "dim=3") > 0.1);
}

/* Of equal tokens nothing but zeros tells which is where; with zeros those at an edge differ. */
static void leaks_position_by_zeros_alone(void **state)
{
	static const char *const paddings[] = {"zero", "reflect", "circular", "replicate"};
	const struct grid grid = {1, H, W, 0};
	pe_tensor x = make_features(PE_F64, 1, H * W, D);
	for (int i = 0; i < H * W * D; i++)
		((double *)x.data)[i] = 1 + i % D;
	for (int p = 0; p < 4; p++) {
		char settings[64];
		double most = 0;
		snprintf(settings, sizeof settings, "dim=3,kernel=5,padding=%s", paddings[p]);
		pe_tensor y = applied(*state, settings, &grid, NULL, &x, false);
		for (int i = 0; i < H * W * D; i++)
			most = fmax(most, fabs(((double *)y.data)[i] - ((double *)y.data)[i % D]));
		assert_true(p == 0 ? most > 0.1 : most == 0);
		free(y.data);
	}
	free(x.data);
}

/* No frame sees a later one. */
static void is_causal_over_frames(void **state)
{
	const struct grid grid = {4, 2, 3, 1};
	pe_tensor x = make_features(PE_F64, 1, 25, 5), y[2][2];
	for (int causal = 0; causal < 2; causal++)
		for (int changed = 0; changed < 2; changed++) {
			const char *settings = causal ? "dim=5,frames=3,causal=1" : "dim=5,frames=3";
			((double *)x.data)[(1 + 3 * 6) * 5] = changed;
			y[causal][changed] = applied(*state, settings, &grid, NULL, &x, false);
		}
	size_t before = (1 + 3 * 6) * 5 * sizeof(double);
	assert_memory_not_equal(y[0][0].data, y[0][1].data, before);
	assert_memory_equal(y[1][0].data, y[1][1].data, before);
	assert_memory_not_equal(y[1][0].data, y[1][1].data, before + 6 * 5 * sizeof(double));
	for (int i = 0; i < 4; i++)
		free(y[i / 2][i % 2].data);
	free(x.data);
}

static void begins_as_twins_does(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_grid(*state, 1, 1, 1, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "peg", "dim=400", domain, NULL, NULL, NULL);
	pe_tensor weight = xt_computed(e, "weight"), bias = xt_computed(e, "bias");
	double square = 0;
	for (int64_t i = 0; i < 400 * 9; i++)
		square += ((double *)weight.data)[i] * ((double *)weight.data)[i];
	xt_close_f64(square / (400 * 9), 2.0 / 9, 0.1, 0);
	assert_true(((double *)bias.data)[399] == 0);
	free(weight.data), free(bias.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	int64_t shape[] = {7, 8};
	assert_int_equal(pe_domain_grid(ctx, 1, 2, 3, 1, &domain), PE_OK);
	xt_encode_refused(ctx, "peg", "kernel=4", domain, PE_ERR_RANGE, "kernel 4 is even");
	xt_encode_refused(ctx, "peg", "frames=2", domain, PE_ERR_RANGE, "or is it causal?");
	xt_encode_refused(ctx, "peg", "stride=2,residual=1", domain, PE_ERR_RANGE, "nothing that residual");
	xt_encode_refused(ctx, "peg", "kernel=5,padding=reflect", domain, PE_ERR_SHAPE, "1 x 2 x 3 is too small");
	xt_encode_refused(
		ctx, "peg", "kernel=7,padding=circular", domain, PE_ERR_SHAPE, "1 x 2 x 3 is too small");
	xt_encode_refused(
		ctx, "peg", "frames=3,padding=reflect,kernel=1", domain, PE_ERR_SHAPE, "1 x 2 x 3 is too small");
	pe_encoding *e = xt_encode(ctx, "peg", "dim=4", domain, NULL, NULL, NULL);
	xt_fails(
		ctx, pe_encoding_apply_shape(e, 2, shape, shape), PE_ERR_SHAPE, "features are 8 wide, and dim is 4");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_torch_computes),
		cmocka_unit_test(is_what_the_models_compute),
		cmocka_unit_test(is_what_torch_computes_of_many_channels),
		cmocka_unit_test(is_the_same_in_place),
		cmocka_unit_test(takes_channels_that_lie_apart),
		cmocka_unit_test(is_the_formula_in_strips),
		cmocka_unit_test(is_the_same_in_every_set_and_at_any_thread_count),
		cmocka_unit_test(adds_x_exactly),
		cmocka_unit_test(moves_with_its_input_round_a_circle),
		cmocka_unit_test(leaks_position_by_zeros_alone),
		cmocka_unit_test(is_causal_over_frames),
		cmocka_unit_test(begins_as_twins_does),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
