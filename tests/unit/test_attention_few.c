/* SPDX-License-Identifier: BSD-2-Clause
 * Few queries against many keys: keys around the borders of blocks and chunks, heads that share keys, types,
 * layouts, masks, numbers that are not finite, all threads alike, no memory. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "rng.h"
#include "tensor.h"
#include "xt_attend.h"

#define TOLERANCE 2e-5

struct sizes {
	int64_t batch, heads, key_heads, queries, keys, width, value_width;
};

struct call {
	struct xt_layer layer;
	pe_attention_options options;
	pe_attention_tensors tensors;
	pe_tensor q, k, v;
	void *memory[3];
};

/* Numbers from -size to size, (batch, heads, length, width), or where they lie (batch, length, heads, width).
 */
static pe_tensor numbers(
	struct call *c, int which, const int64_t shape[4], pe_dtype dtype, bool turned, double size)
{
	pe_tensor t = pe_tensor_dense(NULL, dtype, 4, shape);
	int64_t count = pe_tensor_count(&t);
	if (turned) {
		t.strides[1] = shape[3];
		t.strides[2] = shape[1] * shape[3];
	}
	t.data = c->memory[which] = malloc((size_t)(count + 1) * 4);
	assert_non_null(t.data);
	for (int64_t i = 0; i < count; i++) {
		double x = size * (2 * pe_rng_uniform(9, (uint64_t)which, (uint64_t)i) - 1);
		pe_store_f64((char *)t.data + i * (int64_t)pe_dtype_size(dtype), dtype, 1, &x, 1, 1);
	}
	return t;
}

static struct call *make_call(
	pe_context *ctx, const struct sizes *s, const char *with, pe_dtype dtype, bool turned)
{
	struct call *c = calloc(1, sizeof *c);
	assert_non_null(c);
	c->q = numbers(c, 0, (int64_t[]){s->batch, s->heads, s->queries, s->width}, dtype, turned, 3);
	c->k = numbers(c, 1, (int64_t[]){s->batch, s->key_heads, s->keys, s->width}, dtype, turned, 1);
	c->v = numbers(c, 2, (int64_t[]){s->batch, s->key_heads, s->keys, s->value_width}, dtype, turned, 1);
	xt_layer_make(ctx, (const char *const[]){with, NULL}, NULL, s->queries, s->keys, &c->layer);
	c->options =
		(pe_attention_options){.size = sizeof c->options, .keys = c->layer.keys, .queries = c->layer.queries};
	c->tensors = (pe_attention_tensors){.size = sizeof c->tensors, .q = &c->q, .k = &c->k, .v = &c->v};
	return c;
}

static void free_call(struct call *c)
{
	xt_layer_free(&c->layer);
	for (int i = 0; i < 3; i++)
		free(c->memory[i]);
	free(c);
}

static void agree(pe_context *ctx, struct call *c)
{
	xt_cores_agree(ctx, &c->layer, &c->options, &c->tensors, TOLERANCE, NULL);
}

static void each_set(void (*fn)(pe_context *ctx))
{
	char names[64];
	strcpy(names, pe_kernels_available());
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		pe_context *ctx = xt_context(1, name);
		fn(ctx);
		pe_context_destroy(&ctx);
	}
}

static void of_sizes(pe_context *ctx)
{
	static const struct sizes list[] = {{1, 1, 1, 1, 0, 8, 8}, {1, 2, 2, 1, 1, 16, 16},
		{2, 2, 1, 1, 127, 5, 3}, {1, 4, 2, 2, 128, 32, 17}, {1, 4, 1, 3, 129, 16, 64},
		{1, 2, 2, 1, 1023, 64, 130}, {2, 2, 2, 1, 1024, 8, 8}, {1, 6, 3, 8, 1025, 33, 16},
		{1, 40, 1, 1, 140, 16, 16}, {1, 9, 1, 4, 60, 8, 8}, {1, 2, 1, 1, 3200, 16, 16}};
	static const pe_dtype dtypes[] = {PE_F32, PE_F16, PE_BF16};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		for (int turned = 0; turned < 2; turned++) {
			struct call *c = make_call(ctx, &list[i], "none", dtypes[(i + (size_t)turned) % 3], turned);
			agree(ctx, c);
			c->options.causal = 1;
			agree(ctx, c);
			free_call(c);
		}
}

static void test_sizes(void **state)
{
	(void)state;
	each_set(of_sizes);
}

static void of_encoders(pe_context *ctx)
{
	static const char *const list[] = {"alibi:heads=4", "t5:heads=4", "rope:head_dim=16", "kerple:heads=4",
		"fire:heads=4", "xpos:head_dim=16", "deberta:heads=4,head_dim=16", "kerple:heads=4,weight=1",
		"pope:head_dim=16,heads=4", "randomised:over=t5:heads=4", "floater:dim=64,heads=4,target=qkv"};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		struct call *c =
			make_call(ctx, &(struct sizes){2, 4, i % 2 ? 2 : 4, 1 + (int64_t)i % 3, 1100, 16, 16}, list[i],
				i % 2 ? PE_F32 : PE_BF16, false);
		c->options.causal = i % 2 == 0;
		agree(ctx, c);
		c->options.softcap = 2.5;
		agree(ctx, c);
		free_call(c);
	}
}

static void test_encoders(void **state)
{
	(void)state;
	each_set(of_encoders);
}

