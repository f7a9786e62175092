/* SPDX-License-Identifier: BSD-2-Clause
 * Biases that follow from where two places of a grid are to each other: one table a head, from which a tile
 * is copied. For one key, the entries of queries side by side are contiguous; the next key's begin one entry
 * before. */
#include <math.h>
#include <string.h>

#include "scores.h"
#include "tile.h"

/* The kinds of pairs with a prefix token, in the order in which their biases are in front of a table. */
enum { PREFIX_QUERY, PREFIX_KEY, PREFIX_BOTH, KINDS };
#define IN_FRONT (KINDS * PE_TILE_MAX_LANES)
/* Tiles are kept if they are no more floats than this. */
#define KEPT ((int64_t)1 << 18)

/* ---- once a call ----------------------------------------------------------------------- */

static bool same_grid(const pe_domain *a, const pe_domain *b)
{
	return a->height == b->height && a->width == b->width && a->prefix == b->prefix && a->first == b->first;
}

/* What a head's table is made from. */
struct making {
	const struct pe_tile_grid *grid;
	const struct pe_acting *acting;
	double *row;   /* a query's biases */
	double *table; /* -inf: not asked for */
	double kinds[KINDS];
};

/* Number of query i among the places, or negative. */
static int64_t place_of(const pe_domain *domain, int64_t token)
{
	return domain->first + token - domain->prefix;
}

static void ask(const struct making *m, int64_t head, int64_t query, int64_t key, int64_t count)
{
	memset(m->row, 0, (size_t)count * sizeof *m->row);
	for (int i = 0; i < m->acting->count; i++) {
		const pe_encoding *e = m->acting->list[i];
		e->encoder->scores(e, &(struct pe_cells){0, head, query, key, count}, m->row);
	}
}

/* Entries of the offsets between one query and all places of keys. */
static void ask_place(const struct making *m, int64_t head, int64_t query)
{
	const pe_domain *keys = m->grid->keys, *queries = m->grid->queries;
	int64_t place = place_of(queries, query), count = keys->tokens - keys->prefix;
	int64_t y = place / queries->width, x = place % queries->width;
	ask(m, head, query, keys->prefix, count);
	for (int64_t j = 0; j < count; j++)
		m->table[(y - j / keys->width + keys->height - 1) * m->grid->line + x - j % keys->width +
			keys->width - 1] = m->row[j];
}

/* Offsets between places first … last, of one row, and all keys: each query reaches as many as there are keys
 * in a row. */
static void ask_row(const struct making *m, int64_t head, int64_t first, int64_t last)
{
	for (int64_t query = first; query < last; query += m->grid->keys->width)
		ask_place(m, head, query);
	ask_place(m, head, last);
}

/* All offsets that there are: by the first row of queries, which may be a part of one, and of the rows after
 * it by as many as are needed to reach all. */
static void ask_places(const struct making *m, int64_t head, int64_t first)
{
	const pe_domain *queries = m->grid->queries;
	int64_t end = queries->tokens, width = queries->width;
	int64_t second = pe_min(end, first + width - place_of(queries, first) % width);
	int64_t last = end - ((end - second) % width ? (end - second) % width : width);
	ask_row(m, head, first, second - 1);
	for (int64_t row = second; row < last; row += m->grid->keys->height * width)
		ask_row(m, head, row, row + width - 1);
	if (second < end)
		ask_row(m, head, last, end - 1);
}

static void ask_head(struct making *m, int64_t head)
{
	const pe_domain *keys = m->grid->keys, *queries = m->grid->queries;
	int64_t first = pe_max(0, -place_of(queries, 0));
	bool has_prefix = first > 0, has_place = first < queries->tokens;
	bool has_key = keys->tokens > keys->prefix;
	if (has_place && has_key)
		ask_places(m, head, first);
	for (int kind = 0; kind < KINDS; kind++) {
		bool by_prefix = kind != PREFIX_KEY, to_prefix = kind != PREFIX_QUERY;
		m->kinds[kind] = -INFINITY;
		if ((by_prefix ? has_prefix : has_place) && (to_prefix ? keys->prefix > 0 : has_key)) {
			ask(m, head, by_prefix ? 0 : first, to_prefix ? 0 : keys->prefix, 1);
			m->kinds[kind] = m->row[0];
		}
	}
}

