/* SPDX-License-Identifier: BSD-2-Clause
 * A chunk of keys of one key head against all queries that share it, in f32: keys and values are read where
 * they lie. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "few.h"
#include "tile.h"

#define BLOCK 128 /* keys at a time: so many rows of keys or values stay in the second cache */
/* A base may be so much below what is met later. */
#define SLACK 16.0

/* One query at work. */
struct row {
	struct pe_tile_state state;      /* all lanes have the same maximum */
	int64_t head, query, first, end; /* keys that it sees are in here */
	double base;
	bool has_base, has_odd;
	struct pe_few_part *part;
	float *sums, *odd;
};

struct work {
	const struct pe_few *few;
	pe_context *ctx;
	int64_t batch, key_head, count;
	struct row *rows;
	float *floats;                    /* memory of what follows */
	float *q, *scores;                /* rows */
	float *bias, *gain, *raw, *fresh; /* of one row */
	float *vectors;                   /* of keys or values, where they cannot be read where they lie */
	double *cells, *turning;
	unsigned char *seen;
};

/* ---- memory ------------------------------------------------------------------------------ */

static float *cut(float **from, int64_t n)
{
	float *here = *from;
	*from += (n + 15) / 16 * 16;
	return here;
}

static pe_status make_work(struct work *w)
{
	const struct pe_plan *p = w->few->plan;
	int64_t widest = pe_max(p->dot_width, p->sum_width) + 16;
	w->rows = pe_alloc_zero(w->ctx, w->count, sizeof *w->rows);
	w->floats = pe_alloc(w->ctx, (w->count * 3 + BLOCK + 1) * widest + (w->count + 3) * BLOCK, sizeof(float));
	w->cells = pe_alloc(w->ctx, BLOCK, sizeof *w->cells);
	w->turning = pe_alloc(w->ctx, 2 * BLOCK, (size_t)pe_max(1, p->widest) * sizeof *w->turning);
	w->seen = pe_alloc(w->ctx, BLOCK, 1);
	if (!w->rows || !w->floats || !w->cells || !w->turning || !w->seen)
		return PE_ERR_NOMEM;
	float *rest = w->floats;
	w->q = cut(&rest, w->count * p->dot_width);
	w->scores = cut(&rest, w->count * BLOCK);
	w->bias = cut(&rest, BLOCK);
	w->gain = cut(&rest, BLOCK);
	w->raw = cut(&rest, BLOCK);
	w->fresh = cut(&rest, p->sum_width);
	w->vectors = cut(&rest, BLOCK * pe_max(p->dot_width, p->sum_width));
	for (int64_t r = 0; r < w->count; r++)
		w->rows[r].odd = cut(&rest, p->sum_width);
	return PE_OK;
}

static void free_work(struct work *w)
{
	pe_free(w->ctx, w->rows);
	pe_free(w->ctx, w->floats);
	pe_free(w->ctx, w->cells);
	pe_free(w->ctx, w->turning);
	pe_free(w->ctx, w->seen);
}

/* ---- vectors ----------------------------------------------------------------------------- */

/* n vectors as floats, one behind the other's stride: where they lie, if they can be read there. */
static const float *load(struct work *w, struct pe_place first, int64_t n, int64_t *stride)
{
	const struct pe_plan *p = w->few->plan;
	int64_t step, width = p->rotated[first.side][p->rotate.count];
	const float *v = pe_tile_vectors(p, &first, n, w->turning, w->vectors, stride, &step);
	if (step == 1)
		return v;
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < width; c++)
			w->vectors[i * width + c] = v[i * *stride + c * step];
	*stride = width;
	return w->vectors;
}

static void start_row(struct work *w, int64_t r, int64_t number, int64_t chunk)
{
	const struct pe_few *f = w->few;
	const struct pe_plan *p = f->plan;
	struct row *row = &w->rows[r];
	row->head = w->key_head * f->group + number / p->queries;
	row->query = number % p->queries;
	int64_t at = ((w->batch * p->heads + row->head) * p->queries + row->query) * f->chunks + chunk, stride;
	row->part = f->parts + at;
	row->sums = f->sums + at * p->sum_width;
	memset(row->sums, 0, (size_t)p->sum_width * sizeof *row->sums);
	memset(row->odd, 0, (size_t)p->sum_width * sizeof *row->odd);
	for (int lane = 0; lane < PE_TILE_MAX_LANES; lane++)
		row->state.max[lane] = -INFINITY;
	pe_plan_key_range(p, w->batch, row->query, row->query + 1, &row->first, &row->end);
	struct pe_place place = {PE_QUERIES, w->batch, row->head, row->query};
	const float *q = load(w, place, 1, &stride);
	float scale = (float)(PE_LOG2E * pe_plan_scale(p, w->batch, row->head, row->query));
	for (int64_t c = 0; c < p->dot_width; c++)
		w->q[r * p->dot_width + c] = scale * q[c];
}

