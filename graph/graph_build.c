/* SPDX-License-Identifier: BSD-2-Clause
 * From edges as listed to compressed rows. Graphs are cut into chunks of consecutive ones; what a
 * chunk becomes depends on nothing but its edges and the policies. */
#include "graph_build.h"

#include <math.h>
#include <string.h>

#include "bit_rows.h"
#include "components.h"
#include "pool.h"

#define CHUNK_SIZE 16384 /* nodes and edges of a chunk, unless one graph has more */

struct chunk {
	int64_t first, end; /* graphs */
	struct pe_rows rows, transpose;
	struct pe_bit_rows bits; /* instead, where all graphs are small and without weights */
	struct pe_row_counts counts;
	struct pe_asymmetry asymmetry;
	int64_t entries, components, isolated;
	int64_t entry;                      /* where its entries begin in the graph */
	bool negative, not_one, not_finite; /* some weight is */
};

struct build {
	struct pe_raw_graphs *raw;
	const struct pe_graph_policy *policy;
	enum pe_duplicates duplicates;
	int64_t *ptr; /* node offsets of the graphs: raw's, then the graph's */
	struct chunk *chunks;
	int64_t chunk_count;
	bool given; /* weights */
	bool directed, weighted;
	struct chunk total; /* sums, and ors, over the chunks */
	pe_graph *graph;
};

/* ---- cutting ------------------------------------------------------------------------ */

static int64_t chunk_end(const struct pe_raw_graphs *raw, int64_t first)
{
	int64_t origin = pe_raw_node(raw, first) + pe_raw_edge(raw, first), end = first + 1;
	while (end < raw->graphs && pe_raw_node(raw, end) + pe_raw_edge(raw, end) - origin < CHUNK_SIZE)
		end++;
	return end;
}

static pe_status cut(pe_context *ctx, struct build *b)
{
	int64_t count = 0;
	for (int64_t g = 0; g < b->raw->graphs; g = chunk_end(b->raw, g))
		count++;
	b->chunks = pe_alloc_zero(ctx, count, sizeof *b->chunks);
	if (!b->chunks)
		return PE_ERR_NOMEM;
	for (int64_t g = 0; g < b->raw->graphs; g = b->chunks[b->chunk_count++].end)
		b->chunks[b->chunk_count] = (struct chunk){.first = g, .end = chunk_end(b->raw, g)};
	return PE_OK;
}

/* ---- sorting ------------------------------------------------------------------------ */

static const int64_t *ptr_of(const struct build *b, const struct chunk *chunk)
{
	return b->ptr + chunk->first;
}

static bool are_bits_enough(const struct build *b, const struct chunk *chunk)
{
	const int64_t *ptr = ptr_of(b, chunk);
	int64_t most = 0;
	for (int64_t g = 0; g < chunk->end - chunk->first; g++)
		most = pe_max(most, ptr[g + 1] - ptr[g]);
	return most <= PE_BIT_NODES && !b->given && b->duplicates != PE_DUPLICATES_SUM &&
		(b->policy->symmetrise == PE_SYMMETRISE_MAX || b->raw->mirrored);
}

static pe_status sort_chunk(pe_context *ctx, void *arg, int64_t index)
{
	struct build *b = arg;
	struct chunk *chunk = &b->chunks[index];
	const struct pe_edge_block block = {
		.raw = b->raw,
		.first = chunk->first,
		.end = chunk->end,
		.w = b->given ? b->raw->w : NULL,
		.pairs = b->raw->mirrored,
		.drop_loops = b->policy->loops == PE_LOOPS_DROP,
		.duplicates = b->duplicates,
	};
	if (are_bits_enough(b, chunk))
		return pe_bit_rows_sort(ctx, &block, &chunk->bits, &chunk->counts, &chunk->asymmetry);
	PE_TRY(pe_rows_sort(ctx, &block, &chunk->rows, &chunk->counts));
	PE_TRY(
		pe_rows_transpose(ctx, &chunk->rows, ptr_of(b, chunk), chunk->end - chunk->first, &chunk->transpose));
	if (!b->raw->mirrored)
		chunk->asymmetry = pe_rows_asymmetry(&chunk->rows, &chunk->transpose);
	return PE_OK;
}

