/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "bundle.h"
#include "encoder.h"
#include "pool.h"
#include "rotation.h"
#include "stream.h"
#include "tensor.h"

static void forget_failures(pe_encoding *e)
{
	for (int64_t i = 0; i < e->quality.failed; i++)
		pe_free(e->ctx, e->failures[i]);
	pe_free(e->ctx, e->failures);
	pe_free(e->ctx, e->failed);
	e->failures = NULL;
	e->failed = NULL;
	e->failure_capacity = 0;
	memset(&e->quality, 0, sizeof e->quality);
}

static const char *kinds_of(const struct pe_encoder *encoder)
{
	if (encoder->domains == (PE_DOMAIN_GRID | PE_DOMAIN_SEQUENCE))
		return "a grid or a sequence";
	return pe_domain_kind_name((enum pe_domain_kind)encoder->domains);
}

static pe_status check_domains(pe_encoding *e)
{
	const pe_domain *keys = e->domain, *queries = e->queries;
	if (!(e->encoder->domains & (int)keys->kind) || !(e->encoder->domains & (int)queries->kind))
		return pe_fail(e->ctx, PE_ERR_ARGUMENT, "%s does not take %s, but %s", e->encoder->table.name,
			pe_domain_kind_name(keys->kind), kinds_of(e->encoder));
	if ((keys->padding || queries->padding) && !e->encoder->counts_padding)
		return pe_encoding_fail(e, PE_ERR_UNSUPPORTED,
			"it does not tell padding from the rest of a grid: give it the grid without a padding mask");
	if (keys->kind != queries->kind || keys->axes != queries->axes)
		return pe_encoding_fail(e, PE_ERR_ARGUMENT, "queries and keys stand on domains of different kinds");
	if (e->encoder->family == PE_SEQ && keys->kind == PE_DOMAIN_SEQUENCE && keys->axes > 1)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "it takes one number a position, and these have %lld", (long long)keys->axes);
	if (keys->batch != queries->batch && keys->batch != 1 && queries->batch != 1)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "positions of queries have %lld batches, those of keys %lld",
			(long long)queries->batch, (long long)keys->batch);
	return PE_OK;
}

static pe_status fill_size(pe_encoding *e, const char *name, int64_t value)
{
	if (value <= 0 || !pe_params_has(e->params, name) || !pe_params_is_default(e->params, name))
		return PE_OK;
	return pe_params_fill(e->params, name, value);
}

static pe_status fill_sizes(pe_encoding *e)
{
	const pe_sizes *sizes = &e->sizes;
	const int64_t heads[] = {sizes->heads, sizes->key_heads, 0};
	PE_TRY(fill_size(e, "heads", heads[e->encoder->heads_option]));
	PE_TRY(fill_size(e, "head_dim", sizes->head_dim));
	PE_TRY(fill_size(e, "value_dim", sizes->value_dim));
	return fill_size(e, "dim", sizes->dim);
}

static pe_status bind(pe_encoding *e, const pe_params *params)
{
	const struct pe_encoder *encoder = e->encoder;
	PE_TRY(check_domains(e));
	if (params)
		PE_TRY(pe_params_copy(e->ctx, params, &e->params));
	else
		PE_TRY(pe_params_from_table(e->ctx, &encoder->table, &e->params));
	PE_TRY(fill_sizes(e));
	return encoder->bind(e);
}

pe_status pe_encoding_create(pe_context *context, const pe_encoder *encoder, const pe_params *params,
	const pe_domain *domain, const pe_encoding_options *options, pe_encoding **out)
{
	pe_encoding_options o = {0};
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!encoder || !domain)
		return pe_fail(context, PE_ERR_ARGUMENT, "an encoding needs an encoder and a domain");
	PE_TRY(pe_take_options(context, &o, sizeof o, options, "pe_encoding_options"));
	PE_TRY(pe_bundle_check_data(context, o.weights));
	if (params && pe_params_table(params) != &encoder->table)
		return pe_fail(context, PE_ERR_ARGUMENT, "these are the parameters of %s, not of %s",
			pe_params_table(params)->name, encoder->table.name);
	pe_encoding *e = pe_alloc_zero(context, 1, sizeof *e);
	if (!e)
		return PE_ERR_NOMEM;
	e->ctx = context;
	e->encoder = encoder;
	e->domain = domain;
	e->queries = o.queries ? o.queries : domain;
	e->given_weights = o.weights;
	e->weights_prefix = o.prefix;
	e->weights_shared = o.weights_shared != 0;
	e->sizes = o.sizes;
	pe_status status = bind(e, params);
	e->given_weights = NULL;
	e->weights_prefix = NULL;
	if (status != PE_OK) {
		pe_encoding_destroy(&e);
		return status;
	}
	*out = e;
	return PE_OK;
}

