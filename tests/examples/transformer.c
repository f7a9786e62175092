/* SPDX-License-Identifier: BSD-2-Clause
 * What a program that runs a language model does with posenc: one block of a causal transformer, with
 * grouped heads and a cache of keys and values. All tokens at once (prefill) against token by token
 * (decode) must give the same, with RoPE and with ALiBi.
 *
 *   cc transformer.c $(pkg-config --cflags --libs posenc) -lm -o transformer
 *
 * RoPE turns keys, so they go into the cache turned: each is turned once, when it comes, at its own
 * position, and attention turns nothing. ALiBi is a bias on scores, so the cache holds plain keys, and
 * attention is told where queries and keys stand. */
#include <math.h>
#include <posenc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, HEADS = 8, KEY_HEADS = 2, HEAD = WIDTH / HEADS, HIDDEN = 128, LENGTH = 48 };

static void check(pe_context *ctx, pe_status status)
{
	if (status == PE_OK)
		return;
	fprintf(stderr, "%s: %s\n", pe_status_string(status), pe_context_message(ctx));
	exit(1);
}

/* ---- the model, but for attention ---------------------------------------------------- */

/* Matrices are (outputs, inputs). A model has its weights from a file; these are fixed noise. */
struct block {
	float q[WIDTH * WIDTH], k[KEY_HEADS * HEAD * WIDTH], v[KEY_HEADS * HEAD * WIDTH], out[WIDTH * WIDTH];
	float up[HIDDEN * WIDTH], down[WIDTH * HIDDEN];
};

static void fill(float *x, int n, float size, uint32_t *state)
{
	for (int i = 0; i < n; i++) {
		*state = *state * 1664525u + 1013904223u;
		x[i] = size * ((float)(*state >> 8) / 8388608.0f - 1);
	}
}

static void make_block(struct block *b)
{
	uint32_t state = 1;
	float size = 2 / sqrtf(WIDTH);
	fill(b->q, WIDTH * WIDTH, size, &state);
	fill(b->k, KEY_HEADS * HEAD * WIDTH, size, &state);
	fill(b->v, KEY_HEADS * HEAD * WIDTH, size, &state);
	fill(b->out, WIDTH * WIDTH, size, &state);
	fill(b->up, HIDDEN * WIDTH, size, &state);
	fill(b->down, WIDTH * HIDDEN, size, &state);
}

static void multiply(const float *matrix, int outputs, int inputs, const float *x, float *y)
{
	for (int o = 0; o < outputs; o++) {
		float sum = 0;
		for (int i = 0; i < inputs; i++)
			sum += matrix[o * inputs + i] * x[i];
		y[o] = sum;
	}
}

static void normalise(const float *x, float *y)
{
	float sum = 0;
	for (int i = 0; i < WIDTH; i++)
		sum += x[i] * x[i];
	for (int i = 0; i < WIDTH; i++)
		y[i] = x[i] / sqrtf(sum / WIDTH + 1e-5f);
}

/* x (tokens, WIDTH) += the output projection of attention's heads, then += the feed-forward layer. */
static void finish(const struct block *b, const float *heads, float *x, int64_t tokens)
{
	float projected[WIDTH], normal[WIDTH], hidden[HIDDEN];
	for (int64_t t = 0; t < tokens; t++, x += WIDTH) {
		multiply(b->out, WIDTH, WIDTH, heads + t * WIDTH, projected);
		for (int i = 0; i < WIDTH; i++)
			x[i] += projected[i];
		normalise(x, normal);
		multiply(b->up, HIDDEN, WIDTH, normal, hidden);
		for (int i = 0; i < HIDDEN; i++)
			hidden[i] = hidden[i] > 0 ? hidden[i] : 0;
		multiply(b->down, WIDTH, HIDDEN, hidden, projected);
		for (int i = 0; i < WIDTH; i++)
			x[i] += projected[i];
	}
}

/* ---- attention ------------------------------------------------------------------------ */

/* The cache, (KEY_HEADS, LENGTH, HEAD) each, of which `count` tokens are there. */
struct cache {
	float k[KEY_HEADS * LENGTH * HEAD], v[KEY_HEADS * LENGTH * HEAD];
	int64_t count;
};

/* Views are (batch, heads, length, width) with any strides, so nothing needs to be copied into place.
 * Projections lie token by token, (tokens, heads, HEAD). */
static pe_tensor projection(float *data, int64_t heads, int64_t tokens)
{
	pe_tensor t = pe_tensor_dense(data, PE_F32, 4, (int64_t[]){1, heads, tokens, HEAD});
	t.strides[1] = HEAD;
	t.strides[2] = heads * HEAD;
	return t;
}

/* Tokens first … first + count - 1 of the cache. */
static pe_tensor cached(float *data, int64_t first, int64_t count)
{
	pe_tensor t = pe_tensor_dense(data + first * HEAD, PE_F32, 4, (int64_t[]){1, KEY_HEADS, count, HEAD});
	t.strides[1] = LENGTH * HEAD;
	return t;
}

/* An encoding bound to `keys` tokens from position `first` on, of which the last `queries` ask. Binding is
 * cheap: a few small tables. */
struct bound {
	pe_domain *keys, *queries;
	pe_encoding *encoding;
};

static struct bound bind(
	pe_context *ctx, const char *name, const pe_params *params, int64_t first, int64_t keys, int64_t queries)
{
	struct bound b;
	check(ctx, pe_domain_sequence(ctx, keys, (double)first, &b.keys));
	check(ctx, pe_domain_tail(ctx, b.keys, queries, &b.queries));
	pe_encoding_options options = {.size = sizeof options, .queries = b.queries};
	check(ctx, pe_encoding_create(ctx, pe_encoder_find(name), params, b.keys, &options, &b.encoding));
	return b;
}