/* ---- scores ------------------------------------------------------------------------------ */

/* w->seen ← which keys the query sees. Tells whether not all. */
static bool see(struct work *w, const struct row *row, const struct pe_cells *cells)
{
	int64_t key = cells->key, n = cells->count;
	if (w->few->by_rows)
		return pe_plan_visible(w->few->plan, cells, w->seen) < n;
	if (row->first <= key && key + n <= row->end)
		return false;
	for (int64_t j = 0; j < n; j++)
		w->seen[j] = (unsigned char)(row->first <= key + j && key + j < row->end);
	return true;
}

static void raise_base(struct row *row, double most)
{
	if (!(fabs(most) <= PE_TILE_NO_FRACTION) || (row->has_base && most <= row->base + SLACK))
		return;
	for (int lane = 0; lane < PE_TILE_MAX_LANES; lane++)
		row->state.max[lane] = (float)((double)row->state.max[lane] + (row->base - most));
	row->base = most;
	row->has_base = true;
}

static const float *make_bias(struct work *w, struct row *row, const struct pe_cells *cells, bool hides)
{
	const struct pe_plan *p = w->few->plan;
	double most = -INFINITY;
	if (!w->few->biased)
		return NULL;
	memset(w->cells, 0, (size_t)cells->count * sizeof *w->cells);
	for (int i = 0; i < p->scores.count; i++)
		p->scores.list[i]->encoder->scores(p->scores.list[i], cells, w->cells);
	pe_plan_add_mask(p, cells, w->cells);
	if (!hides)
		most = w->few->kernels->tile_most(w->cells, cells->count);
	for (int64_t j = 0; hides && j < cells->count; j++)
		most = w->seen[j] && w->cells[j] > most ? w->cells[j] : most;
	raise_base(row, PE_LOG2E * most);
	w->few->kernels->tile_round(w->bias, w->cells, PE_LOG2E, row->base, cells->count);
	return w->bias;
}

static const float *make_gain(struct work *w, const struct pe_cells *cells)
{
	const struct pe_plan *p = w->few->plan;
	if (p->gains.count == 0)
		return NULL;
	for (int64_t j = 0; j < cells->count; j++)
		w->cells[j] = 1;
	for (int i = 0; i < p->gains.count; i++)
		p->gains.list[i]->encoder->gains(p->gains.list[i], cells, w->cells);
	w->few->kernels->tile_round(w->gain, w->cells, 1, 0, cells->count);
	return w->gain;
}

/* Scores of a row from its products, in whole vectors, -inf where hidden and behind the end. max (lanes):
 * their maximum. */
static void finish_scores(struct work *w, struct row *row, int64_t key, int64_t n, float *scores, float *max)
{
	const struct pe_few *f = w->few;
	const struct pe_cells cells = {w->batch, row->head, row->query, key, n};
	int64_t lanes = f->kernels->tile_vec, vectors = (n + lanes - 1) / lanes;
	bool hides = see(w, row, &cells);
	if (f->adjusted) {
		struct pe_tile_adjust a = {.vecs = 1, .keys = vectors, .softcap = pe_tile_softcap(f->plan)};
		a.gain = make_gain(w, &cells);
		a.bias = make_bias(w, row, &cells, hides);
		a.gain_step = a.bias_step = lanes;
		a.scores = scores;
		a.max = max;
		f->kernels->tile_adjust(&a);
	}
	for (int64_t j = 0; hides && j < n; j++)
		if (!w->seen[j])
			scores[j] = -INFINITY;
	for (int64_t j = n; j < vectors * lanes; j++)
		scores[j] = -INFINITY;
	f->kernels->tile_max(scores, vectors, 1, max);
	for (int64_t lane = 1; lane < lanes; lane++)
		max[0] = max[lane] > max[0] ? max[lane] : max[0];
	for (int64_t lane = 1; lane < lanes; lane++)
		max[lane] = max[0];
}

