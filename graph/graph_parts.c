/* SPDX-License-Identifier: BSD-2-Clause */
#include "graph_parts.h"

#include "pool.h"
#include "stream.h"
#include "tensor.h"

/* A part ends where the sum of n² + NODES_MIN passes PART_WORK: some 900 molecules, few enough for threads to
 * end together; but graphs that are not so small go on to PART_GRAPHS or MORE_WORK, which fills the lanes of
 * the eigensolver. */
#define PART_WORK ((int64_t)1 << 19)
#define MORE_WORK ((int64_t)1 << 21)
#define PART_GRAPHS 256
#define NODES_MIN 64

static int64_t nodes_of(const pe_graph *graph, int64_t g)
{
	return graph->ptr[g + 1] - graph->ptr[g];
}

static bool is_large(const struct pe_graph_parts *parts, int64_t g)
{
	return nodes_of(parts->graph, g) > parts->large;
}

static int64_t first_of(const struct pe_graph_parts *parts, int64_t number)
{
	return number > 0 ? parts->ends[number - 1] : 0;
}

/* One past the last graph of the part that begins with g. */
static int64_t end_of_part(const struct pe_graph_parts *parts, int64_t g)
{
	int64_t work = 0, enough = g + PART_GRAPHS;
	if (is_large(parts, g))
		return g + 1;
	while (g < parts->graph->count && !is_large(parts, g) && work < (g < enough ? MORE_WORK : PART_WORK)) {
		int64_t n = nodes_of(parts->graph, g++);
		work += n * n + NODES_MIN;
	}
	return g;
}

pe_status pe_graph_parts_plan(
	pe_context *ctx, const pe_graph *graph, int64_t large, struct pe_graph_parts *out)
{
	int64_t capacity = 0;
	*out = (struct pe_graph_parts){.graph = graph, .large = large};
	for (int64_t g = 0; g < graph->count;) {
		pe_status status = pe_grow(ctx, &out->ends, &capacity, out->count, out->count + 1, sizeof *out->ends);
		if (status != PE_OK) {
			pe_graph_parts_free(ctx, out);
			return status;
		}
		g = out->ends[out->count++] = end_of_part(out, g);
	}
	return PE_OK;
}

void pe_graph_parts_free(pe_context *ctx, struct pe_graph_parts *parts)
{
	pe_free(ctx, parts->ends);
	*parts = (struct pe_graph_parts){0};
}

/* ---- one part ----------------------------------------------------------------------- */

struct run {
	pe_encoding *e;
	const struct pe_graph_parts *parts;
	const pe_tensor *outs;
	pe_part_fn fn;
	void *arg;
};

/* The rows of each array that belong to the part. */
struct rows {
	int64_t first[PE_MAX_ARRAYS], count[PE_MAX_ARRAYS];
};

static struct rows rows_of(const struct run *run, const struct pe_part *part)
{
	struct rows rows = {0};
	const int64_t *ptr = run->parts->graph->ptr;
	for (int64_t i = 0; i < run->e->array_count; i++) {
		bool by_node = run->e->arrays[i].per_token;
		rows.first[i] = by_node ? part->node : part->first;
		rows.count[i] = by_node ? ptr[part->end] - part->node : part->end - part->first;
	}
	return rows;
}

static void take_views(const struct run *run, const struct rows *rows, pe_tensor *views)
{
	for (int64_t i = 0; i < run->e->array_count; i++) {
		views[i] = run->outs[i];
		views[i].shape[0] = rows->count[i];
		if (views[i].data && pe_tensor_count(&views[i]) > 0)
			views[i].data = pe_tensor_row(&run->outs[i], rows->first[i]);
	}
}

static pe_status do_part(pe_context *ctx, const struct run *run, int64_t number)
{
	const pe_encoding *e = run->e;
	struct pe_part part = {
		.number = number, .first = first_of(run->parts, number), .end = run->parts->ends[number]};
	part.large = is_large(run->parts, part.first);
	part.node = run->parts->graph->ptr[part.first];
	struct rows rows = rows_of(run, &part);
	if (!e->stream) {
		take_views(run, &rows, part.outs);
		return run->fn(ctx, run->arg, &part);
	}
	PE_TRY(pe_stream_open(ctx, e, rows.count, part.outs));
	return pe_stream_close(ctx, e, rows.first, part.outs, run->fn(ctx, run->arg, &part));
}

/* ---- all ---------------------------------------------------------------------------- */

static pe_status do_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct run *run = arg;
	return is_large(run->parts, first_of(run->parts, chunk)) ? PE_OK : do_part(worker, run, chunk);
}

pe_status pe_graph_parts_run(
	pe_encoding *e, const struct pe_graph_parts *parts, const pe_tensor *outs, pe_part_fn fn, void *arg)
{
	struct run run = {e, parts, outs, fn, arg};
	PE_TRY(pe_parallel(e->ctx, parts->count, do_chunk, &run, e->encoder->table.name));
	for (int64_t p = 0; p < parts->count; p++)
		if (is_large(parts, first_of(parts, p)))
			PE_TRY(do_part(e->ctx, &run, p));
	return PE_OK;
}
