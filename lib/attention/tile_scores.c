/* SPDX-License-Identifier: BSD-2-Clause
 * The scores of one tile: q·k, content, softcap, gains, biases, and what a query does not see. Where
 * there is no softcap, gain or content, all of it happens while q·k is in registers. */
#include <math.h>
#include <string.h>

#include "tile.h"

/* Whether keys are seen by position and length alone, these being intervals that move with the query. */
void pe_tile_see(struct pe_tile_work *w, struct pe_tile_group *g)
{
	const struct pe_plan *p = w->tiles->plan;
	int64_t last = g->first + g->count - 1, unused;
	pe_plan_key_range(p, w->batch, g->first, last + 1, &g->key_first, &g->key_end);
	g->all_first = g->key_end;
	g->all_end = g->key_first;
	if (w->tiles->by_rows)
		return;
	pe_plan_key_range(p, w->batch, g->first, g->first + 1, &unused, &g->all_end);
	pe_plan_key_range(p, w->batch, last, last + 1, &g->all_first, &unused);
}

bool pe_tile_look(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tile_group *g = tile->group;
	if (!w->tiles->by_rows)
		return true;
	if (w->looked.group == g && w->looked.first == tile->first && w->looked.end == tile->end)
		return w->seen_any;
	w->looked = *tile;
	w->seen_any = false;
	for (int64_t l = 0; l < g->count; l++) {
		struct pe_cells at = {w->batch, g->head, g->first + l, tile->first, tile->end - tile->first};
		w->seen_count[l] = pe_plan_visible(w->tiles->plan, &at, w->seen + l * w->tile_keys);
		w->seen_any = w->seen_any || w->seen_count[l] > 0;
	}
	return w->seen_any;
}

/* Of keys first … end - 1, those that lane l does not see get `hidden`. */
static bool hide_lane(
	struct pe_tile_work *w, const struct pe_tile *tile, int64_t l, float *cells, float hidden)
{
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first, first, end;
	if (!t->by_rows) {
		pe_plan_key_range(t->plan, w->batch, g->first + l, g->first + l + 1, &first, &end);
		for (int64_t j = 0; j < pe_min(n, first - tile->first); j++)
			cells[j * g->lanes + l] = hidden;
		for (int64_t j = pe_max(0, end - tile->first); j < n; j++)
			cells[j * g->lanes + l] = hidden;
		return true;
	}
	const unsigned char *seen = w->seen + l * w->tile_keys;
	if (w->seen_count[l] == n)
		return false;
	for (int64_t j = 0; j < n; j++)
		if (!seen[j])
			cells[j * g->lanes + l] = hidden;
	return true;
}

bool pe_tile_hide(struct pe_tile_work *w, const struct pe_tile *tile, float *cells, float hidden)
{
	struct pe_tile_group *g = tile->group;
	bool any = false;
	if (tile->first >= g->all_first && tile->end <= g->all_end)
		return false;
	(void)pe_tile_look(w, tile);
	for (int64_t l = 0; l < g->count; l++)
		any = hide_lane(w, tile, l, cells, hidden) || any;
	return any;
}

/* Up to where scores are computed: the end of a panel or of the block. */
static int64_t whole_panels(const struct pe_tile_work *w, const struct pe_tile *tile)
{
	int64_t rows = w->tiles->kernels->tile_rows, n = tile->end - tile->first;
	return pe_min((n + rows - 1) / rows * rows, w->key + w->key_count - tile->first);
}

/* bias_step: -1 for a slice of a table, 0 for one bias a lane, lanes for cells. */
static void multiply(
	struct pe_tile_work *w, const struct pe_tile *tile, const float *q, const float *bias, int64_t bias_step)
{
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_group *g = tile->group;
	struct pe_tile_scores scores = {.vecs = g->vecs,
		.width = t->plan->dot_width,
		.q = q,
		.k = w->keys + (tile->first - w->key) * t->plan->dot_width,
		.keys = whole_panels(w, tile),
		.bias = bias,
		.bias_step = bias_step,
		.scores = tile->scores,
		.max = w->max};
	t->kernels->tile_scores(&scores);
}

/* Tells whether w->max is that of these scores. */
static bool multiply_with_content(struct pe_tile_work *w, const struct pe_tile *tile)
{
	bool all;
	if (w->tiles->content.count == 0) {
		multiply(w, tile, tile->group->q, NULL, 0);
		return true;
	}
	const struct pe_tile_fold *fold = pe_tile_fold_content(w, tile, &all);
	multiply(w, tile, fold->q, fold->constant, 0);
	return all || pe_tile_add_content(w, tile, fold);
}

void pe_tile_raw_scores(struct pe_tile_work *w, const struct pe_tile *tile)
{
	(void)multiply_with_content(w, tile);
}

/* w->row ← what the encodings that are in no table say of a query's cells; biases also by the mask. */
static void ask_encodings(
	struct pe_tile_work *w, const struct pe_cells *cells, const struct pe_tile_table *table, bool is_gain)
{
	memset(w->row, 0, (size_t)cells->count * sizeof *w->row);
	for (int64_t j = 0; is_gain && j < cells->count; j++)
		w->row[j] = 1.0;
	for (int i = 0; i < table->rest.count; i++) {
		const pe_encoding *e = table->rest.list[i];
		(is_gain ? e->encoder->gains : e->encoder->scores)(e, cells, w->row);
	}
	if (!is_gain)
		pe_plan_add_mask(w->tiles->plan, cells, w->row);
}

