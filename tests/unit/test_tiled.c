/* SPDX-License-Identifier: BSD-2-Clause
 * The tiled core against the definition: random calls of all sizes around a tile's, masks, layouts, types,
 * and encoders at every site, with every instruction set of this machine. */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attention/plan.h"
#include "kernels/kernels.h"
#include "rng.h"

/* ---- encoders of our own, which act at one site each -------------------------------------- */

#define HEADS 6
#define ROWS 9
#define MANY_ROWS 700
#define WIDEST 32

/* What a made-up encoding knows: tables of numbers, and whether it follows from key - query. */
struct made {
	bool relative, backward;
	int64_t rows, width, shift;
	pe_side side;
	double table[HEADS * MANY_ROWS * WIDEST], offset[HEADS * WIDEST];
	bool has_offset;
};

static double number(const pe_encoding *e, const struct pe_cells *c, int64_t j, int64_t salt)
{
	const struct made *m = e->state;
	int64_t distance = c->key + j - c->query + 5000;
	uint64_t at = (uint64_t)(m->relative ? distance : distance * 7919 + c->query * 31 + c->batch);
	return 2 * pe_rng_uniform(99, (uint64_t)(salt * 100 + c->head), at) - 1;
}

static void made_scores(const pe_encoding *e, const struct pe_cells *c, double *bias)
{
	for (int64_t j = 0; j < c->count; j++)
		bias[j] += 3 * number(e, c, j, 1);
}

static void made_gains(const pe_encoding *e, const struct pe_cells *c, double *gain)
{
	for (int64_t j = 0; j < c->count; j++)
		gain[j] *= 1 + 0.5 * number(e, c, j, 2);
}

static void made_after(const pe_encoding *e, const struct pe_cells *c, double *added)
{
	for (int64_t j = 0; j < c->count; j++)
		added[j] += 0.1 * number(e, c, j, 3);
}

/* Clipped distances where relative; else anything, none of them at times. */
static void made_index(const pe_encoding *e, const struct pe_cells *c, int32_t *rows)
{
	const struct made *m = e->state;
	for (int64_t j = 0; j < c->count; j++) {
		int64_t distance = c->key + j - c->query + m->shift;
		int64_t row = (m->backward ? -distance : distance) + m->rows / 2;
		if (m->relative)
			row = row < 0 ? 0 : row >= m->rows ? m->rows - 1 : row;
		else
			row = (c->query * 31 + (c->key + j) * 17 + c->head) % (m->rows + 1) - 1;
		rows[j] = (int32_t)row;
	}
}

static int made_terms(const pe_encoding *e, struct pe_term *terms)
{
	const struct made *m = e->state;
	terms[0] = (struct pe_term){.side = m->side,
		.table = m->table,
		.rows = m->rows,
		.width = m->width,
		.per_head = m->has_offset,
		.offset = m->has_offset ? m->offset : NULL,
		.unscaled = m->rows % 3 == 0,
		.index = made_index};
	return 1;
}

static void made_row(
	const pe_encoding *e, const struct pe_cells *c, const double *q, int64_t width, double *logits)
{
	(void)e;
	double seen = 0;
	for (int64_t j = c->count - 1; j >= 0; j--)
		if (logits[j] > -INFINITY) {
			seen += 1 / (1 + exp(-logits[j]));
			logits[j] += sin(seen) * (width > 0 ? q[0] : 1);
		}
}

static void made_heads(
	const pe_encoding *e, const struct pe_cells *c, const double *a, const double *b, double *out)
{
	int64_t padded = c->count + 2 * e->halo, halo = e->halo, heads = e->heads;
	for (int64_t h = 0; h < heads; h++)
		for (int64_t j = 0; j < c->count; j++) {
			const double *x = a + h * padded + halo + j, *y = b + (h + 1) % heads * padded + halo + j;
			out[h * c->count + j] = x[0] + y[0] + 0.3 * tanh(x[-halo] - x[halo] + y[halo]);
		}
}

static void made_rotate(
	const pe_encoding *e, const struct pe_place *at, const double *in, int64_t width, double *out)
{
	(void)e;
	for (int64_t c = 0; c < width; c++) {
		out[2 * c] = in[c] * cos(0.1 * (double)at->token);
		out[2 * c + 1] = in[c] + 0.01 * (double)(at->head + at->side);
	}
}

