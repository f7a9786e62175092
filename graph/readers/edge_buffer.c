/* SPDX-License-Identifier: BSD-2-Clause
 * Edges of unknown number, and how they become a raw graph with dense ids. Declared in scan.h. */
#include <inttypes.h>
#include <string.h>

#include "scan.h"

/* ---- the buffer --------------------------------------------------------------------- */

static pe_status grow(pe_context *ctx, struct pe_edge_buffer *edges)
{
	int64_t need = edges->count + 1;
	int64_t u = edges->capacity, v = u, w = u;
	PE_TRY(pe_grow(ctx, &edges->u, &u, edges->count, need, sizeof *edges->u));
	PE_TRY(pe_grow(ctx, &edges->v, &v, edges->count, need, sizeof *edges->v));
	if (edges->w)
		PE_TRY(pe_grow(ctx, &edges->w, &w, edges->count, need, sizeof *edges->w));
	edges->capacity = u; /* all three have grown alike */
	return PE_OK;
}

static pe_status begin_weights(pe_context *ctx, struct pe_edge_buffer *edges)
{
	edges->w = pe_alloc(ctx, edges->capacity, sizeof *edges->w);
	if (!edges->w)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < edges->count; i++)
		edges->w[i] = 1;
	return PE_OK;
}

pe_status pe_edge_push(pe_context *ctx, struct pe_edge_buffer *edges, int64_t u, int64_t v)
{
	if (edges->count == edges->capacity)
		PE_TRY(grow(ctx, edges));
	if (edges->w)
		edges->w[edges->count] = 1;
	edges->u[edges->count] = u;
	edges->v[edges->count++] = v;
	return PE_OK;
}

pe_status pe_edge_push_weighted(pe_context *ctx, struct pe_edge_buffer *edges, int64_t u, int64_t v, double w)
{
	if (edges->count == edges->capacity)
		PE_TRY(grow(ctx, edges));
	if (!edges->w)
		PE_TRY(begin_weights(ctx, edges));
	edges->w[edges->count] = w;
	edges->u[edges->count] = u;
	edges->v[edges->count++] = v;
	return PE_OK;
}

void pe_edge_buffer_free(pe_context *ctx, struct pe_edge_buffer *edges)
{
	pe_free(ctx, edges->u);
	pe_free(ctx, edges->v);
	pe_free(ctx, edges->w);
	*edges = (struct pe_edge_buffer){0};
}

/* ---- rows of arbitrary ids ---------------------------------------------------------- */

/* Where the ids lie close together, a table over their range; else the distinct ids, sorted, in which
 * a hash table finds its way. */
struct id_map {
	int64_t base;     /* smallest id */
	uint64_t range;   /* largest - smallest */
	int64_t count;    /* distinct ids */
	int32_t *table;   /* range + 1 rows, or NULL */
	int64_t *ids;     /* count, ascending; NULL if base + i */
	int32_t *slots;   /* rows by hash; -1: empty */
	int64_t slot_end; /* slots, a power of two */
};

static void id_map_free(pe_context *ctx, struct id_map *map)
{
	pe_free(ctx, map->table);
	pe_free(ctx, map->ids);
	pe_free(ctx, map->slots);
}

static void find_range(const struct pe_edge_buffer *edges, struct id_map *map)
{
	int64_t low = INT64_MAX, high = INT64_MIN;
	for (int64_t e = 0; e < edges->count; e++) {
		low = pe_min(low, pe_min(edges->u[e], edges->v[e]));
		high = pe_max(high, pe_max(edges->u[e], edges->v[e]));
	}
	map->base = low;
	map->range = (uint64_t)high - (uint64_t)low;
}

static uint64_t place(const struct id_map *map, int64_t id)
{
	return (uint64_t)id - (uint64_t)map->base;
}

static pe_status too_many(pe_context *ctx)
{
	return pe_fail(ctx, PE_ERR_UNSUPPORTED, "there are more than 2^31 - 1 different node ids");
}

