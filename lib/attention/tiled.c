/* SPDX-License-Identifier: BSD-2-Clause
 * The tiled core's driver: tasks, and the order in which they meet the keys. Milakov and
 * Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "few.h"
#include "pool.h"
#include "tile.h"

/* Queries of a task: enough that packing a block of keys for them costs next to nothing. */
#define BLOCK 256
/* Where there are fewer queries, a task takes as many heads as make so many pairs of query and key. */
#define PAIRS 32768

/* ---- groups ---------------------------------------------------------------------------- */

void pe_tile_start_group(struct pe_tile_work *w, int64_t number, int64_t head, int64_t first, int64_t count)
{
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_group *g = &w->groups[number];
	g->head = head;
	g->first = first;
	g->count = count;
	g->has_odd = false;
	g->vecs = count > t->kernels->tile_vec ? 2 : 1;
	g->lanes = g->vecs * t->kernels->tile_vec;
	g->has_sums = g->stored = false;
	pe_tile_see(w, g);
	pe_tile_start_base(w, g);
	pe_tile_load_queries(w, g);
	pe_tile_fetch_ahead(w);
	pe_tile_load_group_terms(w, g);
}

static void start_groups(struct pe_tile_work *w, int64_t head)
{
	int64_t whole = 2 * w->tiles->kernels->tile_vec;
	w->looked.group = NULL;
	for (int64_t i = 0; i < w->group_count; i++)
		pe_tile_start_group(
			w, i, head, w->first_query + i * whole, pe_min(whole, w->query_count - i * whole));
}

void pe_tile_start_keys(struct pe_tile_work *w, int64_t key, int64_t count)
{
	w->key = key;
	w->key_count = count;
	w->has_keys = w->has_values = false;
}

/* The part of the block at hand that a group sees any of; false if there is none. */
static bool cut_tile(struct pe_tile_work *w, struct pe_tile_group *g, struct pe_tile *tile)
{
	int64_t rows = w->tiles->kernels->tile_rows, first = pe_max(w->key, g->key_first);
	first = w->key + (first - w->key) / rows * rows;
	*tile = (struct pe_tile){g, first, pe_min(w->key + w->key_count, g->key_end), w->scores};
	return tile->first < tile->end;
}

/* ---- the usual task: one head, tile by tile ---------------------------------------------- */

static void attend_keys(struct pe_tile_work *w, int64_t key)
{
	pe_tile_start_keys(w, key, pe_min(PE_TILE_KEYS, w->tiles->plan->keys - key));
	for (int64_t i = 0; i < w->group_count; i++) {
		struct pe_tile_group *g = &w->groups[i];
		struct pe_tile tile;
		if (!cut_tile(w, g, &tile) || pe_tile_is_far(w, g, tile.first, tile.end) || !pe_tile_look(w, &tile))
			continue;
		if (!w->has_keys)
			pe_tile_load_keys(w, g->head);
		pe_tile_fetch_ahead(w);
		pe_tile_scores(w, &tile);
		if (w->tiles->at_once) {
			pe_tile_fetch_ahead(w);
			if (pe_tile_take_at_once(w, &tile))
				continue;
			(void)pe_tile_look(w, &tile);
			pe_tile_scores(w, &tile);
		}
		if (!w->has_values)
			pe_tile_load_values(w, g->head);
		pe_tile_fetch_ahead(w);
		pe_tile_take(w, &tile);
	}
}

/* The nearest block first, then outward, so that far ones meet a maximum that may rule them out. */
static void sweep(struct pe_tile_work *w)
{
	int64_t first = INT64_MAX, end = 0;
	for (int64_t i = 0; i < w->group_count; i++) {
		first = pe_min(first, w->groups[i].key_first);
		end = pe_max(end, w->groups[i].key_end);
	}
	first = first / PE_TILE_KEYS * PE_TILE_KEYS;
	int64_t nearest = pe_tile_nearest_block(w, first, end);
	for (int64_t away = 0; nearest - away >= first || nearest + away < end; away += PE_TILE_KEYS) {
		if (nearest + away < end)
			attend_keys(w, nearest + away);
		if (away > 0 && nearest - away >= first)
			attend_keys(w, nearest - away);
	}
}

/* ---- where an encoder wants whole rows of logits ------------------------------------------ */

static struct pe_tile tile_of_row(struct pe_tile_work *w, struct pe_tile_group *g, int64_t key)
{
	pe_tile_start_keys(w, key, pe_min(PE_TILE_KEYS, w->tiles->plan->keys - key));
	return (struct pe_tile){g, key, key + w->key_count, w->scores + key * g->lanes};
}