static void unbind(struct bound *b)
{
	pe_encoding_destroy(&b->encoding);
	pe_domain_destroy(&b->queries);
	pe_domain_destroy(&b->keys);
}

/* RoPE: the new queries and keys are turned where they lie; attention sees turned vectors. */
static void turn_new(
	pe_context *ctx, const pe_params *params, int64_t first, const pe_tensor *q, const pe_tensor *k)
{
	struct bound b = bind(ctx, "rope", params, first, q->shape[2], q->shape[2]);
	check(ctx, pe_encoding_rotate(b.encoding, PE_QUERIES, q, q));
	check(ctx, pe_encoding_rotate(b.encoding, PE_KEYS, k, k));
	unbind(&b);
}

static void attend(pe_context *ctx, const pe_params *params, int alibi, const pe_tensor *q,
	struct cache *cache, const pe_tensor *out)
{
	pe_tensor k = cached(cache->k, 0, cache->count), v = cached(cache->v, 0, cache->count);
	/* Without positions the last query stands at the last key: right for prefill and for decode. */
	pe_attention_options options = {.size = sizeof options, .causal = 1};
	pe_attention_tensors tensors = {.size = sizeof tensors, .q = q, .k = &k, .v = &v, .out = out};
	if (!alibi) {
		check(ctx, pe_attend(ctx, NULL, 0, &options, &tensors));
		return;
	}
	struct bound b = bind(ctx, "alibi", params, 0, cache->count, q->shape[2]);
	check(ctx, pe_attend(ctx, &b.encoding, 1, &options, &tensors));
	unbind(&b);
}

/* x (tokens, WIDTH), the next tokens of the sequence, through the block, in place. */
static void run_block(pe_context *ctx, const struct block *b, const pe_params *params, int alibi,
	struct cache *cache, float *x, int64_t tokens)
{
	static float queries[LENGTH * WIDTH], heads[LENGTH * WIDTH];
	int64_t first = cache->count;
	for (int64_t t = 0; t < tokens; t++) {
		float normal[WIDTH], k[KEY_HEADS * HEAD], v[KEY_HEADS * HEAD];
		normalise(x + t * WIDTH, normal);
		multiply(b->q, WIDTH, WIDTH, normal, queries + t * WIDTH);
		multiply(b->k, KEY_HEADS * HEAD, WIDTH, normal, k);
		multiply(b->v, KEY_HEADS * HEAD, WIDTH, normal, v);
		for (int h = 0; h < KEY_HEADS; h++) {
			int64_t at = (h * LENGTH + first + t) * HEAD;
			memcpy(cache->k + at, k + h * HEAD, sizeof(float) * HEAD);
			memcpy(cache->v + at, v + h * HEAD, sizeof(float) * HEAD);
		}
	}
	cache->count += tokens;
	pe_tensor q = projection(queries, HEADS, tokens), out = projection(heads, HEADS, tokens);
	pe_tensor new_keys = cached(cache->k, first, tokens);
	if (!alibi)
		turn_new(ctx, params, first, &q, &new_keys);
	attend(ctx, params, alibi, &q, cache, &out);
	finish(b, heads, x, tokens);
}

/* ---- prefill against decode ------------------------------------------------------------ */

static void compare(
	pe_context *ctx, const struct block *b, const char *name, const pe_params *params, int alibi)
{
	static float start[LENGTH * WIDTH], all[LENGTH * WIDTH], single[LENGTH * WIDTH];
	static struct cache cache;
	uint32_t state = 7;
	float largest = 0;
	fill(start, LENGTH * WIDTH, 1, &state);

	memcpy(all, start, sizeof all);
	cache.count = 0;
	run_block(ctx, b, params, alibi, &cache, all, LENGTH);

	memcpy(single, start, sizeof single);
	cache.count = 0;
	for (int64_t t = 0; t < LENGTH; t++)
		run_block(ctx, b, params, alibi, &cache, single + t * WIDTH, 1);

	for (int i = 0; i < LENGTH * WIDTH; i++)
		largest = fmaxf(largest, fabsf(all[i] - single[i]));
	printf("%s: %d tokens at once and one by one agree within 1e-5: %s\n", name, LENGTH,
		largest < 1e-5f ? "yes" : "no");
	if (!(largest < 1e-5f))
		exit(1);
}

int main(void)
{
	static struct block block;
	pe_context *ctx;
	pe_params *rope, *alibi;
	if (pe_context_create(NULL, &ctx) != PE_OK)
		return 1;
	make_block(&block);

	/* What the model's configuration says. Which channels make a pair depends on who trained it: halves in
	 * Hugging Face's Llama, interleaved in Meta's and in GGUF; a wrong layout gives fluent nonsense. */
	check(ctx, pe_params_create(ctx, "rope", &rope));
	check(ctx, pe_params_set(rope, "head_dim", "8"));
	check(ctx, pe_params_set(rope, "base", "500000"));
	check(ctx, pe_params_set(rope, "layout", "halves"));
	compare(ctx, &block, "rope", rope, 0);

	check(ctx, pe_params_create(ctx, "alibi", &alibi));
	check(ctx, pe_params_set(alibi, "heads", "8"));
	compare(ctx, &block, "alibi", alibi, 1);

	pe_params_destroy(&rope);
	pe_params_destroy(&alibi);
	pe_context_destroy(&ctx);
	return 0;
}
