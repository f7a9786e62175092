/* SPDX-License-Identifier: BSD-2-Clause
 * Content terms s_ij += scale · (x + offset) · row(i, j). Where all cells of a tile take one row, it is part
 * of q·k. Else there is a product of the rows with queries or keys, and each cell picks its own: where rows
 * follow on each other, which is so of most that follow from key - query, by moving lanes, else by a gather.
 * Of queries, products with a small table are made once, with a large one when a tile needs them; what the
 * tile before had of them is kept. Of keys, a block at a time, for all queries of the task. */
#include <string.h>

#include "tile.h"

/* ---- queries --------------------------------------------------------------------------- */

static int64_t round_up(int64_t n, int64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static const float *packed_rows(
	const struct pe_tile_work *w, const struct pe_tile_term *term, int64_t head, int64_t first)
{
	int64_t at = term->term.per_head ? (head - w->tiles->packed_first) * term->packed_rows : 0;
	return term->packed + (at + first) * term->term.width;
}

static struct pe_tile_query_term *query_term(
	const struct pe_tile_work *w, const struct pe_tile_group *g, int number)
{
	return &w->query_terms[(g - w->groups) * w->tiles->content.count + number];
}

/* products (rows × lanes) ← rows first … end - 1 of the table · queries: they stand where keys do. first
 * begins a panel, and end ends one or the table. */
static void multiply_queries(struct pe_tile_work *w, const struct pe_tile_group *g, int number, int64_t first,
	int64_t end, float *products)
{
	const struct pe_tile_term *term = &w->tiles->content.list[number];
	const float *own = query_term(w, g, number)->q;
	struct pe_tile_scores scores = {.vecs = g->vecs,
		.width = term->term.width,
		.q = own ? own : g->q,
		.k = packed_rows(w, term, g->head, first),
		.keys = end - first,
		.scores = products,
		.max = w->max};
	w->tiles->kernels->tile_scores(&scores);
}

/* Queries with the term's offset of this head, scaled as all are or, from these, unscaled. */
static void make_own_queries(
	struct pe_tile_work *w, const struct pe_tile_group *g, const struct pe_term *term, float *q)
{
	int64_t width = w->tiles->plan->dot_width;
	for (int64_t c = 0; c < width; c++) {
		float offset = term->offset ? (float)term->offset[g->head * width + c] : 0.0f;
		for (int64_t l = 0; l < g->lanes; l++) {
			float scaled = g->q[c * g->lanes + l] + g->scale[l] * offset;
			q[c * g->lanes + l] = term->unscaled ? (float)PE_LOG2E * (scaled / g->scale[l]) : scaled;
		}
	}
}

static bool is_small(const struct pe_term *term)
{
	return term->rows <= PE_TILE_ROWS;
}

void pe_tile_load_group_terms(struct pe_tile_work *w, struct pe_tile_group *g)
{
	const struct pe_tile_terms *terms = &w->tiles->content;
	if (terms->count == 0)
		return;
	struct pe_tile_fold *fold = &w->folds[g - w->groups];
	fold->q = g->q;
	fold->constant = NULL;
	for (int i = 0; i < terms->count; i++) {
		const struct pe_term *term = &terms->list[i].term;
		struct pe_tile_query_term *own = query_term(w, g, i);
		fold->row[i] = -1;
		own->first = own->end = 0;
		if (term->side != PE_QUERIES)
			continue;
		if (own->q)
			make_own_queries(w, g, term, own->q);
		if (!is_small(term))
			continue;
		multiply_queries(w, g, i, 0, term->rows, own->products);
		own->end = term->rows;
	}
}

/* Products with rows first … end - 1, where own->products can hold them. Keys ascend from tile to tile, and
 * so rows of key - query descend: those that are there already move up. */
static void want_products(
	struct pe_tile_work *w, const struct pe_tile_group *g, int number, int64_t first, int64_t end)
{
	struct pe_tile_query_term *own = query_term(w, g, number);
	int64_t height = w->tiles->kernels->tile_rows;
	if (own->first <= first && end <= own->end)
		return;
	first = first / height * height;
	end = pe_min(round_up(end, height), w->tiles->content.list[number].term.rows);
	int64_t kept = own->first > first && own->end >= end ? pe_max(0, end - own->first) : 0;
	if (kept > 0)
		memmove(own->products + (own->first - first) * g->lanes, own->products,
			(size_t)(kept * g->lanes) * sizeof *own->products);
	multiply_queries(w, g, number, first, end - kept, own->products);
	own->first = first;
	own->end = end;
}

/* ---- keys ------------------------------------------------------------------------------ */

/* Keys first … end - 1 of the block at hand, from a panel on. */
struct keys {
	int64_t first, end;
};

/* Of a block, those that any query of the task has in one of `lanes` rows from `row` on, if rows follow on
 * each other. */
static struct keys keys_of_rows(
	const struct pe_tile_work *w, const struct pe_tile_rows *rows, int64_t row, int64_t lanes)
{
	int64_t height = w->tiles->kernels->tile_rows, to_row = *rows->row[0] - row;
	int64_t first = pe_max(0, to_row - lanes + 1), end = pe_max(0, to_row + w->query_count);
	return (struct keys){first / height * height, pe_min(round_up(end, height), w->key_count)};
}

/* products (keys × rows first … end - 1) ← (keys + offset) · rows of the table, which stand where queries do.
 * first begins a group of lanes. Of a block, rows are those of pe_tile_index_block, else NULL. */
static void multiply_keys(struct pe_tile_work *w, const struct pe_tile_term *term, int64_t head,
	struct keys keys, const struct pe_tile_rows *block, int64_t first, int64_t end, float *products)
{
	int64_t lanes = 2 * w->tiles->kernels->tile_vec, width = term->term.width;
	int64_t stride = round_up(end - first, lanes);
	const float *offset = term->offset_scores ? term->offset_scores + head * term->packed_rows : NULL;
	for (int64_t row = first; row < end; row += lanes) {
		struct keys some = block && block->consecutive ? keys_of_rows(w, block, row, lanes) : keys;
		struct pe_tile_scores scores = {.vecs = 2,
			.width = width,
			.q = packed_rows(w, term, head, row),
			.k = w->keys + some.first * width,
			.keys = some.end - some.first,
			.bias = offset ? offset + row : NULL,
			.scores = products + (some.first - keys.first) * stride + row - first,
			.stride = stride,
			.max = w->max};
		w->tiles->kernels->tile_scores(&scores);
	}
}

/* Lanes: what a key's product is multiplied with. Good until the next call. */
static const float *scale_of(
	struct pe_tile_work *w, const struct pe_tile_group *g, const struct pe_term *term)
{
	if (!term->unscaled)
		return g->scale;
	for (int64_t l = 0; l < g->lanes; l++)
		w->unscaled[l] = (float)PE_LOG2E;
	return w->unscaled;
}

void pe_tile_load_key_terms(struct pe_tile_work *w, int64_t head)
{
	const struct pe_tile_terms *terms = &w->tiles->content;
	int64_t lanes = 2 * w->tiles->kernels->tile_vec;
	for (int i = 0; i < terms->count; i++) {
		struct pe_tile_window *window = &w->windows[i];
		struct pe_tile_rows rows;
		if (terms->list[i].term.side != PE_KEYS)
			continue;
		pe_tile_index_block(w, &terms->list[i], &rows);
		window->first = rows.first / lanes * lanes;
		window->end = round_up(rows.end, lanes);
		if (rows.alike || window->end - window->first > PE_TILE_ROWS)
			window->end = window->first;
		multiply_keys(w, &terms->list[i], head, (struct keys){0, w->key_count}, &rows, window->first,
			window->end, window->products);
	}
}

/* ---- one row for a whole tile -------------------------------------------------------------- */

/* (k + offset) · row is a part of q·k, and of a constant. */
static void fold_key(struct pe_tile_work *w, const struct pe_tile_group *g, const struct pe_tile_term *term,
	int64_t row, struct pe_tile_fold *fold)
{
	int64_t width = term->term.width, lanes = 2 * w->tiles->kernels->tile_vec;
	const float *packed = packed_rows(w, term, g->head, row / lanes * lanes) + row % lanes;
	const float *scale = scale_of(w, g, &term->term);
	for (int64_t c = 0; c < width; c++)
		w->row_floats[c] = packed[c * lanes];
	w->tiles->kernels->tile_shift(fold->own_q, fold->q, g->vecs, scale, w->row_floats, width);
	fold->q = fold->own_q;
	for (int64_t l = 0; term->offset_scores && l < g->lanes; l++)
		fold->own_constant[l] += scale[l] * term->offset_scores[g->head * term->packed_rows + row];
}

static void fold_query(
	struct pe_tile_work *w, const struct pe_tile_group *g, int number, int64_t row, struct pe_tile_fold *fold)
{
	want_products(w, g, number, row, row + 1);
	const struct pe_tile_query_term *own = query_term(w, g, number);
	for (int64_t l = 0; l < g->lanes; l++)
		fold->own_constant[l] += own->products[(row - own->first) * g->lanes + l];
}

static void make_fold(struct pe_tile_work *w, const struct pe_tile_group *g, struct pe_tile_fold *fold)
{
	const struct pe_tile_terms *terms = &w->tiles->content;
	bool any = false;
	fold->q = g->q;
	for (int64_t l = 0; l < g->lanes; l++)
		fold->own_constant[l] = 0.0f;
	for (int i = 0; i < terms->count; i++) {
		const struct pe_tile_term *term = &terms->list[i];
		if (fold->row[i] < 0)
			continue;
		any = any || term->term.side == PE_QUERIES || term->offset_scores;
		if (term->term.side == PE_QUERIES)
			fold_query(w, g, i, fold->row[i], fold);
		else
			fold_key(w, g, term, fold->row[i], fold);
	}
	fold->constant = any ? fold->own_constant : NULL;
}

const struct pe_tile_fold *pe_tile_fold_content(struct pe_tile_work *w, const struct pe_tile *tile, bool *all)
{
	const struct pe_tile_terms *terms = &w->tiles->content;
	struct pe_tile_fold *fold = &w->folds[tile->group - w->groups];
	bool as_before = true;
	*all = true;
	for (int i = 0; i < terms->count; i++) {
		struct pe_tile_rows rows = {.alike = false};
		if (terms->list[i].line)
			pe_tile_index(w, tile, &terms->list[i], &rows);
		int64_t row = rows.alike ? rows.first : -1;
		*all = *all && row >= 0;
		as_before = as_before && row == fold->row[i];
		fold->row[i] = row;
	}
	if (!as_before)
		make_fold(w, tile->group, fold);
	return fold;
}

/* ---- a tile ---------------------------------------------------------------------------- */

/* Products of table rows first … first + count - 1 with queries (rows × lanes), or of keys with them. */
struct products {
	const float *values;
	int64_t first, count;
	const float *scale; /* lanes: of products by key; NULL: by query */
};

static void add_slanted(const struct pe_tile_work *w, const struct pe_tile *tile,
	const struct pe_tile_rows *rows, const struct products *p)
{
	struct pe_tile_slant all = {.vecs = tile->group->vecs,
		.by_key = p->scale != NULL,
		.keys = tile->end - tile->first,
		.products = p->values + (*rows->row[0] - p->first) * (p->scale ? 1 : tile->group->lanes),
		.stride = p->count,
		.scale = p->scale,
		.scores = tile->scores,
		.max = w->max};
	w->tiles->kernels->tile_slant(&all);
}

static void gather(const struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_rows *rows,
	const struct products *p)
{
	struct pe_tile_gather all = {.vecs = tile->group->vecs,
		.by_key = p->scale != NULL,
		.keys = tile->end - tile->first,
		.index = rows->row[0],
		.first = (int32_t)p->first,
		.count = (int32_t)p->count,
		.products = p->values,
		.scale = p->scale,
		.scores = tile->scores,
		.max = w->max};
	w->tiles->kernels->tile_gather(&all);
}

static void gather_by_cell(
	const struct pe_tile *tile, const struct pe_tile_rows *rows, const struct products *p)
{
	const struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first, key_step = p->scale ? p->count : 0;
	int64_t row_step = p->scale ? 1 : g->lanes, lane_step = p->scale ? 0 : 1;
	for (int64_t j = 0; j < n; j++)
		for (int64_t l = 0; l < g->count; l++) {
			int64_t row = rows->row[l][j] - p->first;
			if (row >= 0 && row < p->count)
				tile->scores[j * g->lanes + l] += (p->scale ? p->scale[l] : 1.0f) *
					p->values[j * key_step + row * row_step + l * lane_step];
		}
}

/* scores += what each cell takes of the products. */
static void take_products(const struct pe_tile_work *w, const struct pe_tile *tile,
	const struct pe_tile_rows *rows, const struct products *p)
{
	if (rows->consecutive && p->first <= rows->first && rows->end <= p->first + p->count)
		add_slanted(w, tile, rows, p);
	else if (rows->step < 0)
		gather(w, tile, rows, p);
	else
		gather_by_cell(tile, rows, p);
}

/* Rows that no memory for products holds at once. */
static void add_by_query(
	struct pe_tile_work *w, const struct pe_tile *tile, int number, const struct pe_tile_rows *rows)
{
	int64_t height = w->tiles->kernels->tile_rows, some = PE_TILE_ROWS / height * height;
	for (int64_t first = rows->first / height * height; first < rows->end; first += some) {
		struct products p = {
			w->products, first, pe_min(some, w->tiles->content.list[number].term.rows - first), NULL};
		multiply_queries(w, tile->group, number, first, first + p.count, w->products);
		take_products(w, tile, rows, &p);
	}
}

static void add_by_key(
	struct pe_tile_work *w, const struct pe_tile *tile, int number, const struct pe_tile_rows *rows)
{
	const struct pe_tile_term *term = &w->tiles->content.list[number];
	int64_t lanes = 2 * w->tiles->kernels->tile_vec, height = w->tiles->kernels->tile_rows;
	int64_t from = tile->first - w->key, to = tile->end - w->key;
	struct keys keys = {from, pe_min(from + round_up(to - from, height), w->key_count)};
	for (int64_t first = rows->first / lanes * lanes; first < rows->end; first += PE_TILE_ROWS) {
		int64_t count = pe_min(PE_TILE_ROWS, round_up(rows->end - first, lanes));
		struct products p = {w->products, first, count, scale_of(w, tile->group, &term->term)};
		multiply_keys(w, term, tile->group->head, keys, NULL, first, first + count, w->products);
		take_products(w, tile, rows, &p);
	}
}

static void add_query_term(
	struct pe_tile_work *w, const struct pe_tile *tile, int number, const struct pe_tile_rows *rows)
{
	const struct pe_tile_query_term *own = query_term(w, tile->group, number);
	if (!is_small(&w->tiles->content.list[number].term) && rows->end - rows->first > pe_tile_kept_rows(w)) {
		add_by_query(w, tile, number, rows);
		return;
	}
	want_products(w, tile->group, number, rows->first, rows->end);
	take_products(w, tile, rows, &(struct products){own->products, own->first, own->end - own->first, NULL});
}

static void add_key_term(
	struct pe_tile_work *w, const struct pe_tile *tile, int number, const struct pe_tile_rows *rows)
{
	const struct pe_tile_window *window = &w->windows[number];
	int64_t count = window->end - window->first;
	if (count == 0) {
		add_by_key(w, tile, number, rows);
		return;
	}
	take_products(w, tile, rows,
		&(struct products){window->products + (tile->first - w->key) * count, window->first, count,
			scale_of(w, tile->group, &w->tiles->content.list[number].term)});
}

bool pe_tile_add_content(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_fold *fold)
{
	const struct pe_tile_terms *terms = &w->tiles->content;
	bool has_max = false;
	for (int i = 0; i < terms->count; i++) {
		struct pe_tile_rows rows;
		if (fold->row[i] >= 0)
			continue;
		pe_tile_index(w, tile, &terms->list[i], &rows);
		if (rows.first >= rows.end)
			continue;
		has_max = rows.step < 0;
		if (terms->list[i].term.side == PE_QUERIES)
			add_query_term(w, tile, i, &rows);
		else
			add_key_term(w, tile, i, &rows);
	}
	return has_max;
}
