/* SPDX-License-Identifier: BSD-2-Clause
 * The tiled core where f32 ends: masks, caps, scales, sinks and offsets that double holds and f32 does not.
 * And sizes that nobody could count to. */
#include "xt.h"

#include <float.h>
#include <math.h>

#include "xt_attend.h"

#define HEADS 2
#define LENGTH 150
#define WIDTH 4

struct call {
	struct xt_layer layer;
	pe_attention_options options;
	pe_attention_tensors tensors;
	pe_tensor q, k, v;
	double out[2][HEADS * LENGTH * WIDTH], lse[2][HEADS * LENGTH];
};

static const int64_t vectors[] = {1, HEADS, LENGTH, WIDTH};

static struct call *make_call(pe_context *ctx, const char *with)
{
	static float values[3][HEADS * LENGTH * WIDTH];
	const char *list[] = {with, NULL};
	struct call *c = calloc(1, sizeof *c);
	assert_non_null(c);
	for (int64_t i = 0; i < HEADS * LENGTH * WIDTH; i++)
		for (int64_t t = 0; t < 3; t++)
			values[t][i] = (float)(sin((double)(7 * i + t)) * (t == 0 ? 3 : 1));
	c->q = pe_tensor_dense(values[0], PE_F32, 4, vectors);
	c->k = pe_tensor_dense(values[1], PE_F32, 4, vectors);
	c->v = pe_tensor_dense(values[2], PE_F32, 4, vectors);
	c->options.size = sizeof c->options;
	c->tensors = (pe_attention_tensors){.size = sizeof c->tensors, .q = &c->q, .k = &c->k, .v = &c->v};
	xt_layer_make(ctx, list, NULL, LENGTH, LENGTH, &c->layer);
	return c;
}

static void free_call(struct call *c)
{
	xt_layer_free(&c->layer);
	free(c);
}

static pe_status run(pe_context *ctx, struct call *c, pe_core core)
{
	pe_tensor out = pe_tensor_dense(c->out[core], PE_F64, 4, vectors);
	pe_tensor lse = pe_tensor_dense(c->lse[core], PE_F64, 3, vectors);
	c->tensors.out = &out;
	c->tensors.lse = &lse;
	c->options.core = core;
	return pe_attend(ctx, c->layer.list, c->layer.count, &c->options, &c->tensors);
}

/* Both cores agree; of lse only where it is within `most`. */
static void agree(pe_context *ctx, struct call *c, double most)
{
	assert_int_equal(run(ctx, c, PE_CORE_REFERENCE), PE_OK);
	assert_int_equal(run(ctx, c, PE_CORE_TILED), PE_OK);
	for (int64_t i = 0; i < HEADS * LENGTH * WIDTH; i++)
		xt_close_f64(c->out[PE_CORE_TILED][i], c->out[PE_CORE_REFERENCE][i], 0, 2e-5);
	for (int64_t i = 0; i < HEADS * LENGTH; i++)
		if (fabs(c->lse[PE_CORE_REFERENCE][i]) <= most)
			xt_close_f64(c->lse[PE_CORE_TILED][i], c->lse[PE_CORE_REFERENCE][i], 2e-6, 2e-5);
}

/* Some rows that are masked with the lowest number of a type, everywhere and here and there: it hides nothing
 * where there is nothing else, as padded rows of PyTorch's models have it. */
static void test_lowest_number_as_mask(void **state)
{
	static const char *const with[] = {
		"none", "alibi:heads=2", "dape:heads=2,over=alibi,direction=bidirectional"};
	static const double lowest[] = {-(double)FLT_MAX, -DBL_MAX, -1e38, 2.5e38};
	double mask[LENGTH * LENGTH] = {0};
	pe_tensor t = pe_tensor_dense(mask, PE_F64, 2, (int64_t[]){LENGTH, LENGTH});
	for (int64_t i = 0; i < 3 * 4; i++) {
		for (int64_t j = 0; j < LENGTH; j++) {
			mask[j] = mask[40 * LENGTH + j] = lowest[i % 4];
			mask[3 * LENGTH + j] = j % 7 ? lowest[i % 4] : 0;
		}
		struct call *c = make_call(*state, with[i / 4]);
		c->tensors.mask = &t;
		agree(*state, c, 1e37);
		free_call(c);
	}
}

static void test_softcap(void **state)
{
	static const double caps[] = {1e-300, 1e-40, 1e-10, 1e30, 1e38, 3e38, 1e300};
	for (int64_t i = 0; i < 7; i++) {
		struct call *c = make_call(*state, "t5:heads=2");
		c->options.softcap = caps[i];
		agree(*state, c, INFINITY);
		free_call(c);
	}
}

static void test_scale(void **state)
{
	struct call *c = make_call(*state, "alibi:heads=2");
	c->options.scale = 1e-300;
	agree(*state, c, INFINITY);
	c->options.scale = -1e300;
	assert_int_equal(run(*state, c, PE_CORE_REFERENCE), PE_OK);
	xt_fails(*state, run(*state, c, PE_CORE_TILED), PE_ERR_UNSUPPORTED, "beyond");
	free_call(c);
}

