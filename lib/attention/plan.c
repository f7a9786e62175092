/* SPDX-License-Identifier: BSD-2-Clause
 * What is checked before any core runs. */
#include "plan.h"

#include <math.h>
#include <string.h>

#define MAX_WIDTH ((int64_t)1 << 24) /* so that products with a tile's sizes fit */

/* ---- tensors ------------------------------------------------------------------------ */

static pe_status take_tensor(pe_context *ctx, const pe_tensor *t, const char *name, pe_tensor *out)
{
	if (!t)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "attention needs %s", name);
	if (t->ndim != 4 || !pe_dtype_is_float(t->dtype))
		return pe_fail(ctx, PE_ERR_SHAPE, "%s must be (batch, heads, length, width) of a float type", name);
	*out = *t;
	return pe_tensor_check_input(ctx, t, name);
}

static pe_status take_sizes(struct pe_plan *p)
{
	const int64_t *q = p->q.shape, *k = p->k.shape, *v = p->v.shape;
	if (q[0] != k[0] || k[0] != v[0])
		return pe_fail(p->ctx, PE_ERR_SHAPE, "q, k and v have %lld, %lld and %lld batches", (long long)q[0],
			(long long)k[0], (long long)v[0]);
	if (k[1] != v[1] || k[2] != v[2])
		return pe_fail(p->ctx, PE_ERR_SHAPE, "k and v differ in heads or length");
	if (q[3] != k[3])
		return pe_fail(p->ctx, PE_ERR_SHAPE, "q is %lld wide, and k %lld", (long long)q[3], (long long)k[3]);
	if (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0)
		return pe_fail(p->ctx, PE_ERR_SHAPE, "%lld query heads cannot share %lld key heads", (long long)q[1],
			(long long)k[1]);
	p->batch = q[0];
	p->heads = q[1];
	p->key_heads = k[1];
	p->queries = q[2];
	p->keys = k[2];
	p->width = q[3];
	p->value_width = v[3];
	return PE_OK;
}

static pe_status take_outputs(struct pe_plan *p, const pe_attention_tensors *t)
{
	const int64_t shape[] = {p->batch, p->heads, p->queries, p->sum_width};
	if (!t->out)
		return pe_fail(p->ctx, PE_ERR_ARGUMENT, "attention needs out");
	PE_TRY(pe_tensor_check_output(p->ctx, t->out, "out", PE_F64, 4, shape));
	p->out = *t->out;
	if (t->lse) {
		PE_TRY(pe_tensor_check_output(p->ctx, t->lse, "lse", PE_F64, 3, shape));
		p->lse = *t->lse;
	}
	const pe_tensor *inputs[] = {&p->q, &p->k, &p->v, &p->mask};
	for (int64_t i = 0; i < PE_COUNT(inputs); i++)
		if (pe_tensor_overlap(&p->out, inputs[i]) || pe_tensor_overlap(&p->lse, inputs[i]))
			return pe_fail(p->ctx, PE_ERR_ARGUMENT, "an output of attention overlaps an input");
	if (pe_tensor_overlap(&p->out, &p->lse))
		return pe_fail(p->ctx, PE_ERR_ARGUMENT, "out and lse overlap");
	return PE_OK;
}

static pe_status take_mask(struct pe_plan *p, const pe_tensor *mask)
{
	const int64_t full[] = {p->batch, p->heads, p->queries, p->keys};
	if (!mask)
		return PE_OK;
	PE_TRY(pe_tensor_check_input(p->ctx, mask, "mask"));
	if (mask->ndim > 4 || (mask->dtype != PE_BOOL && mask->dtype != PE_U8 && !pe_dtype_is_float(mask->dtype)))
		return pe_fail(p->ctx, PE_ERR_SHAPE, "mask must be bool or float, of at most 4 dimensions");
	p->mask = (pe_tensor){.data = mask->data, .dtype = mask->dtype, .ndim = 4};
	for (int32_t d = 0; d < 4; d++) {
		int32_t from = d - (4 - mask->ndim);
		int64_t size = from >= 0 ? mask->shape[from] : 1;
		if (size != 1 && size != full[d])
			return pe_fail(p->ctx, PE_ERR_SHAPE,
				"mask does not broadcast to (batch, heads, Lq, Lk): dimension %d is %lld and must be 1 or "
				"%lld",
				(int)from, (long long)size, (long long)full[d]);
		p->mask.shape[d] = full[d];
		p->mask.strides[d] = size == 1 ? 0 : mask->strides[from];
	}
	return PE_OK;
}

