/* SPDX-License-Identifier: BSD-2-Clause
 * Content terms s_ij += scale · (x + offset) · row(i, j) by products with the table and a gather: with the
 * whole table where it is small, once a query or key; else with the rows that a tile needs, which are no
 * more than keys + queries - 1 where the row follows from key - query. */
#include <math.h>
#include <string.h>

#include "scores.h"
#include "tile.h"

/* ---- once a call ----------------------------------------------------------------------- */

static pe_status take_terms(
	struct pe_tiles *t, const struct pe_acting *acting, bool values, struct pe_tile_terms *out)
{
	pe_context *ctx = t->plan->ctx;
	for (int i = 0; i < acting->count; i++) {
		struct pe_term terms[PE_MAX_TERMS];
		const pe_encoding *e = acting->list[i];
		int count = (values ? e->encoder->values : e->encoder->content)(e, terms);
		for (int n = 0; n < count; n++) {
			struct pe_tile_term *term = &out->list[out->count++];
			*term = (struct pe_tile_term){
				.encoding = e, .term = terms[n], .relative = pe_is_relative(e) && !t->plan->map_heads};
			if (terms[n].rows > PE_TILE_ROWS)
				continue;
			int64_t size = terms[n].rows * terms[n].width * (terms[n].per_head ? t->plan->heads : 1);
			term->table = pe_alloc(ctx, size, sizeof(float));
			if (!term->table)
				return PE_ERR_NOMEM;
			for (int64_t k = 0; k < size; k++)
				term->table[k] = (float)terms[n].table[k];
		}
	}
	return PE_OK;
}

pe_status pe_tiles_make_terms(struct pe_tiles *t)
{
	PE_TRY(take_terms(t, &t->plan->content, false, &t->content));
	return take_terms(t, &t->plan->values, true, &t->values);
}

void pe_tiles_free_terms(struct pe_tiles *t)
{
	for (int i = 0; i < t->content.count; i++)
		pe_free(t->plan->ctx, t->content.list[i].table);
	for (int i = 0; i < t->values.count; i++)
		pe_free(t->plan->ctx, t->values.list[i].table);
}

const float *pe_tile_term_rows(
	struct pe_tile_work *w, const struct pe_tile_term *term, int64_t head, int64_t first, int64_t rows)
{
	const struct pe_term *x = &term->term;
	int64_t at = ((x->per_head ? head * x->rows : 0) + first) * x->width;
	if (term->table)
		return term->table + at;
	for (int64_t i = 0; i < rows * x->width; i++)
		w->table[i] = (float)x->table[at + i];
	return w->table;
}

/* ---- indices --------------------------------------------------------------------------- */

/* One row of indices by key - query from -(last query of the task) on, for one relative term. */
static void load_relative(struct pe_tile_work *w, const struct pe_tile_term *term, int32_t *out)
{
	int64_t keys = w->tiles->plan->keys, last = w->first_query + w->query_count - 1;
	for (int64_t query = last; keys > 0; query = pe_max(query - keys, w->first_query)) {
		struct pe_cells cells = {w->batch, w->groups[0].head, query, 0, keys};
		term->term.index(term->encoding, &cells, out + (last - query));
		if (query == w->first_query)
			break;
	}
}

void pe_tile_load_terms(struct pe_tile_work *w)
{
	const struct pe_tiles *t = w->tiles;
	int64_t line = t->plan->keys + t->block;
	for (int i = 0; i < t->content.count; i++)
		if (t->content.list[i].relative)
			load_relative(w, &t->content.list[i], w->relative + i * line);
	for (int i = 0; i < t->values.count; i++)
		if (t->values.list[i].relative)
			load_relative(w, &t->values.list[i], w->relative + (t->content.count + i) * line);
}

static void widen(struct pe_tile_rows *rows, int32_t row)
{
	rows->first = row < rows->first ? row : rows->first;
	rows->end = row >= rows->end ? row + 1 : rows->end;
}

/* Lanes of a relative term share one line of indices, each a step behind the one before it. */
static void relative_rows(
	const struct pe_tile_work *w, const struct pe_tile *tile, const int32_t *line, struct pe_tile_rows *rows)
{
	const struct pe_tile_group *g = tile->group;
	int64_t last = w->first_query + w->query_count - 1;
	for (int64_t l = 0; l < g->count; l++)
		rows->row[l] = line + last - (g->first + l) + tile->first;
	const int32_t *end = rows->row[0] + (tile->end - tile->first);
	for (const int32_t *at = rows->row[g->count - 1]; at < end; at++)
		widen(rows, *at);
}

static void other_rows(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	struct pe_tile_rows *rows)
{
	const struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first;
	for (int64_t l = 0; l < g->count; l++) {
		struct pe_cells cells = {w->batch, g->head, g->first + l, tile->first, n};
		int32_t *own = w->index + l * w->tile_keys;
		term->term.index(term->encoding, &cells, own);
		rows->row[l] = own;
		for (int64_t j = 0; j < n; j++)
			widen(rows, own[j]);
	}
}

