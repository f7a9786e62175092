/* SPDX-License-Identifier: BSD-2-Clause
 * From scores to sums: softmax, weights added after it, values and value terms, and the output. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tile.h"

/* sums ← rescale · sums + weights · values. */
static void add_values(struct pe_tile_work *w, const struct pe_tile *tile, const float *weights,
	const float *rescale, float *sums)
{
	const struct pe_tiles *t = w->tiles;
	int64_t width = t->plan->sum_width;
	struct pe_tile_sum sum = {.vecs = tile->group->vecs,
		.keys = tile->end - tile->first,
		.width = width,
		.stride = width,
		.weights = weights,
		.values = w->values + (tile->first - w->key) * width,
		.rescale = rescale,
		.out = sums};
	t->kernels->tile_sum(&sum);
}

/* Apart from the sums, which are multiplied with factors that may be 0. A softmax weight is above 0, where a
 * key is seen, even if it was rounded to 0; added: those after it are what they are. */
static void add_odd_value(struct pe_tile_work *w, const struct pe_tile *tile, int64_t key, const float *added,
	const unsigned char *seen)
{
	struct pe_tile_group *g = tile->group;
	int64_t width = w->tiles->plan->sum_width;
	const float *v = w->raw_values + (key - w->key) * w->raw_stride;
	if (!g->has_odd)
		memset(g->odd, 0, (size_t)(width * g->lanes) * sizeof *g->odd);
	g->has_odd = true;
	for (int64_t l = 0; l < g->count; l++) {
		float weight = added ? added[(key - tile->first) * g->lanes + l] : 1.0f;
		bool takes = seen[l] && (fabsf(weight) > 0.0f || isnan(weight));
		for (int64_t c = 0; takes && c < width; c++)
			if (!isfinite(v[c * w->raw_step]))
				g->odd[c * g->lanes + l] += weight * v[c * w->raw_step];
	}
}

/* ---- value terms ---------------------------------------------------------------------- */

/* bins[row][lane] ← sum of the weights of the cells of that row. */
static void fill_bins(const struct pe_tiles *t, const struct pe_tile *tile, const struct pe_tile_rows *rows,
	int64_t first, int64_t count, const float *weights, float *bins)
{
	const struct pe_tile_group *g = tile->group;
	int64_t n = tile->end - tile->first;
	const float one = 1.0f;
	memset(bins, 0, (size_t)(count * g->lanes) * sizeof *bins);
	if (rows->alike) {
		struct pe_tile_sum all = {
			.vecs = g->vecs, .keys = n, .width = 1, .weights = weights, .values = &one, .out = bins};
		t->kernels->tile_sum(&all);
		return;
	}
	for (int64_t j = 0; j < n; j++)
		for (int64_t l = 0; l < g->count; l++) {
			int64_t row = rows->row[l][j * rows->step] - first;
			if (row >= 0 && row < count)
				bins[row * g->lanes + l] += weights[j * g->lanes + l];
		}
}

/* Weights of one row of the table are added up, then the rows are taken as values are. */
static void add_value_terms(
	struct pe_tile_work *w, const struct pe_tile *tile, const float *weights, float *sums)
{
	const struct pe_tiles *t = w->tiles;
	for (int i = 0; i < t->values.count; i++) {
		const struct pe_tile_term *term = &t->values.list[i];
		struct pe_tile_rows rows;
		pe_tile_index(w, tile, term, &rows);
		for (int64_t first = rows.first; first < rows.end; first += PE_TILE_ROWS) {
			int64_t count = pe_min(PE_TILE_ROWS, rows.end - first);
			fill_bins(t, tile, &rows, first, count, weights, w->products);
			struct pe_tile_sum sum = {.vecs = tile->group->vecs,
				.keys = count,
				.width = t->plan->sum_width,
				.stride = t->plan->sum_width,
				.weights = w->products,
				.values = pe_tile_term_rows(w, term, tile->group->head, first, count),
				.out = sums};
			t->kernels->tile_sum(&sum);
		}
	}
}

/* ---- weights added after the softmax ---------------------------------------------------- */

/* As keys × lanes, 0 where hidden. */
static void fill_after(struct pe_tile_work *w, const struct pe_tile *tile, float *out)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_tile_group *g = tile->group;
	const float *slice = pe_tile_slice(t, &t->after, tile);
	int64_t n = tile->end - tile->first;
	memset(out, 0, (size_t)(n * g->lanes) * sizeof *out);
	for (int64_t l = 0; l < g->count; l++) {
		struct pe_cells cells = {w->batch, g->head, g->first + l, tile->first, n};
		memset(w->row, 0, (size_t)n * sizeof *w->row);
		for (int i = 0; i < t->after.rest.count; i++)
			t->after.rest.list[i]->encoder->weights_after(t->after.rest.list[i], &cells, w->row);
		for (int64_t j = 0; j < n; j++)
			out[j * g->lanes + l] = (float)w->row[j] + (slice ? slice[l - j] : 0.0f);
	}
	(void)pe_tile_hide(w, tile, out, 0.0f);
}

/* seen[l] ← whether lane l sees this key. */
static void see_key(const struct pe_tile *tile, int64_t key, unsigned char *seen)
{
	const struct pe_tile_group *g = tile->group;
	for (int64_t l = 0; l < g->count; l++)
		seen[l] = (unsigned char)!(tile->scores[(key - tile->first) * g->lanes + l] <= -FLT_MAX);
}