static pe_status made_width(pe_encoding *e, pe_side side, int64_t width, int64_t *out)
{
	(void)e;
	(void)side;
	*out = 2 * width;
	return PE_OK;
}

static double made_scale(const pe_encoding *e, const struct pe_place *at, int64_t width)
{
	(void)e;
	return 0.5 + 0.1 * (double)(at->token % 5) / (double)(width + 1);
}

enum { SCORES, GAINS, AFTER, CONTENT, CONTENT_ROW, MAP_HEADS, ROTATE, SCALE, VALUES, SITES };

static const struct pe_encoder makers[SITES] = {
	[SCORES] = {.table = {.name = "scores"}, .scores = made_scores},
	[GAINS] = {.table = {.name = "gains"}, .gains = made_gains},
	[AFTER] = {.table = {.name = "after"}, .weights_after = made_after},
	[CONTENT] = {.table = {.name = "content"}, .content = made_terms},
	[CONTENT_ROW] = {.table = {.name = "content_row"}, .content_row = made_row},
	[MAP_HEADS] = {.table = {.name = "map_heads"}, .map_heads = made_heads},
	[ROTATE] = {.table = {.name = "rotate"},
		.rotate = made_rotate,
		.rotate_width = made_width,
		.turns_values = true},
	[SCALE] = {.table = {.name = "scale"}, .scale = made_scale},
	[VALUES] = {.table = {.name = "values"}, .values = made_terms},
};

/* ---- calls -------------------------------------------------------------------------------- */

#define MAX_MADE 8

struct call {
	pe_context *ctx;
	uint64_t seed, drawn;
	int64_t batch, heads, key_heads, queries, keys, width, value_width, out_width;
	pe_dtype dtype;
	void *q_memory, *k_memory, *v_memory;
	pe_tensor q, k, v, mask, lengths, sinks;
	float mask_values[4096], sink_values[HEADS];
	unsigned char mask_bits[4096];
	int64_t length_values[2];
	pe_attention_options options;
	pe_attention_tensors tensors;
	pe_domain *domain, *query_domain;
	pe_encoding encodings[MAX_MADE];
	struct made *made[MAX_MADE];
	pe_encoding *list[MAX_MADE];
	int64_t count;
};

static int64_t draw(struct call *c, int64_t n)
{
	return (int64_t)((double)n * pe_rng_uniform(c->seed, 1, c->drawn++));
}

static int64_t pick(struct call *c, const int64_t *from, int64_t n)
{
	return from[draw(c, n)];
}

/* A tensor of random numbers, (batch, heads, length, width), laid out in one of several ways. */
static pe_tensor random_tensor(
	struct call *c, int64_t heads, int64_t length, int64_t width, double size, void **memory)
{
	int64_t step = 1 + draw(c, 2), shape[] = {c->batch, heads, length, width};
	pe_tensor t = pe_tensor_dense(NULL, c->dtype, 4, shape);
	if (draw(c, 2)) { /* (batch, length, heads, width) */
		t.strides[3] = step;
		t.strides[1] = width * step;
		t.strides[2] = heads * width * step + draw(c, 3);
		t.strides[0] = t.strides[2] * length;
	}
	int64_t count = c->batch * heads * length * width * 2 + 4 * c->batch * (length + 1);
	*memory = calloc((size_t)count + 1, 4);
	assert_non_null(*memory);
	t.data = *memory;
	for (int64_t i = 0; i < count; i++) {
		double x =
			size * (2 * pe_rng_uniform(c->seed, 2 + (uint64_t)heads + (uint64_t)width, c->drawn++) - 1);
		pe_store_f64((char *)*memory + i * (int64_t)pe_dtype_size(c->dtype), c->dtype, 1, &x, 1, 1);
	}
	return t;
}

static void *element(const pe_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c)
{
	int64_t at = b * t->strides[0] + h * t->strides[1] + i * t->strides[2] + c * t->strides[3];
	return (char *)t->data + at * (int64_t)pe_dtype_size(t->dtype);
}

