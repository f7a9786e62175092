/* SPDX-License-Identifier: BSD-2-Clause
 * Values that are not finite: both cores take each into every sum that sees it, however small its weight. And
 * sinks that are no scores. */
#include "xt.h"

#include <math.h>

#include "attention/plan.h"

enum { LENGTH = 500, WIDTH = 5, COUNT = LENGTH * WIDTH };

struct call {
	pe_domain *domain;
	pe_attention_options options;
	pe_attention_tensors tensors;
	pe_tensor in[3];
	float values[3][COUNT];
	double out[2][COUNT], lse[2][LENGTH];
	pe_encoding encodings[2], *list[2];
	double slope;
};

static const int64_t vectors[] = {1, 1, LENGTH, WIDTH};

static double distance(const pe_encoding *e, const struct pe_cells *cells, int64_t j)
{
	return fabs(
		pe_domain_position(e->domain, 0, cells->key + j) - pe_domain_position(e->queries, 0, cells->query));
}

static void steep_scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	for (int64_t j = 0; j < cells->count; j++)
		bias[j] -= *(const double *)e->state * distance(e, cells, j);
}

/* Some of them negative, most of them 0. */
static void some_after(const pe_encoding *e, const struct pe_cells *cells, double *added)
{
	for (int64_t j = 0; j < cells->count; j++)
		added[j] += fmax(0, 10 - distance(e, cells, j)) * (cells->key + j < 200 ? 0.1 : -0.1);
}

static const struct pe_encoder makers[] = {
	{.table = {.name = "steep"}, .scores = steep_scores},
	{.table = {.name = "after"}, .weights_after = some_after},
};

static struct call *make_call(pe_context *ctx, double slope, bool relative)
{
	struct call *c = calloc(1, sizeof *c);
	assert_non_null(c);
	assert_int_equal(pe_domain_sequence(ctx, LENGTH, 0, &c->domain), PE_OK);
	for (int t = 0; t < 3; t++) {
		for (int i = 0; i < COUNT; i++)
			c->values[t][i] = (float)sin((double)(7 * i + t));
		c->in[t] = pe_tensor_dense(c->values[t], PE_F32, 4, vectors);
	}
	c->slope = slope;
	for (int i = 0; i < 2; i++) {
		c->encodings[i] = (pe_encoding){.ctx = ctx,
			.encoder = &makers[i],
			.domain = c->domain,
			.queries = c->domain,
			.state = &c->slope,
			.relative = relative && i == 0};
		c->list[i] = &c->encodings[i];
	}
	c->values[2][0] = NAN;
	c->values[2][250 * WIDTH + 1] = INFINITY;
	c->values[2][260 * WIDTH + 2] = -INFINITY;
	c->values[2][130 * WIDTH + 3] = INFINITY;
	c->values[2][490 * WIDTH + 3] = -INFINITY;
	c->options.size = sizeof c->options;
	c->tensors =
		(pe_attention_tensors){.size = sizeof c->tensors, .q = &c->in[0], .k = &c->in[1], .v = &c->in[2]};
	return c;
}

static void free_call(struct call *c)
{
	pe_domain_destroy(&c->domain);
	free(c);
}

static pe_status run(pe_context *ctx, struct call *c, pe_core core, int64_t count)
{
	pe_tensor out = pe_tensor_dense(c->out[core], PE_F64, 4, vectors);
	pe_tensor lse = pe_tensor_dense(c->lse[core], PE_F64, 3, vectors);
	c->tensors.out = &out;
	c->tensors.lse = &lse;
	c->options.core = core;
	return pe_attend(ctx, c->list, count, &c->options, &c->tensors);
}

static void agree(pe_context *ctx, struct call *c, int64_t count)
{
	assert_int_equal(run(ctx, c, PE_CORE_REFERENCE, count), PE_OK);
	assert_int_equal(run(ctx, c, PE_CORE_TILED, count), PE_OK);
	for (int i = 0; i < COUNT; i++)
		xt_close_f64(c->out[PE_CORE_TILED][i], c->out[PE_CORE_REFERENCE][i], 0, 3e-5);
}

/* Weights that f32, and double too, round to 0; tiles that could be left out. */
static void test_values(void **state)
{
	static const double slopes[] = {0, 0.3, 2, 100};
	for (int i = 0; i < 16; i++) {
		struct call *c = make_call(*state, slopes[i % 4], i % 8 > 3);
		c->options.causal = i > 7;
		agree(*state, c, 1);
		int seen_from[] = {0, 250, 260, 130, 0};
		for (int row = 0; row < LENGTH; row++)
			for (int k = 0; k < WIDTH; k++) {
				double x = c->out[0][row * WIDTH + k];
				bool sees = k < 4 && (!c->options.causal || row >= seen_from[k]);
				bool both = k == 3 && (!c->options.causal || row >= 490);
				assert_true(!sees        ? isfinite(x)
						: k == 0 || both ? isnan(x)
										 : isinf(x) && (x > 0) == (k != 2));
			}
		agree(*state, c, 2);
		free_call(c);
	}
}

/* Behind the lengths nothing is seen. */
static void test_hidden_values(void **state)
{
	int64_t length = 120, one = 1;
	pe_tensor lengths = pe_tensor_dense(&length, PE_I64, 1, &one);
	struct call *c = make_call(*state, 1, true);
	c->values[2][0] = 0;
	c->tensors.key_lengths = &lengths;
	agree(*state, c, 1);
	for (int i = 0; i < COUNT; i++)
		assert_true(isfinite(c->out[0][i]));
	free_call(c);
}

static void test_sinks(void **state)
{
	int64_t one = 1;
	double sink = -INFINITY;
	pe_tensor sinks = pe_tensor_dense(&sink, PE_F64, 1, &one);
	struct call *c = make_call(*state, 1, true);
	double without[LENGTH];
	agree(*state, c, 1);
	for (int i = 0; i < LENGTH; i++)
		without[i] = c->lse[0][i];
	c->tensors.sinks = &sinks;
	agree(*state, c, 1);
	for (int i = 0; i < LENGTH; i++)
		assert_true(c->lse[0][i] == without[i]);
	for (int core = PE_CORE_TILED; core <= PE_CORE_REFERENCE; core++) {
		sink = NAN;
		xt_fails(*state, run(*state, c, (pe_core)core, 1), PE_ERR_RANGE, "sinks[0] is nan");
		sink = INFINITY;
		xt_fails(*state, run(*state, c, (pe_core)core, 1), PE_ERR_RANGE, "sinks[0] is inf");
	}
	free_call(c);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_hidden_values),
		cmocka_unit_test(test_sinks),
	};
	return xt_run(argc, argv, tests) != 0;
}