static void add_up(struct build *b)
{
	struct chunk *total = &b->total;
	for (int64_t c = 0; c < b->chunk_count; c++) {
		struct chunk *chunk = &b->chunks[c];
		total->counts.loops += chunk->counts.loops;
		total->counts.duplicates += chunk->counts.duplicates;
		total->counts.zeros += chunk->counts.zeros;
		total->counts.diagonal += chunk->counts.diagonal;
		total->counts.edges += chunk->counts.edges;
		total->asymmetry.one_way += chunk->asymmetry.one_way;
		total->asymmetry.unequal += chunk->asymmetry.unequal;
	}
}

static bool is_directed(const struct build *b)
{
	enum pe_direction direction = b->policy->edges ? b->policy->edges : b->raw->direction;
	if (direction == PE_DIRECTED_IF_ONE_WAY)
		return b->total.asymmetry.one_way > 0;
	return direction == PE_DIRECTED;
}

/* ---- making undirected, and looking at the result ----------------------------------- */

/* How rows and their transpose become one. */
static bool is_union_needed(const struct build *b, const struct chunk *chunk)
{
	if (b->raw->mirrored)
		return true;
	return !b->directed &&
		(chunk->asymmetry.one_way > 0 || chunk->asymmetry.unequal > 0 ||
			b->policy->symmetrise == PE_SYMMETRISE_SUM);
}

static pe_status unite_chunk(pe_context *ctx, const struct build *b, struct chunk *chunk)
{
	struct pe_rows united;
	enum pe_symmetrise how = b->raw->mirrored ? PE_SYMMETRISE_MAX : b->policy->symmetrise;
	PE_TRY(pe_rows_union(ctx, &chunk->rows, &chunk->transpose, ptr_of(b, chunk), chunk->end - chunk->first,
		how, b->weighted, &united));
	pe_rows_free(ctx, &chunk->rows);
	chunk->rows = united;
	return PE_OK;
}

static pe_status count_components(pe_context *ctx, const struct build *b, struct chunk *chunk)
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

static void look_at_weights(struct chunk *chunk)
{
	for (int64_t e = 0; chunk->rows.w && e < chunk->entries; e++) {
		double w = chunk->rows.w[e];
		chunk->negative |= w < 0;
		chunk->not_one |= w != 1;
		chunk->not_finite |= !isfinite(w);
	}
}

static void finish_bits(const struct build *b, struct chunk *chunk)
{
	struct pe_bit_counts counts = pe_bit_rows_finish(
		&chunk->bits, ptr_of(b, chunk), chunk->end - chunk->first, !b->directed || b->raw->mirrored);
	chunk->entries = counts.entries;
	chunk->components = counts.components;
	chunk->isolated = counts.isolated;
}

static pe_status finish_chunk(pe_context *ctx, void *arg, int64_t index)
{
	struct build *b = arg;
	struct chunk *chunk = &b->chunks[index];
	if (chunk->bits.out) {
		finish_bits(b, chunk);
		return PE_OK;
	}
	if (is_union_needed(b, chunk))
		PE_TRY(unite_chunk(ctx, b, chunk));
	pe_rows_free(ctx, &chunk->transpose);
	chunk->entries = chunk->rows.start[chunk->rows.nodes];
	look_at_weights(chunk);
	return count_components(ctx, b, chunk);
}

/* ---- one piece ---------------------------------------------------------------------- */

static pe_status copy_chunk(pe_context *ctx, void *arg, int64_t index)
{
	(void)ctx;
	struct build *b = arg;
	struct chunk *chunk = &b->chunks[index];
	int64_t node = ptr_of(b, chunk)[0], nodes = b->ptr[chunk->end] - node;
	if (chunk->bits.out) {
		pe_bit_rows_write(&chunk->bits, nodes, chunk->entry, b->graph->row + node, b->graph->col);
		return PE_OK;
	}
	for (int64_t i = 0; i < nodes; i++)
		b->graph->row[node + i] = chunk->entry + chunk->rows.start[i];
	memcpy(b->graph->col + chunk->entry, chunk->rows.col, (size_t)chunk->entries * sizeof *chunk->rows.col);
	double *weight = b->graph->weight;
	for (int64_t e = 0; weight && e < chunk->entries; e++)
		weight[chunk->entry + e] = chunk->rows.w ? chunk->rows.w[e] : 1;
	return PE_OK;
}