static pe_status take_lengths(struct pe_plan *p, const pe_tensor *lengths)
{
	if (!lengths)
		return PE_OK;
	PE_TRY(pe_tensor_check_input(p->ctx, lengths, "key_lengths"));
	if (lengths->ndim != 1 || lengths->shape[0] != p->batch || !pe_dtype_is_integer(lengths->dtype))
		return pe_fail(p->ctx, PE_ERR_SHAPE, "key_lengths must be (batch) integers");
	p->key_lengths = pe_alloc(p->ctx, p->batch, sizeof *p->key_lengths);
	if (!p->key_lengths)
		return PE_ERR_NOMEM;
	pe_load_i64(p->key_lengths, lengths->data, lengths->dtype, lengths->strides[0], p->batch);
	for (int64_t b = 0; b < p->batch; b++)
		if (p->key_lengths[b] < 0 || p->key_lengths[b] > p->keys)
			return pe_fail(p->ctx, PE_ERR_RANGE, "key_lengths[%lld] is %lld, and there are %lld keys",
				(long long)b, (long long)p->key_lengths[b], (long long)p->keys);
	return PE_OK;
}

static pe_status take_sinks(struct pe_plan *p, const pe_tensor *sinks)
{
	if (!sinks)
		return PE_OK;
	PE_TRY(pe_tensor_check_input(p->ctx, sinks, "sinks"));
	if (sinks->ndim != 1 || sinks->shape[0] != p->heads || !pe_dtype_is_float(sinks->dtype))
		return pe_fail(p->ctx, PE_ERR_SHAPE, "sinks must be (heads) of a float type");
	p->sinks = pe_alloc(p->ctx, p->heads, sizeof *p->sinks);
	if (!p->sinks)
		return PE_ERR_NOMEM;
	pe_load_f64(p->sinks, sinks->data, sinks->dtype, sinks->strides[0], p->heads);
	for (int64_t h = 0; h < p->heads; h++)
		if (!(p->sinks[h] < INFINITY))
			return pe_fail(p->ctx, PE_ERR_RANGE, "sinks[%lld] is %g, which is no score: -inf is no sink",
				(long long)h, p->sinks[h]);
	return PE_OK;
}

/* ---- encodings ---------------------------------------------------------------------- */

static void put(struct pe_acting *acting, pe_encoding *e, bool acts)
{
	if (acts)
		acting->list[acting->count++] = e;
}

/* The one encoding at a site that can have one. */
static pe_status put_only(struct pe_plan *p, pe_encoding **place, pe_encoding *e, bool acts, const char *what)
{
	if (!acts)
		return PE_OK;
	if (*place)
		return pe_fail(p->ctx, PE_ERR_UNSUPPORTED, "%s and %s cannot be combined: each %s",
			(*place)->encoder->table.name, e->encoder->table.name, what);
	*place = e;
	return PE_OK;
}

static pe_status check_sizes(struct pe_plan *p, pe_encoding *e)
{
	if (e->domain->tokens != p->keys || e->queries->tokens != p->queries)
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"it is bound to %lld queries and %lld keys, and attention has %lld and %lld",
			(long long)e->queries->tokens, (long long)e->domain->tokens, (long long)p->queries,
			(long long)p->keys);
	int64_t batch = pe_max(e->domain->batch, e->queries->batch);
	if (batch != 1 && batch != p->batch)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "its positions have %lld batches, and attention %lld",
			(long long)batch, (long long)p->batch);
	if (e->heads != 0 && e->heads != p->heads)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "it has %lld heads, and attention %lld", (long long)e->heads,
			(long long)p->heads);
	if (e->key_heads != 0 && e->key_heads != p->key_heads)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "it has %lld heads of keys, and attention %lld",
			(long long)e->key_heads, (long long)p->key_heads);
	return PE_OK;
}

