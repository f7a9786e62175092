/* SPDX-License-Identifier: BSD-2-Clause */
#include "scores.h"

#include "pool.h"

#define CHUNK 16                   /* rows a piece of work */
#define LARGE ((int64_t)256 << 20) /* bytes of f32 from which bias is left out */

bool pe_is_relative(const pe_encoding *e)
{
	return e->relative && pe_domain_is_regular(e->queries, e->domain);
}

static bool is_one_frame(const pe_domain *domain)
{
	return domain->kind == PE_DOMAIN_GRID && domain->frames == 1 && !domain->positions;
}

bool pe_is_relative_on_grid(const pe_encoding *e)
{
	return e->relative && is_one_frame(e->queries) && is_one_frame(e->domain) && e->domain->first == 0;
}

int64_t pe_relative_count(const pe_encoding *e)
{
	int64_t queries = e->queries->tokens, keys = e->domain->tokens;
	return queries > 0 && keys > 0 ? queries + keys - 1 : 0;
}

void pe_relative_table(const pe_encoding *e, pe_cells_fn *fn, int64_t head, double *table)
{
	int64_t queries = e->queries->tokens, keys = e->domain->tokens;
	if (pe_relative_count(e) == 0)
		return;
	fn(e, &(struct pe_cells){0, head, queries - 1, 0, keys}, table);
	for (int64_t i = queries - 2; i >= 0; i--)
		fn(e, &(struct pe_cells){0, head, i, keys - 1, 1}, table + keys - 1 + queries - 1 - i);
}

static int64_t batches(const pe_encoding *e)
{
	return pe_max(e->domain->batch, e->queries->batch);
}

/* (batch, heads, Lq, Lk), without batch where positions are alike in all, without heads if there are 0. */
static pe_status declare_cells(pe_encoding *e, const char *name, pe_dtype dtype, int64_t heads)
{
	int64_t batch = batches(e), shape[4];
	int32_t ndim = 0;
	if (batch != 1)
		shape[ndim++] = batch;
	if (heads > 0)
		shape[ndim++] = heads;
	shape[ndim++] = e->queries->tokens;
	shape[ndim++] = e->domain->tokens;
	PE_TRY(pe_declare(e, name, dtype, ndim, shape, false));
	pe_tensor stored = pe_tensor_dense(NULL, dtype == PE_F64 ? PE_F32 : dtype, ndim, shape);
	e->arrays[e->array_count - 1].redundant = pe_is_relative(e) && pe_tensor_bytes(&stored) > LARGE;
	return PE_OK;
}

static pe_status declare_with_table(pe_encoding *e, const char *name, const char *table)
{
	int64_t heads = pe_max(e->heads, 1);
	PE_TRY(declare_cells(e, name, PE_F64, heads));
	if (!pe_is_relative(e))
		return PE_OK;
	return pe_declare(e, table, PE_F64, 2, (int64_t[]){heads, pe_relative_count(e)}, false);
}

pe_status pe_scores_declare(pe_encoding *e)
{
	return declare_with_table(e, "bias", "bias_table");
}

pe_status pe_gains_declare(pe_encoding *e)
{
	return declare_with_table(e, "gain", "gain_table");
}

pe_status pe_pairs_declare(pe_encoding *e, const char *name)
{
	return declare_cells(e, name, PE_I32, 0);
}

struct work {
	const pe_encoding *e;
	pe_cells_fn *fn;
	double start; /* what fn adds to, or multiplies */
	pe_index_fn *index;
	/* Computes the cells of one row, and stores them. scratch has room for two doubles a key. */
	void (*row)(const struct work *w, const struct pe_cells *cells, double *scratch, void *to);
	pe_tensor cells; /* (batch, heads, Lq, Lk) */
	const pe_tensor *table;
};

static void number_row(const struct work *w, const struct pe_cells *cells, double *scratch, void *to)
{
	for (int64_t j = 0; j < cells->count; j++)
		scratch[j] = w->start;
	w->fn(w->e, cells, scratch);
	pe_store_f64(to, w->cells.dtype, w->cells.strides[3], scratch, 1, cells->count);
}

