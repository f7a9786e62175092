/* SPDX-License-Identifier: BSD-2-Clause
 * A float mask on its way into a tile: its rows are turned into lanes as they are, each lane's base is moved
 * by the greatest that its query sees, and one pass makes biases of the cells, with what tables say. */
#include <math.h>
#include <string.h>

#include "tile.h"

bool pe_tiles_mask_by_lanes(const struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	bool adds = p->mask.data && pe_dtype_is_float(p->mask.dtype) && p->mask.dtype != PE_F64;
	return adds && pe_plan_sees_range(p) && !t->bias.steep && t->bias.rest.count == 0 && !p->map_heads &&
		p->content_row.count == 0 && p->weights_after.count == 0;
}

/* Cells as they are, -inf also where a query does not see a key for another reason. */
static void load_cells(struct pe_tile_work *w, const struct pe_tile *tile, float *cells)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_tile_group *g = tile->group;
	const pe_tensor *mask = &t->plan->mask;
	int64_t n = tile->end - tile->first, stride = mask->strides[2], step = mask->strides[3];
	int64_t size = (int64_t)pe_dtype_size(mask->dtype);
	const char *from = pe_tensor_at(mask, w->batch, g->head, g->first) + tile->first * step * size;
	if (mask->dtype != PE_F32) {
		pe_tile_convert_fn *convert = pe_tile_converter(t->kernels, mask->dtype);
		for (int64_t l = 0; l < g->count; l++)
			convert(w->lines + l * n, (const uint16_t *)(const void *)(from + l * stride * size), step, n);
		from = (const char *)w->lines;
		stride = n;
		step = 1;
	}
	t->kernels->tile_queries(
		cells, g->vecs, (const float *)(const void *)from, g->count, stride, step, n, 1.0f);
	(void)pe_tile_hide(w, tile, cells, -INFINITY);
}

/* NaN is seen, and in no maximum. */
static bool sees_any(const struct pe_tile *tile, const float *cells)
{
	const struct pe_tile_group *g = tile->group;
	bool any = false;
	for (int64_t l = 0; l < g->count; l++)
		any = any || g->mask_most[l] > -INFINITY;
	for (int64_t j = 0; !any && j < tile->end - tile->first; j++)
		for (int64_t l = 0; l < g->count; l++)
			any = any || isnan(cells[j * g->lanes + l]);
	return any;
}

/* Most of Swin's shifted windows have nothing to hide. */
static bool is_zero(const float *cells, int64_t n)
{
	uint32_t all = 0;
	for (int64_t i = 0; i < n; i++) {
		uint32_t bits;
		memcpy(&bits, cells + i, sizeof bits);
		all |= bits;
	}
	return all == 0;
}

static void move_bases(struct pe_tile_group *g)
{
	for (int64_t l = 0; l < g->count; l++)
		if (pe_tile_raise_base(g, l, PE_LOG2E * (double)g->mask_most[l] + g->origin))
			g->mask_base[l] = g->mask_most[l];
}

bool pe_tiles_keep_mask(const struct pe_tiles *t)
{
	return t->masked && t->pairs > 1 && t->plan->mask.strides[1] == 0 && t->plan->keys <= PE_TILE_KEYS;
}

bool pe_tile_read_mask(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_group *g = tile->group;
	float *cells = g->mask ? g->mask : w->bias;
	int64_t n = tile->end - tile->first;
	if (!g->mask || g->mask_of != w->batch + 1) {
		load_cells(w, tile, cells);
		t->kernels->tile_max(cells, n, g->vecs, g->mask_most);
		g->mask_of = w->batch + 1;
		g->mask_is_zero = g->mask && is_zero(cells, n * g->lanes);
	}
	if (!sees_any(tile, cells))
		return false;
	w->mask_adds = !g->mask_is_zero || t->plan->sinks;
	w->mask_hides = false;
	if (!w->mask_adds)
		return true;
	move_bases(g);
	struct pe_tile_biases tables = pe_tile_table_biases(w, tile);
	struct pe_tile_mask mask = {g->vecs, n, g->mask_base, tables.cells, tables.step, cells, w->bias};
	w->mask_hides = t->kernels->tile_mask(&mask);
	return true;
}
