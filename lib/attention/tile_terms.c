/* SPDX-License-Identifier: BSD-2-Clause
 * Terms of content and values: their tables in single precision, and which rows of them a tile takes. */
#include "pool.h"
#include "scores.h"
#include "tile.h"

#define MEMORY ((int64_t)8 << 20) /* bytes of packed tables, unless those of one head are more */

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

/* Entries that take no row do not go on to row 0. */
static bool goes_on(const int32_t *line, int64_t i)
{
	return line[i + 1] == line[i] || (line[i] >= 0 && line[i + 1] == line[i] + 1);
}

static void find_runs(const int32_t *line, int64_t n, int32_t *runs)
{
	runs[n - 1] = 1;
	for (int64_t i = n - 2; i >= 0; i--) {
		bool same = runs[i + 1] > 1 && line[i + 2] - line[i + 1] == line[i + 1] - line[i];
		runs[i] = !goes_on(line, i) ? 1 : !same ? 2 : runs[i + 1] < INT32_MAX ? runs[i + 1] + 1 : INT32_MAX;
	}
}

/* By key - query first, all keys of a query at a time. */
static pe_status make_line(const struct pe_plan *p, struct pe_tile_term *term)
{
	int64_t last = p->queries - 1, size = line_size(p);
	term->line = pe_alloc(p->ctx, size, sizeof *term->line);
	term->runs = pe_alloc(p->ctx, size, sizeof *term->runs);
	if (!term->line || !term->runs)
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
	find_runs(term->line, size, term->runs);
	return PE_OK;
}

/* ---- tables of content ------------------------------------------------------------------ */

struct packing {
	const struct pe_tiles *tiles;
	struct pe_tile_term *term;
};

/* Rows that are packed together. */
static int64_t packing_unit(const struct pe_tiles *t, const struct pe_tile_term *term)
{
	return term->term.side == PE_KEYS ? 2 * t->kernels->tile_vec : t->kernels->tile_rows;
}

static void pack_rows(const struct packing *p, int64_t head, float *rows)
{
	const struct pe_term *x = &p->term->term;
	const struct pe_kernels *kernels = p->tiles->kernels;
	int64_t unit = packing_unit(p->tiles, p->term);
	int64_t place = x->per_head ? (head - p->tiles->packed_first) * p->term->packed_rows : 0;
	for (int64_t first = 0; first < x->rows; first += unit) {
		int64_t n = pe_min(unit, x->rows - first);
		float *out = p->term->packed + (place + first) * x->width;
		const double *from = x->table + ((x->per_head ? head * x->rows : 0) + first) * x->width;
		for (int64_t i = 0; i < n * x->width; i++)
			rows[i] = (float)from[i];
		if (x->side == PE_QUERIES)
			kernels->tile_pack_keys(out, rows, n, x->width, 1, x->width);
		else
			kernels->tile_queries(out, 2, rows, n, x->width, 1, x->width, 1.0f);
	}
}

static void score_offset(const struct packing *p, int64_t head)
{
	const struct pe_term *x = &p->term->term;
	const double *offset = x->offset + head * x->width;
	const double *row = x->table + (x->per_head ? head * x->rows * x->width : 0);
	for (int64_t r = 0; r < p->term->packed_rows; r++) {
		double sum = 0;
		for (int64_t c = 0; r < x->rows && c < x->width; c++)
			sum += offset[c] * row[r * x->width + c];
		p->term->offset_scores[head * p->term->packed_rows + r] = (float)sum;
	}
}

static pe_status pack_head(pe_context *worker, void *arg, int64_t number)
{
	const struct packing *p = arg;
	int64_t head = p->tiles->packed_first + number;
	if (p->term->offset_scores)
		score_offset(p, head);
	if (head > 0 && !p->term->term.per_head)
		return PE_OK;
	float *rows =
		pe_alloc(worker, packing_unit(p->tiles, p->term), (size_t)p->term->term.width * sizeof *rows);
	if (!rows)
		return PE_ERR_NOMEM;
	pack_rows(p, head, rows);
	pe_free(worker, rows);
	return PE_OK;
}

static bool has_offset_scores(const struct pe_term *term)
{
	return term->side == PE_KEYS && term->offset;
}

