/* SPDX-License-Identifier: BSD-2-Clause
 * Biases far from 0, of which f32 would lose the digits that tell keys apart: the tiled core agrees with the
 * definition to 2e-5 of a row's largest value, and its log-sum-exp to 2e-5. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "attention/plan.h"
#include "rng.h"

#define HEADS 2
#define LENGTH 300
#define WIDTH 4

static const int64_t vectors[] = {1, HEADS, LENGTH, WIDTH};

struct call {
	pe_domain *keys, *queries;
	pe_encoding *e;
	pe_attention_options options;
	pe_attention_tensors tensors;
	pe_tensor in[3];
	float values[3][HEADS * LENGTH * WIDTH];
	double out[2][HEADS * LENGTH * WIDTH], lse[2][HEADS * LENGTH];
};

/* Attention with an encoder of 2 heads, "" or "a=1,b=2". Takes the domains; e NULL: none. */
static struct call *make_call(
	pe_context *ctx, pe_domain *keys, pe_domain *queries, const char *encoder, const char *set)
{
	struct call *c = calloc(1, sizeof *c);
	assert_non_null(c);
	for (int64_t i = 0; i < HEADS * LENGTH * WIDTH; i++)
		for (int64_t t = 0; t < 3; t++)
			c->values[t][i] = (float)(sin((double)(7 * i + t)) * (t == 0 ? 3 : 1));
	for (int i = 0; i < 3; i++)
		c->in[i] = pe_tensor_dense(c->values[i], PE_F32, 4, vectors);
	c->tensors.q = &c->in[0];
	c->tensors.k = &c->in[1];
	c->tensors.v = &c->in[2];
	c->keys = keys;
	c->queries = queries;
	c->options.size = sizeof c->options;
	c->options.keys = keys;
	c->options.queries = queries;
	c->tensors.size = sizeof c->tensors;
	if (!encoder)
		return c;
	pe_params *params = NULL;
	pe_encoding_options options = {.size = sizeof options, .queries = queries};
	assert_int_equal(pe_params_create(ctx, encoder, &params), PE_OK);
	xt_set(params, "heads=2");
	xt_set(params, set);
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find(encoder), params, keys, &options, &c->e), PE_OK);
	pe_params_destroy(&params);
	return c;
}

static void free_call(struct call *c)
{
	pe_encoding_destroy(&c->e);
	pe_domain_destroy(&c->keys);
	pe_domain_destroy(&c->queries);
	free(c);
}

/* Both cores. */
static void agree(pe_context *ctx, struct call *c, pe_encoding *e)
{
	for (int core = PE_CORE_TILED; core <= PE_CORE_REFERENCE; core++) {
		pe_tensor out = pe_tensor_dense(c->out[core], PE_F64, 4, vectors);
		pe_tensor lse = pe_tensor_dense(c->lse[core], PE_F64, 3, vectors);
		c->tensors.out = &out;
		c->tensors.lse = &lse;
		c->options.core = (pe_core)core;
		assert_int_equal(pe_attend(ctx, &e, e ? 1 : 0, &c->options, &c->tensors), PE_OK);
	}
	for (int64_t i = 0; i < HEADS * LENGTH; i++) {
		double most = 0;
		for (int64_t k = i * WIDTH; k < (i + 1) * WIDTH; k++)
			most = fmax(most, fabs(c->out[PE_CORE_REFERENCE][k]));
		for (int64_t k = i * WIDTH; k < (i + 1) * WIDTH; k++)
			xt_close_f64(c->out[PE_CORE_TILED][k], c->out[PE_CORE_REFERENCE][k], 0, 2e-5 * most);
		xt_close_f64(c->lse[PE_CORE_TILED][i], c->lse[PE_CORE_REFERENCE][i], 0, 2e-5);
	}
}

static pe_domain *sequence(pe_context *ctx, double offset)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, LENGTH, offset, &domain), PE_OK);
	return domain;
}

/* Token i at first + step · i, or further by `far` where i % every is 1. */
static pe_domain *positions(pe_context *ctx, double first, double step, double far, int every)
{
	double x[LENGTH];
	int64_t n = LENGTH;
	pe_domain *domain;
	pe_tensor t = pe_tensor_dense(x, PE_F64, 1, &n);
	for (int i = 0; i < LENGTH; i++)
		x[i] = first + step * i + (i % every == 1 ? far : 0);
	assert_int_equal(pe_domain_positions(ctx, &t, 0, &domain), PE_OK);
	return domain;
}