/* The rows of all chunks, one after another; those of a single chunk are taken as they are. */
static pe_status join_chunks(pe_context *ctx, struct build *b, int64_t entries)
{
	pe_graph *graph = b->graph;
	if (b->chunk_count == 1 && !b->chunks[0].bits.out && (b->chunks[0].rows.w || !b->weighted)) {
		struct pe_rows *rows = &b->chunks[0].rows;
		graph->row = rows->start;
		graph->col = rows->col;
		if (b->weighted)
			graph->weight = rows->w;
		else
			pe_free(ctx, rows->w);
		*rows = (struct pe_rows){0};
		return PE_OK;
	}
	graph->row = pe_alloc(ctx, graph->nodes + 1, sizeof *graph->row);
	graph->col = pe_alloc(ctx, entries, sizeof *graph->col);
	graph->weight = b->weighted ? pe_alloc(ctx, entries, sizeof *graph->weight) : NULL;
	if (!graph->row || !graph->col || (b->weighted && !graph->weight))
		return PE_ERR_NOMEM;
	graph->row[graph->nodes] = entries;
	return pe_parallel(ctx, b->chunk_count, copy_chunk, b, NULL);
}

static pe_status take_ids(pe_context *ctx, struct build *b)
{
	pe_graph *graph = b->graph;
	struct pe_raw_graphs *raw = b->raw;
	graph->node_names = raw->node_names;
	graph->name_pool = raw->name_pool;
	graph->node_ids = raw->node_ids;
	graph->report.renumbered = raw->node_ids || raw->node_names;
	raw->node_names = NULL;
	raw->name_pool = NULL;
	raw->node_ids = NULL;
	graph->unread = raw->unread;
	raw->unread = (struct pe_unread){0};
	graph->files = raw->files;
	raw->files = (struct pe_graph_files){0};
	if (graph->node_ids || graph->node_names)
		return PE_OK;
	graph->node_ids = pe_alloc(ctx, graph->nodes, sizeof *graph->node_ids);
	if (!graph->node_ids)
		return PE_ERR_NOMEM;
	for (int64_t g = 0; g < graph->count; g++)
		for (int64_t i = graph->ptr[g]; i < graph->ptr[g + 1]; i++)
			graph->node_ids[i] = raw->base + (i - graph->ptr[g]);
	return PE_OK;
}

static void fill_report(const struct build *b, int64_t entries)
{
	const struct chunk *total = &b->total;
	pe_graph_report *report = &b->graph->report;
	report->digest = b->graph->digest;
	report->format = b->raw->format;
	report->graphs = b->graph->count;
	report->nodes = b->graph->nodes;
	report->edges = b->directed ? entries : (entries + total->counts.diagonal) / 2;
	report->rows = b->raw->rows;
	report->self_loops = total->counts.loops;
	report->duplicates = total->counts.duplicates;
	report->one_way = total->asymmetry.one_way;
	report->isolated = total->isolated;
	report->phantom = b->raw->phantom;
	report->components = total->components;
	report->failed = b->graph->unread.count;
	report->base = b->graph->node_names ? -1 : b->raw->base;
	report->directed = b->directed;
	report->weighted = b->weighted;
}