static void draw_sizes(struct call *c)
{
	static const int64_t lengths[] = {
		0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 40, 63, 65, 119, 120, 121, 130, 241, 270};
	static const int64_t widths[] = {1, 3, 4, 8, 13, 16};
	static const pe_dtype dtypes[] = {PE_F32, PE_F32, PE_F32, PE_F16, PE_BF16};
	c->batch = 1 + draw(c, 2);
	c->key_heads = 1 + draw(c, 2);
	c->heads = c->key_heads * (1 + draw(c, 3));
	c->keys = pick(c, lengths, PE_COUNT(lengths));
	c->queries = draw(c, 3) ? c->keys : pick(c, lengths, PE_COUNT(lengths));
	c->width = pick(c, widths, PE_COUNT(widths));
	c->value_width = pick(c, widths, PE_COUNT(widths));
	c->dtype = dtypes[draw(c, 5)];
	c->q = random_tensor(c, c->heads, c->queries, c->width, 4, &c->q_memory);
	c->k = random_tensor(c, c->key_heads, c->keys, c->width, 1, &c->k_memory);
	c->v = random_tensor(c, c->key_heads, c->keys, c->value_width, 1, &c->v_memory);
}

static void draw_mask(struct call *c)
{
	bool bits = draw(c, 2);
	int64_t shape[2] = {draw(c, 2) ? c->queries : 1, draw(c, 2) ? c->keys : 1};
	if (shape[0] * shape[1] > 4096)
		shape[0] = 1;
	for (int64_t i = 0; i < 4096; i++) {
		c->mask_bits[i] = draw(c, 3) > 0;
		c->mask_values[i] = draw(c, 4) ? (float)draw(c, 7) - 3 : -INFINITY;
	}
	c->mask =
		pe_tensor_dense(bits ? (void *)c->mask_bits : c->mask_values, bits ? PE_BOOL : PE_F32, 2, shape);
	c->tensors.mask = &c->mask;
}

/* Positions out of order, for both sides. */
static void draw_positions(struct call *c)
{
	double positions[300];
	pe_tensor t;
	for (int64_t i = 0; i < 300; i++)
		positions[i] = (double)draw(c, 40);
	t = pe_tensor_dense(positions, PE_F64, 1, &c->keys);
	assert_int_equal(pe_domain_positions(c->ctx, &t, 0, &c->domain), PE_OK);
	t = pe_tensor_dense(positions + 10, PE_F64, 1, &c->queries);
	assert_int_equal(pe_domain_positions(c->ctx, &t, 0, &c->query_domain), PE_OK);
	c->options.keys = c->domain;
	c->options.queries = c->query_domain;
}

static void draw_options(struct call *c)
{
	c->options.size = sizeof c->options;
	c->tensors = (pe_attention_tensors){.size = sizeof c->tensors, .q = &c->q, .k = &c->k, .v = &c->v};
	if (draw(c, 4) == 0 && c->keys > 0 && c->queries > 0)
		draw_positions(c);
	c->options.causal = draw(c, 2) == 0;
	c->options.windowed = draw(c, 3) == 0;
	c->options.window_left = (double)(draw(c, 4) ? draw(c, 50) : -1);
	c->options.window_right = (double)(draw(c, 4) ? draw(c, 20) : -1);
	c->options.softcap = draw(c, 4) == 0 ? 2.5 : 0;
	c->options.scale = draw(c, 3) == 0 ? 0.3 : 0;
	if (draw(c, 3) == 0)
		draw_mask(c);
	if (draw(c, 4) == 0) {
		for (int b = 0; b < 2; b++)
			c->length_values[b] = draw(c, c->keys + 1);
		c->lengths = pe_tensor_dense(c->length_values, PE_I64, 1, &c->batch);
		c->tensors.key_lengths = &c->lengths;
	}
	if (draw(c, 4) == 0) {
		for (int h = 0; h < HEADS; h++)
			c->sink_values[h] = (float)draw(c, 6) - 3;
		c->sinks = pe_tensor_dense(c->sink_values, PE_F32, 1, &c->heads);
		c->tensors.sinks = &c->sinks;
	}
}

