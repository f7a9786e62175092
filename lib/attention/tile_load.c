/* SPDX-License-Identifier: BSD-2-Clause
 * From tensors to panels: the site rotate, storage types, scale. */
#include <math.h>

#include "pool.h"
#include "tile.h"

/* ---- the site rotate: once, in double, rounded once ---------------------------------- */

struct side {
	const struct pe_plan *plan;
	pe_side side;
	const pe_tensor *from, *to;
};

static const char *vector_at(const pe_tensor *t, int64_t batch, int64_t head, int64_t i)
{
	int64_t offset = batch * t->strides[0] + head * t->strides[1] + i * t->strides[2];
	return (const char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype);
}

static pe_status rotate_head(pe_context *worker, void *arg, int64_t index)
{
	const struct side *s = arg;
	const struct pe_plan *p = s->plan;
	const pe_tensor *from = s->from, *to = s->to;
	int64_t heads = from->shape[1], width = to->shape[3];
	float *out = (float *)to->data + index * to->strides[1];
	double *vector = pe_alloc(worker, 2 * p->widest, sizeof *vector);
	if (!vector)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < from->shape[2]; i++, out += width) {
		struct pe_place at = {s->side, index / heads, index % heads, i};
		pe_load_f64(
			vector, vector_at(from, at.batch, at.head, i), from->dtype, from->strides[3], from->shape[3]);
		pe_plan_rotate(p, &at, vector, vector + p->widest);
		pe_store_f64(out, PE_F32, 1, vector, 1, width);
	}
	pe_free(worker, vector);
	return PE_OK;
}

static pe_status rotate_side(struct pe_tiles *tiles, pe_side side, const pe_tensor *from, pe_tensor *to)
{
	struct pe_plan *p = tiles->plan;
	int64_t shape[4] = {from->shape[0], from->shape[1], from->shape[2], p->rotated[side][p->rotate.count]};
	int64_t count;
	*to = *from;
	if (p->rotate.count == 0)
		return PE_OK;
	if (!pe_mul(shape[0] * shape[1], shape[2], &count) || !pe_mul(count, shape[3], &count))
		return pe_fail(p->ctx, PE_ERR_NOMEM, "turned vectors are more than memory can hold");
	tiles->rotated[side] = pe_alloc(p->ctx, count, sizeof(float));
	if (!tiles->rotated[side])
		return PE_ERR_NOMEM;
	*to = pe_tensor_dense(tiles->rotated[side], PE_F32, 4, shape);
	return pe_parallel(p->ctx, shape[0] * shape[1], rotate_head, &(struct side){p, side, from, to}, NULL);
}

pe_status pe_tiles_rotate(struct pe_tiles *tiles)
{
	PE_TRY(rotate_side(tiles, PE_QUERIES, &tiles->plan->q, &tiles->q));
	PE_TRY(rotate_side(tiles, PE_KEYS, &tiles->plan->k, &tiles->k));
	return rotate_side(tiles, PE_VALUES, &tiles->plan->v, &tiles->v);
}

/* ---- storage types ------------------------------------------------------------------- */

/* Rows of a tensor as floats: f32 where they lie, others by way of scratch (n × width). */
static const float *rows_of(const struct pe_tiles *tiles, const pe_tensor *t, int64_t batch, int64_t head,
	int64_t first, int64_t n, float *scratch, int64_t *stride, int64_t *step)
{
	int64_t width = t->shape[3];
	if (t->dtype == PE_F32) {
		*stride = t->strides[2];
		*step = t->strides[3];
		return (const float *)(const void *)vector_at(t, batch, head, first);
	}
	pe_tile_convert_fn *convert =
		t->dtype == PE_F16 ? tiles->kernels->tile_from_f16 : tiles->kernels->tile_from_bf16;
	for (int64_t i = 0; i < n; i++)
		convert(scratch + i * width, (const uint16_t *)(const void *)vector_at(t, batch, head, first + i),
			t->strides[3], width);
	*stride = width;
	*step = 1;
	return scratch;
}

/* ---- panels -------------------------------------------------------------------------- */

static float greatest_length(const float *vectors, int64_t n, int64_t width, int64_t stride, int64_t step)
{
	float most = 0.0f;
	for (int64_t i = 0; i < n; i++) {
		float sum = 0.0f;
		for (int64_t c = 0; c < width; c++) {
			float x = vectors[i * stride + c * step];
			sum += x * x;
		}
		most = sum > most || isnan(sum) ? sum : most;
	}
	return sqrtf(most);
}