static pe_status map_by_table(pe_context *ctx, const struct pe_edge_buffer *edges, struct id_map *map)
{
	int64_t size = (int64_t)map->range + 1;
	map->table = pe_alloc_zero(ctx, size, sizeof *map->table);
	if (!map->table)
		return PE_ERR_NOMEM;
	for (int64_t e = 0; e < edges->count; e++)
		map->table[place(map, edges->u[e])] = map->table[place(map, edges->v[e])] = 1;
	for (int64_t i = 0; i < size; i++) {
		int32_t present = map->table[i];
		if (present && map->count == PE_MAX_NODES)
			return too_many(ctx);
		map->table[i] = (int32_t)map->count;
		map->count += present;
	}
	if (map->count == size)
		return PE_OK;
	map->ids = pe_alloc(ctx, map->count, sizeof *map->ids);
	if (!map->ids)
		return PE_ERR_NOMEM;
	for (int64_t i = size - 1; i >= 0; i--) /* the last place with a row is the one that has it */
		if (i == size - 1 || map->table[i + 1] > map->table[i])
			map->ids[map->table[i]] = map->base + i;
	return PE_OK;
}

/* Sorts by the distance from base, 16 bits at a time, leaving out what all have in common. */
static void radix_sort(
	int64_t **keys, int64_t **other, int64_t count, const struct id_map *map, int64_t *starts /* 65537 */)
{
	for (int shift = 0; shift < 64 && map->range >> shift; shift += 16) {
		memset(starts, 0, 65537 * sizeof *starts);
		for (int64_t i = 0; i < count; i++)
			starts[(place(map, (*keys)[i]) >> shift & 0xFFFF) + 1]++;
		for (int64_t d = 0; d < 65536; d++)
			starts[d + 1] += starts[d];
		for (int64_t i = 0; i < count; i++)
			(*other)[starts[place(map, (*keys)[i]) >> shift & 0xFFFF]++] = (*keys)[i];
		int64_t *sorted = *other;
		*other = *keys;
		*keys = sorted;
	}
}

static pe_status sort_ids(pe_context *ctx, const struct pe_edge_buffer *edges, struct id_map *map)
{
	pe_status status = PE_ERR_NOMEM;
	int64_t all = 2 * edges->count;
	int64_t *keys = pe_alloc(ctx, all, sizeof *keys), *other = pe_alloc(ctx, all, sizeof *other);
	int64_t *starts = pe_alloc(ctx, 65537, sizeof *starts);
	if (!keys || !other || !starts)
		goto done;
	memcpy(keys, edges->u, (size_t)edges->count * sizeof *keys);
	memcpy(keys + edges->count, edges->v, (size_t)edges->count * sizeof *keys);
	radix_sort(&keys, &other, all, map, starts);
	for (int64_t i = 0; i < all; i++)
		if (i == 0 || keys[i] != keys[map->count - 1])
			keys[map->count++] = keys[i];
	if (map->count > PE_MAX_NODES) {
		status = too_many(ctx);
		goto done;
	}
	map->ids = keys;
	keys = NULL;
	status = PE_OK;
done:
	pe_free(ctx, keys);
	pe_free(ctx, other);
	pe_free(ctx, starts);
	return status;
}

/* The slot of this id, or the empty one where it belongs. */
static int64_t slot_of(const struct id_map *map, int64_t id)
{
	uint64_t h = place(map, id) * 0x9E3779B97F4A7C15u;
	int64_t slot = (int64_t)((h ^ h >> 32) & (uint64_t)(map->slot_end - 1));
	while (map->slots[slot] >= 0 && map->ids[map->slots[slot]] != id)
		slot = (slot + 1) & (map->slot_end - 1);
	return slot;
}

static pe_status map_by_hash(pe_context *ctx, const struct pe_edge_buffer *edges, struct id_map *map)
{
	PE_TRY(sort_ids(ctx, edges, map));
	for (map->slot_end = 16; map->slot_end < 2 * map->count;)
		map->slot_end *= 2;
	map->slots = pe_alloc(ctx, map->slot_end, sizeof *map->slots);
	if (!map->slots)
		return PE_ERR_NOMEM;
	memset(map->slots, 0xFF, (size_t)map->slot_end * sizeof *map->slots);
	for (int64_t i = 0; i < map->count; i++)
		map->slots[slot_of(map, map->ids[i])] = (int32_t)i;
	return PE_OK;
}

static int32_t row_of(const struct id_map *map, int64_t id)
{
	return map->table ? map->table[place(map, id)] : map->slots[slot_of(map, id)];
}

static pe_status make_map(
	pe_context *ctx, const struct pe_edge_buffer *edges, int64_t first, int64_t nodes, struct id_map *map)
{
	if (nodes >= 0 || edges->count == 0) {
		*map = (struct id_map){.base = nodes >= 0 ? first : 0, .count = pe_max(nodes, 0)};
		return PE_OK;
	}
	find_range(edges, map);
	bool close = map->range / 16 < (uint64_t)edges->count + 4096;
	return close ? map_by_table(ctx, edges, map) : map_by_hash(ctx, edges, map);
}