static pe_status put_at_sites(struct pe_plan *p, pe_encoding *e)
{
	if (e->inner)
		e = e->inner;
	const struct pe_encoder *x = e->encoder;
	int32_t sites = pe_encoder_sites(x);
	if (sites != 0 && (sites & ~(PE_SITE_TOKENS | PE_SITE_SEQUENCE)) == 0)
		return pe_encoding_fail(
			e, PE_ERR_UNSUPPORTED, "it acts on tokens, before attention: apply it to the features");
	PE_TRY(check_sizes(p, e));
	put(&p->rotate, e, pe_encoding_turns(e, PE_KEYS));
	put(&p->content, e, x->content);
	put(&p->content_row, e, x->content_row);
	put(&p->scores, e, x->scores && !e->leaves_scores);
	put(&p->gains, e, x->gains && !e->leaves_gains);
	put(&p->weights_after, e, x->weights_after);
	put(&p->values, e, x->values);
	PE_TRY(put_only(p, &p->map_heads, e, x->map_heads, "maps the scores of all heads"));
	if (p->scale == 0)
		PE_TRY(put_only(p, &p->scaler, e, x->scale && !e->leaves_scale, "sets the scale; give one by hand"));
	return PE_OK;
}

static pe_status rotated_width(struct pe_plan *p, pe_side side, int64_t width, int64_t *out)
{
	int64_t *widths = p->rotated[side];
	widths[0] = width;
	for (int i = 0; i < p->rotate.count; i++) {
		PE_TRY(pe_encoding_rotate_width(p->rotate.list[i], side, widths[i], &widths[i + 1]));
		p->turns[side] = p->turns[side] || pe_encoding_turns(p->rotate.list[i], side);
	}
	for (int i = 0; i <= p->rotate.count; i++)
		p->widest = pe_max(p->widest, widths[i]);
	*out = widths[p->rotate.count];
	return PE_OK;
}

static pe_status check_terms(
	pe_encoding *e, int (*terms)(const pe_encoding *, struct pe_term *), int64_t width, const char *whose)
{
	struct pe_term term[PE_MAX_TERMS];
	int count = terms(e, term);
	for (int i = 0; i < count; i++)
		if (term[i].width != width)
			return pe_encoding_fail(e, PE_ERR_SHAPE, "its rows are %lld wide, and %s %lld",
				(long long)term[i].width, whose, (long long)width);
	return PE_OK;
}

static pe_status check_row_width(pe_encoding *e, int64_t width)
{
	if (e->row_width == 0 || e->row_width == width)
		return PE_OK;
	return pe_encoding_fail(e, PE_ERR_SHAPE, "its rows are %lld wide, and heads are %lld",
		(long long)e->row_width, (long long)width);
}

static pe_status take_widths(struct pe_plan *p)
{
	int64_t keys;
	PE_TRY(rotated_width(p, PE_QUERIES, p->width, &p->dot_width));
	PE_TRY(rotated_width(p, PE_KEYS, p->width, &keys));
	PE_TRY(rotated_width(p, PE_VALUES, p->value_width, &p->sum_width));
	if (p->widest > MAX_WIDTH)
		return pe_fail(p->ctx, PE_ERR_SHAPE, "heads of %lld channels are not possible", (long long)p->widest);
	if (p->dot_width != keys)
		return pe_fail(p->ctx, PE_ERR_INTERNAL, "queries and keys are turned to different widths");
	for (int i = 0; i < p->content.count; i++)
		PE_TRY(
			check_terms(p->content.list[i], p->content.list[i]->encoder->content, p->dot_width, "heads are"));
	for (int i = 0; i < p->content_row.count; i++)
		PE_TRY(check_row_width(p->content_row.list[i], p->dot_width));
	for (int i = 0; i < p->values.count; i++)
		PE_TRY(
			check_terms(p->values.list[i], p->values.list[i]->encoder->values, p->sum_width, "values are"));
	return PE_OK;
}