static void load_scales(const struct pe_tile_work *w, struct pe_tile_group *g)
{
	const struct pe_plan *p = w->tiles->plan;
	for (int64_t l = 0; l < g->lanes; l++)
		g->scale[l] = l < g->count && (l == 0 || p->scaler)
			? (float)(PE_LOG2E * pe_plan_scale(p, w->batch, g->head, g->first + l))
			: g->scale[0];
}

void pe_tile_load_queries(struct pe_tile_work *w, struct pe_tile_group *g)
{
	const struct pe_tiles *t = w->tiles;
	int64_t stride, step, width = t->plan->dot_width;
	const float *q = rows_of(t, &t->q, w->batch, g->head, g->first, g->count, w->rows, &stride, &step);
	load_scales(w, g);
	if (t->plan->scaler) {
		/* Each query has its own. */
		t->kernels->tile_queries(g->q, g->vecs, q, g->count, stride, step, width, 1.0f);
		for (int64_t i = 0; i < width * g->lanes; i++)
			g->q[i] *= g->scale[i % g->lanes];
	} else {
		t->kernels->tile_queries(g->q, g->vecs, q, g->count, stride, step, width, g->scale[0]);
	}
	g->norm = t->key_norms ? fabsf(g->scale[0]) * greatest_length(q, g->count, width, stride, step) : 0.0f;
}

static int64_t key_head(const struct pe_plan *p, int64_t head)
{
	return head / (p->heads / p->key_heads);
}

void pe_tile_load_keys(struct pe_tile_work *w, int64_t head)
{
	const struct pe_tiles *t = w->tiles;
	int64_t stride, step;
	const float *k =
		rows_of(t, &t->k, w->batch, key_head(t->plan, head), w->key, w->key_count, w->rows, &stride, &step);
	t->kernels->tile_pack_keys(w->keys, k, w->key_count, stride, step, t->plan->dot_width);
	pe_tile_load_key_terms(w, head, k, stride, step);
	w->has_keys = true;
}

/* Values that are not finite are taken out, and added by hand to the queries that see them: their
 * product with a weight of 0 would be NaN. */
static void take_out_odd(struct pe_tile_work *w)
{
	int64_t width = w->tiles->plan->sum_width;
	for (int64_t j = 0; j < w->key_count; j++) {
		float *v = w->values + j * width;
		bool finite = true;
		for (int64_t c = 0; c < width; c++)
			finite = finite && isfinite(v[c]);
		for (int64_t c = 0; !finite && c < width; c++)
			v[c] = 0.0f;
		if (!finite)
			w->odd[w->odd_count++] = (int32_t)j;
	}
}

void pe_tile_load_values(struct pe_tile_work *w, int64_t head)
{
	const struct pe_tiles *t = w->tiles;
	w->raw_values = rows_of(t, &t->v, w->batch, key_head(t->plan, head), w->key, w->key_count, w->rows,
		&w->raw_stride, &w->raw_step);
	w->odd_count = 0;
	if (!t->kernels->tile_pack_values(
			w->values, w->raw_values, w->key_count, w->raw_stride, w->raw_step, t->plan->sum_width))
		take_out_odd(w);
	w->has_values = true;
}

/* The greatest length of a key of each block. */
static pe_status measure_head(pe_context *worker, void *arg, int64_t index)
{
	const struct pe_tiles *t = arg;
	int64_t keys = t->plan->keys, blocks = (keys + PE_TILE_KEYS - 1) / PE_TILE_KEYS, stride, step;
	int64_t heads = t->plan->key_heads, width = t->plan->dot_width;
	float *rows = pe_alloc(worker, PE_TILE_KEYS, (size_t)width * sizeof *rows);
	if (!rows)
		return PE_ERR_NOMEM;
	for (int64_t block = 0; block < blocks; block++) {
		int64_t first = block * PE_TILE_KEYS, n = pe_min(PE_TILE_KEYS, keys - first);
		const float *k = rows_of(t, &t->k, index / heads, index % heads, first, n, rows, &stride, &step);
		t->key_norms[index * blocks + block] = greatest_length(k, n, width, stride, step);
	}
	pe_free(worker, rows);
	return PE_OK;
}

pe_status pe_tiles_measure_keys(struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	int64_t blocks = (p->keys + PE_TILE_KEYS - 1) / PE_TILE_KEYS;
	t->key_norms = pe_alloc(p->ctx, p->batch * p->key_heads * blocks, sizeof *t->key_norms);
	if (!t->key_norms)
		return PE_ERR_NOMEM;
	return pe_parallel(p->ctx, p->batch * p->key_heads, measure_head, t, NULL);
}