static void add_encoding(struct call *c, int site, const pe_domain *domain, const pe_domain *queries)
{
	struct made *m = calloc(1, sizeof *m);
	assert_non_null(m);
	int64_t turned = 1;
	for (int64_t i = 0; i < c->count; i++)
		turned *= c->list[i]->encoder->rotate ? 2 : 1;
	m->relative = draw(c, 3) > 0;
	m->backward = draw(c, 3) > 0;
	m->shift = draw(c, 2) ? 0 : draw(c, 900) - 450;
	m->rows = draw(c, 2) ? ROWS : draw(c, 3) ? MANY_ROWS : MANY_ROWS - 186;
	m->side = draw(c, 2) ? PE_QUERIES : PE_KEYS;
	m->width = turned * (site == VALUES ? c->value_width : c->width);
	m->has_offset = draw(c, 2);
	assert_true(m->width <= WIDEST);
	for (int64_t i = 0; i < HEADS * MANY_ROWS * WIDEST; i++)
		m->table[i] = (double)((i * i + 7 * i + site) % 1009) / 1009 - 0.5;
	for (int64_t i = 0; i < HEADS * WIDEST; i++)
		m->offset[i] = pe_rng_uniform(6, (uint64_t)site, (uint64_t)i) - 0.5;
	c->encodings[c->count] = (pe_encoding){.ctx = c->ctx,
		.encoder = &makers[site],
		.domain = domain,
		.queries = queries,
		.state = m,
		.heads = c->heads,
		.relative = m->relative,
		.halo = draw(c, 4)};
	c->list[c->count] = &c->encodings[c->count];
	c->made[c->count++] = m;
}

static void draw_encodings(struct call *c, struct pe_domain domains[2])
{
	domains[0] = (struct pe_domain){.kind = PE_DOMAIN_SEQUENCE, .tokens = c->keys, .batch = 1, .axes = 1};
	domains[1] = domains[0];
	domains[1].tokens = c->queries;
	domains[1].offset = (double)(c->keys - c->queries);
	if (draw(c, 4) == 0)
		add_encoding(c, ROTATE, &domains[0], &domains[1]);
	bool rows = draw(c, 8) == 0, heads = !rows && draw(c, 6) == 0;
	for (int site = 0; site < SITES; site++) {
		if (site == ROTATE || (site == CONTENT_ROW && !rows) || (site == MAP_HEADS && !heads))
			continue;
		if (site == CONTENT_ROW || site == MAP_HEADS || draw(c, 4) == 0)
			add_encoding(c, site, &domains[0], &domains[1]);
		if (site == SCORES && draw(c, 4) == 0)
			add_encoding(c, site, &domains[0], &domains[1]);
	}
}

/* NaN where no query sees: behind the lengths; sometimes in a key and a value that some see. */
static void draw_poison(struct call *c)
{
	double nan = NAN;
	for (int64_t b = 0; c->tensors.key_lengths && b < c->batch; b++)
		for (int64_t h = 0; h < c->key_heads; h++)
			for (int64_t i = c->length_values[b]; i < c->keys; i++) {
				pe_store_f64(element(&c->k, b, h, i, 0), c->dtype, 1, &nan, 1, 1);
				pe_store_f64(element(&c->v, b, h, i, c->value_width - 1), c->dtype, 1, &nan, 1, 1);
			}
	if (c->keys > 0 && draw(c, 8) == 0)
		pe_store_f64(element(&c->v, 0, 0, draw(c, c->keys), 0), c->dtype, 1, &nan, 1, 1);
	if (c->keys > 0 && draw(c, 8) == 0)
		pe_store_f64(element(&c->k, 0, 0, draw(c, c->keys), 0), c->dtype, 1, &nan, 1, 1);
}

struct result {
	float *out, *lse;
	int64_t rows, width;
};

static struct result run(struct call *c, pe_core core)
{
	struct result r = {.rows = c->batch * c->heads * c->queries, .width = c->value_width};
	for (int64_t i = 0; i < c->count; i++)
		r.width *= c->list[i]->encoder->rotate ? 2 : 1;
	int64_t shape[] = {c->batch, c->heads, c->queries, r.width};
	r.out = malloc((size_t)(r.rows * r.width + 1) * sizeof(float));
	r.lse = malloc((size_t)(r.rows + 1) * sizeof(float));
	assert_true(r.out && r.lse);
	pe_tensor out = pe_tensor_dense(r.out, PE_F32, 4, shape), lse = pe_tensor_dense(r.lse, PE_F32, 3, shape);
	c->tensors.out = &out;
	c->tensors.lse = &lse;
	c->options.core = core;
	pe_status status = pe_attend(c->ctx, c->list, c->count, &c->options, &c->tensors);
	if (status != PE_OK)
		fail_msg("%s", pe_context_message(c->ctx));
	return r;
}

