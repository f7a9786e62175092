/* SPDX-License-Identifier: BSD-2-Clause
 * What depends on key - query alone becomes a table a head, once a call; a tile then reads slices of it,
 * one a key, contiguous along the queries. From the same table follows how far a tile can reach: where all
 * its weights are provably too small, it is left out. */
#include <math.h>

#include "scores.h"
#include "tile.h"

/* A table that spans less, in units of log 2, can leave nothing out. */
#define LEAST_SPAN 40.0f
/* Weights below 2^-40 of the row's sum: 16384 of them are 1.5e-8 of it. */
#define FAR 40.0f

struct making {
	struct pe_tile_table *table;
	const struct pe_acting *acting;
	pe_cells_fn *(*function)(const struct pe_encoder *x);
	double start, factor; /* of an entry: before any encoding, and of what comes out */
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

/* One head: reversed, so that it runs along the queries; zeros behind, for lanes without a query. */
static void fill_head(
	const struct pe_tiles *t, const struct making *m, int64_t head, double *line, double *peak)
{
	int64_t count = t->plan->queries + t->plan->keys - 1;
	float *out = m->table->values + head * m->table->stride;
	double most = -INFINITY;
	for (int64_t u = 0; u < count; u++)
		line[u] = m->start;
	for (int i = 0; i < m->acting->count; i++) {
		const pe_encoding *e = m->acting->list[i];
		if (pe_is_relative(e))
			pe_relative_table(e, m->function(e->encoder), head, line);
	}
	for (int64_t u = 0; u < count; u++)
		most = fmax(most, line[u]);
	if (t->plan->sinks)
		most = fmax(most, t->plan->sinks[head]);
	most = peak && isfinite(most) ? most : 0;
	for (int64_t u = 0; u < m->table->stride; u++)
		out[u] = u < count ? (float)(m->factor * pe_tile_bounded(line[count - 1 - u] - most)) : 0.0f;
	if (peak)
		peak[head] = m->factor * most;
}

static pe_status make_table(struct pe_tiles *t, const struct making *m, double *peak)
{
	const struct pe_plan *p = t->plan;
	bool any = false;
	for (int i = 0; i < m->acting->count; i++) {
		if (pe_is_relative(m->acting->list[i]))
			any = true;
		else
			m->table->rest.list[m->table->rest.count++] = m->acting->list[i];
	}
	if (!any)
		return PE_OK;
	m->table->stride = p->queries + p->keys - 1 + PE_TILE_MAX_LANES;
	m->table->values = pe_alloc(p->ctx, p->heads, (size_t)m->table->stride * sizeof(float));
	double *line = pe_alloc(p->ctx, m->table->stride, sizeof *line);
	for (int64_t h = 0; m->table->values && line && h < p->heads; h++)
		fill_head(t, m, h, line, peak);
	pe_free(p->ctx, line);
	return m->table->values && line ? PE_OK : PE_ERR_NOMEM;
}

/* Only where scores are no more than q·k plus the table can a bound be told. */
static bool can_leave_out(const struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	bool plain = t->bias.values && t->bias.rest.count == 0 && p->gains.count == 0 && p->content.count == 0 &&
		p->content_row.count == 0 && p->values.count == 0 && p->weights_after.count == 0 && !p->map_heads &&
		!p->scaler && p->softcap <= 0 && !(p->mask.data && pe_dtype_is_float(p->mask.dtype));
	float least = 0.0f;
	for (int64_t h = 0; plain && h < p->heads; h++)
		for (int64_t u = 0; u < p->queries + p->keys - 1; u++)
			least = fminf(least, t->bias.values[h * t->bias.stride + u]);
	return plain && !p->keep_far_tiles && least < -LEAST_SPAN;
}

pe_status pe_tiles_make_tables(struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	const struct making bias = {&t->bias, &p->scores, scores_of, 0, PE_LOG2E};
	const struct making gain = {&t->gain, &p->gains, gains_of, 1, 1};
	const struct making after = {&t->after, &p->weights_after, after_of, 0, 1};
	t->peak = pe_alloc_zero(p->ctx, p->heads, sizeof *t->peak);
	if (!t->peak)
		return PE_ERR_NOMEM;
	/* A heads encoder wants biases by themselves and in double. */
	if (p->map_heads)
		t->bias.rest = p->scores;
	else
		PE_TRY(make_table(t, &bias, t->peak));
	if (!p->map_heads)
		PE_TRY(pe_tiles_make_grid(t));
	PE_TRY(make_table(t, &gain, NULL));
	PE_TRY(make_table(t, &after, NULL));
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
	pe_free(ctx, t->gain.values);
	pe_free(ctx, t->after.values);
	pe_free(ctx, t->grid.values);
	pe_free(ctx, t->peak);
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

/* No score of these keys is above this. */
static float bound(const struct pe_tile_work *w, const struct pe_tile_group *g, int64_t first, int64_t end)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_plan *p = t->plan;
	int64_t blocks = (p->keys + PE_TILE_KEYS - 1) / PE_TILE_KEYS;
	int64_t head = w->batch * p->key_heads + g->head / (p->heads / p->key_heads);
	const float *table = t->bias.values + g->head * t->bias.stride + p->keys - 1;
	float most = -INFINITY;
	for (int64_t u = g->first - end + 1; u < g->first + g->count - first; u++)
		most = table[u] > most ? table[u] : most;
	return most + 1.0001f * g->norm * t->key_norms[head * blocks + first / PE_TILE_KEYS];
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
