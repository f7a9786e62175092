/* SPDX-License-Identifier: BSD-2-Clause
 * Few queries: nothing is packed, so that a step of decoding takes little more than reading keys and values
 * once. A task is a chunk of keys of one key head against all queries that share it, in f32; what the chunks
 * of a query yield, sums of weights 2^(score - max) and of values, is put together in double, in order. */
#include "few.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "pool.h"
#include "tile.h"

#define MOST_QUERIES 8
#define ROWS 32    /* queries of a task at most, over all heads */
#define CHUNK 1024 /* keys of a task */
#define BLOCK 128  /* keys at a time: so many rows of keys or values stay in the second cache */
/* A base may be so much below what is met later. */
#define SLACK 16.0

/* What a chunk yields of one query, besides sums of values. */
struct part {
	double base; /* taken off scores */
	float max, sum;
};

struct few {
	const struct pe_plan *plan;
	const struct pe_kernels *kernels;
	int64_t group, rows; /* query heads, and queries of them all, that share a key head */
	int64_t row_blocks, chunks;
	bool by_rows; /* whether a query sees a key must be asked cell by cell */
	bool biased, adjusted;
	struct part *parts; /* (batch, heads, queries, chunks) */
	float *sums;        /* likewise, × sum_width */
};

/* One query at work. */
struct row {
	struct pe_tile_state state;      /* all lanes have the same maximum */
	int64_t head, query, first, end; /* keys that it sees are in here */
	double base;
	bool has_base, has_odd;
	struct part *part;
	float *sums, *odd;
};

