/* SPDX-License-Identifier: BSD-2-Clause
 * Biases of places of a grid in the tiled core against the definition: all sizes around a tile's, prefix
 * tokens, last queries, grids of different sizes, masks, several encodings, several batches a task. */
#include "xt.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "attention/plan.h"
#include "kernels/kernels.h"
#include "rng.h"

#define HEADS 3
#define WIDTH 5
#define MOST 800 /* tokens */

/* ---- an encoder of our own ---------------------------------------------------------------- */

struct made {
	uint64_t seed;
	double size, base;
	atomic_llong cells; /* that were asked for */
};

/* A place of a grid; y < 0: a prefix token. */
struct place {
	int64_t y, x;
};

static struct place place_of(const pe_domain *domain, int64_t token)
{
	int64_t at = domain->first + token - domain->prefix;
	return at < 0 ? (struct place){-1, 0} : (struct place){at / domain->width, at % domain->width};
}

static void made_scores(const pe_encoding *e, const struct pe_cells *c, double *bias)
{
	struct made *m = e->state;
	struct place q = place_of(e->queries, c->query);
	for (int64_t j = 0; j < c->count; j++) {
		struct place k = place_of(e->domain, c->key + j);
		uint64_t at = 0;
		if (q.y < 0 || k.y < 0)
			at = q.y >= 0 ? 1 : k.y >= 0 ? 2 : 3;
		else
			at = (uint64_t)((q.y - k.y + 1000) * 10000 + q.x - k.x + 1000);
		bias[j] += m->base + m->size * (2 * pe_rng_uniform(m->seed, (uint64_t)c->head, at) - 1);
	}
	atomic_fetch_add(&m->cells, c->count);
}

static const struct pe_encoder maker = {.table = {.name = "made"}, .scores = made_scores};

/* ---- calls -------------------------------------------------------------------------------- */

struct grids {
	int64_t batch, height, width, prefix;
	int64_t tail; /* so many last queries; 0: all */
	int64_t query_height, query_width;
};

struct call {
	pe_context *ctx;
	pe_domain *keys, *queries, *tail;
	struct made made[2];
	pe_encoding encodings[2], *list[2];
	pe_attention_options options;
	pe_attention_tensors tensors;
	pe_tensor q, k, v, mask;
	float *memory, *mask_values;
	double *out[2], *lse[2];
	int64_t rows;
};

static float *numbers(uint64_t seed, int64_t n)
{
	float *x = malloc((size_t)(n + 1) * sizeof *x);
	assert_non_null(x);
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)(2 * pe_rng_uniform(seed, 0, (uint64_t)i) - 1);
	return x;
}

static void make_encoding(struct call *c, int i, uint64_t seed, double size, double base)
{
	c->made[i].seed = seed;
	c->made[i].size = size;
	c->made[i].base = base;
	atomic_init(&c->made[i].cells, 0);
	c->encodings[i] = (pe_encoding){.ctx = c->ctx,
		.encoder = &maker,
		.domain = c->keys,
		.queries = c->queries,
		.state = &c->made[i],
		.heads = HEADS,
		.relative = true};
	c->list[i] = &c->encodings[i];
}