static void describe(const struct call *c)
{
	print_error("seed %llu, %s: batch %lld, heads %lld/%lld, lengths %lld %lld, widths %lld %lld, type %s, "
				"causal %d, "
				"window %d %g %g, softcap %g, mask %s, lengths %d, sinks %d, positions %d;",
		(unsigned long long)c->seed, c->ctx->kernels->name, (long long)c->batch, (long long)c->heads,
		(long long)c->key_heads, (long long)c->queries, (long long)c->keys, (long long)c->width,
		(long long)c->value_width, pe_dtype_name(c->dtype), c->options.causal, c->options.windowed,
		c->options.window_left, c->options.window_right, c->options.softcap,
		c->tensors.mask ? pe_dtype_name(c->mask.dtype) : "no", c->tensors.key_lengths != NULL,
		c->tensors.sinks != NULL, c->domain != NULL);
	for (int64_t i = 0; i < c->count; i++)
		print_error(" %s(relative %d, backward %d, shift %lld, rows %lld, side %d, offset %d, halo %lld)",
			c->list[i]->encoder->table.name, c->made[i]->relative, c->made[i]->backward,
			(long long)c->made[i]->shift, (long long)c->made[i]->rows, c->made[i]->side,
			c->made[i]->has_offset, (long long)c->list[i]->halo);
	print_error("\n");
}

static bool alike(double a, double b, double size)
{
	if (isnan(b) || isinf(b))
		return isnan(b) ? isnan(a) : a == b;
	return fabs(a - b) <= 2e-5 * size;
}

static void compare(const struct call *c, const struct result *got, const struct result *want)
{
	for (int64_t i = 0; i < want->rows; i++) {
		double most = 0.1; /* of values up to 1: a narrow row can cancel to next to nothing */
		for (int64_t k = 0; k < want->width; k++)
			most = fmax(most, fabs((double)want->out[i * want->width + k]));
		for (int64_t k = 0; k < want->width; k++)
			if (!alike((double)got->out[i * want->width + k], (double)want->out[i * want->width + k], most)) {
				describe(c);
				fail_msg("row %lld column %lld: %g, not %g", (long long)i, (long long)k,
					(double)got->out[i * want->width + k], (double)want->out[i * want->width + k]);
			}
		if (!alike((double)got->lse[i], (double)want->lse[i], 1 + fabs((double)want->lse[i]))) {
			describe(c);
			fail_msg("row %lld lse: %g, not %g", (long long)i, (double)got->lse[i], (double)want->lse[i]);
		}
	}
}

static void forget(struct call *c)
{
	for (int64_t i = 0; i < c->count; i++)
		free(c->made[i]);
	pe_domain_destroy(&c->domain);
	pe_domain_destroy(&c->query_domain);
	free(c->q_memory);
	free(c->k_memory);
	free(c->v_memory);
	free(c);
}

static void compare_cores(struct call *c)
{
	struct result want = run(c, PE_CORE_REFERENCE), got = run(c, PE_CORE_TILED);
	compare(c, &got, &want);
	free(want.out);
	free(want.lse);
	free(got.out);
	free(got.lse);
	forget(c);
}

static void one_call(pe_context *ctx, uint64_t seed, bool encoders)
{
	struct call *c = calloc(1, sizeof *c);
	struct pe_domain domains[2];
	assert_non_null(c);
	c->ctx = ctx;
	c->seed = seed;
	draw_sizes(c);
	draw_options(c);
	if (encoders)
		draw_encodings(c, domains);
	draw_poison(c);
	compare_cores(c);
}

static void many_calls(uint64_t first, uint64_t count, bool encoders)
{
	char names[64];
	strcpy(names, pe_kernels_available());
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		pe_context *ctx = xt_context(1, name);
		for (uint64_t seed = first; seed < first + count; seed++)
			one_call(ctx, seed, encoders);
		pe_context_destroy(&ctx);
	}
}

