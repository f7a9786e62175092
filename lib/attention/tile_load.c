/* SPDX-License-Identifier: BSD-2-Clause
 * From tensors to panels: storage types, scale. */
#include <math.h>
#include <string.h>

#include "pool.h"
#include "tile.h"

/* ---- storage types ------------------------------------------------------------------- */

const float *pe_tile_vectors(const struct pe_plan *p, const struct pe_place *first, int64_t n,
	double *turning, float *scratch, int64_t *stride, int64_t *step)
{
	const pe_tensor *t = pe_plan_tensor(p, first->side);
	bool turns = p->turns[first->side];
	if (!turns && t->dtype == PE_F32) {
		*stride = t->strides[2];
		*step = t->strides[3];
		return (const float *)(const void *)pe_tensor_at(t, first->batch, first->head, first->token);
	}
	*stride = p->rotated[first->side][p->rotate.count];
	*step = 1;
	if (turns)
		pe_tile_turn_rows(p, first, n, turning, scratch);
	for (int64_t i = 0; !turns && i < n; i++)
		pe_tile_converter(p->ctx->kernels, t->dtype)(scratch + i * *stride,
			(const uint16_t *)(const void *)pe_tensor_at(t, first->batch, first->head, first->token + i),
			t->strides[3], *stride);
	return scratch;
}

/* Keys or values, turned if they are. */
static const float *key_rows(const struct pe_tiles *t, const struct pe_place *first, int64_t n,
	float *scratch, int64_t *stride, int64_t *step)
{
	const struct pe_plan *p = t->plan;
	if (!t->turned[first->side])
		return pe_tile_vectors(p, first, n, NULL, scratch, stride, step);
	*stride = first->side == PE_KEYS ? p->dot_width : p->sum_width;
	*step = 1;
	int64_t head = first->batch * p->key_heads + first->head - t->turned_first;
	return t->turned[first->side] + (head * p->keys + first->token) * *stride;
}

/* ---- panels -------------------------------------------------------------------------- */

/* In double, where no square is too small or too large. */
static float greatest_length(const float *vectors, int64_t n, int64_t width, int64_t stride, int64_t step)
{
	double most = 0;
	for (int64_t i = 0; i < n; i++) {
		double sum = 0;
		for (int64_t c = 0; c < width; c++) {
			double x = (double)vectors[i * stride + c * step];
			sum += x * x;
		}
		most = sum > most || isnan(sum) ? sum : most;
	}
	return (float)sqrt(most);
}

/* Whether all queries have the same. */
static bool load_scales(const struct pe_tile_work *w, struct pe_tile_group *g)
{
	const struct pe_plan *p = w->tiles->plan;
	bool alike = true;
	for (int64_t l = 0; l < g->lanes; l++) {
		g->scale[l] = l < g->count && (l == 0 || p->scaler)
			? (float)(PE_LOG2E * pe_plan_scale(p, w->batch, g->head, g->first + l))
			: g->scale[0];
		alike = alike && memcmp(&g->scale[l], &g->scale[0], sizeof g->scale[0]) == 0;
	}
	return alike;
}

void pe_tile_load_queries(struct pe_tile_work *w, struct pe_tile_group *g)
{
	const struct pe_tiles *t = w->tiles;
	int64_t stride, step, width = t->plan->dot_width;
	const struct pe_place first = {PE_QUERIES, w->batch, g->head, g->first};
	const float *q = pe_tile_vectors(t->plan, &first, g->count, w->turning, w->rows, &stride, &step);
	bool alike = load_scales(w, g);
	t->kernels->tile_queries(g->q, g->vecs, q, g->count, stride, step, width, alike ? g->scale[0] : 1.0f);
	for (int64_t i = 0; !alike && i < width * g->lanes; i++)
		g->q[i] *= g->scale[i % g->lanes];
	g->norm = t->key_norms ? fabsf(g->scale[0]) * greatest_length(q, g->count, width, stride, step) : 0.0f;
}

static int64_t key_head(const struct pe_plan *p, int64_t head)
{
	return head / (p->heads / p->key_heads);
}

bool pe_tile_is_plain(const struct pe_tiles *t, const pe_tensor *tensor)
{
	return tensor->dtype == PE_F32 && tensor->strides[3] == 1 && t->plan->rotate.count == 0;
}

void pe_tile_load_keys(struct pe_tile_work *w, int64_t head)
{
	const struct pe_tiles *t = w->tiles;
	int64_t stride, step;
	const struct pe_place first = {PE_KEYS, w->batch, key_head(t->plan, head), w->key};
	const float *k = key_rows(t, &first, w->key_count, w->rows, &stride, &step);
	w->raw_keys = k;
	w->key_stride = stride;
	w->has_keys = true;
	if (t->keys_in_place)
		return;
	t->kernels->tile_pack_keys(w->keys, k, w->key_count, stride, step, t->plan->dot_width);
	pe_tile_load_key_terms(w, head);
}