/* Keys so far that the sink has all the weight: lse is the sink, to its own precision. */
static void test_sinks_above_far_keys(void **state)
{
	float sinks[HEADS] = {0.5f, -2.0f};
	int64_t heads = HEADS;
	pe_tensor t = pe_tensor_dense(sinks, PE_F32, 1, &heads);
	pe_domain *far = NULL;
	pe_encoding *alibi = NULL;
	pe_params *params = NULL;
	struct call *c = make_call(*state, "none");
	assert_int_equal(pe_domain_sequence(*state, LENGTH, 1e9, &far), PE_OK);
	assert_int_equal(pe_params_create(*state, "alibi", &params), PE_OK);
	xt_set(params, "heads=2");
	pe_encoding_options options = {.size = sizeof options, .queries = far};
	assert_int_equal(
		pe_encoding_create(*state, pe_encoder_find("alibi"), params, c->layer.keys, &options, &alibi), PE_OK);
	pe_encoding_destroy(&c->layer.list[0]);
	c->layer.list[0] = alibi;
	c->tensors.sinks = &t;
	agree(*state, c, INFINITY);
	pe_params_destroy(&params);
	free_call(c);
	pe_domain_destroy(&far);
}

/* The first key outweighs its distance, by queries whose squares are below all floats: its tile is not far.
 */
static void test_tiny_queries_and_far_tiles(void **state)
{
	enum { LONG = 500 };
	static const int64_t shape[] = {1, 1, LONG, 1};
	float values[3][LONG] = {{0}}, out[2][LONG];
	struct xt_layer layer;
	xt_layer_make(*state, (const char *const[]){"alibi:heads=1,max_bias=1", NULL}, NULL, LONG, LONG, &layer);
	for (int64_t i = 0; i < LONG; i++) {
		values[0][i] = 1e-23f;
		values[1][i] = i == 0 ? 1e18f : 0.0f;
		values[2][i] = (float)sin((double)i);
	}
	pe_tensor q = pe_tensor_dense(values[0], PE_F32, 4, shape),
			  k = pe_tensor_dense(values[1], PE_F32, 4, shape);
	pe_tensor v = pe_tensor_dense(values[2], PE_F32, 4, shape);
	for (int core = PE_CORE_TILED; core <= PE_CORE_REFERENCE; core++) {
		pe_tensor o = pe_tensor_dense(out[core], PE_F32, 4, shape);
		pe_attention_options options = {.size = sizeof options, .core = (pe_core)core, .scale = 1e8};
		pe_attention_tensors tensors = {.size = sizeof tensors, .q = &q, .k = &k, .v = &v, .out = &o};
		assert_int_equal(pe_attend(*state, layer.list, layer.count, &options, &tensors), PE_OK);
	}
	for (int64_t i = 0; i < LONG; i++)
		xt_close_f64((double)out[PE_CORE_TILED][i], (double)out[PE_CORE_REFERENCE][i], 0, 1e-5);
	xt_layer_free(&layer);
}

/* Positions of which a double takes several for one. */
static void test_offsets_beyond_whole_numbers(void **state)
{
	pe_domain *far = NULL;
	struct call *c = make_call(*state, "none");
	assert_int_equal(pe_domain_sequence(*state, LENGTH, 1e17, &far), PE_OK);
	c->options.keys = c->options.queries = far;
	c->options.causal = 1;
	agree(*state, c, INFINITY);
	c->options.windowed = 1;
	c->options.window_left = 5;
	agree(*state, c, INFINITY);
	free_call(c);
	pe_domain_destroy(&far);
}

/* So many queries and keys of width 0 that nobody could count to them: there is nothing to compute. */
static void test_more_than_can_be_counted(void **state)
{
	int64_t many = INT64_C(1) << 50, shape[] = {1, 1, many, 0};
	pe_tensor t = pe_tensor_dense(&many, PE_F32, 4, shape);
	pe_attention_tensors tensors = {.size = sizeof tensors, .q = &t, .k = &t, .v = &t, .out = &t};
	for (int core = PE_CORE_TILED; core <= PE_CORE_LINEAR; core++) {
		pe_attention_options options = {.size = sizeof options, .core = (pe_core)core, .causal = core == 0};
		assert_int_equal(pe_attend(*state, NULL, 0, &options, &tensors), PE_OK);
	}
}

/* A range of distances is known without going through the tokens: so long a sequence is bound, or refused, in
 * no time. */
static void test_endless_sequences_bind(void **state)
{
	static const char *const names[] = {"complex_order", "deberta", "erpe"};
	static const char *const settings[] = {"dim=4", "max_distance=8", "max_length=16"};
	for (int i = 0; i < 3; i++) {
		pe_domain *domain = NULL;
		pe_encoding *encoding = NULL;
		pe_params *params = NULL;
		assert_int_equal(pe_domain_sequence(*state, INT64_C(1) << 50, 0, &domain), PE_OK);
		assert_int_equal(pe_params_create(*state, names[i], &params), PE_OK);
		xt_set(params, settings[i]);
		pe_status status =
			pe_encoding_create(*state, pe_encoder_find(names[i]), params, domain, NULL, &encoding);
		assert_int_equal(status == PE_OK, i == 0);
		pe_encoding_destroy(&encoding);
		pe_params_destroy(&params);
		pe_domain_destroy(&domain);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lowest_number_as_mask),
		cmocka_unit_test(test_softcap),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_sinks_above_far_keys),
		cmocka_unit_test(test_tiny_queries_and_far_tiles),
		cmocka_unit_test(test_offsets_beyond_whole_numbers),
		cmocka_unit_test(test_more_than_can_be_counted),
		cmocka_unit_test(test_endless_sequences_bind),
	};
	return xt_run(argc, argv, tests) != 0;
}