static void test_without_encoders(void **state)
{
	(void)state;
	many_calls(1, 100, false);
}

static void test_with_encoders(void **state)
{
	(void)state;
	many_calls(10000, 120, true);
}

/* ---- longer rows ------------------------------------------------------------------------- */

#define LONG 1500

/* out of LONG tokens, 2 heads, width 16, with alibi. */
static float *attend_long(pe_context *ctx, bool causal, bool keep_far, float steep)
{
	int64_t shape[] = {1, 2, LONG, 16}, n = 2 * LONG * 16;
	float *memory = malloc((size_t)(4 * n) * sizeof *memory), *result = malloc((size_t)n * sizeof *result);
	assert_true(memory && result);
	for (int64_t i = 0; i < 3 * n; i++)
		memory[i] = (float)(2 * pe_rng_uniform(3, 0, (uint64_t)i) - 1) * (i < n ? steep : 1.0f);
	pe_tensor q = pe_tensor_dense(memory, PE_F32, 4, shape),
			  k = pe_tensor_dense(memory + n, PE_F32, 4, shape);
	pe_tensor v = pe_tensor_dense(memory + 2 * n, PE_F32, 4, shape);
	pe_tensor out = pe_tensor_dense(result, PE_F32, 4, shape);
	pe_params *params = NULL;
	pe_domain *domain = NULL;
	pe_encoding *encoding = NULL;
	assert_int_equal(pe_domain_sequence(ctx, LONG, 0, &domain), PE_OK);
	assert_int_equal(pe_params_create(ctx, "alibi", &params), PE_OK);
	xt_set(params, "heads=2,max_bias=2");
	assert_int_equal(
		pe_encoding_create(ctx, pe_encoder_find("alibi"), params, domain, NULL, &encoding), PE_OK);
	pe_attention_options options = {.size = sizeof options, .causal = causal, .keep_far_tiles = keep_far};
	pe_attention_tensors tensors = {.size = sizeof tensors, .q = &q, .k = &k, .v = &v, .out = &out};
	assert_int_equal(pe_attend(ctx, &encoding, 1, &options, &tensors), PE_OK);
	pe_encoding_destroy(&encoding);
	pe_params_destroy(&params);
	pe_domain_destroy(&domain);
	free(memory);
	return result;
}

static void test_far_tiles(void **state)
{
	for (int causal = 0; causal < 2; causal++)
		for (int turn = 0; turn < 3; turn++) {
			float steep = turn == 0 ? 1.0f : turn == 1 ? 20.0f : 300.0f;
			float *all = attend_long(*state, causal, true, steep),
				  *near = attend_long(*state, causal, false, steep);
			for (int64_t i = 0; i < 2 * LONG; i++) {
				float most = 0.0f;
				for (int64_t c = 0; c < 16; c++)
					most = fmaxf(most, fabsf(all[i * 16 + c]));
				for (int64_t c = 0; c < 16; c++)
					assert_true(fabsf(all[i * 16 + c] - near[i * 16 + c]) <= 2e-6f * most);
			}
			free(all);
			free(near);
		}
}

static void test_threads(void **state)
{
	float *one = attend_long(*state, true, false, 1.0f);
	for (int32_t threads = 2; threads <= 4; threads += 2) {
		pe_context *ctx = xt_context(threads, NULL);
		float *more = attend_long(ctx, true, false, 1.0f);
		assert_memory_equal(one, more, 2 * LONG * 16 * sizeof *one);
		free(more);
		pe_context_destroy(&ctx);
	}
	free(one);
}

/* So many keys that those of one head alone are turned at a time. */
/* 2 batches of 4 heads of width 16, nothing masked, the last queries on the last keys. */
static struct call *plain_call(pe_context *ctx, int64_t queries, int64_t keys, struct pe_domain domains[2])
{
	struct call *c = calloc(1, sizeof *c);
	assert_non_null(c);
	*c = (struct call){.ctx = ctx, .seed = 5, .batch = 2, .heads = 4, .key_heads = 2, .queries = queries};
	c->keys = keys;
	c->width = c->value_width = 16;
	c->dtype = PE_F32;
	domains[0] = (struct pe_domain){.kind = PE_DOMAIN_SEQUENCE, .tokens = keys, .batch = 1, .axes = 1};
	domains[1] = domains[0];
	domains[1].tokens = queries;
	domains[1].offset = (double)(keys - queries);
	c->options.size = sizeof c->options;
	c->tensors = (pe_attention_tensors){.size = sizeof c->tensors, .q = &c->q, .k = &c->k, .v = &c->v};
	c->q = random_tensor(c, c->heads, queries, c->width, 4, &c->q_memory);
	c->k = random_tensor(c, c->key_heads, keys, c->width, 1, &c->k_memory);
	c->v = random_tensor(c, c->key_heads, keys, c->value_width, 1, &c->v_memory);
	return c;
}