/* Of bits, and numbers near and far; a window, lengths, sinks. */
static void test_masks(void **state)
{
	const struct sizes s = {2, 4, 2, 3, 1300, 16, 16};
	struct call *c = make_call(*state, &s, "alibi:heads=4", PE_F32, false);
	float *mask = malloc(2 * 3 * 1300 * sizeof *mask), sinks[] = {0.5f, -2, 4, 0};
	unsigned char *bits = malloc(2 * 3 * 1300);
	int64_t lengths[] = {1200, 700};
	assert_true(mask && bits);
	for (int64_t i = 0; i < 2 * 3 * 1300; i++) {
		bits[i] = i % 5 > 1 && i / 1300 != 4;
		mask[i] = i % 11 == 0 ? -INFINITY : i % 3 ? (float)(i % 7) : -1e6f;
	}
	pe_tensor adds = pe_tensor_dense(mask, PE_F32, 4, (int64_t[]){2, 1, 3, 1300});
	pe_tensor hides = pe_tensor_dense(bits, PE_BOOL, 4, (int64_t[]){2, 1, 3, 1300});
	pe_tensor length = pe_tensor_dense(lengths, PE_I64, 1, (int64_t[]){2});
	pe_tensor sink = pe_tensor_dense(sinks, PE_F32, 1, (int64_t[]){4});
	for (int turn = 0; turn < 16; turn++) {
		c->tensors.mask = turn % 2 ? &hides : &adds;
		c->tensors.key_lengths = turn / 2 % 2 ? &length : NULL;
		c->tensors.sinks = turn / 4 % 2 ? &sink : NULL;
		c->options.windowed = turn / 8;
		c->options.window_left = 300;
		c->options.window_right = 0;
		agree(*state, c);
	}
	free(mask);
	free(bits);
	free_call(c);
}

static void put(const pe_tensor *t, int64_t head, int64_t token, int64_t column, double x)
{
	char *at = pe_tensor_at(t, 0, head, token);
	pe_store_f64(at + column * (int64_t)pe_dtype_size(t->dtype), t->dtype, 1, &x, 1, 1);
}

/* Nothing comes of what is hidden; what is seen spoils its column, or its row, even with a weight that is
 * rounded to 0. */
static void test_not_finite(void **state)
{
	int64_t length = 1500;
	pe_tensor lengths = pe_tensor_dense(&length, PE_I64, 1, (int64_t[]){1});
	for (int seen = 0; seen < 2; seen++) {
		struct call *c =
			make_call(*state, &(struct sizes){1, 2, 2, 2, 1600, 16, 20}, "alibi:heads=2", PE_F32, false);
		int64_t at = seen ? 5 : 1550;
		put(&c->v, 0, at, 3, NAN);
		put(&c->v, 0, at + 1, 4, -INFINITY);
		put(&c->v, 1, at + 900 * seen, 19, INFINITY);
		put(&c->k, 1, seen ? 1100 : 1501, 0, NAN);
		c->tensors.key_lengths = &lengths;
		agree(*state, c);
		free_call(c);
	}
}

/* Far below a chunk's maximum, and far from 0. */
static void test_far_biases(void **state)
{
	struct call *c =
		make_call(*state, &(struct sizes){1, 2, 1, 2, 2500, 8, 8}, "alibi:heads=2", PE_F32, false);
	float *mask = malloc(2500 * sizeof *mask);
	assert_non_null(mask);
	pe_tensor t = pe_tensor_dense(mask, PE_F32, 1, (int64_t[]){2500});
	c->tensors.mask = &t;
	for (int turn = 0; turn < 3; turn++) {
		for (int64_t i = 0; i < 2500; i++)
			mask[i] = turn == 0 ? (float)i * 50
				: turn == 1     ? -1e7f - (float)(i % 3)
				: i < 2000      ? -INFINITY
								: -1e9f;
		agree(*state, c);
	}
	free(mask);
	free_call(c);
}

/* The work is cut by the problem. */
static void test_threads(void **state)
{
	(void)state;
	double *one = NULL;
	for (int32_t threads = 1; threads <= 4; threads++) {
		const struct sizes s = {1, 3, 1, 1, 5000, 16, 16};
		pe_context *ctx = xt_context(threads, NULL);
		struct call *c = make_call(ctx, &s, "alibi:heads=3", PE_F32, false);
		double *out;
		xt_cores_agree(ctx, &c->layer, &c->options, &c->tensors, TOLERANCE, &out);
		if (one)
			assert_memory_equal(one, out, 3 * 16 * sizeof *out);
		else
			one = out;
		if (one != out)
			free(out);
		free_call(c);
		pe_context_destroy(&ctx);
	}
	free(one);
}

static void test_no_memory(void **state)
{
	struct call *c =
		make_call(*state, &(struct sizes){1, 4, 2, 2, 1100, 8, 8}, "rope:head_dim=8", PE_BF16, false);
	double out[4 * 2 * 8];
	pe_tensor t = pe_tensor_dense(out, PE_F64, 4, c->q.shape);
	struct xt_shortage s = {.forever = true};
	c->tensors.out = &t;
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_attend(*state, c->layer.list, c->layer.count, &c->options, &c->tensors));
	}
	free_call(c);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_encoders),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_not_finite),
		cmocka_unit_test(test_far_biases),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_memory),
	};
	return xt_run(argc, argv, tests) != 0;
}