int64_t pe_tiles_packed_key_heads(const struct pe_tiles *t, int64_t heads)
{
	const struct pe_plan *p = t->plan;
	int64_t bytes = 0;
	for (int i = 0; i < t->content.count; i++) {
		const struct pe_tile_term *term = &t->content.list[i];
		if (term->term.per_head)
			bytes += term->packed_rows * term->term.width * (int64_t)sizeof(float);
	}
	bytes *= p->heads / p->key_heads;
	if (p->map_heads || bytes == 0 || bytes <= MEMORY / p->key_heads)
		return heads;
	int64_t some = pe_min(heads, pe_max(1, MEMORY / bytes));
	while (p->key_heads % some != 0)
		some--;
	return some;
}

pe_status pe_tiles_make_packed(struct pe_tiles *t, int64_t heads)
{
	const struct pe_plan *p = t->plan;
	bool all = pe_tiles_packed_key_heads(t, p->key_heads) == p->key_heads;
	t->packed_heads = all ? p->heads : heads * (p->heads / p->key_heads);
	for (int i = 0; i < t->content.count; i++) {
		struct pe_tile_term *term = &t->content.list[i];
		int64_t rows = term->packed_rows * (term->term.per_head ? t->packed_heads : 1);
		term->packed = pe_alloc(p->ctx, rows, (size_t)term->term.width * sizeof(float));
		if (has_offset_scores(&term->term))
			term->offset_scores = pe_alloc(p->ctx, term->packed_rows, (size_t)p->heads * sizeof(float));
		if (!term->packed || (has_offset_scores(&term->term) && !term->offset_scores))
			return PE_ERR_NOMEM;
	}
	return PE_OK;
}

pe_status pe_tiles_pack(struct pe_tiles *t, int64_t first)
{
	const struct pe_plan *p = t->plan;
	if (first > 0 && t->packed_heads == p->heads)
		return PE_OK;
	t->packed_first = first % p->key_heads * (p->heads / p->key_heads);
	for (int i = 0; i < t->content.count; i++) {
		struct packing packing = {t, &t->content.list[i]};
		PE_TRY(pe_parallel(p->ctx, t->packed_heads, pack_head, &packing, NULL));
	}
	return PE_OK;
}

/* ---- tables of values ------------------------------------------------------------------- */

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
			int64_t unit = packing_unit(t, term);
			term->packed_rows = (term->term.rows + unit - 1) / unit * unit;
			if (values)
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
		pe_free(ctx, terms->list[i].packed);
		pe_free(ctx, terms->list[i].offset_scores);
		pe_free(ctx, terms->list[i].line);
		pe_free(ctx, terms->list[i].runs);
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

static void finish(struct pe_tile_rows *rows)
{
	rows->alike = rows->first >= 0 && rows->end == rows->first + 1;
	rows->first = pe_min(pe_max(rows->first, 0), rows->end);
}

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

/* Cells whose query - key is up to `back` less and up to `ahead` more than that of `at`, in a line. */
static void rows_of_line(const struct pe_tile_term *term, const int32_t *at, int64_t back, int64_t ahead,
	struct pe_tile_rows *rows)
{
	if (term->runs[at - back - term->line] > back + ahead) {
		rows->first = at[-back];
		rows->end = at[ahead] + 1;
		rows->consecutive = at[ahead] > at[-back];
		return;
	}
	for (int64_t u = -back; u <= ahead; u++)
		widen(rows, at[u]);
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
	rows_of_line(term, at, tile->end - tile->first - 1, g->count - 1, rows);
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

void pe_tile_index(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	struct pe_tile_rows *rows)
{
	rows->first = INT32_MAX;
	rows->end = 0;
	rows->consecutive = false;
	if (term->line)
		relative_rows(w, tile, term, rows);
	else
		other_rows(w, tile, term, rows);
	finish(rows);
}

void pe_tile_index_block(
	const struct pe_tile_work *w, const struct pe_tile_term *term, struct pe_tile_rows *rows)
{
	*rows = (struct pe_tile_rows){.first = INT32_MAX, .step = -1};
	if (!term->line) {
		rows->first = 0;
		rows->end = term->term.rows;
		return;
	}
	rows->row[0] = line_at(w, term, w->first_query, w->key);
	rows_of_line(term, rows->row[0], w->key_count - 1, w->query_count - 1, rows);
	finish(rows);
}
