/* SPDX-License-Identifier: BSD-2-Clause
 * Linear attention against its weights written out, pair by pair. */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor.h"
#include "xt_attend.h"
#include "xt_rotation.h"

enum { BATCH = 2, HEADS = 4, KEY_HEADS = 2, QUERIES = 7, KEYS = 9, WIDTH = 6, VALUES = 5 };

/* Dense doubles of one call, and what it gave. */
struct call {
	int64_t queries, keys, width;
	double q[BATCH * HEADS * KEYS * WIDTH], k[BATCH * KEY_HEADS * KEYS * WIDTH];
	double v[BATCH * KEY_HEADS * KEYS * VALUES];
	double out[BATCH * HEADS * KEYS * VALUES], lse[BATCH * HEADS * KEYS];
	double mask[BATCH * HEADS * KEYS]; /* added to the log of the weight; of keys alone */
	double query_at[BATCH * KEYS], key_at[BATCH * KEYS];
	bool causal;
};

static struct call *make_call(int64_t queries, int64_t keys, bool causal)
{
	struct call *c = calloc(1, sizeof *c);
	*c = (struct call){.queries = queries, .keys = keys, .width = WIDTH, .causal = causal};
	xt_numbers(c->q, BATCH * HEADS * KEYS * WIDTH);
	xt_numbers(c->k, BATCH * KEY_HEADS * KEYS * WIDTH);
	xt_numbers(c->v, BATCH * KEY_HEADS * KEYS * VALUES);
	for (int i = 0; i < BATCH * HEADS * KEYS * WIDTH; i++)
		c->q[i] *= 3;
	for (int b = 0; b < BATCH; b++) {
		for (int64_t i = 0; i < queries; i++)
			c->query_at[b * queries + i] = (double)(keys - queries + i);
		for (int64_t j = 0; j < keys; j++)
			c->key_at[b * keys + j] = (double)j;
	}
	return c;
}

/* elu(x) + 1 */
static double phi(double x)
{
	return (x > 0 ? x : expm1(x)) + 1;
}

static double weight_of(const struct call *c, int b, int h, int64_t i, int64_t j)
{
	const double *q = c->q + ((b * HEADS + h) * c->queries + i) * c->width;
	const double *k = c->k + ((b * KEY_HEADS + h / 2) * c->keys + j) * c->width;
	double sum = 0;
	if (c->causal && c->key_at[b * c->keys + j] > c->query_at[b * c->queries + i])
		return 0;
	for (int64_t d = 0; d < c->width; d++)
		sum += phi(q[d]) * phi(k[d]);
	double mask = c->mask[(b * HEADS + h) * c->keys + j];
	return isinf(mask) ? 0 : sum * exp(mask);
}

/* O(queries × keys), straight from the definition. */
static void check_row(const struct call *c, int b, int h, int64_t i, double tolerance)
{
	double sum = 0, want[VALUES] = {0};
	int64_t row = (b * HEADS + h) * c->queries + i;
	for (int64_t j = 0; j < c->keys; j++) {
		double weight = weight_of(c, b, h, i, j);
		sum += weight;
		for (int d = 0; weight > 0 && d < VALUES; d++)
			want[d] += weight * c->v[((b * KEY_HEADS + h / 2) * c->keys + j) * VALUES + d];
	}
	for (int d = 0; d < VALUES; d++)
		xt_close_f64(c->out[row * VALUES + d], sum > 0 ? want[d] / sum : 0, 0, tolerance);
	xt_close_f64(c->lse[row], sum > 0 ? log(sum) : -INFINITY, 0, tolerance);
}

static void check_all(const struct call *c, double tolerance)
{
	for (int b = 0; b < BATCH; b++)
		for (int h = 0; h < HEADS; h++)
			for (int64_t i = 0; i < c->queries; i++)
				check_row(c, b, h, i, tolerance);
}

struct views {
	pe_tensor q, k, v, out, lse;
	pe_attention_tensors t;
};