static float stored(double bias, double peak)
{
	return bias > -INFINITY || isnan(bias) ? (float)(PE_LOG2E * pe_tile_bounded(bias - peak)) : -INFINITY;
}

static void fill_head(struct pe_tiles *t, struct making *m, int64_t head, int64_t entries)
{
	float *out = t->grid.values + head * t->grid.stride;
	double most = t->plan->sinks ? t->plan->sinks[head] : -INFINITY;
	for (int64_t u = 0; u < entries; u++)
		m->table[u] = -INFINITY;
	ask_head(m, head);
	for (int64_t u = 0; u < entries; u++)
		most = fmax(most, m->table[u]);
	for (int kind = 0; kind < KINDS; kind++)
		most = fmax(most, m->kinds[kind]);
	most = PE_LOG2E * fabs(most) <= PE_TILE_NO_FRACTION ? most : 0;
	t->grid.peak[head] = PE_LOG2E * most;
	for (int64_t u = 0; u < IN_FRONT; u++)
		out[u] = stored(m->kinds[u / PE_TILE_MAX_LANES], most);
	for (int64_t u = 0; u < entries; u++)
		out[IN_FRONT + u] = stored(m->table[u], most);
	memset(out + IN_FRONT + entries, 0, PE_TILE_MAX_LANES * sizeof *out);
}

static pe_status make(struct pe_tiles *t, const struct pe_acting *acting)
{
	const struct pe_plan *p = t->plan;
	struct pe_tile_grid *grid = &t->grid;
	int64_t entries;
	grid->line = grid->queries->width + grid->keys->width - 1;
	if (!pe_mul(grid->queries->height + grid->keys->height - 1, grid->line, &entries))
		return PE_ERR_NOMEM;
	grid->stride = IN_FRONT + entries + PE_TILE_MAX_LANES;
	struct making m = {.grid = grid, .acting = acting};
	m.row = pe_alloc(p->ctx, p->keys, sizeof *m.row);
	m.table = pe_alloc(p->ctx, entries, sizeof *m.table);
	grid->values = pe_alloc(p->ctx, p->heads, (size_t)grid->stride * sizeof *grid->values);
	grid->peak = pe_alloc(p->ctx, p->heads, sizeof *grid->peak);
	bool there = m.row && m.table && grid->values && grid->peak;
	for (int64_t h = 0; there && h < p->heads; h++)
		fill_head(t, &m, h, entries);
	pe_free(p->ctx, m.row);
	pe_free(p->ctx, m.table);
	return there ? PE_OK : PE_ERR_NOMEM;
}

pe_status pe_tiles_make_grid(struct pe_tiles *t)
{
	struct pe_acting taken = {.count = 0}, rest = {.count = 0};
	for (int i = 0; i < t->bias.rest.count; i++) {
		pe_encoding *e = t->bias.rest.list[i];
		const pe_encoding *first = taken.count > 0 ? taken.list[0] : e;
		bool fits = pe_is_relative_on_grid(e) && same_grid(e->queries, first->queries) &&
			same_grid(e->domain, first->domain);
		if (fits && !t->bias.values)
			taken.list[taken.count++] = e;
		else
			rest.list[rest.count++] = e;
	}
	if (taken.count == 0)
		return PE_OK;
	t->grid.queries = taken.list[0]->queries;
	t->grid.keys = taken.list[0]->domain;
	t->bias.rest = rest;
	return make(t, &taken);
}

/* ---- a tile ---------------------------------------------------------------------------- */

