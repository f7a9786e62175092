/* SPDX-License-Identifier: BSD-2-Clause
 * Content terms s_ij += scale · (x + offset) · row(i, j). Where all cells of a tile take one row, it is part
 * of q·k. Else there is a product with the table and a gather: with the whole table where that is small and
 * the query's; else with the rows that a task takes of a block of keys, which are no more than keys + queries
 * - 1 where the row follows from key - query. */
#include "tile.h"

/* ---- queries --------------------------------------------------------------------------- */

/* products ← rows of the table · packed queries: the table's rows stand where keys do. */
static void multiply_queries(struct pe_tile_work *w, const struct pe_tile_group *g,
	const struct pe_tile_term *term, const float *q, int64_t first, int64_t rows, float *products)
{
	const struct pe_tiles *t = w->tiles;
	int64_t width = term->term.width;
	const float *table = pe_tile_term_rows(w, term, g->head, first, rows);
	t->kernels->tile_pack_keys(w->packed_table, table, rows, width, 1, width);
	struct pe_tile_scores scores = {.vecs = g->vecs,
		.width = width,
		.q = q,
		.k = w->packed_table,
		.keys = rows,
		.scores = products,
		.max = w->max};
	t->kernels->tile_scores(&scores);
}

static bool has_own_queries(const struct pe_term *term)
{
	return term->offset || term->unscaled;
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

void pe_tile_load_group_terms(struct pe_tile_work *w, struct pe_tile_group *g)
{
	const struct pe_tiles *t = w->tiles;
	for (int i = 0; i < t->content.count; i++) {
		const struct pe_tile_term *term = &t->content.list[i];
		struct pe_tile_query_term *own = &w->query_terms[(g - w->groups) * t->content.count + i];
		if (term->term.side != PE_QUERIES)
			continue;
		bool own_queries = has_own_queries(&term->term);
		if (own_queries)
			make_own_queries(w, g, &term->term, own->q);
		if (term->table)
			multiply_queries(w, g, term, own_queries ? own->q : g->q, 0, term->term.rows, own->products);
	}
}

/* ---- keys ------------------------------------------------------------------------------ */

/* products (keys × rows) ← (keys + offset) · rows of the table. */
static void multiply_keys(struct pe_tile_work *w, const struct pe_tile_term *term, int64_t head, int64_t key,
	int64_t keys, int64_t first, int64_t rows, float *products)
{
	int64_t width = term->term.width;
	struct pe_gemm gemm = {.m = keys,
		.n = rows,
		.k = width,
		.alpha = 1.0f,
		.a = w->plain_keys + (key - w->key) * width,
		.b = pe_tile_term_rows(w, term, head, first, rows),
		.c = products,
		.a_stride = width,
		.a_step = 1,
		.b_stride = width,
		.b_step = 1,
		.c_stride = rows,
		.c_step = 1,
		.work = w->gemm};
	const double *offset = term->term.offset ? term->term.offset + head * width : NULL;
	for (int64_t r = 0; offset && r < rows; r++) {
		float sum = 0.0f;
		for (int64_t c = 0; c < width; c++)
			sum += (float)offset[c] * gemm.b[r * width + c];
		for (int64_t j = 0; j < keys; j++)
			products[j * rows + r] = sum;
	}
	gemm.add = offset != NULL;
	w->tiles->kernels->gemm(&gemm);
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

static void copy_keys(struct pe_tile_work *w, const float *k, int64_t stride, int64_t step)
{
	int64_t width = w->tiles->plan->dot_width;
	bool any = false;
	for (int i = 0; i < w->tiles->content.count; i++)
		any = any || w->tiles->content.list[i].term.side == PE_KEYS;
	for (int64_t j = 0; any && j < w->key_count; j++)
		for (int64_t c = 0; c < width; c++)
			w->plain_keys[j * width + c] = k[j * stride + c * step];
}

void pe_tile_load_key_terms(
	struct pe_tile_work *w, int64_t head, const float *k, int64_t stride, int64_t step)
{
	const struct pe_tiles *t = w->tiles;
	copy_keys(w, k, stride, step);
	for (int i = 0; i < t->content.count; i++) {
		const struct pe_tile_term *term = &t->content.list[i];
		struct pe_tile_window *window = &w->windows[i];
		pe_tile_find_window(w, i);
		int64_t rows = window->end - window->first, width = term->term.width;
		if (window->alike || !window->fits || rows == 0)
			continue;
		if (term->term.side == PE_KEYS)
			multiply_keys(w, term, head, w->key, w->key_count, window->first, rows, window->products);
		else if (!term->table)
			t->kernels->tile_pack_keys(
				window->packed, pe_tile_term_rows(w, term, head, window->first, rows), rows, width, 1, width);
	}
}

/* ---- one row for a whole tile -------------------------------------------------------------- */

/* (k + offset) · row is a part of q·k, and of a constant. */
static void fold_key(struct pe_tile_work *w, const struct pe_tile_group *g, const struct pe_tile_term *term,
	int64_t row, const float *q)
{
	int64_t width = term->term.width;
	const float *values = pe_tile_term_rows(w, term, g->head, row, 1);
	const float *scale = scale_of(w, g, &term->term);
	w->tiles->kernels->tile_shift(w->shifted, q, g->vecs, scale, values, width);
	if (!term->term.offset)
		return;
	const double *offset = term->term.offset + g->head * width;
	float sum = 0.0f;
	for (int64_t c = 0; c < width; c++)
		sum += (float)offset[c] * values[c];
	for (int64_t l = 0; l < g->lanes; l++)
		w->constant[l] += scale[l] * sum;
}

static void fold_query(struct pe_tile_work *w, const struct pe_tile_group *g, int number, int64_t row)
{
	const struct pe_tile_term *term = &w->tiles->content.list[number];
	const struct pe_tile_query_term *own =
		&w->query_terms[(g - w->groups) * w->tiles->content.count + number];
	const float *products = own->products + row * g->lanes;
	if (!term->table) {
		multiply_queries(w, g, term, has_own_queries(&term->term) ? own->q : g->q, row, 1, w->products);
		products = w->products;
	}
	for (int64_t l = 0; l < g->lanes; l++)
		w->constant[l] += products[l];
}

/* The one row that all cells of a tile take of a relative term, or -1. */
static int64_t shared_row(struct pe_tile_work *w, const struct pe_tile *tile, int number)
{
	const struct pe_tile_window *window = &w->windows[number];
	struct pe_tile_rows rows;
	if (window->alike)
		return window->first;
	if (!w->tiles->content.list[number].line)
		return -1;
	pe_tile_index(w, tile, &w->tiles->content.list[number], &rows);
	return rows.alike ? rows.first : -1;
}

const float *pe_tile_fold_content(struct pe_tile_work *w, const struct pe_tile *tile, bool *all)
{
	const struct pe_tile_terms *terms = &w->tiles->content;
	const float *q = tile->group->q;
	*all = true;
	for (int64_t l = 0; terms->count > 0 && l < tile->group->lanes; l++)
		w->constant[l] = 0.0f;
	for (int i = 0; i < terms->count; i++) {
		int64_t row = shared_row(w, tile, i);
		w->windows[i].in_product = row >= 0;
		*all = *all && row >= 0;
		if (row >= 0 && terms->list[i].term.side == PE_QUERIES) {
			fold_query(w, tile->group, i, row);
		} else if (row >= 0) {
			fold_key(w, tile->group, &terms->list[i], row, q);
			q = w->shifted;
		}
	}
	return q;
}

/* ---- a tile ---------------------------------------------------------------------------- */

/* Products of table rows first … first + count - 1 with queries (rows × lanes), or of keys with them. */
struct products {
	const float *values;
	int64_t first, count;
	const float *scale; /* lanes: of products by key; NULL: by query */
};

static void gather(const struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_rows *rows,
	const struct products *p)
{
	const struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first, key_step = p->scale ? p->count : 0;
	int64_t row_step = p->scale ? 1 : g->lanes, lane_step = p->scale ? 0 : 1;
	if (rows->step < 0) {
		struct pe_tile_gather all = {.vecs = g->vecs,
			.by_key = p->scale != NULL,
			.keys = n,
			.index = rows->row[0],
			.first = (int32_t)p->first,
			.count = (int32_t)p->count,
			.products = p->values,
			.scale = p->scale,
			.scores = tile->scores,
			.max = w->max};
		w->tiles->kernels->tile_gather(&all);
		return;
	}
	for (int64_t j = 0; j < n; j++)
		for (int64_t l = 0; l < g->count; l++) {
			int64_t row = rows->row[l][j * rows->step] - p->first;
			if (row >= 0 && row < p->count)
				tile->scores[j * g->lanes + l] += (p->scale ? p->scale[l] : 1.0f) *
					p->values[j * key_step + row * row_step + l * lane_step];
		}
}

/* Rows that fit into no window, so many at a time. */
static void add_large(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	const float *q, const struct pe_tile_rows *rows)
{
	const float *scale = term->term.side == PE_KEYS ? scale_of(w, tile->group, &term->term) : NULL;
	for (int64_t first = rows->first; first < rows->end; first += PE_TILE_ROWS) {
		struct products p = {w->products, first, pe_min(PE_TILE_ROWS, rows->end - first), scale};
		if (scale)
			multiply_keys(w, term, tile->group->head, tile->first, tile->end - tile->first, first, p.count,
				w->products);
		else
			multiply_queries(w, tile->group, term, q, first, p.count, w->products);
		gather(w, tile, rows, &p);
	}
}

/* The rows that the tile needs, of those that are packed. */
static void add_packed(struct pe_tile_work *w, const struct pe_tile *tile,
	const struct pe_tile_window *window, const float *q, const struct pe_tile_rows *rows)
{
	int64_t height = w->tiles->kernels->tile_rows, width = w->tiles->plan->dot_width;
	int64_t skipped = (rows->first - window->first) / height * height;
	int64_t count = rows->end - window->first - skipped;
	count = pe_min((count + height - 1) / height * height, window->end - window->first - skipped);
	struct products p = {w->products, window->first + skipped, count, NULL};
	struct pe_tile_scores scores = {.vecs = tile->group->vecs,
		.width = width,
		.q = q,
		.k = window->packed + skipped * width,
		.keys = count,
		.scores = w->products,
		.max = w->max};
	w->tiles->kernels->tile_scores(&scores);
	gather(w, tile, rows, &p);
}

bool pe_tile_add_content(struct pe_tile_work *w, const struct pe_tile *tile)
{
	bool has_max = false;
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_group *g = tile->group;
	for (int i = 0; i < t->content.count; i++) {
		const struct pe_tile_term *term = &t->content.list[i];
		const struct pe_tile_query_term *own = &w->query_terms[(g - w->groups) * t->content.count + i];
		const struct pe_tile_window *window = &w->windows[i];
		const float *q = term->term.side == PE_QUERIES && has_own_queries(&term->term) ? own->q : g->q;
		int64_t rows_held = window->end - window->first;
		struct pe_tile_rows rows;
		if (window->in_product)
			continue;
		pe_tile_index(w, tile, term, &rows);
		if (rows.first >= rows.end)
			continue;
		has_max = rows.step < 0;
		if (term->table && term->term.side == PE_QUERIES)
			gather(w, tile, &rows, &(struct products){own->products, 0, term->term.rows, NULL});
		else if (!window->fits)
			add_large(w, tile, term, q, &rows);
		else if (term->term.side == PE_QUERIES)
			add_packed(w, tile, window, q, &rows);
		else
			gather(w, tile, &rows,
				&(struct products){window->products + (tile->first - w->key) * rows_held, window->first,
					rows_held, scale_of(w, g, &term->term)});
	}
	return has_max;
}