static void view(struct call *c, struct views *s)
{
	int64_t n = c->queries, m = c->keys;
	s->q = pe_tensor_dense(c->q, PE_F64, 4, (int64_t[]){BATCH, HEADS, n, c->width});
	s->k = pe_tensor_dense(c->k, PE_F64, 4, (int64_t[]){BATCH, KEY_HEADS, m, c->width});
	s->v = pe_tensor_dense(c->v, PE_F64, 4, (int64_t[]){BATCH, KEY_HEADS, m, VALUES});
	s->out = pe_tensor_dense(c->out, PE_F64, 4, (int64_t[]){BATCH, HEADS, n, VALUES});
	s->lse = pe_tensor_dense(c->lse, PE_F64, 3, (int64_t[]){BATCH, HEADS, n});
	s->t = (pe_attention_tensors){
		sizeof s->t, .q = &s->q, .k = &s->k, .v = &s->v, .out = &s->out, .lse = &s->lse};
}

static pe_attention_options options_of(const struct call *c)
{
	return (pe_attention_options){
		.size = sizeof(pe_attention_options), .core = PE_CORE_LINEAR, .causal = c->causal};
}

static void run(pe_context *ctx, const struct call *c, const struct views *s)
{
	pe_attention_options o = options_of(c);
	if (pe_attend(ctx, NULL, 0, &o, &s->t) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
}

/* ---- tests ----------------------------------------------------------------------------- */

static void follows_its_definition(void **state)
{
	static const int64_t sizes[][2] = {{7, 9}, {9, 9}, {1, 9}, {9, 4}, {1, 1}, {0, 9}, {5, 0}, {0, 0}};
	for (int causal = 0; causal < 2; causal++)
		for (int s = 0; s < 8; s++) {
			struct call *c = make_call(sizes[s][0], sizes[s][1], causal);
			struct views views;
			view(c, &views);
			run(*state, c, &views);
			check_all(c, 1e-13);
			free(c);
		}
}

/* One query at the end of all keys is the last row of the whole. */
static void decodes_as_it_prefills(void **state)
{
	struct call *all = make_call(KEYS, KEYS, true), *one = make_call(1, KEYS, true);
	struct views a, b;
	view(all, &a);
	view(one, &b);
	for (int r = 0; r < BATCH * HEADS; r++)
		memcpy(one->q + r * WIDTH, all->q + (r * KEYS + KEYS - 1) * WIDTH, WIDTH * sizeof(double));
	run(*state, all, &a);
	run(*state, one, &b);
	for (int r = 0; r < BATCH * HEADS; r++) {
		assert_memory_equal(
			one->out + r * VALUES, all->out + (r * KEYS + KEYS - 1) * VALUES, VALUES * sizeof(double));
		assert_true(one->lse[r] == all->lse[r * KEYS + KEYS - 1]);
	}
	free(all);
	free(one);
}

/* Positions decide what is before what: any order, ties, differing between batches. */
static void sees_by_position(void **state)
{
	pe_context *ctx = *state;
	struct call *c = make_call(QUERIES, KEYS, true);
	struct views s;
	static const double keys[] = {3, -1.5, 8, 3, 0, 1e6, 2.25, -7, 4}, queries[] = {3, 2.5, -8, 1e7, 0, 3, 4};
	pe_domain *key_domain, *query_domain;
	for (int i = 0; i < BATCH * KEYS; i++)
		c->key_at[i] = keys[(i * 4) % 9] + (i >= KEYS ? 0.5 : 0);
	for (int i = 0; i < BATCH * QUERIES; i++)
		c->query_at[i] = queries[(i * 3) % 7];
	pe_tensor key_at = pe_tensor_dense(c->key_at, PE_F64, 2, (int64_t[]){BATCH, KEYS});
	pe_tensor query_at = pe_tensor_dense(c->query_at, PE_F64, 2, (int64_t[]){BATCH, QUERIES});
	assert_int_equal(pe_domain_positions(ctx, &key_at, 0, &key_domain), PE_OK);
	assert_int_equal(pe_domain_positions(ctx, &query_at, 0, &query_domain), PE_OK);
	view(c, &s);
	pe_attention_options o = options_of(c);
	o.keys = key_domain;
	o.queries = query_domain;
	assert_int_equal(pe_attend(ctx, NULL, 0, &o, &s.t), PE_OK);
	check_all(c, 1e-13);
	pe_domain_destroy(&key_domain);
	pe_domain_destroy(&query_domain);
	free(c);
}

/* Float masks of keys, with ever greater values, values too great for exp, and hidden keys that hold NaN. */
static void takes_masks_of_keys(void **state)
{
	for (int causal = 0; causal < 2; causal++) {
		struct call *c = make_call(QUERIES, KEYS, causal);
		struct views s;
		view(c, &s);
		for (int i = 0; i < BATCH * HEADS * KEYS; i++)
			c->mask[i] = i % 5 == 0 ? -INFINITY : 0.75 * ((i * 7) % 11) - 3;
		for (int h = 0; h < HEADS; h++)
			c->mask[h * KEYS + 1] = -INFINITY;
		for (int d = 0; d < WIDTH; d++)
			c->k[KEYS * WIDTH + WIDTH + d] = NAN;
		c->v[VALUES + 1] = NAN;
		pe_tensor mask = pe_tensor_dense(c->mask, PE_F64, 4, (int64_t[]){BATCH, HEADS, 1, KEYS});
		s.t.mask = &mask;
		run(*state, c, &s);
		check_all(c, 1e-13);
		free(c);
	}
}

static void takes_a_mask_beyond_the_range_of_exp(void **state)
{
	struct call *c = make_call(QUERIES, KEYS, false), *plain = make_call(QUERIES, KEYS, false);
	struct views s, p;
	double added[KEYS];
	for (int j = 0; j < KEYS; j++)
		added[j] = -1e9;
	view(c, &s);
	view(plain, &p);
	pe_tensor mask = pe_tensor_dense(added, PE_F64, 1, (int64_t[]){KEYS});
	s.t.mask = &mask;
	run(*state, c, &s);
	run(*state, plain, &p);
	for (int i = 0; i < BATCH * HEADS * QUERIES * VALUES; i++)
		assert_true(c->out[i] == plain->out[i]);
	free(c);
	free(plain);
}

static void takes_lengths_and_bools(void **state)
{
	struct call *c = make_call(QUERIES, KEYS, false);
	struct views s;
	view(c, &s);
	int64_t counts[BATCH] = {4, 0};
	unsigned char seen[KEYS] = {0, 1, 1, 1, 0, 1, 1, 1, 1};
	pe_tensor lengths = pe_tensor_dense(counts, PE_I64, 1, (int64_t[]){BATCH});
	pe_tensor mask = pe_tensor_dense(seen, PE_BOOL, 2, (int64_t[]){1, KEYS});
	s.t.key_lengths = &lengths;
	s.t.mask = &mask;
	for (int i = 0; i < BATCH * HEADS * KEYS; i++)
		if (i % KEYS >= counts[i / (HEADS * KEYS)] || !seen[i % KEYS])
			c->mask[i] = -INFINITY;
	c->v[5 * VALUES] = NAN;
	c->k[(KEY_HEADS * KEYS + 2) * WIDTH] = NAN;
	run(*state, c, &s);
	check_all(c, 1e-13);
	for (int i = HEADS * QUERIES * VALUES; i < BATCH * HEADS * QUERIES * VALUES; i++)
		assert_true(c->out[i] == 0);
	free(c);
}

/* φ and the sums in double whatever the storage: exact up to the rounding of what was stored. */
static void reads_and_writes_any_float_type(void **state)
{
	static const pe_dtype types[] = {PE_F32, PE_F16, PE_BF16};
	static const double close[] = {1e-6, 2e-3, 1.5e-2};
	for (int n = 0; n < 3; n++) {
		struct call *c = make_call(QUERIES, KEYS, true);
		struct views s, stored;
		char memory[4][4 * BATCH * HEADS * KEYS * WIDTH];
		view(c, &s);
		stored = s;
		stored.t = (pe_attention_tensors){sizeof stored.t, .q = &stored.q, .k = &stored.k, .v = &stored.v,
			.out = &stored.out, .lse = &s.lse};
		pe_tensor *from[] = {&s.q, &s.k, &s.v, &s.out},
				  *to[] = {&stored.q, &stored.k, &stored.v, &stored.out};
		for (int i = 0; i < 4; i++) {
			int64_t count = pe_tensor_count(from[i]);
			*to[i] = pe_tensor_dense(memory[i], types[n], 4, from[i]->shape);
			pe_store_f64(memory[i], types[n], 1, from[i]->data, 1, count);
			pe_load_f64(from[i]->data, memory[i], types[n], 1, count);
		}
		run(*state, c, &stored);
		pe_load_f64(c->out, memory[3], types[n], 1, pe_tensor_count(&s.out));
		check_all(c, close[n]);
		free(c);
	}
}

/* (batch, length, heads, width) memory, seen as (batch, heads, length, width). */
static void follows_strides(void **state)
{
	struct call *c = make_call(QUERIES, KEYS, true), *other = make_call(QUERIES, KEYS, true);
	struct views s, o;
	view(c, &s);
	view(other, &o);
	run(*state, c, &s);
	for (int b = 0; b < BATCH; b++)
		for (int h = 0; h < HEADS; h++)
			for (int i = 0; i < QUERIES; i++)
				for (int d = 0; d < WIDTH; d++)
					other->q[((b * QUERIES + i) * HEADS + h) * WIDTH + d] =
						c->q[((b * HEADS + h) * QUERIES + i) * WIDTH + d];
	memcpy(o.q.strides, (int64_t[]){QUERIES * HEADS * WIDTH, WIDTH, HEADS * WIDTH, 1}, 4 * sizeof(int64_t));
	memcpy(
		o.out.strides, (int64_t[]){QUERIES * HEADS * VALUES, VALUES, HEADS * VALUES, 1}, 4 * sizeof(int64_t));
	run(*state, other, &o);
	for (int b = 0; b < BATCH; b++)
		for (int h = 0; h < HEADS; h++)
			for (int i = 0; i < QUERIES; i++)
				assert_memory_equal(other->out + ((b * QUERIES + i) * HEADS + h) * VALUES,
					c->out + ((b * HEADS + h) * QUERIES + i) * VALUES, VALUES * sizeof(double));
	free(c);
	free(other);
}

/* RoPE turns φ(q) and φ(k) in the numerator alone. */
static void turns_features(void **state)
{
	pe_context *ctx = *state;
	struct call *c = make_call(KEYS, KEYS, true), *turned = make_call(KEYS, KEYS, true);
	struct xt_layer layer;
	struct views s, f;
	xt_layer_make(ctx, (const char *const[]){"rope:head_dim=6", NULL}, NULL, KEYS, KEYS, &layer);
	view(c, &s);
	view(turned, &f);
	pe_attention_options o = options_of(c);
	assert_int_equal(pe_attend(ctx, layer.list, 1, &o, &s.t), PE_OK);
	for (int i = 0; i < BATCH * HEADS * KEYS * WIDTH; i++)
		turned->q[i] = phi(turned->q[i]);
	for (int i = 0; i < BATCH * KEY_HEADS * KEYS * WIDTH; i++)
		turned->k[i] = phi(turned->k[i]);
	assert_int_equal(pe_encoding_rotate(layer.list[0], PE_QUERIES, &f.q, &f.q), PE_OK);
	assert_int_equal(pe_encoding_rotate(layer.list[0], PE_KEYS, &f.k, &f.k), PE_OK);
	for (int row = 0; row < BATCH * HEADS * KEYS; row++) {
		double norm = 0, want[VALUES] = {0};
		int64_t b = row / KEYS / HEADS, h = row / KEYS % HEADS, i = row % KEYS;
		for (int64_t j = 0; j <= i; j++) {
			int64_t key = ((b * KEY_HEADS + h / 2) * KEYS + j);
			double weight = 0;
			for (int d = 0; d < WIDTH; d++)
				weight += turned->q[row * WIDTH + d] * turned->k[key * WIDTH + d];
			for (int d = 0; d < VALUES; d++)
				want[d] += weight * c->v[key * VALUES + d];
			norm += weight_of(c, (int)b, (int)h, i, j);
		}
		for (int d = 0; d < VALUES; d++)
			xt_close_f64(c->out[row * VALUES + d], want[d] / norm, 0, 1e-13);
		xt_close_f64(c->lse[row], log(norm), 0, 1e-13);
	}
	xt_layer_free(&layer);
	free(c);
	free(turned);
}

/* So that all positions may shift by the same amount. */
static void depends_on_differences_of_positions(void **state)
{
	pe_context *ctx = *state;
	struct call *here = make_call(KEYS, KEYS, false), *there = make_call(KEYS, KEYS, false);
	double at[2][KEYS];
	for (int k = 0; k < 2; k++) {
		struct call *c = k ? there : here;
		pe_encoding *e;
		pe_domain *domain;
		pe_params *params;
		struct views s;
		for (int i = 0; i < KEYS; i++)
			at[k][i] = i + 1000.5 * k;
		pe_tensor positions = pe_tensor_dense(at[k], PE_F64, 1, (int64_t[]){KEYS});
		assert_int_equal(pe_domain_positions(ctx, &positions, 0, &domain), PE_OK);
		assert_int_equal(pe_params_create(ctx, "rope", &params), PE_OK);
		xt_set(params, "head_dim=6");
		assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("rope"), params, domain, NULL, &e), PE_OK);
		view(c, &s);
		pe_attention_options o = options_of(c);
		assert_int_equal(pe_attend(ctx, &e, 1, &o, &s.t), PE_OK);
		pe_encoding_destroy(&e);
		pe_params_destroy(&params);
		pe_domain_destroy(&domain);
	}
	for (int i = 0; i < BATCH * HEADS * KEYS * VALUES; i++)
		xt_close_f64(there->out[i], here->out[i], 0, 1e-11);
	free(here);
	free(there);
}

