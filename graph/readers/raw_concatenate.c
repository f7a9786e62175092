/* SPDX-License-Identifier: BSD-2-Clause
 * Raw graphs of several files as one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "detect.h"

/* ptr and edge_ptr, where a single graph has none. */
static pe_status give_offsets(pe_context *ctx, struct pe_raw_graphs *raw)
{
	int64_t **const arrays[] = {&raw->ptr, &raw->edge_ptr};
	const int64_t ends[] = {raw->nodes, raw->rows};
	for (int i = 0; i < 2; i++) {
		if (*arrays[i])
			continue;
		*arrays[i] = pe_alloc(ctx, 2, sizeof **arrays[i]);
		if (!*arrays[i])
			return PE_ERR_NOMEM;
		(*arrays[i])[0] = 0;
		(*arrays[i])[1] = ends[i];
	}
	return PE_OK;
}

/* Rows that stand for both directions become two. */
static pe_status list_both_directions(pe_context *ctx, struct pe_raw_graphs *raw)
{
	int64_t rows = 2 * raw->rows, to = 0;
	int32_t *u = pe_alloc(ctx, rows, sizeof *u), *v = pe_alloc(ctx, rows, sizeof *v);
	double *w = raw->w ? pe_alloc(ctx, rows, sizeof *w) : NULL;
	int64_t *edge_ptr = pe_alloc(ctx, raw->graphs + 1, sizeof *edge_ptr);
	if (!u || !v || (raw->w && !w) || !edge_ptr) {
		pe_free(ctx, u);
		pe_free(ctx, v);
		pe_free(ctx, w);
		pe_free(ctx, edge_ptr);
		return PE_ERR_NOMEM;
	}
	edge_ptr[0] = 0;
	for (int64_t g = 0; g < raw->graphs; g++) {
		for (int64_t e = raw->edge_ptr[g]; e < raw->edge_ptr[g + 1]; e++)
			for (int back = 0; back < 1 + (raw->u[e] != raw->v[e]); back++, to++) {
				u[to] = back ? raw->v[e] : raw->u[e];
				v[to] = back ? raw->u[e] : raw->v[e];
				if (w)
					w[to] = raw->w[e];
			}
		edge_ptr[g + 1] = to;
	}
	pe_free(ctx, raw->u);
	pe_free(ctx, raw->v);
	pe_free(ctx, raw->w);
	pe_free(ctx, raw->edge_ptr);
	raw->u = u;
	raw->v = v;
	raw->w = w;
	raw->edge_ptr = edge_ptr;
	raw->rows = to;
	raw->mirrored = false;
	return PE_OK;
}

static pe_status give_weights(pe_context *ctx, struct pe_raw_graphs *raw)
{
	raw->w = pe_alloc(ctx, raw->rows, sizeof *raw->w);
	for (int64_t e = 0; raw->w && e < raw->rows; e++)
		raw->w[e] = 1;
	return raw->w ? PE_OK : PE_ERR_NOMEM;
}

/* Ids in full, where they are only base + i. */
static pe_status give_ids(pe_context *ctx, struct pe_raw_graphs *raw)
{
	raw->node_ids = pe_alloc(ctx, raw->nodes, sizeof *raw->node_ids);
	if (!raw->node_ids)
		return PE_ERR_NOMEM;
	for (int64_t g = 0; g < raw->graphs; g++)
		for (int64_t i = raw->ptr[g]; i < raw->ptr[g + 1]; i++)
			raw->node_ids[i] = raw->base + (i - raw->ptr[g]);
	return PE_OK;
}

#define ID_SIZE 21 /* of a 64-bit integer in decimal, and its NUL */

/* Text ids, where they are integers. */
static pe_status give_names(pe_context *ctx, struct pe_raw_graphs *raw)
{
	if (!raw->node_ids)
		PE_TRY(give_ids(ctx, raw));
	raw->name_pool = pe_alloc(ctx, raw->nodes, ID_SIZE);
	raw->node_names = pe_alloc(ctx, raw->nodes, sizeof *raw->node_names);
	if (!raw->name_pool || !raw->node_names)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < raw->nodes; i++) {
		raw->node_names[i] = raw->name_pool + i * ID_SIZE;
		snprintf(raw->node_names[i], ID_SIZE, "%" PRId64, raw->node_ids[i]);
	}
	pe_free(ctx, raw->node_ids);
	raw->node_ids = NULL;
	raw->base = -1;
	return PE_OK;
}

/* What all have in common, once those of one kind were made the other. */
struct kind {
	bool names, ids, weights, mirrored;
};

static struct kind common_kind(const struct pe_raw_graphs *raws, int64_t count)
{
	struct kind kind = {.mirrored = true};
	for (int64_t i = 0; i < count; i++) {
		kind.names |= raws[i].node_names != NULL;
		kind.ids |= raws[i].node_ids || raws[i].base != raws[0].base;
		kind.weights |= raws[i].w != NULL;
		kind.mirrored &= raws[i].mirrored;
	}
	return kind;
}

static pe_status match(pe_context *ctx, const struct kind *kind, struct pe_raw_graphs *raw)
{
	PE_TRY(give_offsets(ctx, raw));
	if (kind->names && !raw->node_names)
		PE_TRY(give_names(ctx, raw));
	else if (kind->ids && !kind->names && !raw->node_ids)
		PE_TRY(give_ids(ctx, raw));
	if (raw->mirrored && !kind->mirrored)
		PE_TRY(list_both_directions(ctx, raw));
	return kind->weights && !raw->w ? give_weights(ctx, raw) : PE_OK;
}