static const double far[] = {1e6, -1e6, 3e7, 1e9, -1e9};
#define EACH_FAR(i) for (int i = 0; i < (int)(sizeof far / sizeof *far); i++)

static void test_offsets(void **state)
{
	EACH_FAR(i)
	{
		struct call *c =
			make_call(*state, sequence(*state, 0), sequence(*state, far[i] + 0.25), "alibi", "max_bias=4");
		agree(*state, c, c->e);
		c->options.softcap = 2;
		agree(*state, c, c->e);
		free_call(c);
	}
}

static void test_explicit_positions(void **state)
{
	EACH_FAR(i)
	{
		struct call *c = make_call(*state, positions(*state, 0, 0.7, 0, 2),
			positions(*state, far[i], -0.3, 0, 2), "alibi", "max_bias=4");
		agree(*state, c, c->e);
		c->options.softcap = 2;
		agree(*state, c, c->e);
		free_call(c);
	}
}

/* Some keys and queries far away, all in the same tiles; nearer keys before and after farther ones. */
static void test_some_far(void **state)
{
	EACH_FAR(i) for (int every = 2; every < 300; every += 97)
	{
		struct call *c = make_call(*state, positions(*state, 0, 0.5, far[i], every),
			positions(*state, 40, -0.25, far[i], 3), "alibi", "max_bias=4");
		agree(*state, c, c->e);
		free_call(c);
	}
}

static void steep_scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const double *slope = e->state;
	for (int64_t j = 0; j < cells->count; j++)
		bias[j] -= *slope *
			fabs(pe_domain_position(e->domain, 0, cells->key + j) -
				pe_domain_position(e->queries, 0, cells->query));
}

static const struct pe_encoder steep = {.table = {.name = "steep"}, .scores = steep_scores};

/* A table that reaches from near to far, and rows that see its far end alone. */
static void test_rows_that_see_far_keys_alone(void **state)
{
	static double slopes[] = {1, 3e4, 3e6};
	int64_t seen = 3, one = 1;
	pe_tensor lengths = pe_tensor_dense(&seen, PE_I64, 1, &one);
	for (int i = 0; i < 6; i++) {
		struct call *c = make_call(*state, sequence(*state, 0), sequence(*state, 0), NULL, NULL);
		pe_encoding e = {.ctx = *state,
			.encoder = &steep,
			.domain = c->keys,
			.queries = c->queries,
			.state = &slopes[i / 2],
			.relative = i % 2};
		c->tensors.key_lengths = &lengths;
		agree(*state, c, &e);
		c->tensors.key_lengths = NULL;
		agree(*state, c, &e);
		free_call(c);
	}
}

static void test_masks_and_sinks(void **state)
{
	static double mask[LENGTH * LENGTH];
	EACH_FAR(i)
	{
		double sinks[HEADS] = {far[i] + 1, far[i] - 1};
		pe_tensor m = pe_tensor_dense(mask, PE_F64, 2, (int64_t[]){LENGTH, LENGTH});
		pe_tensor s = pe_tensor_dense(sinks, PE_F64, 1, (int64_t[]){HEADS});
		struct call *c = make_call(*state, sequence(*state, 0), sequence(*state, 0), "t5", "");
		for (int64_t n = 0; n < LENGTH * LENGTH; n++)
			mask[n] = n % 11 == 3 ? -INFINITY : far[i] + 3 * sin((double)n);
		c->tensors.mask = &m;
		agree(*state, c, NULL);
		agree(*state, c, c->e);
		c->tensors.sinks = &s;
		agree(*state, c, NULL);
		agree(*state, c, c->e);
		free_call(c);
	}
}

/* Where an encoder maps scores of all heads, which are far then. */
static void test_mapped_heads(void **state)
{
	EACH_FAR(i)
	{
		struct call *c = make_call(*state, sequence(*state, 0), sequence(*state, far[i]), "dape",
			"over=alibi,direction=bidirectional");
		agree(*state, c, c->e);
		free_call(c);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_explicit_positions),
		cmocka_unit_test(test_some_far),
		cmocka_unit_test(test_rows_that_see_far_keys_alone),
		cmocka_unit_test(test_masks_and_sinks),
		cmocka_unit_test(test_mapped_heads),
	};
	return xt_run(argc, argv, tests) != 0;
}