/* What is no rotation of pairs comes before φ: more tokens than are mapped at once. */
static void maps_all_tokens(void **state)
{
	enum { LONG = 700, SIZE = LONG * WIDTH };
	pe_context *ctx = *state;
	double *x = malloc(5 * SIZE * sizeof *x), *wide = x + SIZE, *want = x + 3 * SIZE, *out = x + 4 * SIZE;
	int64_t shape[] = {1, 1, LONG, WIDTH};
	struct xt_layer layer;
	xt_numbers(x, SIZE);
	pe_tensor q = pe_tensor_dense(x, PE_F64, 4, shape);
	pe_tensor r = pe_tensor_dense(wide, PE_F64, 4, (int64_t[]){1, 1, LONG, 2 * WIDTH});
	pe_tensor a = pe_tensor_dense(want, PE_F64, 4, shape), b = pe_tensor_dense(out, PE_F64, 4, shape);
	xt_layer_make(ctx, (const char *const[]){"pope:head_dim=6,heads=1", NULL}, NULL, LONG, LONG, &layer);
	assert_int_equal(pe_encoding_rotate(layer.list[0], PE_KEYS, &q, &r), PE_OK);
	pe_attention_options o = {sizeof o, .core = PE_CORE_LINEAR, .causal = 1};
	pe_attention_tensors t = {sizeof t, .q = &r, .k = &r, .v = &q, .out = &a};
	assert_int_equal(pe_attend(ctx, NULL, 0, &o, &t), PE_OK);
	t = (pe_attention_tensors){sizeof t, .q = &q, .k = &q, .v = &q, .out = &b};
	assert_int_equal(pe_attend(ctx, layer.list, 1, &o, &t), PE_OK);
	for (int i = 0; i < SIZE; i++)
		xt_close_f64(out[i], want[i], 0, 1e-13);
	xt_layer_free(&layer);
	free(x);
}

