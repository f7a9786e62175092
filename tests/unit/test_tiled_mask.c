/* SPDX-License-Identifier: BSD-2-Clause
 * Masks of numbers in the tiled core against the definition: one for all, for each head or each batch, of
 * several types and layouts, near 0 and far from it, alone and beside tables of distances and of grids. */
#include "xt.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "rng.h"
#include "tensor.h"
#include "xt_attend.h"

#define BATCH 3
#define HEADS 2
#define WIDTH 16
#define MOST 300

struct call {
	struct xt_layer layer;
	pe_attention_options options;
	pe_attention_tensors tensors;
	pe_tensor q, k, v, mask;
	void *cells;
	float *memory;
};

static struct call *make_call(pe_context *ctx, const char *with, int64_t queries, int64_t keys)
{
	struct call *c = calloc(1, sizeof *c);
	int64_t n = BATCH * HEADS * MOST * WIDTH;
	assert_non_null(c);
	c->memory = malloc((size_t)(3 * n) * sizeof *c->memory);
	assert_non_null(c->memory);
	for (int64_t i = 0; i < 3 * n; i++)
		c->memory[i] = (float)((i < n ? 6 : 2) * (pe_rng_uniform(4, 0, (uint64_t)i) - 0.5));
	c->q = pe_tensor_dense(c->memory, PE_F32, 4, (int64_t[]){BATCH, HEADS, queries, WIDTH});
	c->k = pe_tensor_dense(c->memory + n, PE_F32, 4, (int64_t[]){BATCH, HEADS, keys, WIDTH});
	c->v = pe_tensor_dense(c->memory + 2 * n, PE_F32, 4, (int64_t[]){BATCH, HEADS, keys, WIDTH});
	c->options.size = sizeof c->options;
	c->tensors = (pe_attention_tensors){.size = sizeof c->tensors, .q = &c->q, .k = &c->k, .v = &c->v};
	if (with)
		xt_layer_make(ctx, (const char *const[]){with, NULL}, NULL, queries, keys, &c->layer);
	return c;
}

static void free_call(struct call *c)
{
	xt_layer_free(&c->layer);
	free(c->memory);
	free(c->cells);
	free(c);
}

/* What a mask says of cell i, far from 0 in several ways. */
static double cell(int kind, int64_t i)
{
	double some = (double)(i * 7 % 23) - 11;
	switch (kind) {
	case 0:
		return some;
	case 1:
		return i % 3 ? 0 : -100;
	case 2:
		return i * 13 % 29 < 9 ? -INFINITY : some / 8;
	case 3:
		return i / 50 % 4 == 1 ? -(double)FLT_MAX : some;
	case 4:
		return 1e6 + some;
	case 5:
		return -1e9 * (double)(1 + i / 400 % 3);
	default:
		return i / 90 % 2 ? -INFINITY : -3e4 + some;
	}
}

static void set_mask(struct call *c, int kind, pe_dtype dtype, const int64_t shape[4])
{
	free(c->cells);
	c->mask = pe_tensor_dense(NULL, dtype, 4, shape);
	c->cells = c->mask.data = malloc((size_t)pe_tensor_bytes(&c->mask) + 1);
	assert_non_null(c->cells);
	for (int64_t i = 0; i < pe_tensor_count(&c->mask); i++) {
		double x = cell(kind, i);
		pe_store_f64((char *)c->cells + i * (int64_t)pe_dtype_size(dtype), dtype, 1, &x, 1, 1);
	}
	c->tensors.mask = &c->mask;
}

static void agree(pe_context *ctx, struct call *c)
{
	xt_cores_agree(ctx, &c->layer, &c->options, &c->tensors, 2e-5, NULL);
}

static void of_kinds(pe_context *ctx)
{
	static const char *const encoders[] = {"none", "alibi:heads=2", "t5:heads=2", "dape:heads=2,over=alibi"};
	static const pe_dtype dtypes[] = {PE_F32, PE_F32, PE_F16, PE_BF16, PE_F64};
	static const int64_t lengths[][2] = {{49, 49}, {130, 250}, {33, 17}};
	for (int kind = 0; kind < 7; kind++)
		for (int turn = 0; turn < 12; turn++) {
			int64_t queries = lengths[turn % 3][0], keys = lengths[turn % 3][1];
			struct call *c = make_call(ctx, encoders[turn / 3], queries, keys);
			pe_dtype dtype = dtypes[(kind + turn) % 5];
			bool far = kind > 2 && dtype == PE_F16;
			set_mask(c, far ? 1 : kind, dtype,
				(int64_t[]){turn % 2 ? BATCH : 1, turn % 5 ? 1 : HEADS, turn % 4 ? queries : 1, keys});
			c->options.softcap = turn % 7 == 3 ? 3 : 0;
			agree(ctx, c);
			free_call(c);
		}
}