static struct call *make_call(pe_context *ctx, const struct grids *g)
{
	struct call *c = calloc(1, sizeof *c);
	assert_non_null(c);
	c->ctx = ctx;
	assert_int_equal(pe_domain_grid(ctx, 1, g->height, g->width, g->prefix, &c->keys), PE_OK);
	if (g->query_height > 0)
		assert_int_equal(
			pe_domain_grid(ctx, 1, g->query_height, g->query_width, g->prefix, &c->queries), PE_OK);
	else
		assert_int_equal(
			pe_domain_tail(ctx, c->keys, g->tail ? g->tail : c->keys->tokens, &c->queries), PE_OK);
	int64_t queries = c->queries->tokens, keys = c->keys->tokens;
	const int64_t q_shape[] = {g->batch, HEADS, queries, WIDTH}, k_shape[] = {g->batch, HEADS, keys, WIDTH};
	int64_t q_count = g->batch * HEADS * queries * WIDTH, k_count = g->batch * HEADS * keys * WIDTH;
	c->memory = numbers(3, q_count + 2 * k_count);
	c->q = pe_tensor_dense(c->memory, PE_F32, 4, q_shape);
	c->k = pe_tensor_dense(c->memory + q_count, PE_F32, 4, k_shape);
	c->v = pe_tensor_dense(c->memory + q_count + k_count, PE_F32, 4, k_shape);
	c->rows = g->batch * HEADS * queries;
	for (int i = 0; i < 2; i++) {
		c->out[i] = calloc((size_t)(c->rows * WIDTH + 1), sizeof(double));
		c->lse[i] = calloc((size_t)(c->rows + 1), sizeof(double));
		assert_true(c->out[i] && c->lse[i]);
	}
	c->options.size = sizeof c->options;
	c->tensors = (pe_attention_tensors){.size = sizeof c->tensors, .q = &c->q, .k = &c->k, .v = &c->v};
	make_encoding(c, 0, 7, 3, 0);
	make_encoding(c, 1, 8, 1, 0);
	return c;
}

static void free_call(struct call *c)
{
	pe_domain_destroy(&c->keys);
	pe_domain_destroy(&c->queries);
	free(c->memory);
	free(c->mask_values);
	for (int i = 0; i < 2; i++) {
		free(c->out[i]);
		free(c->lse[i]);
	}
	free(c);
}

static void run(struct call *c, pe_core core, int64_t encodings)
{
	pe_tensor out = pe_tensor_dense(c->out[core], PE_F64, 4, c->q.shape);
	pe_tensor lse = pe_tensor_dense(c->lse[core], PE_F64, 3, c->q.shape);
	c->tensors.out = &out;
	c->tensors.lse = &lse;
	c->options.core = core;
	pe_status status = pe_attend(c->ctx, c->list, encodings, &c->options, &c->tensors);
	if (status != PE_OK)
		fail_msg("%s", pe_context_message(c->ctx));
}

static void agree(struct call *c, int64_t encodings)
{
	run(c, PE_CORE_REFERENCE, encodings);
	run(c, PE_CORE_TILED, encodings);
	for (int64_t i = 0; i < c->rows * WIDTH; i++)
		xt_close_f64(c->out[PE_CORE_TILED][i], c->out[PE_CORE_REFERENCE][i], 0, 2e-5);
	for (int64_t i = 0; i < c->rows; i++)
		xt_close_f64(c->lse[PE_CORE_TILED][i], c->lse[PE_CORE_REFERENCE][i], 0, 2e-5);
}

static const struct grids cases[] = {{1, 1, 1, 0, 0, 0, 0}, {1, 1, 1, 2, 0, 0, 0}, {2, 1, 40, 0, 0, 0, 0},
	{2, 70, 1, 1, 0, 0, 0}, {1, 65, 2, 0, 0, 0, 0}, {5, 7, 7, 0, 0, 0, 0}, {30, 7, 7, 1, 0, 0, 0},
	{1, 14, 14, 1, 0, 0, 0}, {1, 3, 130, 35, 0, 0, 0}, {1, 9, 33, 0, 0, 0, 0}, {2, 12, 16, 3, 0, 0, 0},
	{1, 9, 20, 1, 1, 0, 0}, {1, 9, 20, 1, 33, 0, 0}, {1, 9, 20, 1, 181, 0, 0}, {1, 4, 6, 0, 7, 0, 0},
	{1, 5, 4, 2, 0, 17, 15}, {2, 13, 11, 1, 0, 4, 3}, {1, 3, 9, 0, 0, 8, 2}};

