/* SPDX-License-Identifier: BSD-2-Clause */
#include "token_table.h"

#include <string.h>

#include "pool.h"

#define CHUNK 64 /* rows a piece of work */

/* Rows to write, or to merge into x. */
struct work {
	const pe_encoding *e;
	int64_t dim, unplaced, placed; /* tokens from unplaced to placed - 1 are left alone */
	const double *rows;            /* (tokens, dim), or NULL: by the table's function */
	const pe_tensor *x;            /* (batch, tokens, width); NULL: write the rows alone */
	const pe_tensor *y;            /* without x: (batch, tokens, dim) */
	enum pe_merge merge;
};

static const struct pe_token_table *table_of(const pe_encoding *e)
{
	return e->state;
}

static void find_row(const struct work *w, int64_t batch, int64_t token, double *out)
{
	if (w->rows)
		memcpy(out, w->rows + token * w->dim, (size_t)w->dim * sizeof *out);
	else if (table_of(w->e)->row)
		table_of(w->e)->row(w->e, batch, token, out);
	else
		pe_shared_row(w->e, &table_of(w->e)->shared, table_of(w->e)->numbers, batch, token, out);
}

static void merge_row(enum pe_merge merge, const double *p, double *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i] = merge == PE_MERGE_ADD     ? x[i] + p[i]
			: merge == PE_MERGE_MULTIPLY ? x[i] * p[i]
										 : x[i] * (1 + p[i]);
}

/* Merges a row into one token's features. buffer holds a row of x. */
static void merge_token(const struct work *w, int64_t batch, int64_t token, const double *p, double *buffer)
{
	int64_t width = w->x->shape[2];
	pe_load_f64(buffer, pe_tensor_at(w->x, batch, token, 0), w->x->dtype, w->x->strides[2], width);
	if (w->merge != PE_MERGE_CONCAT && (token < w->unplaced || token >= w->placed))
		merge_row(w->merge, p, buffer, width);
	char *out = pe_tensor_at(w->y, batch, token, 0);
	pe_store_f64(out, w->y->dtype, w->y->strides[2], buffer, 1, width);
	if (w->merge == PE_MERGE_CONCAT)
		pe_store_f64(out + width * w->y->strides[2] * (int64_t)pe_dtype_size(w->y->dtype), w->y->dtype,
			w->y->strides[2], p, 1, w->dim);
}

/* One position's row, and every batch that it is for. */
static void do_row(const struct work *w, int64_t batch, int64_t token, double *row)
{
	find_row(w, batch, token, row);
	if (!w->x) {
		pe_store_f64(pe_tensor_at(w->y, batch, token, 0), w->y->dtype, w->y->strides[2], row, 1, w->dim);
		return;
	}
	bool shared = w->e->domain->batch == 1;
	int64_t end = shared ? w->x->shape[0] : batch + 1;
	for (int64_t b = shared ? 0 : batch; b < end; b++)
		merge_token(w, b, token, row, row + w->dim);
}

static pe_status do_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const pe_domain *domain = w->e->domain;
	double *row = pe_alloc(worker, w->dim + (w->x ? w->x->shape[2] : 0), sizeof *row);
	if (!row)
		return PE_ERR_NOMEM;
	int64_t end = pe_min((chunk + 1) * CHUNK, domain->batch * domain->tokens);
	for (int64_t i = chunk * CHUNK; i < end; i++)
		do_row(w, i / domain->tokens, i % domain->tokens, row);
	pe_free(worker, row);
	return PE_OK;
}

static pe_status run(pe_encoding *e, struct work *w)
{
	if (w->x && e->domain->batch > 1 && w->x->shape[0] != e->domain->batch)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "features have %lld batches, and positions %lld",
			(long long)w->x->shape[0], (long long)e->domain->batch);
	int64_t chunks = (e->domain->batch * e->domain->tokens + CHUNK - 1) / CHUNK;
	return pe_parallel(e->ctx, chunks, do_chunk, w, e->encoder->table.name);
}

static enum pe_merge merge_of(const pe_encoding *e)
{
	const char *name = pe_params_has(e->params, "features") ? "features" : "merge";
	return (enum pe_merge)pe_params_choice(e->params, name);
}

static pe_status merged_shape(pe_encoding *e, int64_t dim, int64_t *width)
{
	if (merge_of(e) == PE_MERGE_CONCAT)
		return pe_add(*width, dim, width) ? PE_OK : PE_ERR_NOMEM;
	if (*width != dim)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "features are %lld wide, and its rows %lld", (long long)*width, (long long)dim);
	return PE_OK;
}

/* ---- rows by a function ------------------------------------------------------------- */

pe_status pe_token_table_declare(pe_encoding *e)
{
	const int64_t shape[] = {e->domain->batch, e->domain->tokens, table_of(e)->dim};
	int32_t shared = e->domain->batch == 1;
	return pe_declare(e, "position_encoding", PE_F64, 3 - shared, shape + shared, shared);
}

pe_status pe_token_table_compute(pe_encoding *e, const pe_tensor *outs)
{
	pe_tensor y = outs[0].ndim == 2 ? pe_tensor_one_batch(&outs[0]) : outs[0];
	if (!y.data)
		return PE_OK;
	const struct pe_token_table *table = table_of(e);
	if (!table->row)
		return pe_shared_rows_write(e, &table->shared, table->numbers, table->number_count, &y);
	return run(e, &(struct work){.e = e, .dim = table->dim, .y = &y});
}

pe_status pe_token_table_tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	const struct pe_token_table *table = table_of(e);
	return run(e,
		&(struct work){
			.e = e, .dim = table->dim, .placed = table->unplaced, .x = x, .y = y, .merge = merge_of(e)});
}

pe_status pe_token_table_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	(void)tokens;
	return merged_shape(e, table_of(e)->dim, width);
}

/* ---- rows from an array ------------------------------------------------------------- */

pe_status pe_token_rows_merge(pe_encoding *e, const double *rows, int64_t unplaced, int64_t placed,
	const pe_tensor *x, const pe_tensor *y)
{
	struct work w = {.e = e,
		.dim = e->arrays[0].shape[1],
		.unplaced = unplaced,
		.placed = placed,
		.rows = rows,
		.x = x,
		.y = y,
		.merge = merge_of(e)};
	return run(e, &w);
}

pe_status pe_token_rows_tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	const pe_array_info *info = &e->arrays[0];
	pe_tensor outs[PE_MAX_ARRAYS] = {pe_tensor_dense(NULL, PE_F64, 2, info->shape)};
	double *rows = pe_alloc(e->ctx, pe_tensor_count(&outs[0]), sizeof *rows);
	if (!rows)
		return PE_ERR_NOMEM;
	outs[0].data = rows;
	pe_status status = e->encoder->compute(e, outs);
	if (status == PE_OK || status == PE_ERR_PARTIAL) {
		pe_status merged = pe_token_rows_merge(e, rows, 0, 0, x, y);
		status = merged == PE_OK ? status : merged;
	}
	pe_free(e->ctx, rows);
	return status;
}

pe_status pe_token_rows_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	(void)tokens;
	return merged_shape(e, e->arrays[0].shape[1], width);
}
