/* SPDX-License-Identifier: BSD-2-Clause
 * From edges as listed to compressed rows: what is decided for all graphs between one pass over the chunks
 * and the next. */
#include "graph_build.h"

#include "graph_chunks.h"
#include "pool.h"

static void add_up(struct pe_build *b)
{
	struct pe_chunk *total = &b->total;
	for (int64_t c = 0; c < b->chunk_count; c++) {
		struct pe_chunk *chunk = &b->chunks[c];
		total->counts.loops += chunk->counts.loops;
		total->counts.duplicates += chunk->counts.duplicates;
		total->counts.zeros += chunk->counts.zeros;
		total->counts.diagonal += chunk->counts.diagonal;
		total->counts.edges += chunk->counts.edges;
		total->asymmetry.one_way += chunk->asymmetry.one_way;
		total->asymmetry.unequal += chunk->asymmetry.unequal;
	}
}

static void free_source(pe_context *ctx, struct pe_raw_graphs *raw)
{
	if (raw->source)
		raw->source->release(ctx, raw->source);
	raw->source = NULL;
}

/* Whether it is directed; where only the edges tell, b->total has what they say. */
static void choose_direction(struct pe_build *b)
{
	enum pe_direction direction = b->policy->edges ? b->policy->edges : b->raw->direction;
	b->edges_decide = direction == PE_DIRECTED_IF_ONE_WAY;
	b->directed = direction == PE_DIRECTED || (b->edges_decide && b->total.asymmetry.one_way > 0);
	b->weighted = b->given || b->duplicates == PE_DUPLICATES_SUM ||
		(!b->directed && !b->raw->mirrored && b->policy->symmetrise != PE_SYMMETRISE_MAX);
}

/* Of a single chunk that is not small, as they are. */
static void take_rows(pe_context *ctx, struct pe_build *b)
{
	pe_graph *graph = b->graph;
	struct pe_rows *rows = &b->chunks[0].rows;
	graph->row = rows->start;
	graph->col = rows->col;
	if (b->weighted)
		graph->weight = rows->w;
	else
		pe_free(ctx, rows->w);
	*rows = (struct pe_rows){0};
	if (b->ids_count_up)
		pe_chunk_count_ids(b, &b->chunks[0]);
}

/* Memory for columns: that of the text, which has been paid for, where not too much of it is left over. */
static int32_t *columns(pe_context *ctx, struct pe_build *b, int64_t entries)
{
	struct pe_row_source *source = b->raw->source;
	int64_t need;
	if (!source || !pe_mul(entries, (int64_t)sizeof(int32_t), &need) || source->text_size < need ||
		source->text_size / 2 > need)
		return pe_alloc(ctx, entries, sizeof(int32_t));
	int32_t *col = source->text;
	source->text = NULL;
	return col;
}

/* The rows of all chunks, one after another. */
static pe_status join_chunks(pe_context *ctx, struct pe_build *b, int64_t entries)
{
	pe_graph *graph = b->graph;
	if (b->chunk_count == 1 && !b->row && (b->chunks[0].rows.w || !b->weighted)) {
		take_rows(ctx, b);
		return PE_OK;
	}
	graph->col = columns(ctx, b, entries);
	free_source(ctx, b->raw);
	graph->row = b->row ? b->row : pe_alloc(ctx, graph->nodes + 1, sizeof *graph->row);
	b->row = NULL;
	graph->weight = b->weighted ? pe_alloc(ctx, entries, sizeof *graph->weight) : NULL;
	if (!graph->row || !graph->col || (b->weighted && !graph->weight))
		return PE_ERR_NOMEM;
	graph->row[graph->nodes] = entries;
	return pe_parallel(ctx, b->chunk_count, pe_chunk_write, b, NULL);
}

static pe_status take_ids(pe_context *ctx, struct pe_build *b)
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
	b->ids_count_up = !graph->node_ids && !graph->node_names;
	if (b->ids_count_up)
		graph->node_ids = pe_alloc(ctx, graph->nodes, sizeof *graph->node_ids);
	return graph->node_ids || graph->node_names ? PE_OK : PE_ERR_NOMEM;
}

static void fill_report(const struct pe_build *b, int64_t entries)
{
	const struct pe_chunk *total = &b->total;
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

static pe_status assemble(pe_context *ctx, struct pe_build *b)
{
	int64_t entries = 0;
	for (int64_t c = 0; c < b->chunk_count; c++) {
		struct pe_chunk *chunk = &b->chunks[c];
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
	PE_TRY(take_ids(ctx, b));
	PE_TRY(join_chunks(ctx, b, entries));
	fill_report(b, entries);
	return PE_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

static pe_status take_ptr(pe_context *ctx, struct pe_build *b)
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

static pe_status run(pe_context *ctx, struct pe_build *b)
{
	b->given = b->raw->w && b->policy->weight_column != 0;
	b->duplicates = b->policy->duplicates ? b->policy->duplicates
		: b->given                        ? PE_DUPLICATES_SUM
										  : PE_DUPLICATES_FIRST;
	PE_TRY(take_ptr(ctx, b));
	PE_TRY(pe_chunks_cut(ctx, b));
	choose_direction(b);
	PE_TRY(pe_parallel(ctx, b->chunk_count, pe_chunk_sort, b, NULL));
	free_edges(ctx, b->raw);
	add_up(b);
	choose_direction(b);
	PE_TRY(pe_parallel(ctx, b->chunk_count, pe_chunk_finish, b, NULL));
	return assemble(ctx, b);
}

static void clean_up(pe_context *ctx, struct pe_build *b)
{
	pe_chunks_free(ctx, b);
	pe_free(ctx, b->row);
	pe_raw_graphs_free(ctx, b->raw);
}

pe_status pe_graph_build(
	pe_context *ctx, struct pe_raw_graphs *raw, const struct pe_graph_policy *policy, pe_graph **out)
{
	struct pe_build b = {.raw = raw, .policy = policy};
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
