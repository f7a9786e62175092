/* SPDX-License-Identifier: BSD-2-Clause
 * The biases of a tile: a slice of a table, a copy from a table of a grid, or asked row by row in double. In
 * units of log 2, and less a base that each lane has, near the greatest of what its query sees: it is taken
 * off in double, so that biases far from 0 keep their digits, and comes back with the logarithm of the sum.
 */
#include <math.h>
#include <string.h>

#include "tile.h"

/* A base may be so much below what is met later. */
#define SLACK 16.0

/* ---- bases ----------------------------------------------------------------------------- */

static bool asks_rows(const struct pe_tiles *t)
{
	const struct pe_tensor *mask = &t->plan->mask;
	bool adds = mask->data && pe_dtype_is_float(mask->dtype);
	return t->bias.steep || t->bias.rest.count > 0 || (adds && !t->masked);
}

bool pe_tiles_have_biases(const struct pe_tiles *t)
{
	return asks_rows(t) || t->masked || t->bias.values || t->grid.values;
}

static bool is_number(double base)
{
	return fabs(base) <= PE_TILE_NO_FRACTION;
}

/* What tables are rounded after. */
static double origin_of(const struct pe_tiles *t, const struct pe_tile_group *g, double sink)
{
	if (asks_rows(t) || t->plan->map_heads)
		return sink;
	if (t->bias.values)
		return t->masked ? pe_tile_table_most(t, g) : fmax(sink, pe_tile_table_most(t, g));
	return t->grid.values ? t->grid.peak[g->head] : 0;
}

void pe_tile_start_base(struct pe_tile_work *w, struct pe_tile_group *g)
{
	const struct pe_tiles *t = w->tiles;
	double sink = t->plan->sinks ? PE_LOG2E * t->plan->sinks[g->head] : -INFINITY;
	double origin = origin_of(t, g, sink);
	bool has_base = is_number(t->masked ? sink : origin);
	g->origin = is_number(origin) ? origin : 0;
	float mask_base = t->masked && has_base ? (float)((sink - g->origin) / PE_LOG2E) : 0.0f;
	for (int64_t l = 0; l < g->lanes; l++) {
		g->mask_base[l] = mask_base;
		g->base[l] = g->origin + PE_LOG2E * (double)mask_base;
		g->has_base[l] = has_base;
		g->state.max[l] = (float)(sink - g->base[l]);
		g->state.sum[l] = sink > -INFINITY ? 1.0f : 0.0f;
	}
}

bool pe_tile_raise_base(struct pe_tile_group *g, int64_t l, double most)
{
	if (!is_number(most) || (g->has_base[l] && most <= g->base[l] + SLACK))
		return false;
	g->state.max[l] = (float)((double)g->state.max[l] + (g->base[l] - most));
	g->base[l] = most;
	g->has_base[l] = true;
	return true;
}

/* ---- from tables ------------------------------------------------------------------------ */

/* Lane l of key first + j at [l - j]. */
static const float *slice(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tile_group *g = tile->group;
	int64_t reach = w->key + w->key_count - tile->first - 1, n = reach + g->lanes;
	const double *from = pe_tile_table_at(w->tiles, g->head, g->first, tile->first + reach);
	w->tiles->kernels->tile_round(w->slice, from, 1, g->origin, n);
	return w->slice + reach;
}

/* Keys × lanes: what is kept, or made in `room`. */
static const float *grid_cells(struct pe_tile_work *w, const struct pe_tile *tile, float *room)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_tile_group *g = tile->group;
	int64_t number = g->head * w->group_count + (g - w->groups);
	if (t->grid.cells)
		return t->grid.cells + number * t->plan->keys * PE_TILE_MAX_LANES + tile->first * g->lanes;
	pe_tile_fill_grid(t, g, tile->first, tile->end, room);
	return room;
}

/* ---- row by row ------------------------------------------------------------------------- */

/* w->row ← what the encodings that are in no table, the mask, and the table of key - query say of lane l. */
static void ask_row(struct pe_tile_work *w, const struct pe_tile *tile, int64_t l)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first;
	struct pe_cells cells = {w->batch, g->head, g->first + l, tile->first, n};
	const double *table = t->bias.values ? pe_tile_table_at(t, g->head, g->first + l, tile->first) : NULL;
	memset(w->row, 0, (size_t)n * sizeof *w->row);
	for (int64_t j = 0; table && j < n; j++)
		w->row[j] = table[-j] / PE_LOG2E;
	for (int i = 0; i < t->bias.rest.count; i++)
		t->bias.rest.list[i]->encoder->scores(t->bias.rest.list[i], &cells, w->row);
	pe_plan_add_mask(t->plan, &cells, w->row);
}

/* The greatest of w->row that lane l sees. */
static double most_seen(struct pe_tile_work *w, const struct pe_tile *tile, int64_t l)
{
	int64_t first = tile->first, end = tile->end;
	const unsigned char *seen = pe_tile_seen(w, tile, l, &first, &end);
	double most = -INFINITY;
	if (!seen)
		return w->tiles->kernels->tile_most(w->row + first - tile->first, end - first);
	for (int64_t j = 0; j < end - first; j++)
		most = seen[j] && w->row[j] > most ? w->row[j] : most;
	return most;
}

/* Keys × lanes. */
static void fill_rows(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first;
	double peak = t->grid.values ? t->grid.peak[g->head] : 0;
	for (int64_t l = 0; l < g->count; l++) {
		ask_row(w, tile, l);
		pe_tile_raise_base(g, l, PE_LOG2E * most_seen(w, tile, l) + peak);
		t->kernels->tile_round(w->lines + l * n, w->row, PE_LOG2E, g->base[l] - peak, n);
	}
	t->kernels->tile_queries(w->bias, g->vecs, w->lines, g->count, n, 1, n, 1.0f);
}

struct pe_tile_biases pe_tile_table_biases(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	if (t->grid.values)
		return (struct pe_tile_biases){grid_cells(w, tile, w->lines), tile->group->lanes};
	return (struct pe_tile_biases){t->bias.values ? slice(w, tile) : NULL, -1};
}

struct pe_tile_biases pe_tile_make_biases(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	int64_t lanes = tile->group->lanes, cells = (tile->end - tile->first) * lanes;
	if (t->masked && w->mask_adds)
		return (struct pe_tile_biases){w->bias, lanes};
	if (t->masked || !asks_rows(t))
		return pe_tile_table_biases(w, tile);
	fill_rows(w, tile);
	const float *grid = t->grid.values ? grid_cells(w, tile, w->lines) : NULL;
	for (int64_t c = 0; grid && c < cells; c++)
		w->bias[c] += grid[c];
	return (struct pe_tile_biases){w->bias, lanes};
}