static pe_status assemble(pe_context *ctx, struct build *b)
{
	int64_t entries = 0;
	for (int64_t c = 0; c < b->chunk_count; c++) {
		struct chunk *chunk = &b->chunks[c];
		chunk->entry = entries;
		entries += chunk->entries;
		b->total.components += chunk->components;
		b->total.isolated += chunk->isolated;
		b->total.negative |= chunk->negative;
		b->total.not_one |= chunk->not_one;
		b->total.not_finite |= chunk->not_finite;
	}
	if (b->total.not_finite)
		return pe_fail(ctx, PE_ERR_FORMAT, "the weights of some edge, added up, are too large for a number");
	b->weighted = b->weighted && (b->given || b->total.not_one);
	pe_graph *graph = b->graph = pe_alloc_zero(ctx, 1, sizeof *b->graph);
	if (!graph)
		return PE_ERR_NOMEM;
	graph->allocator = ctx->allocator;
	graph->ctx = ctx;
	graph->count = b->raw->graphs;
	graph->nodes = b->raw->nodes;
	graph->ptr = b->ptr;
	b->raw->ptr = NULL;
	graph->directed = b->directed;
	graph->negative = b->total.negative;
	graph->loops = b->policy->loops;
	graph->symmetrise = b->policy->symmetrise;
	PE_TRY(join_chunks(ctx, b, entries));
	PE_TRY(take_ids(ctx, b));
	fill_report(b, entries);
	return PE_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

static pe_status take_ptr(pe_context *ctx, struct build *b)
{
	b->ptr = b->raw->ptr;
	if (b->ptr)
		return PE_OK;
	b->ptr = b->raw->ptr = pe_alloc(ctx, 2, sizeof *b->ptr);
	if (!b->ptr)
		return PE_ERR_NOMEM;
	b->ptr[0] = 0;
	b->ptr[1] = b->raw->nodes;
	return PE_OK;
}

static void free_edges(pe_context *ctx, struct pe_raw_graphs *raw)
{
	pe_free(ctx, raw->u);
	pe_free(ctx, raw->v);
	raw->u = raw->v = NULL;
}

static pe_status run(pe_context *ctx, struct build *b)
{
	b->given = b->raw->w && b->policy->weight_column != 0;
	b->duplicates = b->policy->duplicates ? b->policy->duplicates
		: b->given                        ? PE_DUPLICATES_SUM
										  : PE_DUPLICATES_FIRST;
	PE_TRY(take_ptr(ctx, b));
	PE_TRY(cut(ctx, b));
	PE_TRY(pe_parallel(ctx, b->chunk_count, sort_chunk, b, NULL));
	free_edges(ctx, b->raw);
	add_up(b);
	b->directed = is_directed(b);
	b->weighted = b->given || b->duplicates == PE_DUPLICATES_SUM ||
		(!b->directed && !b->raw->mirrored && b->policy->symmetrise != PE_SYMMETRISE_MAX);
	PE_TRY(pe_parallel(ctx, b->chunk_count, finish_chunk, b, NULL));
	return assemble(ctx, b);
}

static void clean_up(pe_context *ctx, struct build *b)
{
	for (int64_t c = 0; c < b->chunk_count; c++) {
		pe_rows_free(ctx, &b->chunks[c].rows);
		pe_rows_free(ctx, &b->chunks[c].transpose);
		pe_bit_rows_free(ctx, &b->chunks[c].bits);
	}
	pe_free(ctx, b->chunks);
	pe_raw_graphs_free(ctx, b->raw);
}

pe_status pe_graph_build(
	pe_context *ctx, struct pe_raw_graphs *raw, const struct pe_graph_policy *policy, pe_graph **out)
{
	struct build b = {.raw = raw, .policy = policy};
	struct pe_graph_changes changes = {.policy = policy, .listed = raw->direction, .mirrored = raw->mirrored};
	*out = NULL;
	pe_status status = run(ctx, &b);
	if (status == PE_OK && policy->largest_component)
		status = pe_graph_keep_largest(ctx, b.graph, &changes.dropped_nodes);
	if (status == PE_OK) {
		changes.duplicates = b.duplicates;
		changes.zeros = b.total.counts.zeros;
		changes.unequal = b.total.asymmetry.unequal;
		changes.distinct = b.total.counts.edges;
		pe_graph_say(ctx, b.graph, &changes);
		*out = b.graph;
	} else {
		pe_graph_destroy(&b.graph);
	}
	clean_up(ctx, &b);
	return status;
}