static enum pe_direction common_direction(enum pe_direction a, enum pe_direction b)
{
	if (a == b || b == PE_DIRECTION_UNKNOWN)
		return a;
	if (a == PE_DIRECTION_UNKNOWN)
		return b;
	return a == PE_DIRECTED || b == PE_DIRECTED ? PE_DIRECTED : PE_DIRECTED_IF_ONE_WAY;
}

/* ---- putting together --------------------------------------------------------------- */

static int64_t pool_size(const struct pe_raw_graphs *raw)
{
	int64_t size = 0;
	for (int64_t i = 0; raw->node_names && i < raw->nodes; i++)
		size = pe_max(size, raw->node_names[i] - raw->name_pool + (int64_t)strlen(raw->node_names[i]) + 1);
	return size;
}

/* Counts and places; out->graphs, nodes and rows are the sums in the end. */
static void add_up(const struct pe_raw_graphs *raws, int64_t count, struct pe_raw_graphs *out)
{
	*out = (struct pe_raw_graphs){
		.format = raws[0].format, .base = raws[0].base, .direction = raws[0].direction};
	for (int64_t i = 0; i < count; i++) {
		const struct pe_raw_graphs *raw = &raws[i];
		out->graphs += raw->graphs;
		out->nodes += raw->nodes;
		out->rows += raw->rows;
		out->phantom += raw->phantom;
		out->base = pe_min(out->base, raw->base);
		out->direction = common_direction(out->direction, raw->direction);
		if (strcmp(out->format, raw->format) != 0)
			out->format = "several";
	}
}

static pe_status allocate(pe_context *ctx, const struct kind *kind, int64_t pool, struct pe_raw_graphs *out)
{
	out->mirrored = kind->mirrored;
	out->ptr = pe_alloc_zero(ctx, out->graphs + 1, sizeof *out->ptr);
	out->edge_ptr = pe_alloc_zero(ctx, out->graphs + 1, sizeof *out->edge_ptr);
	out->u = pe_alloc(ctx, out->rows, sizeof *out->u);
	out->v = pe_alloc(ctx, out->rows, sizeof *out->v);
	if (!out->ptr || !out->edge_ptr || !out->u || !out->v)
		return PE_ERR_NOMEM;
	if (kind->weights && !(out->w = pe_alloc(ctx, out->rows, sizeof *out->w)))
		return PE_ERR_NOMEM;
	if (kind->names) {
		out->node_names = pe_alloc(ctx, out->nodes, sizeof *out->node_names);
		out->name_pool = pe_alloc(ctx, pool, 1);
		return out->node_names && out->name_pool ? PE_OK : PE_ERR_NOMEM;
	}
	if (kind->ids && !(out->node_ids = pe_alloc(ctx, out->nodes, sizeof *out->node_ids)))
		return PE_ERR_NOMEM;
	return PE_OK;
}

/* Where the next graphs go. */
struct place {
	int64_t graphs, nodes, rows, pool;
};

static void put_ids(const struct pe_raw_graphs *raw, struct place *at, struct pe_raw_graphs *out)
{
	if (out->node_ids)
		memcpy(out->node_ids + at->nodes, raw->node_ids, (size_t)raw->nodes * sizeof *raw->node_ids);
	if (!out->node_names)
		return;
	int64_t size = pool_size(raw);
	memcpy(out->name_pool + at->pool, raw->name_pool, (size_t)size);
	for (int64_t i = 0; i < raw->nodes; i++)
		out->node_names[at->nodes + i] = out->name_pool + at->pool + (raw->node_names[i] - raw->name_pool);
	at->pool += size;
}

static void put(const struct pe_raw_graphs *raw, struct place *at, struct pe_raw_graphs *out)
{
	memcpy(out->u + at->rows, raw->u, (size_t)raw->rows * sizeof *raw->u);
	memcpy(out->v + at->rows, raw->v, (size_t)raw->rows * sizeof *raw->v);
	if (out->w)
		memcpy(out->w + at->rows, raw->w, (size_t)raw->rows * sizeof *raw->w);
	put_ids(raw, at, out);
	for (int64_t g = 1; g <= raw->graphs; g++) {
		out->ptr[at->graphs + g] = at->nodes + raw->ptr[g];
		out->edge_ptr[at->graphs + g] = at->rows + raw->edge_ptr[g];
	}
	at->graphs += raw->graphs;
	at->nodes += raw->nodes;
	at->rows += raw->rows;
}

pe_status pe_raw_concatenate(
	pe_context *ctx, struct pe_raw_graphs *raws, int64_t count, struct pe_raw_graphs *out)
{
	const struct kind kind = common_kind(raws, count);
	int64_t pool = 0;
	bool unweighted = false, directed = false, other = false;
	for (int64_t i = 0; i < count; i++) {
		bool edges = raws[i].rows > 0; /* a graph without edges is of every kind */
		directed |= edges && raws[i].direction == PE_DIRECTED;
		other |= edges && raws[i].direction != PE_DIRECTED;
		unweighted |= edges && kind.weights && !raws[i].w;
		PE_TRY(match(ctx, &kind, &raws[i]));
		pool += pool_size(&raws[i]);
	}
	if (unweighted)
		pe_log(ctx, PE_LOG_WARNING, "some graphs have no weights: those of their edges are taken as 1");
	if (directed && other)
		pe_log(ctx, PE_LOG_WARNING, "some graphs are directed and others are not: all are read as directed");
	struct pe_raw_graphs all;
	add_up(raws, count, &all);
	pe_status status = allocate(ctx, &kind, pool, &all);
	if (status != PE_OK) {
		pe_raw_graphs_free(ctx, &all);
		return status;
	}
	struct place at = {0};
	for (int64_t i = 0; i < count; i++) {
		put(&raws[i], &at, &all);
		pe_raw_graphs_free(ctx, &raws[i]);
	}
	*out = all;
	return PE_OK;
}