static void gives_the_same_bits_at_any_thread_count(void **state)
{
	struct call *one = make_call(QUERIES, KEYS, true);
	struct views a, b;
	view(one, &a);
	run(*state, one, &a);
	for (int32_t threads = 2; threads <= 8; threads *= 2) {
		struct call *many = make_call(QUERIES, KEYS, true);
		pe_context *ctx = xt_context(threads, NULL);
		view(many, &b);
		run(ctx, many, &b);
		assert_memory_equal(one->out, many->out, sizeof one->out);
		assert_memory_equal(one->lse, many->lse, sizeof one->lse);
		pe_context_destroy(&ctx);
		free(many);
	}
	free(one);
}

/* ---- refusals -------------------------------------------------------------------------- */

static void refuses_what_looks_at_pairs(void **state)
{
	pe_context *ctx = *state;
	static const struct {
		const char *with, *text;
	} cases[] = {
		{"alibi:heads=4", "alibi: it acts at the site scores, on each pair of a query and a key"},
		{"t5:heads=4", "t5: it acts at the site scores"},
		{"shaw:head_dim=6,values=0", "shaw: it acts at the site content"},
		{"erpe:heads=4", "erpe: it acts at the site weights"},
		{"kerple:heads=4", "kerple: it acts at the site scores"},
		{"dape:heads=4", "dape: it acts at the site"},
	};
	struct call *c = make_call(QUERIES, KEYS, true);
	struct views s;
	view(c, &s);
	pe_attention_options o = options_of(c);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct xt_layer layer;
		xt_layer_make(ctx, (const char *const[]){cases[i].with, NULL}, NULL, QUERIES, KEYS, &layer);
		xt_fails(ctx, pe_attend(ctx, layer.list, 1, &o, &s.t), PE_ERR_UNSUPPORTED, cases[i].text);
		xt_layer_free(&layer);
	}
	free(c);
}