void pe_tile_index(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	int64_t number, struct pe_tile_rows *rows)
{
	rows->first = INT32_MAX;
	rows->end = 0;
	if (term->relative)
		relative_rows(w, tile, w->relative + number * (w->tiles->plan->keys + w->tiles->block), rows);
	else
		other_rows(w, tile, term, rows);
	rows->alike = rows->first >= 0 && rows->end == rows->first + 1;
	rows->first = pe_min(pe_max(rows->first, 0), rows->end);
}

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

void pe_tile_load_key_terms(
	struct pe_tile_work *w, int64_t head, const float *k, int64_t stride, int64_t step)
{
	const struct pe_tiles *t = w->tiles;
	int64_t width = t->plan->dot_width;
	float *products = w->by_key;
	bool any = false;
	for (int i = 0; i < t->content.count; i++)
		any = any || t->content.list[i].term.side == PE_KEYS;
	for (int64_t j = 0; any && j < w->key_count; j++)
		for (int64_t c = 0; c < width; c++)
			w->plain_keys[j * width + c] = k[j * stride + c * step];
	for (int i = 0; i < t->content.count; i++) {
		const struct pe_tile_term *term = &t->content.list[i];
		if (term->term.side != PE_KEYS || !term->table)
			continue;
		multiply_keys(w, term, head, w->key, w->key_count, 0, term->term.rows, products);
		products += w->tile_keys * term->term.rows;
	}
}

/* ---- a tile ---------------------------------------------------------------------------- */

/* Cells whose row is among first … first + rows - 1, from products (rows × lanes). */
static void gather_queries(struct pe_tile_work *w, const struct pe_tile *tile,
	const struct pe_tile_rows *rows, int64_t first, int64_t count, const float *products)
{
	const struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first;
	if (rows->alike) {
		struct pe_tile_adjust add = {.vecs = g->vecs,
			.keys = n,
			.bias = products + (rows->first - first) * g->lanes,
			.scores = tile->scores,
			.max = w->max};
		w->tiles->kernels->tile_adjust(&add);
		return;
	}
	for (int64_t j = 0; j < n; j++)
		for (int64_t l = 0; l < g->count; l++) {
			int64_t row = rows->row[l][j] - first;
			if (row >= 0 && row < count)
				tile->scores[j * g->lanes + l] += products[row * g->lanes + l];
		}
}

/* Likewise from products (keys × rows), which are not yet scaled. */
static void gather_keys(const struct pe_tile *tile, const struct pe_tile_term *term,
	const struct pe_tile_rows *rows, int64_t first, int64_t count, const float *products)
{
	const struct pe_tile_group *g = tile->group;
	for (int64_t j = 0; j < tile->end - tile->first; j++)
		for (int64_t l = 0; l < g->count; l++) {
			int64_t row = rows->row[l][j] - first;
			if (row >= 0 && row < count)
				tile->scores[j * g->lanes + l] +=
					(term->term.unscaled ? (float)PE_LOG2E : g->scale[l]) * products[j * count + row];
		}
}

/* A large table: the rows that this tile needs. */
static void add_large(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	const float *q, const struct pe_tile_rows *rows)
{
	for (int64_t first = rows->first; first < rows->end; first += PE_TILE_ROWS) {
		int64_t count = pe_min(PE_TILE_ROWS, rows->end - first);
		if (term->term.side == PE_QUERIES) {
			multiply_queries(w, tile->group, term, q, first, count, w->products);
			gather_queries(w, tile, rows, first, count, w->products);
		} else {
			multiply_keys(
				w, term, tile->group->head, tile->first, tile->end - tile->first, first, count, w->products);
			gather_keys(tile, term, rows, first, count, w->products);
		}
	}
}

void pe_tile_add_content(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_group *g = tile->group;
	const float *by_key = w->by_key;
	for (int i = 0; i < t->content.count; i++) {
		const struct pe_tile_term *term = &t->content.list[i];
		const struct pe_tile_query_term *own = &w->query_terms[(g - w->groups) * t->content.count + i];
		struct pe_tile_rows rows;
		pe_tile_index(w, tile, term, i, &rows);
		if (!term->table) {
			add_large(w, tile, term, has_own_queries(&term->term) ? own->q : g->q, &rows);
		} else if (term->term.side == PE_QUERIES) {
			gather_queries(w, tile, &rows, 0, term->term.rows, own->products);
		} else {
			gather_keys(
				tile, term, &rows, 0, term->term.rows, by_key + (tile->first - w->key) * term->term.rows);
			by_key += w->tile_keys * term->term.rows;
		}
	}
}