static void map_row(struct pe_tile_work *w, const struct pe_tile_group *g, int64_t l)
{
	const struct pe_plan *p = w->tiles->plan;
	struct pe_cells cells = {w->batch, g->head, g->first + l, 0, p->keys};
	double *query = w->row + p->keys;
	for (int64_t c = 0; c < p->dot_width; c++)
		query[c] = (double)(g->q[c * g->lanes + l] / g->scale[l]);
	for (int i = 0; i < p->content_row.count; i++) {
		const pe_encoding *e = p->content_row.list[i];
		for (int64_t j = 0; j < p->keys; j++)
			w->row[j] = (double)w->scores[j * g->lanes + l] / PE_LOG2E;
		e->encoder->content_row(e, &cells, query, p->dot_width, w->row);
		for (int64_t j = 0; j < p->keys; j++)
			if (w->scores[j * g->lanes + l] > -INFINITY)
				w->scores[j * g->lanes + l] = (float)(PE_LOG2E * w->row[j]);
	}
}

static void attend_whole_rows(struct pe_tile_work *w)
{
	int64_t keys = w->tiles->plan->keys;
	struct pe_tile_group *g = &w->groups[0];
	for (int64_t key = 0; key < keys; key += PE_TILE_KEYS) {
		struct pe_tile tile = tile_of_row(w, g, key);
		pe_tile_load_keys(w, g->head);
		pe_tile_raw_scores(w, &tile);
		(void)pe_tile_hide(w, &tile, tile.scores, -INFINITY);
	}
	for (int64_t l = 0; l < g->count; l++)
		map_row(w, g, l);
	for (int64_t key = 0; key < keys; key += PE_TILE_KEYS) {
		struct pe_tile tile = tile_of_row(w, g, key);
		pe_tile_load_values(w, g->head);
		pe_tile_finish_scores(w, &tile);
		pe_tile_take(w, &tile);
	}
}

/* Which part of the work a task is: pairs of batch and head. */
struct part {
	int64_t first_pair, end_pair, first_query;
};

static struct part part_of(const struct pe_tiles *t, int64_t chunk)
{
	const struct pe_plan *p = t->plan;
	int64_t blocks = (p->queries + t->block - 1) / t->block;
	struct part part = {.first_pair = chunk / blocks * t->pairs, .first_query = chunk % blocks * t->block};
	part.end_pair = pe_min(part.first_pair + t->pairs, p->batch * p->heads);
	return part;
}

static void attend_pair(struct pe_tile_work *w, const struct part *part, int64_t pair)
{
	int64_t heads = w->tiles->plan->heads;
	w->batch = pair / heads;
	w->ahead_count = 0;
	if (pair + 1 < part->end_pair)
		pe_tile_look_ahead(w, (pair + 1) / heads, (pair + 1) % heads);
	start_groups(w, pair % heads);
	if (w->tiles->plan->content_row.count > 0)
		attend_whole_rows(w);
	else
		sweep(w);
	for (int64_t i = 0; i < w->group_count; i++)
		pe_tile_store(w, &w->groups[i]);
}

static pe_status attend_part(pe_context *worker, void *arg, int64_t index)
{
	const struct pe_tiles *t = arg;
	const struct pe_plan *p = t->plan;
	struct part part = part_of(t, t->first_chunk + index);
	int64_t lanes = 2 * t->kernels->tile_vec;
	struct pe_tile_work w = {.tiles = t, .ctx = worker, .first_query = part.first_query};
	w.query_count = pe_min(t->block, p->queries - w.first_query);
	w.group_count = (w.query_count + lanes - 1) / lanes;
	w.tile_keys = PE_TILE_KEYS;
	w.score_tiles = p->content_row.count > 0 ? (p->keys + PE_TILE_KEYS - 1) / PE_TILE_KEYS : 1;
	pe_status status = pe_tile_work_make(&w);
	for (int64_t pair = part.first_pair; status == PE_OK && pair < part.end_pair; pair++)
		attend_pair(&w, &part, pair);
	pe_tile_work_free(&w);
	return status;
}

/* ---- the call -------------------------------------------------------------------------- */

