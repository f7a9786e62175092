/* SPDX-License-Identifier: BSD-2-Clause */
#include "graph_chunks.h"

#include <math.h>
#include <string.h>

#include "components.h"

#define CHUNK_SIZE 16384 /* nodes and edges of a chunk, unless one graph has more */

/* ---- cutting ------------------------------------------------------------------------ */

static int64_t chunk_end(const struct pe_raw_graphs *raw, int64_t first)
{
	int64_t origin = pe_raw_node(raw, first) + pe_raw_edge(raw, first), end = first + 1;
	while (end < raw->graphs && pe_raw_node(raw, end) + pe_raw_edge(raw, end) - origin < CHUNK_SIZE)
		end++;
	return end;
}

/* Are bits enough for these graphs? */
static bool is_small(const struct pe_build *b, int64_t first, int64_t end)
{
	int64_t most = 0;
	for (int64_t g = first; g < end; g++)
		most = pe_max(most, b->ptr[g + 1] - b->ptr[g]);
	return most <= PE_BIT_NODES && !b->given && b->duplicates != PE_DUPLICATES_SUM &&
		(b->policy->symmetrise == PE_SYMMETRISE_MAX || b->raw->mirrored);
}

pe_status pe_chunks_cut(pe_context *ctx, struct pe_build *b)
{
	int64_t count = 0;
	bool small = false;
	for (int64_t g = 0; g < b->raw->graphs; g = chunk_end(b->raw, g))
		count++;
	b->chunks = pe_alloc_zero(ctx, count, sizeof *b->chunks);
	if (!b->chunks)
		return PE_ERR_NOMEM;
	for (int64_t g = 0; g < b->raw->graphs; g = b->chunks[b->chunk_count++].end) {
		struct pe_chunk *chunk = &b->chunks[b->chunk_count];
		*chunk = (struct pe_chunk){.first = g, .end = chunk_end(b->raw, g)};
		chunk->small = is_small(b, chunk->first, chunk->end);
		small |= chunk->small;
	}
	if (!small)
		return PE_OK;
	b->row = pe_alloc(ctx, b->raw->nodes + 1, sizeof *b->row);
	return b->row ? PE_OK : PE_ERR_NOMEM;
}

/* ---- sorting ------------------------------------------------------------------------ */

static const int64_t *ptr_of(const struct pe_build *b, const struct pe_chunk *chunk)
{
	return b->ptr + chunk->first;
}

static void finish_small(pe_context *ctx, const struct pe_build *b, struct pe_chunk *chunk)
{
	bool undirected = !b->directed || b->raw->mirrored;
	struct pe_bit_counts counts =
		pe_bit_rows_finish(&chunk->bits, ptr_of(b, chunk), chunk->end - chunk->first, undirected);
	int64_t added = b->raw->mirrored ? chunk->counts.edges : chunk->asymmetry.one_way;
	chunk->entries = chunk->counts.edges + chunk->counts.diagonal + (undirected ? added : 0);
	pe_bit_rows_free(ctx, &chunk->bits);
	chunk->components = counts.components;
	chunk->isolated = counts.isolated;
}

static pe_status sort_small(
	pe_context *ctx, const struct pe_build *b, struct pe_chunk *chunk, const struct pe_edge_block *block)
{
	chunk->bits.out = (uint64_t *)b->row + ptr_of(b, chunk)[0];
	PE_TRY(pe_bit_rows_sort(ctx, block, &chunk->bits, &chunk->counts, &chunk->asymmetry));
	if (!b->edges_decide)
		finish_small(ctx, b, chunk);
	return PE_OK;
}

static pe_status sort_block(
	pe_context *ctx, const struct pe_build *b, struct pe_chunk *chunk, const struct pe_edge_block *block)
{
	if (chunk->small)
		return sort_small(ctx, b, chunk, block);
	PE_TRY(pe_rows_sort(ctx, block, &chunk->rows, &chunk->counts));
	PE_TRY(
		pe_rows_transpose(ctx, &chunk->rows, ptr_of(b, chunk), chunk->end - chunk->first, &chunk->transpose));
	if (!b->raw->mirrored)
		chunk->asymmetry = pe_rows_asymmetry(&chunk->rows, &chunk->transpose);
	return PE_OK;
}

pe_status pe_chunk_sort(pe_context *ctx, void *build, int64_t index)
{
	struct pe_build *b = build;
	struct pe_chunk *chunk = &b->chunks[index];
	const struct pe_raw_graphs *raw = b->raw;
	int64_t first = pe_raw_edge(raw, chunk->first), edges = pe_raw_edge(raw, chunk->end) - first;
	struct pe_edge_block block = {
		.raw = raw,
		.first = chunk->first,
		.end = chunk->end,
		.w = b->given ? raw->w + first : NULL,
		.pairs = raw->mirrored,
		.drop_loops = b->policy->loops == PE_LOOPS_DROP,
		.duplicates = b->duplicates,
	};
	if (!raw->source) {
		block.u = raw->u + first;
		block.v = raw->v + first;
		return sort_block(ctx, b, chunk, &block);
	}
	int32_t *u = pe_alloc(ctx, edges, sizeof *u), *v = pe_alloc(ctx, edges, sizeof *v);
	pe_status status = u && v ? PE_OK : PE_ERR_NOMEM;
	if (status == PE_OK)
		status = raw->source->read(ctx, raw, chunk->first, chunk->end, u, v);
	block.u = u;
	block.v = v;
	if (status == PE_OK)
		status = sort_block(ctx, b, chunk, &block);
	pe_free(ctx, u);
	pe_free(ctx, v);
	return status;
}