struct work {
	const struct few *few;
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

/* n vectors as floats, turned if they are to be: where they lie, if they can be read there. */
static const float *load(struct work *w, struct pe_place first, int64_t n, float *room, int64_t *stride)
{
	const struct pe_plan *p = w->few->plan;
	const struct pe_kernels *k = w->few->kernels;
	const pe_tensor *t = first.side == PE_QUERIES ? &p->q : first.side == PE_KEYS ? &p->k : &p->v;
	int64_t width = t->shape[3], step = t->strides[3];
	*stride = p->rotated[first.side][p->rotate.count];
	if (p->turns[first.side]) {
		pe_tile_turn_rows(p, &first, n, w->turning, room);
		return room;
	}
	if (t->dtype == PE_F32 && step == 1) {
		*stride = t->strides[2];
		return (const float *)(const void *)pe_tensor_at(t, first.batch, first.head, first.token);
	}
	for (int64_t i = 0; i < n; i++) {
		const char *from = pe_tensor_at(t, first.batch, first.head, first.token + i);
		if (t->dtype == PE_F32)
			for (int64_t c = 0; c < width; c++)
				room[i * width + c] = ((const float *)(const void *)from)[c * step];
		else
			pe_tile_converter(k, t->dtype)(
				room + i * width, (const uint16_t *)(const void *)from, step, width);
	}
	return room;
}

static void start_row(struct work *w, int64_t r, int64_t number, int64_t chunk)
{
	const struct few *f = w->few;
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
	const float *q = load(w, place, 1, w->vectors, &stride);
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
	const struct few *f = w->few;
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
	const struct few *f = w->few;
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
	const struct few *f = w->few;
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
	dots.k = load(w, first, n, w->vectors, &dots.stride);
	f->kernels->row_dots(&dots);
	first.side = PE_VALUES;
	const float *v = load(w, first, n, w->vectors, &stride);
	for (int64_t r = 0; r < w->count; r++)
		take_block(w, r, key, n, v, stride);
}

static void store_part(const struct work *w, const struct row *row)
{
	struct part part = {row->base, row->state.max[0], 0.0f};
	for (int lane = 0; lane < w->few->kernels->tile_vec; lane++)
		part.sum += row->state.sum[lane];
	*row->part = part;
	for (int64_t c = 0; row->has_odd && c < w->few->plan->sum_width; c++)
		row->sums[c] += row->odd[c];
}

static pe_status attend_chunk(pe_context *worker, void *arg, int64_t index)
{
	const struct few *f = arg;
	const struct pe_plan *p = f->plan;
	int64_t chunk = index % f->chunks, rest = index / f->chunks, pair = rest / f->row_blocks;
	int64_t first = rest % f->row_blocks * ROWS, end = pe_min(p->keys, (chunk + 1) * CHUNK);
	struct work w = {.few = f, .ctx = worker, .batch = pair / p->key_heads};
	w.key_head = pair % p->key_heads;
	w.count = pe_min(ROWS, f->rows - first);
	pe_status status = make_work(&w);
	for (int64_t r = 0; status == PE_OK && r < w.count; r++)
		start_row(&w, r, first + r, chunk);
	for (int64_t key = chunk * CHUNK; status == PE_OK && key < end; key += BLOCK)
		attend_block(&w, key, pe_min(BLOCK, end - key));
	for (int64_t r = 0; status == PE_OK && r < w.count; r++)
		store_part(&w, &w.rows[r]);
	free_work(&w);
	return status;
}

/* ---- putting together --------------------------------------------------------------------- */

static double score_of(const struct part *part)
{
	return (double)part->max + part->base;
}

/* Sums that are not finite have no factor: it may be 0. */
static void add_part(const struct part *part, const float *sums, double factor, int64_t width, double *out)
{
	for (int64_t c = 0; c < width; c++)
		out[c] += isfinite(sums[c]) ? factor * (double)sums[c] : (double)sums[c];
	out[width] += factor * (double)part->sum;
}

/* out: width + 1 doubles. */
static void join_row(const struct few *f, int64_t batch, int64_t head, int64_t query, double *out)
{
	const struct pe_plan *p = f->plan;
	int64_t first = ((batch * p->heads + head) * p->queries + query) * f->chunks, width = p->sum_width;
	double sink = p->sinks ? PE_LOG2E * p->sinks[head] : -INFINITY, most = sink;
	for (int64_t i = first; i < first + f->chunks; i++)
		most = fmax(most, score_of(&f->parts[i]));
	most = most > -INFINITY ? most : 0;
	memset(out, 0, (size_t)width * sizeof *out);
	out[width] = exp2(sink - most);
	for (int64_t i = first; i < first + f->chunks; i++)
		add_part(&f->parts[i], f->sums + i * width, exp2(score_of(&f->parts[i]) - most), width, out);
	double total = out[width], lse = (most + log2(total)) / PE_LOG2E;
	for (int64_t c = 0; c < width; c++)
		out[c] = total > 0 || isnan(total) ? out[c] / total : out[c];
	pe_store_f64(pe_tensor_at(&p->out, batch, head, query), p->out.dtype, p->out.strides[3], out, 1, width);
	if (p->lse.data)
		pe_store_f64(pe_tensor_at(&p->lse, batch, head, query), p->lse.dtype, 1, &lse, 1, 1);
}

static pe_status join_head(pe_context *worker, void *arg, int64_t index)
{
	const struct few *f = arg;
	const struct pe_plan *p = f->plan;
	double *out = pe_alloc(worker, p->sum_width + 1, sizeof *out);
	if (!out)
		return PE_ERR_NOMEM;
	for (int64_t query = 0; query < p->queries; query++)
		join_row(f, index / p->heads, index % p->heads, query, out);
	pe_free(worker, out);
	return PE_OK;
}

/* ---- the call ------------------------------------------------------------------------------ */

bool pe_plan_is_few(const struct pe_plan *p)
{
	return p->queries <= MOST_QUERIES && p->content.count == 0 && p->content_row.count == 0 &&
		p->values.count == 0 && p->weights_after.count == 0 && !p->map_heads;
}

pe_status pe_attend_few(struct pe_plan *p)
{
	struct few f = {.plan = p, .kernels = p->ctx->kernels};
	int64_t parts;
	f.group = p->heads / p->key_heads;
	f.rows = f.group * p->queries;
	f.row_blocks = (f.rows + ROWS - 1) / ROWS;
	f.chunks = (p->keys + CHUNK - 1) / CHUNK;
	f.by_rows = p->mask.data || !pe_plan_sees_range(p);
	f.biased = p->scores.count > 0 || (p->mask.data && pe_dtype_is_float(p->mask.dtype));
	f.adjusted = f.biased || p->gains.count > 0 || p->softcap > 0;
	if (!pe_mul(p->batch * p->heads * p->queries, f.chunks, &parts))
		return PE_ERR_NOMEM;
	f.parts = pe_alloc(p->ctx, parts, sizeof *f.parts);
	f.sums = pe_alloc(p->ctx, parts, (size_t)p->sum_width * sizeof *f.sums);
	pe_status status = f.parts && f.sums ? PE_OK : PE_ERR_NOMEM;
	int64_t pairs = p->batch * p->key_heads;
	if (status == PE_OK)
		status = pe_parallel(p->ctx, pairs * f.row_blocks * f.chunks, attend_chunk, &f, "attention");
	if (status == PE_OK)
		status = pe_parallel(p->ctx, p->batch * p->heads, join_head, &f, NULL);
	pe_free(p->ctx, f.parts);
	pe_free(p->ctx, f.sums);
	return status;
}
