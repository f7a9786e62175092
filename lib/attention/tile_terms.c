/* SPDX-License-Identifier: BSD-2-Clause
 * Terms of content and values: their tables in single precision, and which rows of them a tile takes. */
#include "scores.h"
#include "tile.h"

/* ---- once a call ----------------------------------------------------------------------- */

/* Entries of a line of indices: relative ones by query - key from -(last key) on, and lanes without a query
 * behind, which take no row. */
static int64_t line_size(const struct pe_plan *p)
{
	return p->queries + p->keys + PE_TILE_MAX_LANES;
}

static void turn_around(int32_t *line, int64_t n)
{
	for (int64_t i = 0; i < n / 2; i++) {
		int32_t first = line[i];
		line[i] = line[n - 1 - i];
		line[n - 1 - i] = first;
	}
}

/* By key - query first, all keys of a query at a time. */
static pe_status make_line(const struct pe_plan *p, struct pe_tile_term *term)
{
	int64_t last = p->queries - 1, size = line_size(p);
	term->line = pe_alloc(p->ctx, size, sizeof *term->line);
	if (!term->line)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < size; i++)
		term->line[i] = -1;
	for (int64_t query = last; p->keys > 0 && query >= 0;
		 query = query > 0 ? pe_max(query - p->keys, 0) : -1) {
		struct pe_cells cells = {0, 0, query, 0, p->keys};
		term->term.index(term->encoding, &cells, term->line + (last - query));
	}
	if (p->keys > 0)
		turn_around(term->line, p->keys + last);
	return PE_OK;
}

static pe_status make_table(const struct pe_plan *p, struct pe_tile_term *term)
{
	const struct pe_term *x = &term->term;
	int64_t size = x->rows * x->width * (x->per_head ? p->heads : 1);
	if (x->rows > PE_TILE_ROWS)
		return PE_OK;
	term->table = pe_alloc(p->ctx, size, sizeof(float));
	if (!term->table)
		return PE_ERR_NOMEM;
	for (int64_t k = 0; k < size; k++)
		term->table[k] = (float)x->table[k];
	return PE_OK;
}

static pe_status take_terms(
	struct pe_tiles *t, const struct pe_acting *acting, bool values, struct pe_tile_terms *out)
{
	for (int i = 0; i < acting->count; i++) {
		struct pe_term terms[PE_MAX_TERMS];
		const pe_encoding *e = acting->list[i];
		int count = (values ? e->encoder->values : e->encoder->content)(e, terms);
		for (int n = 0; n < count; n++) {
			struct pe_tile_term *term = &out->list[out->count++];
			*term = (struct pe_tile_term){.encoding = e, .term = terms[n]};
			PE_TRY(make_table(t->plan, term));
			if (pe_is_relative(e) && !t->plan->map_heads)
				PE_TRY(make_line(t->plan, term));
		}
	}
	return PE_OK;
}

pe_status pe_tiles_make_terms(struct pe_tiles *t)
{
	PE_TRY(take_terms(t, &t->plan->content, false, &t->content));
	return take_terms(t, &t->plan->values, true, &t->values);
}

static void free_terms(pe_context *ctx, const struct pe_tile_terms *terms)
{
	for (int i = 0; i < terms->count; i++) {
		pe_free(ctx, terms->list[i].table);
		pe_free(ctx, terms->list[i].line);
	}
}

void pe_tiles_free_terms(struct pe_tiles *t)
{
	free_terms(t->plan->ctx, &t->content);
	free_terms(t->plan->ctx, &t->values);
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

static void widen(struct pe_tile_rows *rows, int32_t row)
{
	rows->first = row < rows->first ? row : rows->first;
	rows->end = row >= rows->end ? row + 1 : rows->end;
}

/* Where a query and a key are in a relative term's line. */
static const int32_t *line_at(
	const struct pe_tile_work *w, const struct pe_tile_term *term, int64_t query, int64_t key)
{
	return term->line + query - key + w->tiles->plan->keys - 1;
}

/* Lanes share the line of a relative term, each a step before the one in front of it. */
static void relative_rows(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	struct pe_tile_rows *rows)
{
	const struct pe_tile_group *g = tile->group;
	const int32_t *at = line_at(w, term, g->first, tile->first);
	rows->step = -1;
	for (int64_t l = 0; l < g->count; l++)
		rows->row[l] = at + l;
	for (int64_t u = 1 + tile->first - tile->end; u < g->count; u++)
		widen(rows, at[u]);
}

static void other_rows(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	struct pe_tile_rows *rows)
{
	const struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first;
	rows->step = 1;
	for (int64_t l = 0; l < g->count; l++) {
		struct pe_cells cells = {w->batch, g->head, g->first + l, tile->first, n};
		int32_t *own = w->index + l * w->tile_keys;
		term->term.index(term->encoding, &cells, own);
		rows->row[l] = own;
		for (int64_t j = 0; j < n; j++)
			widen(rows, own[j]);
	}
}

static void finish_range(int64_t *first, int64_t *end, bool *alike)
{
	*alike = *first >= 0 && *end == *first + 1;
	*first = pe_min(pe_max(*first, 0), *end);
}

void pe_tile_index(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	struct pe_tile_rows *rows)
{
	rows->first = INT32_MAX;
	rows->end = 0;
	if (term->line)
		relative_rows(w, tile, term, rows);
	else
		other_rows(w, tile, term, rows);
	finish_range(&rows->first, &rows->end, &rows->alike);
}

void pe_tile_find_window(struct pe_tile_work *w, int64_t number)
{
	const struct pe_tile_term *term = &w->tiles->content.list[number];
	struct pe_tile_window *window = &w->windows[number];
	struct pe_tile_rows rows = {.first = INT32_MAX, .end = 0};
	if (term->line) {
		const int32_t *at = line_at(w, term, w->first_query, w->key);
		for (int64_t u = 1 - w->key_count; u < w->query_count; u++)
			widen(&rows, at[u]);
	} else {
		rows.first = 0;
		rows.end = term->term.rows;
	}
	finish_range(&rows.first, &rows.end, &rows.alike);
	window->first = rows.first;
	window->end = rows.end;
	window->alike = rows.alike && term->line;
	window->fits = rows.end - rows.first <= PE_TILE_ROWS;
}
