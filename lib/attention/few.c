/* SPDX-License-Identifier: BSD-2-Clause
 * Few queries: nothing is packed, so that a step of decoding takes little more than reading keys and values
 * once. A task is a chunk of keys of one key head against all queries that share it (few_chunk.c); what the
 * chunks of a query yield, sums of weights 2^(score - max) and of values, is put together in double, in
 * order. */
#include "few.h"

#include <math.h>
#include <string.h>

#include "pool.h"
#include "tile.h"

#define MOST_QUERIES 8

/* ---- putting together --------------------------------------------------------------------- */

static double score_of(const struct pe_few_part *part)
{
	return (double)part->max + part->base;
}

/* Sums that are not finite have no factor: it may be 0. */
static void add_part(
	const struct pe_few_part *part, const float *sums, double factor, int64_t width, double *out)
{
	for (int64_t c = 0; c < width; c++)
		out[c] += isfinite(sums[c]) ? factor * (double)sums[c] : (double)sums[c];
	out[width] += factor * (double)part->sum;
}

/* out: width + 1 doubles. */
static void join_row(const struct pe_few *f, int64_t batch, int64_t head, int64_t query, double *out)
{
	const struct pe_plan *p = f->plan;
	int64_t first = ((batch * p->heads + head) * p->queries + query) * f->chunks, width = p->sum_width;
	double sink = p->sinks ? PE_LOG2E * p->sinks[head] : -INFINITY, most = sink;
	for (int64_t i = first; i < first + f->chunks; i++)
		most = fmax(most, score_of(&f->parts[i]));
	most = most > -INFINITY ? most : 0;
	memset(out, 0, (size_t)width * sizeof *out);
	out[width] = exp2(sink - most);
	for (int64_t i = first; i < first + f->chunks; i++)
		add_part(&f->parts[i], f->sums + i * width, exp2(score_of(&f->parts[i]) - most), width, out);
	double total = out[width], lse = (most + log2(total)) / PE_LOG2E;
	for (int64_t c = 0; c < width; c++)
		out[c] = total > 0 || isnan(total) ? out[c] / total : out[c];
	pe_store_f64(pe_tensor_at(&p->out, batch, head, query), p->out.dtype, p->out.strides[3], out, 1, width);
	if (p->lse.data)
		pe_store_f64(pe_tensor_at(&p->lse, batch, head, query), p->lse.dtype, 1, &lse, 1, 1);
}

static pe_status join_head(pe_context *worker, void *arg, int64_t index)
{
	const struct pe_few *f = arg;
	const struct pe_plan *p = f->plan;
	double *out = pe_alloc(worker, p->sum_width + 1, sizeof *out);
	if (!out)
		return PE_ERR_NOMEM;
	for (int64_t query = 0; query < p->queries; query++)
		join_row(f, index / p->heads, index % p->heads, query, out);
	pe_free(worker, out);
	return PE_OK;
}

/* ---- the call ------------------------------------------------------------------------------ */

bool pe_plan_is_few(const struct pe_plan *p)
{
	return p->queries <= MOST_QUERIES && p->content.count == 0 && p->content_row.count == 0 &&
		p->values.count == 0 && p->weights_after.count == 0 && !p->map_heads;
}

pe_status pe_attend_few(struct pe_plan *p)
{
	struct pe_few f = {.plan = p, .kernels = p->ctx->kernels};
	int64_t parts;
	f.group = p->heads / p->key_heads;
	f.rows = f.group * p->queries;
	f.row_blocks = (f.rows + PE_FEW_ROWS - 1) / PE_FEW_ROWS;
	f.chunks = (p->keys + PE_FEW_CHUNK - 1) / PE_FEW_CHUNK;
	f.by_rows = p->mask.data || !pe_plan_sees_range(p);
	f.biased = p->scores.count > 0 || (p->mask.data && pe_dtype_is_float(p->mask.dtype));
	f.adjusted = f.biased || p->gains.count > 0 || p->softcap > 0;
	if (!pe_mul(p->batch * p->heads * p->queries, f.chunks, &parts))
		return PE_ERR_NOMEM;
	f.parts = pe_alloc(p->ctx, parts, sizeof *f.parts);
	f.sums = pe_alloc(p->ctx, parts, (size_t)p->sum_width * sizeof *f.sums);
	pe_status status = f.parts && f.sums ? PE_OK : PE_ERR_NOMEM;
	int64_t pairs = p->batch * p->key_heads;
	if (status == PE_OK)
		status = pe_parallel(p->ctx, pairs * f.row_blocks * f.chunks, pe_few_attend_chunk, &f, "attention");
	if (status == PE_OK)
		status = pe_parallel(p->ctx, p->batch * p->heads, join_head, &f, NULL);
	pe_free(p->ctx, f.parts);
	pe_free(p->ctx, f.sums);
	return status;
}