/* ---- positions ---------------------------------------------------------------------- */

static pe_status take_domains(struct pe_plan *p, const pe_attention_options *o, pe_encoding *first)
{
	p->key_domain = o->keys ? o->keys : first ? first->domain : NULL;
	p->query_domain = o->queries ? o->queries : first ? first->queries : NULL;
	/* Only positions of one axis order the tokens; else their numbers do. */
	if (!p->key_domain || !p->query_domain || p->key_domain->kind != PE_DOMAIN_SEQUENCE ||
		p->query_domain->kind != PE_DOMAIN_SEQUENCE || p->key_domain->axes > 1 || p->query_domain->axes > 1) {
		p->implied[0] =
			(struct pe_domain){.kind = PE_DOMAIN_SEQUENCE, .tokens = p->keys, .batch = 1, .axes = 1};
		p->implied[1] = p->implied[0];
		p->implied[1].tokens = p->queries;
		p->implied[1].offset = (double)(p->keys - p->queries);
		p->key_domain = &p->implied[0];
		p->query_domain = &p->implied[1];
	}
	if (p->key_domain->tokens != p->keys || p->query_domain->tokens != p->queries ||
		(p->key_domain->batch != 1 && p->key_domain->batch != p->batch) ||
		(p->query_domain->batch != 1 && p->query_domain->batch != p->batch))
		return pe_fail(p->ctx, PE_ERR_SHAPE, "the positions of queries or keys do not fit q and k");
	return PE_OK;
}

static pe_status take_numbers(struct pe_plan *p, const pe_attention_options *o)
{
	if (!isfinite(o->scale) || !(o->softcap >= 0) || isinf(o->softcap))
		return pe_fail(p->ctx, PE_ERR_RANGE, "scale must be finite, and softcap finite and not negative");
	if (isnan(o->window_left) || isnan(o->window_right))
		return pe_fail(p->ctx, PE_ERR_RANGE, "the window is not a number");
	p->causal = o->causal != 0;
	p->windowed = o->windowed != 0;
	p->left = o->window_left;
	p->right = o->window_right;
	p->scale = o->scale;
	p->softcap = o->softcap;
	p->keep_far_tiles = o->keep_far_tiles != 0;
	return PE_OK;
}

/* ---- all ---------------------------------------------------------------------------- */

pe_status pe_plan_make(pe_context *ctx, pe_encoding *const *encodings, int64_t count,
	const pe_attention_options *options, const pe_attention_tensors *tensors, struct pe_plan *p)
{
	*p = (struct pe_plan){.ctx = ctx};
	if (count < 0 || count > PE_MAX_ENCODINGS)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "attention takes at most %d encodings", PE_MAX_ENCODINGS);
	PE_TRY(take_tensor(ctx, tensors->q, "q", &p->q));
	PE_TRY(take_tensor(ctx, tensors->k, "k", &p->k));
	PE_TRY(take_tensor(ctx, tensors->v, "v", &p->v));
	PE_TRY(take_sizes(p));
	PE_TRY(take_numbers(p, options));
	for (int64_t i = 0; i < count; i++) {
		if (!encodings[i] || encodings[i]->ctx != ctx)
			return pe_fail(ctx, PE_ERR_ARGUMENT, "encoding number %lld is %s", (long long)i,
				encodings[i] ? "of another context" : "NULL");
		PE_TRY(put_at_sites(p, encodings[i]));
	}
	PE_TRY(take_widths(p));
	PE_TRY(take_domains(p, options, count > 0 ? encodings[0] : NULL));
	PE_TRY(take_mask(p, tensors->mask));
	PE_TRY(take_lengths(p, tensors->key_lengths));
	PE_TRY(take_sinks(p, tensors->sinks));
	return take_outputs(p, tensors);
}

void pe_plan_free(struct pe_plan *p)
{
	pe_free(p->ctx, p->key_lengths);
	pe_free(p->ctx, p->sinks);
}