void pe_encoding_destroy(pe_encoding **encoding)
{
	if (!encoding || !*encoding)
		return;
	pe_encoding *e = *encoding;
	*encoding = NULL;
	if (e->state && e->encoder->release)
		e->encoder->release(e);
	pe_encoding_destroy(&e->inner);
	forget_failures(e);
	for (int64_t i = 0; i < e->weight_count; i++) {
		pe_free(e->ctx, e->weights[i].values);
		pe_free(e->ctx, e->weights[i].own_name);
		pe_free(e->ctx, e->weights[i].source);
	}
	pe_free(e->ctx, e->weights);
	pe_free(e->ctx, e->state);
	pe_params_destroy(&e->params);
	pe_free(e->ctx, e);
}

const pe_params *pe_encoding_params(const pe_encoding *encoding)
{
	return encoding ? encoding->params : NULL;
}

int64_t pe_encoding_array_count(const pe_encoding *encoding)
{
	return encoding ? encoding->array_count : 0;
}

pe_status pe_encoding_array(const pe_encoding *encoding, int64_t index, pe_array_info *out)
{
	if (!encoding || !out)
		return PE_ERR_ARGUMENT;
	if (index < 0 || index >= encoding->array_count)
		return pe_fail(encoding->ctx, PE_ERR_ARGUMENT, "%s yields %lld arrays, there is no number %lld",
			encoding->encoder->table.name, (long long)encoding->array_count, (long long)index);
	*out = encoding->arrays[index];
	return PE_OK;
}

static pe_status check_outputs(pe_encoding *e, const pe_tensor *outs)
{
	for (int64_t i = 0; i < e->array_count; i++) {
		const pe_array_info *info = &e->arrays[i];
		if (!outs[i].data)
			continue;
		PE_TRY(pe_tensor_check_output(e->ctx, &outs[i], info->name, info->dtype, info->ndim, info->shape));
		for (int64_t j = 0; j < i; j++)
			if (outs[j].data && pe_tensor_overlap(&outs[i], &outs[j]))
				return pe_fail(
					e->ctx, PE_ERR_ARGUMENT, "the outputs %s and %s overlap", e->arrays[j].name, info->name);
	}
	return PE_OK;
}

static pe_status check_count(pe_encoding *e, int64_t count)
{
	if (count == e->array_count)
		return PE_OK;
	return pe_fail(e->ctx, PE_ERR_ARGUMENT, "%s yields %lld arrays, not %lld", e->encoder->table.name,
		(long long)e->array_count, (long long)count);
}

pe_status pe_encoding_compute(pe_encoding *encoding, const pe_tensor *outs, int64_t count)
{
	if (!encoding || (!outs && count != 0))
		return PE_ERR_ARGUMENT;
	PE_TRY(check_count(encoding, count));
	PE_TRY(check_outputs(encoding, outs));
	forget_failures(encoding);
	return count > 0 ? encoding->encoder->compute(encoding, outs) : PE_OK;
}

static pe_status check_dtypes(pe_encoding *e, const int32_t *dtypes)
{
	for (int64_t i = 0; i < e->array_count; i++) {
		const pe_array_info *info = &e->arrays[i];
		if (dtypes[i] < -1 || (dtypes[i] >= 0 && !pe_dtype_holds((pe_dtype)dtypes[i], info->dtype)))
			return pe_fail(e->ctx, PE_ERR_SHAPE, "%s is %s: it cannot be stored as %s", info->name,
				pe_dtype_name(info->dtype), pe_dtype_name((pe_dtype)dtypes[i]));
	}
	return PE_OK;
}

/* Whole arrays, of an encoder that knows no parts. */
static pe_status stream_whole(pe_encoding *e)
{
	pe_tensor outs[PE_MAX_ARRAYS];
	int64_t first[PE_MAX_ARRAYS] = {0}, rows[PE_MAX_ARRAYS];
	for (int64_t i = 0; i < e->array_count; i++)
		rows[i] = e->arrays[i].shape[0];
	PE_TRY(pe_stream_open(e->ctx, e, rows, outs));
	return pe_stream_close(e->ctx, e, first, outs, e->encoder->compute(e, outs));
}

pe_status pe_encoding_stream(
	pe_encoding *encoding, const int32_t *dtypes, int64_t count, pe_take_rows take, void *opaque)
{
	static const pe_tensor none[PE_MAX_ARRAYS] = {{0}};
	pe_encoding *e = encoding;
	if (!e || !take || (!dtypes && count != 0))
		return PE_ERR_ARGUMENT;
	PE_TRY(check_count(e, count));
	PE_TRY(check_dtypes(e, dtypes));
	forget_failures(e);
	if (count == 0)
		return PE_OK;
	e->stream = &(struct pe_stream){dtypes, take, opaque};
	pe_status status = e->encoder->by_parts ? e->encoder->compute(e, none) : stream_whole(e);
	e->stream = NULL;
	return status;
}

