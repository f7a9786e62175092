/* SPDX-License-Identifier: BSD-2-Clause */
#include "scores.h"

#include "pool.h"

#define CHUNK 16                   /* rows a piece of work */
#define LARGE ((int64_t)256 << 20) /* bytes of f32 from which bias is left out */

bool pe_is_relative(const pe_encoding *e)
{
	return e->relative && pe_domain_is_regular(e->queries, e->domain);
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

pe_status pe_scores_declare(pe_encoding *e)
{
	int64_t shape[4] = {batches(e), pe_max(e->heads, 1), e->queries->tokens, e->domain->tokens};
	int32_t shared = shape[0] == 1;
	bool relative = pe_is_relative(e);
	PE_TRY(pe_declare(e, "bias", PE_F64, 4 - shared, shape + shared, false));
	pe_array_info *bias = &e->arrays[e->array_count - 1];
	pe_tensor dense = pe_tensor_dense(NULL, PE_F32, bias->ndim, bias->shape);
	bias->redundant = relative && pe_tensor_bytes(&dense) > LARGE;
	if (!relative)
		return PE_OK;
	return pe_declare(e, "bias_table", PE_F64, 2, (int64_t[]){shape[1], pe_relative_count(e)}, false);
}

struct work {
	const pe_encoding *e;
	pe_cells_fn *fn;
	pe_tensor bias; /* (batch, heads, Lq, Lk) */
	const pe_tensor *table;
};

static pe_status fill_rows(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const pe_tensor *t = &w->bias;
	int64_t keys = t->shape[3], rows = t->shape[0] * t->shape[1] * t->shape[2];
	double *row = pe_alloc(worker, keys, sizeof *row);
	if (!row)
		return PE_ERR_NOMEM;
	for (int64_t r = chunk * CHUNK; r < pe_min((chunk + 1) * CHUNK, rows); r++) {
		int64_t i = r % t->shape[2], h = r / t->shape[2] % t->shape[1], b = r / t->shape[2] / t->shape[1];
		int64_t offset = b * t->strides[0] + h * t->strides[1] + i * t->strides[2];
		for (int64_t j = 0; j < keys; j++)
			row[j] = 0;
		w->fn(w->e, &(struct pe_cells){b, h, i, 0, keys}, row);
		pe_store_f64((char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype), t->dtype, t->strides[3],
			row, 1, keys);
	}
	pe_free(worker, row);
	return PE_OK;
}

static pe_status fill_table(pe_context *worker, void *arg, int64_t head)
{
	const struct work *w = arg;
	double *row = pe_alloc_zero(worker, w->table->shape[1], sizeof *row);
	if (!row)
		return PE_ERR_NOMEM;
	pe_relative_table(w->e, w->fn, head, row);
	pe_store_f64(
		pe_tensor_row(w->table, head), w->table->dtype, w->table->strides[1], row, 1, w->table->shape[1]);
	pe_free(worker, row);
	return PE_OK;
}

pe_status pe_scores_compute(pe_encoding *e, pe_cells_fn *fn, const pe_tensor *outs)
{
	const char *name = e->encoder->table.name;
	struct work w = {.e = e, .fn = fn};
	if (pe_is_relative(e) && outs[1].data) {
		w.table = &outs[1];
		PE_TRY(pe_parallel(e->ctx, w.table->shape[0], fill_table, &w, name));
	}
	if (!outs->data)
		return PE_OK;
	w.bias = *outs;
	if (w.bias.ndim == 3)
		w.bias = (pe_tensor){.data = outs->data,
			.dtype = outs->dtype,
			.ndim = 4,
			.shape = {1, outs->shape[0], outs->shape[1], outs->shape[2]},
			.strides = {0, outs->strides[0], outs->strides[1], outs->strides[2]}};
	int64_t rows = w.bias.shape[0] * w.bias.shape[1] * w.bias.shape[2];
	return pe_parallel(e->ctx, (rows + CHUNK - 1) / CHUNK, fill_rows, &w, name);
}
