/* SPDX-License-Identifier: BSD-2-Clause
 * The memory of one task of the tiled core: one block of floats, laid out twice, first to count. */
#include "tile.h"

/* With base NULL it counts. */
struct arena {
	float *base;
	int64_t used;
};

static float *cut(struct arena *a, int64_t n)
{
	float *p = a->base ? a->base + a->used : NULL;
	a->used += (n + 15) / 16 * 16;
	return p;
}

/* Lanes behind the last query may point behind the last product. */
static void lay_out_query_terms(struct pe_tile_work *w, struct arena *a)
{
	const struct pe_tiles *t = w->tiles;
	int64_t query_terms = t->content.count * w->group_count;
	for (int64_t i = 0; i < query_terms; i++) {
		const struct pe_tile_term *term = &t->content.list[i % t->content.count];
		struct pe_tile_query_term own = {.q = NULL};
		int64_t kept = pe_tile_kept_rows(w) + 2 * t->kernels->tile_rows;
		int64_t rows = term->term.rows <= PE_TILE_ROWS ? term->term.rows : kept;
		if (term->term.side == PE_QUERIES && (term->term.offset || term->term.unscaled))
			own.q = cut(a, t->plan->dot_width * PE_TILE_MAX_LANES);
		if (term->term.side == PE_QUERIES)
			own.products = cut(a, (rows + PE_TILE_MAX_LANES) * PE_TILE_MAX_LANES);
		if (w->query_terms)
			w->query_terms[i] = own;
	}
}

static void lay_out_windows(struct pe_tile_work *w, struct arena *a)
{
	for (int i = 0; i < w->tiles->content.count; i++) {
		const struct pe_tile_term *term = &w->tiles->content.list[i];
		int64_t rows = pe_min(term->packed_rows, PE_TILE_ROWS);
		struct pe_tile_window window = {.products = NULL};
		if (term->term.side == PE_KEYS)
			window.products = cut(a, rows * w->tile_keys + PE_TILE_MAX_LANES);
		if (w->windows)
			w->windows[i] = window;
	}
}

static void lay_out_folds(struct pe_tile_work *w, struct arena *a)
{
	for (int64_t i = 0; w->tiles->content.count > 0 && i < w->group_count; i++) {
		float *q = cut(a, w->tiles->plan->dot_width * PE_TILE_MAX_LANES),
			  *constant = cut(a, PE_TILE_MAX_LANES);
		if (w->folds) {
			w->folds[i].own_q = q;
			w->folds[i].own_constant = constant;
		}
	}
}

static void lay_out_terms(struct pe_tile_work *w, struct arena *a)
{
	const struct pe_tiles *t = w->tiles;
	if (t->content.count + t->values.count == 0)
		return;
	lay_out_query_terms(w, a);
	lay_out_windows(w, a);
	lay_out_folds(w, a);
	w->unscaled = cut(a, PE_TILE_MAX_LANES);
	w->row_floats = cut(a, t->plan->dot_width);
	w->table = cut(a, t->values.count > 0 ? PE_TILE_ROWS * t->plan->sum_width : 0);
	w->products = cut(a, PE_TILE_ROWS * pe_max(w->tile_keys, PE_TILE_MAX_LANES) + PE_TILE_MAX_LANES);
}

static void lay_out(struct pe_tile_work *w, struct arena *a)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_plan *p = t->plan;
	int64_t widest = pe_max(p->dot_width, p->sum_width), tile = w->tile_keys * PE_TILE_MAX_LANES;
	for (int64_t i = 0; i < w->group_count; i++) {
		float *q = cut(a, p->dot_width * PE_TILE_MAX_LANES), *sums = cut(a, p->sum_width * PE_TILE_MAX_LANES);
		float *after = p->weights_after.count > 0 ? cut(a, p->sum_width * PE_TILE_MAX_LANES) : NULL;
		float *odd = cut(a, p->sum_width * PE_TILE_MAX_LANES);
		float *mask = pe_tiles_keep_mask(t) ? cut(a, p->keys * PE_TILE_MAX_LANES) : NULL;
		if (w->groups) {
			w->groups[i].q = q;
			w->groups[i].sums = sums;
			w->groups[i].after = after;
			w->groups[i].odd = odd;
			w->groups[i].mask = mask;
		}
	}
	w->rows = cut(a, pe_max(w->tile_keys, PE_TILE_MAX_LANES) * widest);
	w->keys = cut(a, w->tile_keys * p->dot_width);
	w->values = cut(a, w->tile_keys * p->sum_width);
	w->scores = cut(a, w->score_tiles * tile);
	w->bias = cut(a, tile + PE_TILE_MAX_LANES);
	w->gain = cut(a, tile);
	w->lines = cut(a, tile + PE_TILE_MAX_LANES);
	w->slice = cut(a, w->tile_keys + PE_TILE_MAX_LANES);
	w->max = cut(a, PE_TILE_MAX_LANES);
	lay_out_terms(w, a);
}

void pe_tile_work_free(struct pe_tile_work *w)
{
	pe_free(w->ctx, w->groups);
	pe_free(w->ctx, w->query_terms);
	pe_free(w->ctx, w->windows);
	pe_free(w->ctx, w->folds);
	pe_free(w->ctx, w->floats);
	pe_free(w->ctx, w->row);
	pe_free(w->ctx, w->turning);
	pe_free(w->ctx, w->seen);
	pe_free(w->ctx, w->odd);
	pe_free(w->ctx, w->index);
}

pe_status pe_tile_work_make(struct pe_tile_work *w)
{
	const struct pe_tiles *t = w->tiles;
	struct arena arena = {NULL, 0};
	int terms = t->content.count + t->values.count;
	int64_t whole_row = t->plan->content_row.count > 0 ? t->plan->keys + t->plan->dot_width : 0;
	int64_t cells = pe_max(pe_max(w->tile_keys, t->plan->sum_width), whole_row);
	lay_out(w, &arena);
	w->groups = pe_alloc_zero(w->ctx, w->group_count, sizeof *w->groups);
	w->query_terms = pe_alloc(w->ctx, w->group_count * t->content.count, sizeof *w->query_terms);
	w->windows = pe_alloc(w->ctx, t->content.count, sizeof *w->windows);
	w->folds = pe_alloc(w->ctx, t->content.count > 0 ? w->group_count : 0, sizeof *w->folds);
	w->floats = pe_alloc(w->ctx, arena.used, sizeof *w->floats);
	w->row = pe_alloc(w->ctx, cells, sizeof *w->row);
	w->turning = pe_alloc(
		w->ctx, t->plan->rotate.count > 0 ? 2 * PE_TILE_MAX_LANES * t->plan->widest : 0, sizeof *w->turning);
	w->seen = pe_alloc(w->ctx, w->tile_keys, 2 * PE_TILE_MAX_LANES);
	w->odd = pe_alloc(w->ctx, w->tile_keys, sizeof *w->odd);
	w->index = pe_alloc(w->ctx, terms ? w->tile_keys * PE_TILE_MAX_LANES : 0, sizeof *w->index);
	if (!w->turning || !w->groups || !w->query_terms || !w->windows || !w->folds || !w->floats || !w->row ||
		!w->seen || !w->odd || !w->index)
		return PE_ERR_NOMEM;
	w->odd_seen = w->seen + PE_TILE_MAX_LANES * w->tile_keys;
	arena = (struct arena){w->floats, 0};
	lay_out(w, &arena);
	return PE_OK;
}
