/* SPDX-License-Identifier: BSD-2-Clause */
#include "token_table.h"

#include "pool.h"

#define CHUNK 64 /* tokens a piece of work */

struct work {
	pe_encoding *e;
	const pe_tensor *x; /* NULL: write the rows alone */
	const pe_tensor *y;
	enum pe_merge merge;
};

static const struct pe_token_table *table_of(const pe_encoding *e)
{
	return e->state;
}

static void merge_row(enum pe_merge merge, const double *p, double *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i] = merge == PE_MERGE_ADD     ? x[i] + p[i]
			: merge == PE_MERGE_MULTIPLY ? x[i] * p[i]
										 : x[i] * (1 + p[i]);
}

static char *element(const pe_tensor *t, int64_t batch, int64_t token)
{
	int64_t offset = batch * t->strides[0] + token * t->strides[1];
	return (char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype);
}

/* Merges one token's row in every batch. x and y are (batch, tokens, width); buffer holds a row of y. */
static void apply_token(const struct work *w, int64_t token, const double *p, double *buffer)
{
	int64_t width = w->x->shape[2], dim = table_of(w->e)->dim;
	for (int64_t b = 0; b < w->x->shape[0]; b++) {
		pe_load_f64(buffer, element(w->x, b, token), w->x->dtype, w->x->strides[2], width);
		if (w->merge != PE_MERGE_CONCAT && token >= table_of(w->e)->unplaced)
			merge_row(w->merge, p, buffer, width);
		char *out = element(w->y, b, token);
		pe_store_f64(out, w->y->dtype, w->y->strides[2], buffer, 1, width);
		if (w->merge == PE_MERGE_CONCAT)
			pe_store_f64(out + width * w->y->strides[2] * (int64_t)pe_dtype_size(w->y->dtype), w->y->dtype,
				w->y->strides[2], p, 1, dim);
	}
}

static pe_status do_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const struct pe_token_table *table = table_of(w->e);
	int64_t width = w->x ? w->x->shape[2] : 0;
	double *row = pe_alloc(worker, table->dim + width, sizeof *row);
	if (!row)
		return PE_ERR_NOMEM;
	int64_t end = pe_min((chunk + 1) * CHUNK, w->e->domain->tokens);
	for (int64_t token = chunk * CHUNK; token < end; token++) {
		table->row(w->e, token, row);
		if (w->x)
			apply_token(w, token, row, row + table->dim);
		else
			pe_store_f64(pe_tensor_row(w->y, token), w->y->dtype, w->y->strides[1], row, 1, table->dim);
	}
	pe_free(worker, row);
	return PE_OK;
}

static pe_status run(struct work *w)
{
	int64_t chunks = (w->e->domain->tokens + CHUNK - 1) / CHUNK;
	return pe_parallel(w->e->ctx, chunks, do_chunk, w, w->e->encoder->table.name);
}

void pe_token_table_declare(pe_encoding *e)
{
	pe_declare(e, "position_encoding", PE_F64, 2, (int64_t[]){e->domain->tokens, table_of(e)->dim}, true);
}

pe_status pe_token_table_compute(pe_encoding *e, const pe_tensor *outs)
{
	if (!outs[0].data)
		return PE_OK;
	return run(&(struct work){.e = e, .y = &outs[0]});
}

pe_status pe_token_table_tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	return run(
		&(struct work){.e = e, .x = x, .y = y, .merge = (enum pe_merge)pe_params_choice(e->params, "merge")});
}

pe_status pe_token_table_width(pe_encoding *e, int64_t width, int64_t *out)
{
	int64_t dim = table_of(e)->dim;
	if (pe_params_choice(e->params, "merge") == PE_MERGE_CONCAT)
		*out = width + dim;
	else if (width != dim)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "features are %lld wide, but dim is %lld", (long long)width, (long long)dim);
	return PE_OK;
}
