/* SPDX-License-Identifier: BSD-2-Clause
 * The scores of one tile: q·k, content, softcap, gains, biases, and what a query does not see. Where
 * there is no softcap, gain or content, all of it happens while q·k is in registers. */
#include <math.h>

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
	if (w->tiles->masked)
		return pe_tile_read_mask(w, tile);
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

const unsigned char *pe_tile_seen(
	struct pe_tile_work *w, const struct pe_tile *tile, int64_t l, int64_t *first, int64_t *end)
{
	const struct pe_tile_group *g = tile->group;
	if (w->tiles->by_rows) {
		(void)pe_tile_look(w, tile);
		return w->seen + l * w->tile_keys;
	}
	if (tile->first >= g->all_first && tile->end <= g->all_end)
		return NULL;
	pe_plan_key_range(w->tiles->plan, w->batch, g->first + l, g->first + l + 1, first, end);
	*first = pe_min(pe_max(*first, tile->first), tile->end);
	*end = pe_min(pe_max(*end, *first), tile->end);
	return NULL;
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
	if (w->tiles->by_rows)
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
	if (t->keys_in_place) {
		scores.k = w->raw_keys + (tile->first - w->key) * w->key_stride;
		scores.k_stride = w->key_stride;
	}
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

/* A row of gains of each query by the encoders' own functions, into keys × lanes, over a table's slice. */
static void fill_gains(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_tile_group *g = tile->group;
	const float *slice = pe_tile_slice(t, &t->gain, tile);
	int64_t n = tile->end - tile->first;
	for (int64_t l = 0; l < g->count; l++) {
		struct pe_cells cells = {w->batch, g->head, g->first + l, tile->first, n};
		float *line = w->lines + l * n;
		for (int64_t j = 0; j < n; j++)
			w->row[j] = 1;
		for (int i = 0; i < t->gain.rest.count; i++)
			t->gain.rest.list[i]->encoder->gains(t->gain.rest.list[i], &cells, w->row);
		t->kernels->tile_round(line, w->row, 1, 0, n);
		for (int64_t j = 0; slice && j < n; j++)
			line[j] *= slice[l - j];
	}
	t->kernels->tile_queries(w->gain, g->vecs, w->lines, g->count, n, 1, n, 1.0f);
}

/* Beyond these bounds it changes no score, or leaves nothing of any, in f32. */
float pe_tile_softcap(const struct pe_plan *p)
{
	return p->softcap > 0 ? (float)fmin(fmax(PE_LOG2E * p->softcap, 0x1p-126), 0x1p126) : 0.0f;
}

/* Softcap and gains, and biases where these are wanted. */
static void adjust(struct pe_tile_work *w, const struct pe_tile *tile, bool biased)
{
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_biases biases = biased ? pe_tile_make_biases(w, tile) : (struct pe_tile_biases){NULL, 0};
	struct pe_tile_adjust a = {.vecs = tile->group->vecs,
		.keys = tile->end - tile->first,
		.softcap = pe_tile_softcap(t->plan),
		.gain = pe_tile_slice(t, &t->gain, tile),
		.gain_step = -1,
		.bias = biases.cells,
		.bias_step = biases.step,
		.scores = tile->scores,
		.max = w->max};
	if (t->gain.rest.count > 0) {
		fill_gains(w, tile);
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
	if (w->tiles->masked && w->mask_hides)
		w->tiles->kernels->tile_hide(tile->scores, w->bias, n, g->vecs, w->max);
	else if (pe_tile_hide(w, tile, tile->scores, -INFINITY) || computed > n)
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
		struct pe_tile_biases biases = pe_tile_make_biases(w, tile);
		multiply(w, tile, tile->group->q, biases.cells, biases.step);
	} else if (!multiply_with_content(w, tile) || !plain || pe_tiles_have_biases(t)) {
		pe_tile_finish_scores(w, tile);
		return;
	}
	hide(w, tile, whole_panels(w, tile));
}