static void clear_sums(const struct pe_tile_work *w, struct pe_tile_group *g)
{
	size_t bytes = (size_t)(w->tiles->plan->sum_width * g->lanes) * sizeof *g->sums;
	if (g->has_sums)
		return;
	memset(g->sums, 0, bytes);
	if (g->after)
		memset(g->after, 0, bytes);
	g->has_sums = true;
}

void pe_tile_take(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	struct pe_tile_group *g = tile->group;
	unsigned char *seen = w->odd_seen;
	clear_sums(w, g);
	for (int i = 0; i < w->odd_count; i++)
		if (w->odd[i] + w->key >= tile->first && w->odd[i] + w->key < tile->end)
			see_key(tile, w->odd[i] + w->key, seen + i * PE_TILE_MAX_LANES);
	t->kernels->tile_softmax(tile->scores, tile->end - tile->first, g->vecs, w->max, &g->state);
	add_values(w, tile, tile->scores, g->state.rescale, g->sums);
	add_value_terms(w, tile, tile->scores, g->sums);
	if (g->after) {
		fill_after(w, tile, w->bias);
		add_values(w, tile, w->bias, NULL, g->after);
		add_value_terms(w, tile, w->bias, g->after);
	}
	for (int i = 0; i < w->odd_count; i++)
		if (w->odd[i] + w->key >= tile->first && w->odd[i] + w->key < tile->end) {
			add_odd_value(w, tile, w->odd[i] + w->key, NULL, seen + i * PE_TILE_MAX_LANES);
			if (g->after)
				add_odd_value(w, tile, w->odd[i] + w->key, w->bias, seen + i * PE_TILE_MAX_LANES);
		}
}

/* ---- output --------------------------------------------------------------------------- */

static void store_lse(struct pe_tile_work *w, const struct pe_tile_group *g)
{
	const struct pe_tiles *t = w->tiles;
	const pe_tensor *lse = &t->plan->lse;
	for (int64_t l = 0; lse->data && l < g->count; l++) {
		double value = ((double)g->state.max[l] + log2((double)g->state.sum[l]) + g->base[l]) / PE_LOG2E;
		pe_store_f64(pe_tensor_at(lse, w->batch, g->head, g->first + l), lse->dtype, 1, &value, 1, 1);
	}
}

static void store_rows(struct pe_tile_work *w, const struct pe_tile_group *g, const float *factor)
{
	const struct pe_tiles *t = w->tiles;
	const pe_tensor *out = &t->plan->out;
	int64_t width = t->plan->sum_width;
	char *data = pe_tensor_at(out, w->batch, g->head, g->first);
	if (out->dtype == PE_F32 && out->strides[3] == 1) {
		t->kernels->tile_finish(
			(float *)(void *)data, out->strides[2], g->sums, g->vecs, g->count, width, factor);
		return;
	}
	t->kernels->tile_finish(w->rows, width, g->sums, g->vecs, g->count, width, factor);
	for (int64_t l = 0; l < g->count; l++, data += out->strides[2] * (int64_t)pe_dtype_size(out->dtype)) {
		for (int64_t c = 0; c < width; c++)
			w->row[c] = (double)w->rows[l * width + c];
		pe_store_f64(data, out->dtype, out->strides[3], w->row, 1, width);
	}
}

static void fill_factors(const struct pe_tile_group *g, float *factor)
{
	for (int64_t l = 0; l < g->lanes; l++)
		factor[l] = g->state.sum[l] > 0.0f || isnan(g->state.sum[l]) ? 1.0f / g->state.sum[l] : 0.0f;
}

bool pe_tile_take_at_once(struct pe_tile_work *w, const struct pe_tile *tile)
{
	const struct pe_tiles *t = w->tiles;
	const struct pe_plan *p = t->plan;
	struct pe_tile_group *g = tile->group;
	float factor[PE_TILE_MAX_LANES];
	int64_t n = tile->end - tile->first;
	t->kernels->tile_softmax(tile->scores, n, g->vecs, w->max, &g->state);
	fill_factors(g, factor);
	struct pe_tile_apply apply = {.queries = g->count, .keys = n, .width = p->sum_width, .lanes = g->lanes};
	apply.weights = tile->scores;
	apply.factor = factor;
	apply.values = (const float *)(const void *)pe_tensor_at(
		&p->v, w->batch, g->head / (p->heads / p->key_heads), tile->first);
	apply.stride = p->v.strides[2];
	apply.out = (float *)(void *)pe_tensor_at(&p->out, w->batch, g->head, g->first);
	apply.out_stride = p->out.strides[2];
	g->stored = t->kernels->tile_apply(&apply);
	if (!g->stored)
		pe_tile_start_base(w, g);
	return g->stored;
}

void pe_tile_store(struct pe_tile_work *w, struct pe_tile_group *g)
{
	float factor[PE_TILE_MAX_LANES];
	if (g->stored) {
		store_lse(w, g);
		return;
	}
	clear_sums(w, g);
	fill_factors(g, factor);
	int64_t cells = g->after || g->has_odd ? w->tiles->plan->sum_width * g->lanes : 0;
	for (int64_t i = 0; i < cells; i++)
		g->sums[i] = g->sums[i] * factor[i % g->lanes] + (g->after ? g->after[i] : 0.0f) +
			(g->has_odd ? g->odd[i] : 0.0f);
	for (int64_t l = 0; cells > 0 && l < g->lanes; l++)
		factor[l] = 1.0f;
	store_rows(w, g, factor);
	store_lse(w, g);
}
