/* SPDX-License-Identifier: BSD-2-Clause
 * What depends on key - query alone becomes a table a head, once a call; a tile then reads slices of it,
 * one a key, contiguous along the queries. From the same table follows how far a tile can reach: where all
 * its weights are provably too small, it is left out. */
#include <math.h>

#include "scores.h"
#include "tile.h"

/* A table that spans less, in units of log 2, can leave nothing out. */
#define LEAST_SPAN 40.0f
/* Rounding of what is so far below a base is 4e-6. */
#define MOST_IN_GROUP 128.0
/* Weights below 2^-40 of the row's sum: 16384 of them are 1.5e-8 of it. */
#define FAR 40.0f

struct making {
	const struct pe_acting *acting;
	pe_cells_fn *(*function)(const struct pe_encoder *x);
	double start; /* of an entry, before any encoding */
};

static pe_cells_fn *scores_of(const struct pe_encoder *x)
{
	return x->scores;
}

static pe_cells_fn *gains_of(const struct pe_encoder *x)
{
	return x->gains;
}

static pe_cells_fn *after_of(const struct pe_encoder *x)
{
	return x->weights_after;
}

static int64_t entries_of(const struct pe_plan *p)
{
	return p->queries + p->keys - 1;
}

/* One head, by key - query. */
static void fill_line(const struct pe_plan *p, const struct making *m, int64_t head, double *line)
{
	for (int64_t u = 0; u < entries_of(p); u++)
		line[u] = m->start;
	for (int i = 0; i < m->acting->count; i++) {
		const pe_encoding *e = m->acting->list[i];
		if (pe_is_relative(e))
			pe_relative_table(e, m->function(e->encoder), head, line);
	}
}

/* Whether any is for a table; the others go to rest. */
static bool sort(const struct pe_acting *acting, struct pe_acting *rest)
{
	bool any = false;
	for (int i = 0; i < acting->count; i++) {
		if (pe_is_relative(acting->list[i]))
			any = true;
		else
			rest->list[rest->count++] = acting->list[i];
	}
	return any;
}

/* Reversed, so that it runs along the queries; zeros behind, for lanes without a query. */
static pe_status make_table(const struct pe_plan *p, const struct making *m, struct pe_tile_table *table)
{
	int64_t count = entries_of(p);
	if (!sort(m->acting, &table->rest))
		return PE_OK;
	table->stride = count + PE_TILE_MAX_LANES;
	table->values = pe_alloc(p->ctx, p->heads, (size_t)table->stride * sizeof *table->values);
	double *line = pe_alloc(p->ctx, table->stride, sizeof *line);
	for (int64_t h = 0; table->values && line && h < p->heads; h++) {
		float *out = table->values + h * table->stride;
		fill_line(p, m, h, line);
		for (int64_t u = 0; u < table->stride; u++)
			out[u] = u < count ? (float)pe_tile_bounded(line[count - 1 - u]) : 0.0f;
	}
	pe_free(p->ctx, line);
	return table->values && line ? PE_OK : PE_ERR_NOMEM;
}

static void fill_most(struct pe_tile_bias *bias, int64_t head)
{
	const double *values = bias->values + head * bias->stride;
	for (int64_t chunk = 0; chunk < bias->stride / PE_TILE_CHUNK; chunk++) {
		double most = -INFINITY;
		for (int64_t u = chunk * PE_TILE_CHUNK; u < (chunk + 1) * PE_TILE_CHUNK; u++)
			most = values[u] > most ? values[u] : most;
		bias->most[(head * bias->stride) / PE_TILE_CHUNK + chunk] = most;
	}
}

/* Whether entries as near to each other as those of a group's queries and one key differ by more than f32
 * bears. */
static bool is_steep(const double *values, int64_t count)
{
	bool steep = false;
	for (int64_t first = 0; first < count; first += PE_TILE_CHUNK) {
		double least = INFINITY, most = -INFINITY;
		for (int64_t u = first; u < pe_min(count, first + PE_TILE_CHUNK + PE_TILE_MAX_LANES); u++) {
			double x = values[u];
			least = x > -INFINITY && x < least ? x : least;
			most = x < INFINITY && x > most ? x : most;
		}
		steep = steep || most - least > MOST_IN_GROUP;
	}
	return steep;
}

static pe_status make_bias(const struct pe_plan *p, struct pe_tile_bias *bias)
{
	const struct making m = {&p->scores, scores_of, 0};
	int64_t count = entries_of(p), chunks = (count + PE_TILE_MAX_LANES) / PE_TILE_CHUNK + 1;
	if (!sort(m.acting, &bias->rest))
		return PE_OK;
	bias->stride = chunks * PE_TILE_CHUNK;
	bias->values = pe_alloc(p->ctx, p->heads, (size_t)bias->stride * sizeof *bias->values);
	bias->most = pe_alloc(p->ctx, p->heads, (size_t)chunks * sizeof *bias->most);
	double *line = pe_alloc(p->ctx, bias->stride, sizeof *line);
	bool there = bias->values && bias->most && line;
	for (int64_t h = 0; there && h < p->heads; h++) {
		double *out = bias->values + h * bias->stride;
		fill_line(p, &m, h, line);
		for (int64_t u = 0; u < bias->stride; u++)
			out[u] = u < count ? PE_LOG2E * pe_tile_bounded(line[count - 1 - u]) : 0;
		fill_most(bias, h);
		bias->steep = bias->steep || is_steep(out, count);
	}
	pe_free(p->ctx, line);
	return there ? PE_OK : PE_ERR_NOMEM;
}