/* Values that are not finite are taken out, and added by hand to the queries that see them: their product
 * with a weight of 0 would be NaN. */
static void take_out_odd(struct pe_tile_work *w)
{
	int64_t width = w->tiles->plan->sum_width;
	for (int64_t j = 0; j < w->key_count; j++) {
		float *v = w->values + j * width;
		bool finite = true;
		for (int64_t c = 0; c < width; c++) {
			finite = finite && isfinite(v[c]);
			v[c] = isfinite(v[c]) ? v[c] : 0.0f;
		}
		if (!finite)
			w->odd[w->odd_count++] = (int32_t)j;
	}
}

void pe_tile_load_values(struct pe_tile_work *w, int64_t head)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_place first = {PE_VALUES, w->batch, key_head(t->plan, head), w->key};
	w->raw_values = key_rows(t, &first, w->key_count, w->rows, &w->raw_stride, &w->raw_step);
	w->odd_count = 0;
	if (!t->kernels->tile_pack_values(
			w->values, w->raw_values, w->key_count, w->raw_stride, w->raw_step, t->plan->sum_width))
		take_out_odd(w);
	w->has_values = true;
}

/* ---- what comes next ------------------------------------------------------------------ */

void pe_tile_look_ahead(struct pe_tile_work *w, int64_t batch, int64_t head)
{
	const struct pe_plan *p = w->tiles->plan;
	const pe_tensor *all[] = {&p->out, &p->q, &p->v, &p->k};
	w->ahead_count = 0;
	for (int i = 0; i < (p->turns[PE_VALUES] ? 2 : p->turns[PE_KEYS] ? 3 : 4); i++) {
		int64_t size = (int64_t)pe_dtype_size(all[i]->dtype);
		w->ahead[w->ahead_count++] =
			(struct pe_tile_ahead){.row = pe_tensor_at(all[i], batch, i < 2 ? head : key_head(p, head), 0),
				.rows = all[i]->shape[2],
				.piece = (all[i]->shape[2] + 1) / 2,
				.bytes = all[i]->shape[3] * all[i]->strides[3] * size,
				.stride = all[i]->strides[2] * size};
	}
}

void pe_tile_fetch_ahead(struct pe_tile_work *w)
{
	const int64_t line = 64;
	if (w->ahead_count == 0)
		return;
	struct pe_tile_ahead *a = &w->ahead[w->ahead_count - 1];
	int64_t n = pe_min(a->piece, a->rows);
	/* Into the second cache: the first is full of the tile at hand. */
	for (int64_t i = 0; i < n; i++)
		for (int64_t at = 0; at < a->bytes; at += line)
			__builtin_prefetch(a->row + i * a->stride + at, 0, 2);
	a->row += n * a->stride;
	a->rows -= n;
	w->ahead_count -= a->rows == 0;
}

/* ---- lengths of keys ------------------------------------------------------------------ */

/* Of keys number first->token on, n of them. Infinite if their values are not finite: they are in every sum.
 * rows and packed have room for as many vectors. */
static float length_of_keys(
	const struct pe_tiles *t, struct pe_place first, int64_t n, float *rows, float *packed)
{
	int64_t stride, step;
	first.side = PE_VALUES;
	const float *v = key_rows(t, &first, n, rows, &stride, &step);
	if (!t->kernels->tile_pack_values(packed, v, n, stride, step, t->plan->sum_width))
		return INFINITY;
	first.side = PE_KEYS;
	const float *k = key_rows(t, &first, n, rows, &stride, &step);
	return greatest_length(k, n, t->plan->dot_width, stride, step);
}

/* The greatest length of a key of each block. */
static pe_status measure_head(pe_context *worker, void *arg, int64_t index)
{
	const struct pe_tiles *t = arg;
	const struct pe_plan *p = t->plan;
	int64_t pair = t->turned_first + index, blocks = (p->keys + PE_TILE_KEYS - 1) / PE_TILE_KEYS;
	int64_t room = PE_TILE_KEYS * pe_max(p->dot_width, p->sum_width);
	float *rows = pe_alloc(worker, 2 * room, sizeof *rows);
	if (!rows)
		return PE_ERR_NOMEM;
	for (int64_t block = 0; block < blocks; block++) {
		const struct pe_place first = {
			PE_KEYS, pair / p->key_heads, pair % p->key_heads, block * PE_TILE_KEYS};
		int64_t n = pe_min(PE_TILE_KEYS, p->keys - first.token);
		t->key_norms[pair * blocks + block] = length_of_keys(t, first, n, rows, rows + room);
	}
	pe_free(worker, rows);
	return PE_OK;
}

pe_status pe_tiles_measure_keys(struct pe_tiles *t, int64_t heads)
{
	return t->key_norms ? pe_parallel(t->plan->ctx, heads, measure_head, t, NULL) : PE_OK;
}