/* (…, tokens, width) as (batch, tokens, width); fails if the leading dimensions have no one stride. */
static bool as_batch(const pe_tensor *t, pe_tensor *out)
{
	int32_t lead = t->ndim - 2;
	int64_t batch = 1, stride = 0;
	for (int32_t d = lead - 1; d >= 0; d--) {
		if (t->shape[d] == 1)
			continue;
		if (batch > 1 && t->strides[d] != stride * batch)
			return false;
		if (batch == 1)
			stride = t->strides[d];
		batch *= t->shape[d];
	}
	*out = (pe_tensor){.data = t->data,
		.dtype = t->dtype,
		.ndim = 3,
		.shape = {batch, t->shape[lead], t->shape[lead + 1]},
		.strides = {stride, t->strides[lead], t->strides[lead + 1]}};
	return true;
}

pe_status pe_encoding_apply_shape(pe_encoding *encoding, int32_t ndim, const int64_t *shape, int64_t *out)
{
	if (!encoding || !shape || !out)
		return PE_ERR_ARGUMENT;
	pe_encoding *e = encoding;
	if (!e->encoder->tokens)
		return pe_encoding_fail(e, PE_ERR_UNSUPPORTED, "it does not act on tokens");
	if (ndim < 2 || ndim > PE_MAX_DIMS || shape[ndim - 2] != e->domain->tokens)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "features must be (…, tokens, width) with %lld tokens",
			(long long)e->domain->tokens);
	memmove(out, shape, (size_t)ndim * sizeof *out);
	return e->encoder->tokens_shape ? e->encoder->tokens_shape(e, &out[ndim - 2], &out[ndim - 1]) : PE_OK;
}

pe_status pe_encoding_apply(pe_encoding *encoding, const pe_tensor *x, const pe_tensor *y)
{
	if (!encoding || !x || !y)
		return PE_ERR_ARGUMENT;
	pe_encoding *e = encoding;
	int64_t shape[PE_MAX_DIMS];
	if (pe_tensor_count(x) < 0 || !pe_dtype_is_float(x->dtype))
		return pe_encoding_fail(e, PE_ERR_SHAPE, "features must be of a float type");
	PE_TRY(pe_encoding_apply_shape(e, x->ndim, x->shape, shape));
	PE_TRY(pe_tensor_check_input(e->ctx, x, "the features"));
	PE_TRY(pe_tensor_check_output(e->ctx, y, "the output", PE_F64, x->ndim, shape));
	if (x->dtype != y->dtype)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "features and output must be of the same type");
	if (pe_tensor_overlap(x, y) &&
		(!pe_tensor_same_view(x, y) || memcmp(shape, x->shape, (size_t)x->ndim * sizeof *shape) != 0))
		return pe_encoding_fail(e, PE_ERR_ARGUMENT, "features and output overlap without being the same");
	pe_tensor xb, yb;
	if (pe_tensor_count(y) == 0) /* the product of the leading dimensions may not fit */
		return PE_OK;
	if (!as_batch(x, &xb) || !as_batch(y, &yb))
		return pe_encoding_fail(e, PE_ERR_SHAPE, "the leading dimensions must be evenly spaced");
	forget_failures(e);
	return e->encoder->tokens(e, &xb, &yb);
}

/* ---- rotate ------------------------------------------------------------------------- */

void pe_encoding_rotate_rows(const pe_encoding *e, const struct pe_place *first, int64_t count,
	const double *in, int64_t width, double *out, int64_t out_width)
{
	struct pe_place at = *first;
	if (!pe_encoding_turns(e, first->side)) {
		memcpy(out, in, (size_t)(count * width) * sizeof *out);
		return;
	}
	if (e->encoder->rotate_rows) {
		e->encoder->rotate_rows(e, first, count, in, width, out);
		return;
	}
	for (int64_t i = 0; i < count; i++, at.token++)
		e->encoder->rotate(e, &at, in + i * width, width, out + i * out_width);
}

pe_status pe_encoding_rotate_width(pe_encoding *encoding, pe_side side, int64_t width, int64_t *out)
{
	if (!encoding || !out || (unsigned)side > PE_VALUES)
		return PE_ERR_ARGUMENT;
	if (encoding->inner && !encoding->inner->encoder->rotate) {
		*out = width;
		return PE_OK;
	}
	if (encoding->inner)
		return pe_encoding_rotate_width(encoding->inner, side, width, out);
	if (!encoding->encoder->rotate)
		return pe_encoding_fail(encoding, PE_ERR_UNSUPPORTED, "it does not act on queries and keys");
	*out = width;
	if (!pe_encoding_turns(encoding, side) || !encoding->encoder->rotate_width)
		return PE_OK;
	return encoding->encoder->rotate_width(encoding, side, width, out);
}