static void index_row(const struct work *w, const struct pe_cells *cells, double *scratch, void *to)
{
	int64_t *wide = (int64_t *)(void *)scratch;
	int32_t *rows = (int32_t *)(void *)(scratch + cells->count);
	w->index(w->e, cells, rows);
	for (int64_t j = 0; j < cells->count; j++)
		wide[j] = rows[j];
	pe_store_i64(to, w->cells.dtype, w->cells.strides[3], wide, cells->count);
}

static pe_status fill_rows(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const pe_tensor *t = &w->cells;
	int64_t keys = t->shape[3], rows = t->shape[0] * t->shape[1] * t->shape[2];
	double *scratch = pe_alloc(worker, keys, 2 * sizeof *scratch);
	if (!scratch)
		return PE_ERR_NOMEM;
	for (int64_t r = chunk * CHUNK; r < pe_min((chunk + 1) * CHUNK, rows); r++) {
		int64_t i = r % t->shape[2], h = r / t->shape[2] % t->shape[1], b = r / t->shape[2] / t->shape[1];
		int64_t offset = b * t->strides[0] + h * t->strides[1] + i * t->strides[2];
		w->row(w, &(struct pe_cells){b, h, i, 0, keys}, scratch,
			(char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype));
	}
	pe_free(worker, scratch);
	return PE_OK;
}

/* out as (batch, heads, Lq, Lk), whichever of the first two it lacks. */
static pe_status fill_cells(struct work *w, const pe_tensor *out, bool has_heads)
{
	if (!out->data)
		return PE_OK;
	int32_t lead = out->ndim - 2 - has_heads;
	w->cells = (pe_tensor){.data = out->data, .dtype = out->dtype, .ndim = 4, .shape = {1, 1}};
	for (int32_t d = 0; d < out->ndim; d++) {
		int32_t to = d >= out->ndim - 2 ? d + 4 - out->ndim : d < lead ? 0 : 1;
		w->cells.shape[to] = out->shape[d];
		w->cells.strides[to] = out->strides[d];
	}
	int64_t rows = w->cells.shape[0] * w->cells.shape[1] * w->cells.shape[2];
	return pe_parallel(w->e->ctx, (rows + CHUNK - 1) / CHUNK, fill_rows, w, w->e->encoder->table.name);
}

static pe_status fill_table(pe_context *worker, void *arg, int64_t head)
{
	const struct work *w = arg;
	int64_t count = w->table->shape[1];
	double *row = pe_alloc(worker, count, sizeof *row);
	if (!row)
		return PE_ERR_NOMEM;
	for (int64_t k = 0; k < count; k++)
		row[k] = w->start;
	pe_relative_table(w->e, w->fn, head, row);
	pe_store_f64(pe_tensor_row(w->table, head), w->table->dtype, w->table->strides[1], row, 1, count);
	pe_free(worker, row);
	return PE_OK;
}

static pe_status compute_with_table(struct work *w, const pe_tensor *outs)
{
	w->row = number_row;
	if (pe_is_relative(w->e) && outs[1].data) {
		w->table = &outs[1];
		PE_TRY(pe_parallel(w->e->ctx, w->table->shape[0], fill_table, w, w->e->encoder->table.name));
	}
	return fill_cells(w, &outs[0], true);
}

pe_status pe_scores_compute(pe_encoding *e, pe_cells_fn *fn, const pe_tensor *outs)
{
	return compute_with_table(&(struct work){.e = e, .fn = fn}, outs);
}

pe_status pe_gains_compute(pe_encoding *e, pe_cells_fn *fn, const pe_tensor *outs)
{
	return compute_with_table(&(struct work){.e = e, .fn = fn, .start = 1}, outs);
}

pe_status pe_pairs_compute(pe_encoding *e, pe_index_fn *fn, const pe_tensor *out)
{
	return fill_cells(&(struct work){.e = e, .index = fn, .row = index_row}, out, false);
}