static pe_status check(const struct pe_plan *p)
{
	if (p->q.dtype == PE_F64 || p->k.dtype == PE_F64 || p->v.dtype == PE_F64)
		return pe_fail(p->ctx, PE_ERR_UNSUPPORTED,
			"the tiled core takes f32, f16 and bf16: use the reference core for f64");
	if (fabs(p->scale) * PE_LOG2E > (double)FLT_MAX)
		return pe_fail(p->ctx, PE_ERR_UNSUPPORTED,
			"the tiled core computes in f32, which a scale of %g is beyond: use the reference core",
			p->scale);
	if (p->map_heads && p->content_row.count > 0)
		return pe_fail(p->ctx, PE_ERR_UNSUPPORTED,
			"the tiled core cannot combine %s with %s: use the reference core",
			p->map_heads->encoder->table.name, p->content_row.list[0]->encoder->table.name);
	return PE_OK;
}

static int64_t block_size(const struct pe_tiles *t)
{
	int64_t vec = t->kernels->tile_vec;
	if (t->plan->content_row.count > 0 || t->plan->map_heads)
		return 2 * vec;
	return pe_min(BLOCK, (t->plan->queries + vec - 1) / vec * vec);
}

static void choose_places(struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	bool sums =
		t->values.count == 0 && p->weights_after.count == 0 && p->sum_width % t->kernels->tile_vec == 0;
	bool one_block = p->keys <= PE_TILE_KEYS && !p->map_heads && p->content_row.count == 0;
	t->at_once =
		one_block && sums && pe_tile_is_plain(t, &p->v) && p->out.dtype == PE_F32 && p->out.strides[3] == 1;
	t->keys_in_place = one_block && p->queries <= 4 * t->kernels->tile_vec && t->content.count == 0 &&
		pe_tile_is_plain(t, &p->k);
}

static pe_status prepare(struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	t->block = block_size(t);
	PE_TRY(pe_tiles_make_terms(t));
	PE_TRY(pe_tiles_make_tables(t));
	choose_places(t);
	t->masked = pe_tiles_mask_by_lanes(t);
	t->by_rows = (p->mask.data && !t->masked) || !pe_plan_sees_range(p);
	return PE_OK;
}

/* Several where none has work for long, and all are at hand. */
static int64_t pairs_of_task(const struct pe_tiles *t, bool all_at_hand)
{
	const struct pe_plan *p = t->plan;
	if (!all_at_hand || p->queries > t->block || p->map_heads || p->content_row.count > 0)
		return 1;
	int64_t most = PAIRS / pe_max(1, p->queries) / pe_max(1, p->keys);
	return pe_min(pe_max(1, most), p->batch * p->heads);
}

/* All queries of key heads first … first + count - 1, over all batches. */
static pe_status attend_heads(struct pe_tiles *t, int64_t first, int64_t count)
{
	const struct pe_plan *p = t->plan;
	int64_t blocks = (p->queries + t->block - 1) / t->block;
	PE_TRY(pe_tiles_pack(t, first));
	PE_TRY(pe_tiles_turn(t, first, count));
	PE_TRY(pe_tiles_measure_keys(t, count));
	if (p->map_heads) {
		t->first_chunk = first / p->key_heads * blocks;
		return pe_parallel(p->ctx, count / p->key_heads * blocks, pe_tile_attend_heads, t, "attention");
	}
	int64_t each = p->heads / p->key_heads * blocks;
	t->first_chunk = first * each;
	if (t->pairs > 1)
		return pe_parallel(
			p->ctx, (p->batch * p->heads + t->pairs - 1) / t->pairs, attend_part, t, "attention");
	return pe_parallel(p->ctx, count * each, attend_part, t, "attention");
}

pe_status pe_attend_tiled(struct pe_plan *plan)
{
	struct pe_tiles tiles = {.plan = plan, .kernels = plan->ctx->kernels};
	PE_TRY(check(plan));
	if (plan->batch == 0 || plan->heads == 0 || plan->queries == 0)
		return PE_OK;
	if (pe_plan_is_few(plan))
		return pe_attend_few(plan);
	pe_status status = prepare(&tiles);
	int64_t all = plan->batch * plan->key_heads;
	int64_t some = pe_tiles_packed_key_heads(&tiles, pe_tiles_turned_heads(&tiles));
	tiles.pairs = pairs_of_task(&tiles, some == all);
	if (status == PE_OK && tiles.pairs > 1)
		status = pe_tiles_keep_grid(&tiles);
	if (status == PE_OK)
		status = pe_tiles_make_packed(&tiles, some);
	if (status == PE_OK)
		status = pe_tiles_make_turned(&tiles, some);
	for (int64_t first = 0; status == PE_OK && first < all; first += some)
		status = attend_heads(&tiles, first, pe_min(some, all - first));
	pe_tiles_free_tables(&tiles);
	pe_tiles_free_terms(&tiles);
	for (int side = 0; side < 3; side++)
		pe_free(plan->ctx, tiles.turned[side]);
	return status;
}