/* ---- sums -------------------------------------------------------------------------------- */

/* w->fresh without the values that are not finite, which are added by hand to the rows that see them: a
 * weight is above 0 where a key is seen, even if it was rounded to 0. */
static void take_out_odd(
	struct work *w, struct row *row, const float *weights, const float *v, int64_t stride, int64_t n)
{
	int64_t width = w->few->plan->sum_width;
	memset(w->fresh, 0, (size_t)width * sizeof *w->fresh);
	row->has_odd = true;
	for (int64_t j = 0; j < n; j++)
		for (int64_t c = 0; !(w->raw[j] <= -FLT_MAX) && c < width; c++) {
			float x = v[j * stride + c];
			*(isfinite(x) ? w->fresh + c : row->odd + c) += isfinite(x) ? weights[j] * x : x;
		}
}

static void take_block(struct work *w, int64_t r, int64_t key, int64_t n, const float *v, int64_t stride)
{
	const struct pe_few *f = w->few;
	struct row *row = &w->rows[r];
	float *scores = w->scores + r * BLOCK;
	_Alignas(64) float max[PE_TILE_MAX_LANES];
	int64_t lanes = f->kernels->tile_vec, width = f->plan->sum_width;
	finish_scores(w, row, key, n, scores, max);
	memcpy(w->raw, scores, (size_t)n * sizeof *scores);
	f->kernels->tile_softmax(scores, (n + lanes - 1) / lanes, 1, max, &row->state);
	if (!f->kernels->row_sum(w->fresh, scores, v, stride, n, width))
		take_out_odd(w, row, scores, v, stride, n);
	for (int64_t c = 0; c < width; c++)
		row->sums[c] = row->state.rescale[0] * row->sums[c] + w->fresh[c];
}

static void attend_block(struct work *w, int64_t key, int64_t n)
{
	const struct pe_few *f = w->few;
	struct pe_row_dots dots = {.rows = w->count,
		.keys = n,
		.width = f->plan->dot_width,
		.q = w->q,
		.scores = w->scores,
		.scores_stride = BLOCK};
	bool any = false;
	for (int64_t r = 0; r < w->count; r++)
		any = any || (w->rows[r].first < key + n && w->rows[r].end > key);
	if (!any)
		return;
	struct pe_place first = {PE_KEYS, w->batch, w->key_head, key};
	int64_t stride;
	dots.k = load(w, first, n, &dots.stride);
	f->kernels->row_dots(&dots);
	first.side = PE_VALUES;
	const float *v = load(w, first, n, &stride);
	for (int64_t r = 0; r < w->count; r++)
		take_block(w, r, key, n, v, stride);
}

static void store_part(const struct work *w, const struct row *row)
{
	struct pe_few_part part = {row->base, row->state.max[0], 0.0f};
	for (int lane = 0; lane < w->few->kernels->tile_vec; lane++)
		part.sum += row->state.sum[lane];
	*row->part = part;
	for (int64_t c = 0; row->has_odd && c < w->few->plan->sum_width; c++)
		row->sums[c] += row->odd[c];
}

pe_status pe_few_attend_chunk(pe_context *worker, void *arg, int64_t index)
{
	const struct pe_few *f = arg;
	const struct pe_plan *p = f->plan;
	int64_t chunk = index % f->chunks, rest = index / f->chunks, pair = rest / f->row_blocks;
	int64_t first = rest % f->row_blocks * PE_FEW_ROWS, end = pe_min(p->keys, (chunk + 1) * PE_FEW_CHUNK);
	struct work w = {.few = f, .ctx = worker, .batch = pair / p->key_heads};
	w.key_head = pair % p->key_heads;
	w.count = pe_min(PE_FEW_ROWS, f->rows - first);
	pe_status status = make_work(&w);
	for (int64_t r = 0; status == PE_OK && r < w.count; r++)
		start_row(&w, r, first + r, chunk);
	for (int64_t key = chunk * PE_FEW_CHUNK; status == PE_OK && key < end; key += BLOCK)
		attend_block(&w, key, pe_min(BLOCK, end - key));
	for (int64_t r = 0; status == PE_OK && r < w.count; r++)
		store_part(&w, &w.rows[r]);
	free_work(&w);
	return status;
}
