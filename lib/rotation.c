/* SPDX-License-Identifier: BSD-2-Clause */
#include "rotation.h"

#include <string.h>

#include "pool.h"

#define CHUNK 64 /* rows a piece of work */

static const struct pe_rotation *rotation_of(const pe_encoding *e)
{
	return e->state;
}

/* ---- arrays ------------------------------------------------------------------------- */

pe_status pe_rotation_declare(pe_encoding *e)
{
	const struct pe_rotation *r = rotation_of(e);
	int64_t shape[4];
	int32_t n = 0;
	if (e->domain->batch > 1)
		shape[n++] = e->domain->batch;
	if (r->per_head)
		shape[n++] = e->heads;
	shape[n++] = e->domain->tokens;
	shape[n++] = r->pairs;
	PE_TRY(pe_declare(e, "cos", PE_F64, n, shape, n == 2));
	return pe_declare(e, "sin", PE_F64, n, shape, n == 2);
}

struct work {
	const pe_encoding *e;
	const pe_tensor *outs;
	int64_t heads, rows; /* rows: of all batches and heads */
};

static void *row_of(const struct work *w, const pe_tensor *t, const struct pe_place *at)
{
	int32_t d = 0;
	int64_t offset = 0;
	if (w->e->domain->batch > 1)
		offset += at->batch * t->strides[d++];
	if (rotation_of(w->e)->per_head)
		offset += at->head * t->strides[d++];
	offset += at->token * t->strides[d];
	return (char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype);
}

static pe_status do_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	int64_t pairs = rotation_of(w->e)->pairs, tokens = w->e->domain->tokens;
	double *cosine = pe_alloc(worker, pairs, 2 * sizeof *cosine);
	if (!cosine)
		return PE_ERR_NOMEM;
	int64_t end = pe_min((chunk + 1) * CHUNK, w->rows);
	for (int64_t i = chunk * CHUNK; i < end; i++) {
		struct pe_place at = {PE_VALUES, i / tokens / w->heads, i / tokens % w->heads, i % tokens};
		pe_rotation_turn(w->e, &at, 0, pairs, cosine, cosine + pairs);
		for (int k = 0; k < 2; k++)
			if (w->outs[k].data)
				pe_store_f64(row_of(w, &w->outs[k], &at), w->outs[k].dtype,
					w->outs[k].strides[w->outs[k].ndim - 1], cosine + k * pairs, 1, pairs);
	}
	pe_free(worker, cosine);
	return PE_OK;
}

pe_status pe_rotation_compute(pe_encoding *e, const pe_tensor *outs)
{
	struct work w = {.e = e, .outs = outs, .heads = rotation_of(e)->per_head ? e->heads : 1};
	w.rows = e->domain->batch * w.heads * e->domain->tokens;
	return pe_parallel(e->ctx, (w.rows + CHUNK - 1) / CHUNK, do_chunk, &w, e->encoder->table.name);
}

/* ---- the site ----------------------------------------------------------------------- */

void pe_rotation_turn(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	if (pe_domain_is_placed(pe_side_domain(e, at->side), at->token)) {
		rotation_of(e)->turn(e, at, first, count, cosine, sine);
		return;
	}
	for (int64_t t = 0; t < count; t++) {
		cosine[t] = 1;
		sine[t] = 0;
	}
}

void pe_rotation_pairs(const struct pe_rotation *r, const double *cosine, const double *sine, int64_t first,
	int64_t count, double *row)
{
	row += r->start;
	for (int64_t t = 0; t < count; t++) {
		int64_t i = pe_rotation_channel(r, first + t), j = r->half > 0 ? i + r->half : i + 1;
		double a = row[i], b = row[j];
		row[i] = a * cosine[t] - b * sine[t];
		row[j] = a * sine[t] + b * cosine[t];
	}
}

void pe_rotation_rotate(
	const pe_encoding *e, const struct pe_place *at, const double *in, int64_t width, double *out)
{
	enum { BLOCK = 64 };
	double cosine[BLOCK], sine[BLOCK];
	const struct pe_rotation *r = rotation_of(e);
	memcpy(out, in, (size_t)width * sizeof *out);
	for (int64_t first = 0; first < r->pairs; first += BLOCK) {
		int64_t count = pe_min(BLOCK, r->pairs - first);
		pe_rotation_turn(e, at, first, count, cosine, sine);
		pe_rotation_pairs(r, cosine, sine, first, count, out);
	}
}

pe_status pe_rotation_width(pe_encoding *e, pe_side side, int64_t width, int64_t *out)
{
	const struct pe_rotation *r = rotation_of(e);
	int64_t last = r->start;
	if (r->pairs > 0)
		last += pe_rotation_channel(r, r->pairs - 1) + (r->half > 0 ? r->half : 1) + 1;
	*out = width;
	(void)side;
	if (r->width > 0 ? width != r->width : width < last)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "heads are %lld wide, but must be %s%lld", (long long)width,
			r->width > 0 ? "" : "at least ", (long long)(r->width > 0 ? r->width : last));
	return PE_OK;
}