/* What turns φ(q) and φ(k) cannot come before what maps q and k. */
static void refuses_maps_after_turns(void **state)
{
	pe_context *ctx = *state;
	struct call *c = make_call(QUERIES, KEYS, true);
	struct views s;
	struct xt_layer layer;
	view(c, &s);
	pe_attention_options o = options_of(c);
	static const char *const with[] = {
		"rope:head_dim=6", "spe:head_dim=6,heads=2,realizations=2,gated=0", NULL};
	s.q.shape[1] = s.k.shape[1]; /* spe has as many heads of keys as of queries */
	s.out.shape[1] = s.lse.shape[1] = s.k.shape[1];
	xt_layer_make(ctx, with, NULL, QUERIES, KEYS, &layer);
	xt_fails(ctx, pe_attend(ctx, layer.list, 2, &o, &s.t), PE_ERR_UNSUPPORTED, "name it first");
	xt_layer_free(&layer);
	free(c);
}

static void refuses_options_without_meaning(void **state)
{
	pe_context *ctx = *state;
	struct call *c = make_call(QUERIES, KEYS, false);
	struct views s;
	view(c, &s);
	pe_attention_options o[4];
	for (int i = 0; i < 4; i++)
		o[i] = options_of(c);
	o[0].windowed = 1;
	o[0].window_left = 2;
	o[1].softcap = 30;
	o[2].scale = 0.5;
	static const char *const texts[] = {"cannot have a window", "cannot have a softcap",
		"cannot have a scale, which its normaliser would take out again"};
	for (int i = 0; i < 3; i++)
		xt_fails(ctx, pe_attend(ctx, NULL, 0, &o[i], &s.t), PE_ERR_UNSUPPORTED, texts[i]);
	double numbers[QUERIES * KEYS] = {0};
	pe_tensor sinks = pe_tensor_dense(numbers, PE_F64, 1, (int64_t[]){HEADS});
	s.t.sinks = &sinks;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &o[3], &s.t), PE_ERR_UNSUPPORTED, "cannot have sinks");
	s.t.sinks = NULL;
	pe_tensor mask = pe_tensor_dense(numbers, PE_F64, 2, (int64_t[]){QUERIES, KEYS});
	s.t.mask = &mask;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &o[3], &s.t), PE_ERR_UNSUPPORTED,
		"takes a mask of keys, (…, 1, Lk), not one of queries and keys");
	mask.strides[0] = 0;
	assert_int_equal(pe_attend(ctx, NULL, 0, &o[3], &s.t), PE_OK);
	check_all(c, 1e-13);
	free(c);
}