static void test_many_keys(void **state)
{
	for (int mapped = 0; mapped < 2; mapped++) {
		struct pe_domain domains[2];
		struct call *c = plain_call(*state, 3, mapped ? 12000 : 20000, domains);
		add_encoding(c, ROTATE, &domains[0], &domains[1]);
		if (mapped)
			add_encoding(c, MAP_HEADS, &domains[0], &domains[1]);
		compare_cores(c);
	}
}

/* Rows that follow on each other, of which a tile keeps what the one before had; rows at the end of the
 * table, all alike or after others; of tables that are too large for one product, and of small ones. */
static void one_relative_table(pe_context *ctx, int64_t rows, int turn)
{
	static const int64_t shifts[] = {0, 300, -390};
	struct pe_domain domains[2];
	struct call *c = plain_call(ctx, 300, 490, domains);
	c->options.causal = turn % 5 == 0;
	add_encoding(c, CONTENT, &domains[0], &domains[1]);
	struct made *m = c->made[0];
	c->encodings[0].relative = m->relative = true;
	m->rows = rows;
	m->side = turn % 2 ? PE_KEYS : PE_QUERIES;
	m->backward = turn / 2 % 2 == 0;
	m->shift = shifts[turn / 4];
	m->has_offset = turn % 3 == 0;
	compare_cores(c);
}

static void test_relative_tables(void **state)
{
	char names[64];
	(void)state;
	strcpy(names, pe_kernels_available());
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		pe_context *ctx = xt_context(1, name);
		for (int turn = 0; turn < 12; turn++) {
			one_relative_table(ctx, MANY_ROWS, turn);
			one_relative_table(ctx, 100, turn);
		}
		pe_context_destroy(&ctx);
	}
}

/* No memory at any allocation: a status, nothing lost, and the output of the next call is right. */
static void test_no_memory(void **state)
{
	for (uint64_t seed = 10000; seed < 10012; seed++) {
		struct call *c = calloc(1, sizeof *c);
		struct pe_domain domains[2];
		struct xt_shortage s = {.forever = true};
		assert_non_null(c);
		c->ctx = *state;
		c->seed = seed;
		draw_sizes(c);
		draw_options(c);
		draw_encodings(c, domains);
		struct result r = run(c, PE_CORE_TILED);
		int64_t shape[] = {c->batch, c->heads, c->queries, r.width};
		pe_tensor out = pe_tensor_dense(r.out, PE_F32, 4, shape);
		c->tensors.out = &out;
		c->tensors.lse = NULL;
		while (xt_shortage_next(&s)) {
			xt_shortage_begin(&s);
			xt_shortage_end(&s, pe_attend(c->ctx, c->list, c->count, &c->options, &c->tensors));
		}
		free(r.out);
		free(r.lse);
		forget(c);
	}
}

static void test_f64_is_refused(void **state)
{
	double number[4] = {0};
	int64_t shape[] = {1, 1, 1, 1};
	pe_tensor t = pe_tensor_dense(number, PE_F64, 4, shape),
			  out = pe_tensor_dense(number + 2, PE_F64, 4, shape);
	pe_attention_tensors tensors = {.size = sizeof tensors, .q = &t, .k = &t, .v = &t, .out = &out};
	xt_fails(*state, pe_attend(*state, NULL, 0, NULL, &tensors), PE_ERR_UNSUPPORTED, "f64");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_encoders),
		cmocka_unit_test(test_with_encoders),
		cmocka_unit_test(test_far_tiles),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_relative_tables),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_f64_is_refused),
	};
	return xt_run(argc, argv, tests) != 0;
}