/* A row of cells of each query by an encoder's own function, into keys × lanes, over a table's slice. */
static void fill_rows(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_table *table,
	bool is_gain, float *out)
{
	const struct pe_tile_group *g = tile->group;
	const float *slice = pe_tile_slice(w->tiles, table, tile);
	int64_t n = tile->end - tile->first;
	const double factor = is_gain ? 1.0 : PE_LOG2E;
	for (int64_t l = 0; l < g->count; l++) {
		struct pe_cells cells = {w->batch, g->head, g->first + l, tile->first, n};
		float *line = w->lines + l * n;
		ask_encodings(w, &cells, table, is_gain);
		w->tiles->kernels->tile_round(line, w->row, factor, n);
		for (int64_t j = 0; slice && j < n; j++)
			line[j] = is_gain ? line[j] * slice[l - j] : line[j] + slice[l - j];
	}
	w->tiles->kernels->tile_queries(out, g->vecs, w->lines, g->count, n, 1, n, 1.0f);
}

/* Whether biases are asked row by row. */
static bool asks_biases(const struct pe_tiles *t)
{
	const struct pe_tensor *mask = &t->plan->mask;
	return t->bias.rest.count > 0 || (mask->data && pe_dtype_is_float(mask->dtype));
}

static bool has_biases(const struct pe_tiles *t)
{
	return asks_biases(t) || t->bias.values || t->grid.values;
}

/* What is added to the scores of key j: lanes from cells + j step on. cells NULL: nothing. */
struct biases {
	const float *cells;
	int64_t step;
};

/* Keys × lanes of tables of a grid: those that are kept, or made in `room`. */
static const float *grid_cells(struct pe_tile_work *w, const struct pe_tile *tile, float *room)
{
	struct pe_tile_group *g = tile->group;
	if (w->grid)
		return w->grid + (g - w->groups) * w->tiles->plan->keys * PE_TILE_MAX_LANES + tile->first * g->lanes;
	pe_tile_fill_grid(w->tiles, g, tile->first, tile->end, room);
	return room;
}

static struct biases make_biases(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	int64_t lanes = tile->group->lanes, cells = (tile->end - tile->first) * lanes;
	bool asks = asks_biases(t);
	if (!asks && !t->grid.values)
		return (struct biases){pe_tile_slice(t, &t->bias, tile), -1};
	if (asks)
		fill_rows(w, tile, &t->bias, false, w->bias);
	const float *grid = t->grid.values ? grid_cells(w, tile, asks ? w->lines : w->bias) : NULL;
	for (int64_t c = 0; asks && grid && c < cells; c++)
		w->bias[c] += grid[c];
	return (struct biases){asks ? w->bias : grid, lanes};
}

/* Beyond these bounds it changes no score, or leaves nothing of any, in f32. */
static float softcap_of(const struct pe_plan *p)
{
	return p->softcap > 0 ? (float)fmin(fmax(PE_LOG2E * p->softcap, 0x1p-126), 0x1p126) : 0.0f;
}

/* Softcap and gains, and biases where these are wanted. */
static void adjust(struct pe_tile_work *w, const struct pe_tile *tile, bool biased)
{
	const struct pe_tiles *t = w->tiles;
	struct biases biases = biased ? make_biases(w, tile) : (struct biases){NULL, 0};
	struct pe_tile_adjust a = {.vecs = tile->group->vecs,
		.keys = tile->end - tile->first,
		.softcap = softcap_of(t->plan),
		.gain = pe_tile_slice(t, &t->gain, tile),
		.gain_step = -1,
		.bias = biases.cells,
		.bias_step = biases.step,
		.scores = tile->scores,
		.max = w->max};
	if (t->gain.rest.count > 0) {
		fill_rows(w, tile, &t->gain, true, w->gain);
		a.gain = w->gain;
		a.gain_step = tile->group->lanes;
	}
	t->kernels->tile_adjust(&a);
}

void pe_tile_adjust_logits(struct pe_tile_work *w, const struct pe_tile *tile)
{
	if (w->tiles->plan->softcap > 0 || w->tiles->plan->gains.count > 0)
		adjust(w, tile, false);
}

/* Maxima count what is hidden, and keys behind the end, unless taken again. */
static void hide(struct pe_tile_work *w, const struct pe_tile *tile, int64_t computed)
{
	struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first;
	if (pe_tile_hide(w, tile, tile->scores, -INFINITY) || computed > n)
		w->tiles->kernels->tile_max(tile->scores, n, g->vecs, w->max);
}

void pe_tile_finish_scores(struct pe_tile_work *w, const struct pe_tile *tile)
{
	adjust(w, tile, true);
	hide(w, tile, tile->end - tile->first);
}

void pe_tile_scores(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	bool plain = t->plan->softcap <= 0 && t->plan->gains.count == 0;
	if (plain && t->content.count == 0) {
		struct biases biases = make_biases(w, tile);
		multiply(w, tile, tile->group->q, biases.cells, biases.step);
	} else if (!multiply_with_content(w, tile) || !plain || has_biases(t)) {
		pe_tile_finish_scores(w, tile);
		return;
	}
	hide(w, tile, whole_panels(w, tile));
}