static void survives_lack_of_memory(void **state)
{
	pe_context *ctx = *state;
	struct call *c = make_call(QUERIES, KEYS, true);
	struct views v;
	view(c, &v);
	pe_attention_options o = options_of(c);
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_attend(ctx, NULL, 0, &o, &v.t));
	}
	check_all(c, 1e-13);
	free(c);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_its_definition),
		cmocka_unit_test(decodes_as_it_prefills),
		cmocka_unit_test(sees_by_position),
		cmocka_unit_test(takes_masks_of_keys),
		cmocka_unit_test(takes_a_mask_beyond_the_range_of_exp),
		cmocka_unit_test(takes_lengths_and_bools),
		cmocka_unit_test(reads_and_writes_any_float_type),
		cmocka_unit_test(follows_strides),
		cmocka_unit_test(turns_features),
		cmocka_unit_test(depends_on_differences_of_positions),
		cmocka_unit_test(maps_all_tokens),
		cmocka_unit_test(gives_the_same_bits_at_any_thread_count),
		cmocka_unit_test(refuses_what_looks_at_pairs),
		cmocka_unit_test(refuses_maps_after_turns),
		cmocka_unit_test(refuses_options_without_meaning),
		cmocka_unit_test(survives_lack_of_memory),
	};
	return xt_run(argc, argv, tests);
}