/* ---- making undirected, and looking at the result ----------------------------------- */

/* How rows and their transpose become one. */
static bool is_union_needed(const struct pe_build *b, const struct pe_chunk *chunk)
{
	if (b->raw->mirrored)
		return true;
	return !b->directed &&
		(chunk->asymmetry.one_way > 0 || chunk->asymmetry.unequal > 0 ||
			b->policy->symmetrise == PE_SYMMETRISE_SUM);
}

static pe_status unite_chunk(pe_context *ctx, const struct pe_build *b, struct pe_chunk *chunk)
{
	struct pe_rows united;
	enum pe_symmetrise how = b->raw->mirrored ? PE_SYMMETRISE_MAX : b->policy->symmetrise;
	PE_TRY(pe_rows_union(ctx, &chunk->rows, &chunk->transpose, ptr_of(b, chunk), chunk->end - chunk->first,
		how, b->weighted, &united));
	pe_rows_free(ctx, &chunk->rows);
	chunk->rows = united;
	return PE_OK;
}

static pe_status count_components(pe_context *ctx, const struct pe_build *b, struct pe_chunk *chunk)
{
	const int64_t *ptr = ptr_of(b, chunk);
	int32_t *label = pe_alloc(ctx, chunk->rows.nodes, sizeof *label);
	int32_t *sizes = pe_alloc(ctx, chunk->rows.nodes, sizeof *sizes);
	for (int64_t g = 0; label && sizes && g < chunk->end - chunk->first; g++) {
		struct pe_csr graph = {
			(int32_t)(ptr[g + 1] - ptr[g]), chunk->rows.start + (ptr[g] - ptr[0]), chunk->rows.col, NULL};
		int32_t count;
		pe_components(&graph, label, sizes, &count);
		chunk->components += count;
		for (int32_t c = 0; c < count; c++)
			chunk->isolated += sizes[c] == 1;
	}
	pe_free(ctx, label);
	pe_free(ctx, sizes);
	return label && sizes ? PE_OK : PE_ERR_NOMEM;
}

static void look_at_weights(struct pe_chunk *chunk)
{
	for (int64_t e = 0; chunk->rows.w && e < chunk->entries; e++) {
		double w = chunk->rows.w[e];
		chunk->negative |= w < 0;
		chunk->not_one |= w != 1;
		chunk->not_finite |= !isfinite(w);
	}
}

pe_status pe_chunk_finish(pe_context *ctx, void *build, int64_t index)
{
	struct pe_build *b = build;
	struct pe_chunk *chunk = &b->chunks[index];
	if (chunk->small) {
		if (b->edges_decide)
			finish_small(ctx, b, chunk);
		return PE_OK;
	}
	if (is_union_needed(b, chunk))
		PE_TRY(unite_chunk(ctx, b, chunk));
	pe_rows_free(ctx, &chunk->transpose);
	chunk->entries = chunk->rows.start[chunk->rows.nodes];
	look_at_weights(chunk);
	return count_components(ctx, b, chunk);
}

/* ---- writing ------------------------------------------------------------------------ */

void pe_chunk_count_ids(const struct pe_build *b, const struct pe_chunk *chunk)
{
	for (int64_t g = chunk->first; g < chunk->end; g++)
		for (int64_t i = b->ptr[g]; i < b->ptr[g + 1]; i++)
			b->graph->node_ids[i] = b->raw->base + (i - b->ptr[g]);
}

static void write_rows(const struct pe_build *b, const struct pe_chunk *chunk)
{
	int64_t node = ptr_of(b, chunk)[0], nodes = b->ptr[chunk->end] - node;
	for (int64_t i = 0; i < nodes; i++)
		b->graph->row[node + i] = chunk->entry + chunk->rows.start[i];
	memcpy(b->graph->col + chunk->entry, chunk->rows.col, (size_t)chunk->entries * sizeof *chunk->rows.col);
}

pe_status pe_chunk_write(pe_context *ctx, void *build, int64_t index)
{
	(void)ctx;
	struct pe_build *b = build;
	struct pe_chunk *chunk = &b->chunks[index];
	if (b->ids_count_up)
		pe_chunk_count_ids(b, chunk);
	if (chunk->small)
		pe_bit_rows_write(&chunk->bits, b->ptr[chunk->end] - ptr_of(b, chunk)[0], chunk->entry,
			chunk->entry + chunk->entries, b->graph->col);
	else
		write_rows(b, chunk);
	double *weight = b->graph->weight;
	for (int64_t e = 0; weight && e < chunk->entries; e++)
		weight[chunk->entry + e] = chunk->rows.w ? chunk->rows.w[e] : 1;
	return PE_OK;
}

void pe_chunks_free(pe_context *ctx, struct pe_build *b)
{
	for (int64_t c = 0; c < b->chunk_count; c++) {
		pe_rows_free(ctx, &b->chunks[c].rows);
		pe_rows_free(ctx, &b->chunks[c].transpose);
		pe_bit_rows_free(ctx, &b->chunks[c].bits);
	}
	pe_free(ctx, b->chunks);
}