static void test_kinds(void **state)
{
	char names[64];
	(void)state;
	strcpy(names, pe_kernels_available());
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		pe_context *ctx = xt_context(1, name);
		of_kinds(ctx);
		pe_context_destroy(&ctx);
	}
}

/* What is hidden for another reason counts in no base, and nothing comes of it. */
static void test_with_other_masks(void **state)
{
	float sinks[] = {2, -300};
	int64_t lengths[] = {250, 0, 121};
	pe_tensor sink = pe_tensor_dense(sinks, PE_F32, 1, (int64_t[]){HEADS});
	pe_tensor length = pe_tensor_dense(lengths, PE_I64, 1, (int64_t[]){BATCH});
	for (int turn = 0; turn < 16; turn++) {
		struct call *c = make_call(*state, turn % 2 ? "alibi:heads=2" : "none", 250, 250);
		set_mask(c, turn % 7, PE_F32, (int64_t[]){BATCH, 1, 250, 250});
		for (int64_t i = 0; i < 250; i++)
			((float *)c->cells)[i] += i > 0 ? 1e7f : 0; /* of query 0, which then sees key 0 alone */
		c->options.causal = 1;
		c->options.windowed = turn / 8;
		c->options.window_left = 60;
		c->options.window_right = -1;
		c->tensors.sinks = turn / 2 % 2 ? &sink : NULL;
		c->tensors.key_lengths = turn / 4 % 2 ? &length : NULL;
		c->memory[BATCH * HEADS * MOST * WIDTH + 200 * WIDTH] = INFINITY; /* a key */
		agree(*state, c);
		free_call(c);
	}
}

/* NaN and infinities of a mask are what they are, also where it hides all else. */
static void test_odd_cells(void **state)
{
	static const float odd[] = {NAN, INFINITY};
	for (int i = 0; i < 4; i++) {
		struct call *c = make_call(*state, "none", 130, 250);
		set_mask(c, 2, PE_F32, (int64_t[]){1, 1, 130, 250});
		for (int64_t j = 0; i > 1 && j < 130 * 250; j++)
			((float *)c->cells)[j] = -INFINITY;
		((float *)c->cells)[40 * 250 + 130] = odd[i % 2];
		agree(*state, c);
		free_call(c);
	}
}

/* Windows of a grid, with a table of offsets, a mask each, which heads share and some windows have none of;
 * values that are not finite in one of them. */
static void test_windows(void **state)
{
	float sinks[] = {0.5f, -200};
	pe_tensor sink = pe_tensor_dense(sinks, PE_F32, 1, (int64_t[]){HEADS});
	for (int turn = 0; turn < 28; turn++) {
		struct call *c = make_call(*state, NULL, 49, 49);
		pe_params *params = NULL;
		assert_int_equal(pe_domain_grid(*state, 1, 7, 7, 0, &c->layer.keys), PE_OK);
		assert_int_equal(pe_params_create(*state, "swin", &params), PE_OK);
		xt_set(params, "heads=2");
		assert_int_equal(pe_encoding_create(
							 *state, pe_encoder_find("swin"), params, c->layer.keys, NULL, &c->layer.list[0]),
			PE_OK);
		c->layer.count = 1;
		set_mask(c, turn % 7, PE_F32, (int64_t[]){BATCH, 1, 49, 49});
		memset((float *)c->cells + 49 * 49, 0, 49 * 49 * sizeof(float));
		c->tensors.sinks = turn / 7 % 2 ? &sink : NULL;
		if (turn / 14)
			((float *)c->v.data)[3 * 49 * WIDTH + 5 * WIDTH + 1] = NAN;
		agree(*state, c);
		c->options.softcap = 2;
		agree(*state, c);
		pe_params_destroy(&params);
		free_call(c);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_with_other_masks),
		cmocka_unit_test(test_odd_cells),
		cmocka_unit_test(test_windows),
	};
	return xt_run(argc, argv, tests) != 0;
}
