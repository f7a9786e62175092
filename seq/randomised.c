/* SPDX-License-Identifier: BSD-2-Clause
 * Any encoder of sequences at randomised positions: n different positions become n different numbers of
 * 0 … max-1, drawn at random and sorted, so that a model learns positions it has no long sequences for. Ruoss
 * et al., "Randomized positional encodings boost length generalization of transformers", ACL 2023. */
#include <stdlib.h>
#include <string.h>

#include "encoder.h"
#include "inner.h"
#include "rng.h"
#include "tensor.h"

#define STREAM 0x72616E64u /* of the seed: this encoder's */

struct state {
	pe_domain *keys, *queries; /* queries NULL: the same */
	double *positions;         /* (batch, keys, then queries): drawn */
	int64_t batch, columns;    /* columns: of keys and queries together */
	int64_t own;               /* number of the array positions, after those of the other encoder */
};

/* ---- drawing ------------------------------------------------------------------------ */

/* n numbers of 0 … most-1, each set as likely as any other, ascending: number v is taken with probability
 * (n - taken) / (most - v). */
static void draw(uint64_t seed, uint64_t stream, int64_t n, int64_t most, double *out)
{
	int64_t taken = 0;
	for (int64_t v = 0; v < most && taken < n; v++)
		if (pe_rng_uniform(seed, stream, (uint64_t)v) * (double)(most - v) < (double)(n - taken))
			out[taken++] = (double)v;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int64_t distinct(double *sorted, int64_t n)
{
	int64_t kept = 0;
	for (int64_t i = 0; i < n; i++)
		if (kept == 0 || sorted[i] > sorted[kept - 1])
			sorted[kept++] = sorted[i];
	return kept;
}

/* Where x is in sorted, which holds it. */
static int64_t rank(const double *sorted, int64_t n, double x)
{
	int64_t low = 0, high = n - 1;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (sorted[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Positions of keys and queries of one batch in place: each is replaced by the number of its rank. scratch:
 * twice as many. */
static pe_status randomise(pe_encoding *e, int64_t batch, int64_t n, double *positions, double *scratch)
{
	int64_t most = pe_params_int(e->params, "max");
	uint64_t number = (uint64_t)pe_params_int(e->params, "draw");
	double *drawn = scratch + n;
	memcpy(scratch, positions, (size_t)n * sizeof *scratch);
	qsort(scratch, (size_t)n, sizeof *scratch, ascending);
	int64_t count = distinct(scratch, n);
	if (count > most)
		return pe_encoding_fail(e, PE_ERR_RANGE, "there are %lld positions, and only %lld to draw (max)",
			(long long)count, (long long)most);
	draw(e->ctx->seed, pe_rng_u64(STREAM, number, (uint64_t)batch), count, most, drawn);
	for (int64_t i = 0; i < n; i++)
		positions[i] = drawn[rank(scratch, count, positions[i])];
	return PE_OK;
}

/* ---- bind --------------------------------------------------------------------------- */

static pe_status draw_all(pe_encoding *e)
{
	struct state *s = e->state;
	int64_t keys = e->domain->tokens, n = s->columns, count;
	if (!pe_mul(s->batch, n, &count))
		return pe_encoding_fail(e, PE_ERR_NOMEM, "its positions are larger than memory can hold");
	s->positions = pe_alloc(e->ctx, count, sizeof *s->positions);
	double *scratch = pe_alloc(e->ctx, 2 * n, sizeof *scratch);
	pe_status status = s->positions && scratch ? PE_OK : PE_ERR_NOMEM;
	for (int64_t b = 0; status == PE_OK && b < s->batch; b++) {
		double *row = s->positions + b * n;
		for (int64_t i = 0; i < n; i++)
			row[i] =
				i < keys ? pe_domain_position(e->domain, b, i) : pe_domain_position(e->queries, b, i - keys);
		status = randomise(e, b, n, row, scratch);
	}
	pe_free(e->ctx, scratch);
	return status;
}

/* The drawn positions first … first + tokens - 1 of each batch as a domain. */
static pe_status make_domain(pe_encoding *e, int64_t first, int64_t tokens, pe_domain **out)
{
	const struct state *s = e->state;
	pe_tensor view = {.data = s->positions + first,
		.dtype = PE_F64,
		.ndim = 2,
		.shape = {s->batch, tokens},
		.strides = {s->columns, 1}};
	if (s->batch == 1) {
		view.ndim = 1;
		view.shape[0] = tokens;
		view.strides[0] = 1;
	}
	return pe_domain_positions(e->ctx, &view, 0, out);
}

static pe_status bind_other(pe_encoding *e, const struct pe_encoder *encoder, const pe_params *params)
{
	struct state *s = e->state;
	if (!(encoder->domains & PE_DOMAIN_SEQUENCE))
		return pe_encoding_fail(e, PE_ERR_ARGUMENT, "%s is not an encoder of sequences", encoder->table.name);
	PE_TRY(pe_inner_stand_in(e, encoder, params, s->keys, s->queries));
	if (e->array_count == PE_MAX_ARRAYS)
		return PE_OK;
	const int64_t shape[] = {s->batch, e->domain->tokens};
	int32_t shared = s->batch == 1;
	s->own = e->array_count;
	return pe_declare(e, "positions", PE_F64, 2 - shared, shape + shared, shared);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	const struct pe_encoder *encoder;
	pe_params *params;
	bool apart = e->queries != e->domain;
	s->own = -1;
	s->batch = pe_max(e->domain->batch, e->queries->batch);
	s->columns = e->domain->tokens + (apart ? e->queries->tokens : 0);
	PE_TRY(draw_all(e));
	PE_TRY(make_domain(e, 0, e->domain->tokens, &s->keys));
	if (apart)
		PE_TRY(make_domain(e, e->domain->tokens, e->queries->tokens, &s->queries));
	PE_TRY(pe_inner_parse(e, pe_params_text(e->params, "over"), &encoder, &params));
	pe_status status = bind_other(e, encoder, params);
	pe_params_destroy(&params);
	return status;
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_encoding_destroy(&e->inner);
	pe_domain_destroy(&s->keys);
	pe_domain_destroy(&s->queries);
	pe_free(e->ctx, s->positions);
}

/* ---- arrays and tokens -------------------------------------------------------------- */

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	const pe_tensor *out = s->own >= 0 ? &outs[s->own] : NULL;
	for (int64_t b = 0; out && out->data && b < s->batch; b++) {
		int64_t at = out->ndim == 2 ? b * out->strides[0] : 0;
		pe_store_f64((char *)out->data + at * (int64_t)pe_dtype_size(out->dtype), out->dtype,
			out->strides[out->ndim - 1], s->positions + b * s->columns, 1, e->domain->tokens);
	}
	return e->inner->array_count > 0 ? e->inner->encoder->compute(e->inner, outs) : PE_OK;
}

static pe_status tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	return e->inner->encoder->tokens(e->inner, x, y);
}

static pe_status tokens_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	const struct pe_encoder *other = e->inner->encoder;
	if (!other->tokens)
		return pe_encoding_fail(e, PE_ERR_UNSUPPORTED, "%s does not act on tokens", other->table.name);
	return other->tokens_shape ? other->tokens_shape(e->inner, tokens, width) : PE_OK;
}

static const pe_option_info options[] = {
	PE_STRING("over", "sinusoidal",
		"the encoder that gets the positions, with its options behind colons, as "
		"rope:head_dim=32:base=500"),
	PE_INT("max", "2048", 1, 1 << 24, "positions are drawn from 0 ... max-1"),
	PE_INT("draw", "0", 0, 1e15, "number of the draw: another number, other positions of the same seed"),
};

const struct pe_encoder pe_encoder_randomised = {
	.table = PE_TABLE_NO_PRESETS("randomised", options),
	.family = PE_SEQ,
	.summary = "another encoder at positions drawn at random, in order, from a larger range",
	.help = "The n different positions of keys and queries, in ascending order, are\n"
			"replaced by n different whole numbers of 0 ... max-1, drawn without\n"
			"replacement, every set as likely as any other, and sorted. Equal positions\n"
			"stay equal, and order stays order. The encoder named by `over` then yields\n"
			"its arrays there, and acts wherever it does by itself: on tokens, in\n"
			"attention. Array positions holds what was drawn for the keys.\n"
			"The authors draw anew for each batch, at inference too: count `draw` up.\n"
			"Sequences that share positions share the draw; batches with positions of\n"
			"their own have draws of their own. max must exceed the longest sequence\n"
			"that will ever be met. Weights are named behind the\n"
			"other encoder's name, as t5.relative_attention_bias; options heads, head_dim\n"
			"and dim follow from attention as they do without randomised.",
	.source = "Ruoss et al. 2023, \"Randomized positional encodings\", and its code",
	.example = "seq:40 --with randomised:over=rope:head_dim=32,max=2048 -o rope.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	.over_another = true,
	.bind = bind,
	.release = release,
	.compute = compute,
	.tokens = tokens,
	.tokens_shape = tokens_shape,
};