/* With every set, without a mask, with one that adds, one that hides, and with softcap. */
static void on_grids(pe_context *ctx)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct call *c = make_call(ctx, &cases[i]);
		int64_t queries = c->queries->tokens, keys = c->keys->tokens;
		agree(c, 1);
		agree(c, 2);
		c->options.softcap = 0.5;
		agree(c, 1);
		c->options.softcap = 0;
		c->options.causal = 1;
		agree(c, 1);
		c->options.causal = 0;
		c->mask_values = numbers(4, queries * keys);
		for (int64_t n = 0; n < queries * keys; n++)
			c->mask_values[n] = n % 5 == 3 ? -INFINITY : c->mask_values[n];
		c->mask = pe_tensor_dense(c->mask_values, PE_F32, 2, (int64_t[]){queries, keys});
		c->tensors.mask = &c->mask;
		agree(c, 1);
		free_call(c);
	}
}

static void test_grids(void **state)
{
	(void)state;
	char names[64];
	strcpy(names, pe_kernels_available());
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		pe_context *ctx = xt_context(1, name);
		on_grids(ctx);
		pe_context_destroy(&ctx);
	}
}

/* A table is made from some rows, not from all. */
static void test_some_rows_tell_all(void **state)
{
	struct call *c = make_call(*state, &(struct grids){4, 20, 20, 1, 0, 0, 0});
	run(c, PE_CORE_TILED, 1);
	assert_true(atomic_load(&c->made[0].cells) <= HEADS * (10 * 400 + 3));
	free_call(c);
}

/* An encoding of another grid is asked row by row, and so is one that follows from no offset. */
static void test_other_encodings(void **state)
{
	struct call *c = make_call(*state, &(struct grids){2, 6, 8, 1, 0, 0, 0});
	pe_domain *other;
	assert_int_equal(pe_domain_grid(*state, 1, 8, 6, 1, &other), PE_OK);
	c->encodings[1].domain = c->encodings[1].queries = other;
	agree(c, 2);
	c->encodings[1].domain = c->encodings[1].queries = c->keys;
	c->encodings[1].relative = false;
	agree(c, 2);
	pe_domain_destroy(&other);
	free_call(c);
}

/* All biases are far from 0, some infinite. */
static void test_far_and_infinite_biases(void **state)
{
	static const double bases[] = {-1e9, 1e9, -INFINITY, NAN};
	for (int i = 0; i < 4; i++) {
		struct call *c = make_call(*state, &(struct grids){2, 6, 8, 1, 0, 0, 0});
		c->made[0].base = bases[i];
		agree(c, 1);
		free_call(c);
	}
}

static void test_threads(void **state)
{
	struct call *one = make_call(*state, &(struct grids){30, 7, 7, 1, 0, 0, 0});
	run(one, PE_CORE_TILED, 1);
	for (int32_t threads = 2; threads <= 4; threads += 2) {
		pe_context *ctx = xt_context(threads, NULL);
		struct call *more = make_call(ctx, &(struct grids){30, 7, 7, 1, 0, 0, 0});
		run(more, PE_CORE_TILED, 1);
		assert_memory_equal(one->out[0], more->out[0], (size_t)(one->rows * WIDTH) * sizeof(double));
		assert_memory_equal(one->lse[0], more->lse[0], (size_t)one->rows * sizeof(double));
		free_call(more);
		pe_context_destroy(&ctx);
	}
	free_call(one);
}

static void test_no_memory(void **state)
{
	struct call *c = make_call(*state, &(struct grids){3, 6, 8, 1, 0, 0, 0});
	pe_tensor out = pe_tensor_dense(c->out[0], PE_F64, 4, c->q.shape);
	c->tensors.out = &out;
	struct xt_shortage s = {.forever = true};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_attend(*state, c->list, 1, &c->options, &c->tensors));
	}
	free_call(c);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grids),
		cmocka_unit_test(test_some_rows_tell_all),
		cmocka_unit_test(test_other_encodings),
		cmocka_unit_test(test_far_and_infinite_biases),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_memory),
	};
	return xt_run(argc, argv, tests) != 0;
}