/* Runs of queries: of prefix tokens, at most one, and of entries that follow each other in the table. at is
 * where a run's first entry is for the key that is last of all. */
struct runs {
	int count;
	int32_t start[PE_TILE_MAX_LANES + 1];
	int64_t at[PE_TILE_MAX_LANES];
	bool prefix[PE_TILE_MAX_LANES];
};

static void find_runs(const struct pe_tile_grid *grid, const struct pe_tile_group *g, struct runs *runs)
{
	const pe_domain *queries = grid->queries;
	int64_t next = -1;
	runs->count = 0;
	for (int64_t l = 0, n; l < g->count; l += n) {
		int64_t place = place_of(queries, g->first + l), at = 0;
		n = pe_min(g->count - l, place < 0 ? -place : queries->width - place % queries->width);
		if (place >= 0)
			at = place / queries->width * grid->line + place % queries->width;
		if (place < 0 || at != next) {
			runs->start[runs->count] = (int32_t)l;
			runs->at[runs->count] = at;
			runs->prefix[runs->count++] = place < 0;
		}
		next = place < 0 ? -1 : at + n;
	}
	runs->start[runs->count] = (int32_t)g->count;
}

/* Of n keys side by side, or prefix tokens, the first being place number `place`. */
static void copy_run(const struct pe_tiles *t, const struct pe_tile_group *g, const struct runs *runs,
	int64_t place, int64_t n, float *out)
{
	const struct pe_tile_grid *grid = &t->grid;
	const pe_domain *keys = grid->keys;
	const float *values = grid->values + g->head * grid->stride;
	struct pe_tile_copy copy = {.vecs = g->vecs, .runs = runs->count, .keys = n, .out = out};
	int64_t y = keys->height - 1 - place / keys->width, x = keys->width - 1 - place % keys->width;
	for (int r = 0; r < runs->count; r++) {
		int kind = place >= 0 ? PREFIX_QUERY : runs->prefix[r] ? PREFIX_BOTH : PREFIX_KEY;
		bool of_table = place >= 0 && !runs->prefix[r];
		copy.start[r] = runs->start[r];
		copy.from[r] =
			values + (of_table ? IN_FRONT + y * grid->line + x + runs->at[r] : kind * PE_TILE_MAX_LANES);
		copy.step[r] = of_table;
	}
	copy.start[runs->count] = runs->start[runs->count];
	t->kernels->tile_copy(&copy);
}

void pe_tile_fill_grid(
	const struct pe_tiles *t, const struct pe_tile_group *g, int64_t first, int64_t end, float *out)
{
	struct runs runs;
	const pe_domain *keys = t->grid.keys;
	find_runs(&t->grid, g, &runs);
	for (int64_t key = first, n; key < end; key += n) {
		int64_t place = place_of(keys, key);
		n = pe_min(end - key, place < 0 ? -place : keys->width - place % keys->width);
		copy_run(t, g, &runs, place, n, out + (key - first) * g->lanes);
	}
}

pe_status pe_tiles_keep_grid(struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	int64_t vec = t->kernels->tile_vec, whole = 2 * vec, groups = (p->queries + whole - 1) / whole;
	int64_t each = p->keys * PE_TILE_MAX_LANES;
	if (!t->grid.values || p->heads * groups * each > KEPT)
		return PE_OK;
	t->grid.cells = pe_alloc(p->ctx, p->heads * groups * each + PE_TILE_MAX_LANES, sizeof(float));
	for (int64_t i = 0; t->grid.cells && i < p->heads * groups; i++) {
		struct pe_tile_group g = {.head = i / groups, .first = i % groups * whole};
		g.count = pe_min(whole, p->queries - g.first);
		g.vecs = g.count > vec ? 2 : 1;
		g.lanes = g.vecs * vec;
		pe_tile_fill_grid(t, &g, 0, p->keys, t->grid.cells + i * each);
	}
	return t->grid.cells ? PE_OK : PE_ERR_NOMEM;
}
