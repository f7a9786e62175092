/* SPDX-License-Identifier: BSD-2-Clause
 * Where an encoder maps the scores of all heads, a task is a group of queries of all heads: the logits of
 * a tile and its halo are made for every head, mapped query by query in double, and go on from there. */
#include <math.h>
#include <string.h>

#include "tile.h"

/* One query's cells of all heads, (heads, count + 2 halo) and (heads, count). */
struct lines {
	double *a, *b, *out;
	unsigned char *seen; /* as a */
};

/* A block of keys with its halo, first … end - 1 being those that there are. */
struct span {
	int64_t key, count, halo, first, end;
};

static void free_lines(pe_context *ctx, struct lines *lines)
{
	pe_free(ctx, lines->a);
	pe_free(ctx, lines->b);
	pe_free(ctx, lines->out);
	pe_free(ctx, lines->seen);
}

static pe_status make_lines(pe_context *ctx, const struct pe_plan *p, struct lines *lines)
{
	int64_t padded = PE_TILE_KEYS + 2 * p->map_heads->halo;
	lines->a = pe_alloc(ctx, p->heads, (size_t)padded * sizeof(double));
	lines->b = pe_alloc(ctx, p->heads, (size_t)padded * sizeof(double));
	lines->out = pe_alloc(ctx, p->heads, PE_TILE_KEYS * sizeof(double));
	lines->seen = pe_alloc(ctx, p->heads, (size_t)padded);
	return lines->a && lines->b && lines->out && lines->seen ? PE_OK : PE_ERR_NOMEM;
}

static float *scores_of(const struct pe_tile_work *w, int64_t head)
{
	return w->scores + head * w->tile_keys * PE_TILE_MAX_LANES;
}

/* Logits of all heads: softcap and gains are in them, biases are not. */
static void make_logits(struct pe_tile_work *w, const struct span *s)
{
	for (int64_t h = 0; h < w->group_count; h++) {
		struct pe_tile tile = {&w->groups[h], s->first, s->end, scores_of(w, h)};
		pe_tile_load_keys(w, h);
		pe_tile_raw_scores(w, &tile);
		pe_tile_adjust_logits(w, &tile);
	}
}

static void fill_line(
	struct pe_tile_work *w, const struct span *s, int64_t l, int64_t head, struct lines *lines)
{
	const struct pe_plan *p = w->tiles->plan;
	const struct pe_tile_group *g = &w->groups[head];
	int64_t padded = s->count + 2 * s->halo, skip = s->first - (s->key - s->halo), n = s->end - s->first;
	struct pe_cells cells = {w->batch, head, g->first + l, s->first, n};
	double *a = lines->a + head * padded, *b = lines->b + head * padded;
	unsigned char *seen = lines->seen + head * padded;
	memset(a, 0, (size_t)padded * sizeof *a);
	memset(b, 0, (size_t)padded * sizeof *b);
	memset(seen, 0, (size_t)padded);
	pe_plan_visible(p, &cells, seen + skip);
	for (int i = 0; i < p->scores.count; i++)
		p->scores.list[i]->encoder->scores(p->scores.list[i], &cells, b + skip);
	for (int64_t j = 0; j < n; j++) {
		a[skip + j] = seen[skip + j] ? (double)scores_of(w, head)[j * g->lanes + l] / PE_LOG2E : 0;
		b[skip + j] = seen[skip + j] ? b[skip + j] : 0;
	}
}

/* Scores of lane l from what the encoder made of them. */
static void take_line(
	struct pe_tile_work *w, const struct span *s, int64_t l, int64_t head, struct lines *lines)
{
	struct pe_tile_group *g = &w->groups[head];
	struct pe_cells cells = {w->batch, head, g->first + l, s->key, s->count};
	const unsigned char *seen = lines->seen + head * (s->count + 2 * s->halo) + s->halo;
	double *out = lines->out + head * s->count;
	float *scores = scores_of(w, head) + (s->key - s->first) * g->lanes + l;
	double most = -INFINITY;
	pe_plan_add_mask(w->tiles->plan, &cells, out);
	for (int64_t j = 0; j < s->count; j++) {
		out[j] = PE_LOG2E * pe_tile_bounded(out[j]);
		most = seen[j] && out[j] > most ? out[j] : most;
	}
	pe_tile_raise_base(g, l, most);
	for (int64_t j = 0; j < s->count; j++)
		scores[j * g->lanes] = seen[j] ? (float)(out[j] - g->base[l]) : -INFINITY;
}

static void attend_span(struct pe_tile_work *w, const struct span *s, struct lines *lines)
{
	const struct pe_plan *p = w->tiles->plan;
	const struct pe_encoder *x = p->map_heads->encoder;
	pe_tile_start_keys(w, s->first, s->end - s->first);
	make_logits(w, s);
	for (int64_t l = 0; l < w->groups[0].count; l++) {
		struct pe_cells cells = {w->batch, 0, w->first_query + l, s->key, s->count};
		for (int64_t h = 0; h < p->heads; h++)
			fill_line(w, s, l, h, lines);
		x->map_heads(p->map_heads, &cells, lines->a, lines->b, lines->out);
		for (int64_t h = 0; h < p->heads; h++)
			take_line(w, s, l, h, lines);
	}
	for (int64_t h = 0; h < p->heads; h++) {
		struct pe_tile_group *g = &w->groups[h];
		struct pe_tile tile = {
			g, s->key, s->key + s->count, scores_of(w, h) + (s->key - s->first) * g->lanes};
		w->tiles->kernels->tile_max(tile.scores, s->count, g->vecs, w->max);
		pe_tile_load_values(w, h);
		pe_tile_take(w, &tile);
	}
}

static void attend_all(struct pe_tile_work *w, struct lines *lines)
{
	const struct pe_plan *p = w->tiles->plan;
	int64_t halo = p->map_heads->halo;
	for (int64_t h = 0; h < p->heads; h++)
		pe_tile_start_group(w, h, h, w->first_query, w->query_count);
	int64_t first = w->groups[0].key_first / PE_TILE_KEYS * PE_TILE_KEYS, end = w->groups[0].key_end;
	for (int64_t key = first; key < end; key += PE_TILE_KEYS) {
		struct span span = {.key = key, .count = pe_min(PE_TILE_KEYS, p->keys - key), .halo = halo};
		span.first = pe_max(0, key - halo);
		span.end = pe_min(p->keys, key + span.count + halo);
		attend_span(w, &span, lines);
	}
	for (int64_t h = 0; h < p->heads; h++)
		pe_tile_store(w, &w->groups[h]);
}

pe_status pe_tile_attend_heads(pe_context *worker, void *tiles, int64_t index)
{
	const struct pe_tiles *t = tiles;
	const struct pe_plan *p = t->plan;
	int64_t chunk = t->first_chunk + index;
	int64_t blocks = (p->queries + t->block - 1) / t->block;
	struct pe_tile_work w = {.tiles = t, .ctx = worker, .batch = chunk / blocks};
	struct lines lines = {NULL, NULL, NULL, NULL};
	w.first_query = chunk % blocks * t->block;
	w.query_count = pe_min(t->block, p->queries - w.first_query);
	w.group_count = w.score_tiles = p->heads;
	w.tile_keys = PE_TILE_KEYS + 2 * p->map_heads->halo;
	pe_status status = pe_tile_work_make(&w);
	if (status == PE_OK)
		status = make_lines(worker, p, &lines);
	if (status == PE_OK)
		attend_all(&w, &lines);
	free_lines(worker, &lines);
	pe_tile_work_free(&w);
	return status;
}