struct rotation_work {
	const pe_encoding *e;
	pe_side side;
	const pe_tensor *x, *y;
};

static pe_status rotate_head(pe_context *worker, void *arg, int64_t index)
{
	const struct rotation_work *w = arg;
	int64_t heads = w->x->shape[1], length = w->x->shape[2], in = w->x->shape[3], out = w->y->shape[3];
	double *rows = pe_alloc(worker, pe_min(length, PE_ROTATED_ROWS), (size_t)(in + out) * sizeof *rows);
	if (!rows)
		return PE_ERR_NOMEM;
	for (int64_t first = 0; first < length; first += PE_ROTATED_ROWS) {
		int64_t count = pe_min(PE_ROTATED_ROWS, length - first);
		struct pe_place at = {w->side, index / heads, index % heads, first};
		double *turned = rows + count * in;
		for (int64_t i = 0; i < count; i++, at.token++)
			pe_load_f64(rows + i * in, pe_tensor_at(w->x, at.batch, at.head, at.token), w->x->dtype,
				w->x->strides[3], in);
		at.token = first;
		pe_encoding_rotate_rows(w->e, &at, count, rows, in, turned, out);
		for (int64_t i = 0; i < count; i++, at.token++)
			pe_store_f64(pe_tensor_at(w->y, at.batch, at.head, at.token), w->y->dtype, w->y->strides[3],
				turned + i * out, 1, out);
	}
	pe_free(worker, rows);
	return PE_OK;
}

static pe_status check_rotation(pe_encoding *e, pe_side side, const pe_tensor *x, const pe_tensor *y)
{
	if (pe_tensor_count(x) < 0 || x->ndim != 4 || !pe_dtype_is_float(x->dtype))
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "what is turned must be (batch, heads, length, width) of a float type");
	int64_t shape[] = {x->shape[0], x->shape[1], x->shape[2], 0};
	const pe_domain *domain = side == PE_QUERIES ? e->queries : e->domain;
	PE_TRY(pe_encoding_rotate_width(e, side, x->shape[3], &shape[3]));
	PE_TRY(pe_tensor_check_input(e->ctx, x, "what is turned"));
	PE_TRY(pe_tensor_check_output(e->ctx, y, "the output", PE_F64, 4, shape));
	if (x->dtype != y->dtype)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "input and output must be of the same type");
	if (shape[2] != domain->tokens || (domain->batch != 1 && shape[0] != domain->batch))
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"there are %lld tokens in %lld batches, and positions for %lld in %lld", (long long)shape[2],
			(long long)shape[0], (long long)domain->tokens, (long long)domain->batch);
	int64_t heads = side == PE_KEYS && e->key_heads != 0 ? e->key_heads : e->heads;
	if (heads != 0 && shape[1] > heads)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "there are %lld heads, and it knows %lld",
			(long long)shape[1], (long long)heads);
	if (pe_tensor_overlap(x, y) && (!pe_tensor_same_view(x, y) || shape[3] != x->shape[3]))
		return pe_encoding_fail(e, PE_ERR_ARGUMENT, "input and output overlap without being the same");
	return PE_OK;
}

pe_status pe_encoding_rotate(pe_encoding *encoding, pe_side side, const pe_tensor *x, const pe_tensor *y)
{
	if (!encoding || !x || !y || (unsigned)side > PE_VALUES)
		return PE_ERR_ARGUMENT;
	if (encoding->inner)
		return pe_encoding_rotate(encoding->inner, side, x, y);
	PE_TRY(check_rotation(encoding, side, x, y));
	if (pe_tensor_count(y) == 0)
		return PE_OK;
	if (pe_rotation_of(encoding) && side != PE_VALUES)
		return pe_rotation_apply(encoding, side, x, y);
	return pe_parallel(encoding->ctx, x->shape[0] * x->shape[1], rotate_head,
		&(struct rotation_work){encoding, side, x, y}, encoding->encoder->table.name);
}

const pe_quality *pe_encoding_get_quality(const pe_encoding *encoding)
{
	return encoding ? &encoding->quality : NULL;
}

const int64_t *pe_encoding_failed(const pe_encoding *encoding)
{
	return encoding ? encoding->failed : NULL;
}

const char *pe_encoding_failure(const pe_encoding *encoding, int64_t index)
{
	return encoding && index >= 0 && index < encoding->quality.failed ? encoding->failures[index] : NULL;
}