/* ---- raw graphs --------------------------------------------------------------------- */

static void fill_rows(
	const struct pe_edge_buffer *edges, const struct id_map *map, bool in_range, struct pe_raw_graphs *raw)
{
	for (int64_t e = 0; e < edges->count; e++) {
		raw->u[e] = in_range ? (int32_t)(edges->u[e] - map->base) : row_of(map, edges->u[e]);
		raw->v[e] = in_range ? (int32_t)(edges->v[e] - map->base) : row_of(map, edges->v[e]);
	}
}

pe_status pe_raw_from_edges(
	pe_context *ctx, struct pe_edge_buffer *edges, int64_t first, int64_t nodes, struct pe_raw_graphs *out)
{
	if (nodes > PE_MAX_NODES)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED, "a graph of more than 2^31 - 1 nodes");
	struct id_map map = {0};
	pe_status status = make_map(ctx, edges, first, nodes, &map);
	struct pe_raw_graphs raw = {
		.graphs = 1, .nodes = map.count, .rows = edges->count, .base = map.base, .node_ids = NULL};
	if (status != PE_OK)
		goto done;
	status = PE_ERR_NOMEM;
	raw.u = pe_alloc(ctx, raw.rows, sizeof *raw.u);
	raw.v = pe_alloc(ctx, raw.rows, sizeof *raw.v);
	if (!raw.u || !raw.v)
		goto done;
	fill_rows(edges, &map, nodes >= 0, &raw);
	raw.node_ids = map.ids;
	map.ids = NULL;
	raw.w = edges->w;
	edges->w = NULL;
	status = PE_OK;
done:
	id_map_free(ctx, &map);
	if (status == PE_OK)
		*out = raw;
	else
		pe_raw_graphs_free(ctx, &raw);
	return status;
}

pe_status pe_raw_count_phantom(pe_context *ctx, struct pe_raw_graphs *raw)
{
	char *named = pe_alloc_zero(ctx, raw->nodes, 1);
	if (!named) {
		pe_raw_graphs_free(ctx, raw);
		return PE_ERR_NOMEM;
	}
	for (int64_t e = 0; e < raw->rows; e++)
		named[raw->u[e]] = named[raw->v[e]] = 1;
	raw->phantom = 0;
	for (int64_t i = 0; i < raw->nodes; i++)
		raw->phantom += !named[i];
	pe_free(ctx, named);
	return PE_OK;
}

pe_status pe_raw_graphs_load(pe_context *ctx, struct pe_raw_graphs *raw)
{
	if (!raw->source)
		return PE_OK;
	int32_t *u = pe_alloc(ctx, raw->rows, sizeof *u), *v = pe_alloc(ctx, raw->rows, sizeof *v);
	pe_status status = u && v ? raw->source->read(ctx, raw, 0, raw->graphs, u, v) : PE_ERR_NOMEM;
	if (status != PE_OK) {
		pe_free(ctx, u);
		pe_free(ctx, v);
		return status;
	}
	raw->source->release(ctx, raw->source);
	raw->source = NULL;
	raw->u = u;
	raw->v = v;
	return PE_OK;
}

void pe_raw_graphs_free(pe_context *ctx, struct pe_raw_graphs *raw)
{
	pe_free(ctx, raw->ptr);
	pe_free(ctx, raw->edge_ptr);
	pe_free(ctx, raw->u);
	pe_free(ctx, raw->v);
	if (raw->source)
		raw->source->release(ctx, raw->source);
	pe_free(ctx, raw->w);
	pe_free(ctx, raw->node_ids);
	pe_free(ctx, raw->node_names);
	pe_free(ctx, raw->name_pool);
	for (int64_t i = 0; i < raw->unread.count; i++)
		pe_free(ctx, raw->unread.why[i]);
	pe_free(ctx, raw->unread.graph);
	pe_free(ctx, raw->unread.why);
	for (int64_t i = 0; i < raw->files.count; i++)
		pe_free(ctx, raw->files.name[i]);
	pe_free(ctx, raw->files.name);
	pe_free(ctx, raw->files.first);
	*raw = (struct pe_raw_graphs){0};
}