/* Only where scores are no more than q·k plus the table can a bound be told. */
static bool can_leave_out(const struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	bool plain = t->bias.values && !t->bias.steep && t->bias.rest.count == 0 && p->gains.count == 0 &&
		p->content.count == 0 && p->content_row.count == 0 && p->values.count == 0 &&
		p->weights_after.count == 0 && !p->map_heads && !p->scaler && p->softcap <= 0 &&
		!(p->mask.data && pe_dtype_is_float(p->mask.dtype));
	bool far = false;
	for (int64_t h = 0; plain && !far && h < p->heads; h++) {
		double least = INFINITY, most = -INFINITY;
		for (int64_t u = 0; u < entries_of(p); u++) {
			double x = t->bias.values[h * t->bias.stride + u];
			least = x < least ? x : least;
			most = x > most ? x : most;
		}
		far = least < most - LEAST_SPAN;
	}
	return far && !p->keep_far_tiles;
}

pe_status pe_tiles_make_tables(struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	const struct making gain = {&p->gains, gains_of, 1}, after = {&p->weights_after, after_of, 0};
	/* A heads encoder wants biases by themselves and in double. */
	if (!p->map_heads) {
		PE_TRY(make_bias(p, &t->bias));
		PE_TRY(pe_tiles_make_grid(t));
	}
	PE_TRY(make_table(p, &gain, &t->gain));
	PE_TRY(make_table(p, &after, &t->after));
	if (!can_leave_out(t))
		return PE_OK;
	int64_t blocks = (p->keys + PE_TILE_KEYS - 1) / PE_TILE_KEYS;
	t->key_norms = pe_alloc(p->ctx, p->batch * p->key_heads * blocks, sizeof *t->key_norms);
	return t->key_norms ? PE_OK : PE_ERR_NOMEM;
}

void pe_tiles_free_tables(struct pe_tiles *t)
{
	pe_context *ctx = t->plan->ctx;
	pe_free(ctx, t->bias.values);
	pe_free(ctx, t->bias.most);
	pe_free(ctx, t->gain.values);
	pe_free(ctx, t->after.values);
	pe_free(ctx, t->grid.values);
	pe_free(ctx, t->grid.peak);
	pe_free(ctx, t->grid.cells);
	pe_free(ctx, t->key_norms);
}

const float *pe_tile_slice(
	const struct pe_tiles *t, const struct pe_tile_table *table, const struct pe_tile *tile)
{
	if (!table->values)
		return NULL;
	return table->values + tile->group->head * table->stride + tile->group->first - tile->first +
		t->plan->keys - 1;
}

const double *pe_tile_table_at(const struct pe_tiles *t, int64_t head, int64_t query, int64_t key)
{
	return t->bias.values + head * t->bias.stride + query - key + t->plan->keys - 1;
}

/* The greatest of entries from … end - 1 of a head; by chunks where these are whole. */
static double table_most(const struct pe_tile_bias *bias, int64_t head, int64_t from, int64_t end)
{
	const double *values = bias->values + head * bias->stride;
	const double *chunks = bias->most + head * bias->stride / PE_TILE_CHUNK;
	double most = -INFINITY;
	for (int64_t u = from, n; u < end; u += n) {
		bool whole = u % PE_TILE_CHUNK == 0 && u + PE_TILE_CHUNK <= end;
		double x = whole ? chunks[u / PE_TILE_CHUNK] : values[u];
		n = whole ? PE_TILE_CHUNK : 1;
		most = x > most ? x : most;
	}
	return most;
}

/* Of queries of the group and keys first … end - 1. */
static double most_of_keys(
	const struct pe_tiles *t, const struct pe_tile_group *g, int64_t first, int64_t end)
{
	int64_t zero = t->plan->keys - 1;
	return table_most(&t->bias, g->head, g->first - end + 1 + zero, g->first + g->count - first + zero);
}

double pe_tile_table_most(const struct pe_tiles *t, const struct pe_tile_group *g)
{
	return most_of_keys(t, g, g->key_first, g->key_end);
}

/* No score of these keys is above this. */
static float bound(const struct pe_tile_work *w, const struct pe_tile_group *g, int64_t first, int64_t end)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_plan *p = t->plan;
	int64_t blocks = (p->keys + PE_TILE_KEYS - 1) / PE_TILE_KEYS;
	int64_t head = w->batch * p->key_heads + g->head / (p->heads / p->key_heads);
	return (float)(most_of_keys(t, g, first, end) - g->base[0]) +
		1.0001f * g->norm * t->key_norms[head * blocks + first / PE_TILE_KEYS];
}

bool pe_tile_is_far(const struct pe_tile_work *w, const struct pe_tile_group *g, int64_t first, int64_t end)
{
	if (!w->tiles->key_norms)
		return false;
	float least = INFINITY;
	for (int64_t l = 0; l < g->count; l++)
		least = g->state.max[l] < least ? g->state.max[l] : least;
	return bound(w, g, first, end) < least - FAR;
}

int64_t pe_tile_nearest_block(const struct pe_tile_work *w, int64_t first, int64_t end)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_tile_group *g = &w->groups[w->group_count / 2];
	int64_t nearest = first;
	float most = -INFINITY;
	for (int64_t key = first; t->key_norms && key < end; key += PE_TILE_KEYS) {
		float here = bound(w, g, key, pe_min(key + PE_TILE_KEYS, t->plan->keys));
		if (here > most) {
			most = here;
			nearest = key;
		}
	}
	return nearest;
}
