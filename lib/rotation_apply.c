/* SPDX-License-Identifier: BSD-2-Clause
 * Rotation of whole queries or keys: the turns of a block of tokens are computed once for all heads. */
#include <string.h>

#include "kernels/kernels.h"
#include "pool.h"
#include "rotation.h"

struct work {
	const pe_encoding *e;
	const struct pe_rotation *r;
	pe_side side;
	const pe_tensor *x, *y;
	int64_t blocks; /* of tokens */
	bool single;    /* rows of floats: by the kernel */
	bool stream;
};

/* Tokens first … first + count - 1 of some heads, and room for their turns and a row. */
struct block {
	int64_t batch, head, heads, first, count;
	double *cosine, *sine, *row;
	float *single_cosine, *single_sine;
};

static void find_turns(const struct work *w, const struct block *b)
{
	int64_t pairs = w->r->pairs;
	for (int64_t i = 0; i < b->count; i++) {
		struct pe_place at = {w->side, b->batch, b->head, b->first + i};
		pe_rotation_turn(w->e, &at, 0, pairs, b->cosine + i * pairs, b->sine + i * pairs);
	}
}

/* Channels before the first pair; the kernel copies those after it. */
static void copy_start(const struct work *w, const struct block *b)
{
	size_t size = (size_t)w->r->start * sizeof(float);
	for (int64_t n = 0; size > 0 && n < b->heads * b->count; n++) {
		int64_t head = b->head + n / b->count, token = b->first + n % b->count;
		memcpy(pe_tensor_at(w->y, b->batch, head, token), pe_tensor_at(w->x, b->batch, head, token), size);
	}
}

/* Pairs first … first + count - 1, which are pairs of neighbours or in halves of one block, in channels from
 * `from` on; those up to from + width are copied. */
static void rotate_pairs(const pe_context *worker, const struct work *w, const struct block *b, int64_t first,
	int64_t count, int64_t from, int64_t width)
{
	const pe_tensor *x = w->x, *y = w->y;
	worker->kernels->rotate(&(struct pe_rotate_block){
		.x = (const float *)(const void *)pe_tensor_at(x, b->batch, b->head, b->first) + from,
		.y = (float *)(void *)pe_tensor_at(y, b->batch, b->head, b->first) + from,
		.x_head = x->strides[1],
		.x_token = x->strides[2],
		.y_head = y->strides[1],
		.y_token = y->strides[2],
		.heads = b->heads,
		.tokens = b->count,
		.width = width,
		.cosine = b->single_cosine + first,
		.sine = b->single_sine + first,
		.turn_step = w->r->pairs,
		.pairs = count,
		.half = w->r->half,
		.stream = w->stream,
	});
}

static void rotate_singles(const pe_context *worker, const struct work *w, const struct block *b)
{
	const struct pe_rotation *r = w->r;
	int64_t turns = b->count * r->pairs, step = r->half > 0 ? r->half : r->pairs;
	pe_store_f64(b->single_cosine, PE_F32, 1, b->cosine, 1, turns);
	pe_store_f64(b->single_sine, PE_F32, 1, b->sine, 1, turns);
	if (w->x->data != w->y->data)
		copy_start(w, b);
	bool last = false;
	for (int64_t first = 0; !last; first += step) {
		int64_t from = r->start + pe_rotation_channel(r, first);
		last = first + step >= r->pairs;
		rotate_pairs(worker, w, b, first, pe_min(step, r->pairs - first), from,
			last ? w->x->shape[3] - from : 2 * step);
	}
}

/* Other types and strides: in double, rounded once. */
static void rotate_rows(const struct work *w, const struct block *b)
{
	const pe_tensor *x = w->x, *y = w->y;
	int64_t width = x->shape[3], pairs = w->r->pairs;
	for (int64_t n = 0; n < b->heads * b->count; n++) {
		int64_t head = b->head + n / b->count, i = n % b->count;
		const void *from = pe_tensor_at(x, b->batch, head, b->first + i);
		pe_load_f64(b->row, from, x->dtype, x->strides[3], width);
		pe_rotation_pairs(w->r, b->cosine + i * pairs, b->sine + i * pairs, 0, pairs, b->row);
		void *to = pe_tensor_at(y, b->batch, head, b->first + i);
		pe_store_f64(to, y->dtype, y->strides[3], b->row, 1, width);
	}
}

static void rotate_block(const pe_context *worker, const struct work *w, const struct block *b)
{
	find_turns(w, b);
	if (w->single)
		rotate_singles(worker, w, b);
	else
		rotate_rows(w, b);
}

static pe_status do_block(pe_context *worker, void *arg, int64_t index)
{
	const struct work *w = arg;
	int64_t turns = PE_ROTATE_TOKENS * w->r->pairs, heads = w->x->shape[1];
	struct block b = {
		.batch = index / w->blocks, .first = index % w->blocks * PE_ROTATE_TOKENS, .heads = heads};
	b.count = pe_min(PE_ROTATE_TOKENS, w->x->shape[2] - b.first);
	b.cosine = pe_alloc(worker, 3 * turns + w->x->shape[3], sizeof *b.cosine);
	if (!b.cosine)
		return PE_ERR_NOMEM;
	b.sine = b.cosine + turns;
	b.single_cosine = (float *)(void *)(b.sine + turns);
	b.single_sine = b.single_cosine + turns;
	b.row = b.sine + 2 * turns;
	if (w->r->per_head) {
		b.heads = 1;
		for (; b.head < heads; b.head++)
			rotate_block(worker, w, &b);
	} else {
		rotate_block(worker, w, &b);
	}
	pe_free(worker, b.cosine);
	return PE_OK;
}

pe_status pe_rotation_apply(pe_encoding *e, pe_side side, const pe_tensor *x, const pe_tensor *y)
{
	struct work w = {.e = e, .r = pe_rotation_of(e), .side = side, .x = x, .y = y};
	w.blocks = (x->shape[2] + PE_ROTATE_TOKENS - 1) / PE_ROTATE_TOKENS;
	w.single = x->dtype == PE_F32 && y->dtype == PE_F32 && x->strides[3] == 1 && y->strides[3] == 1;
	w.stream = x->data != y->data && pe_tensor_count(y) >= PE_PAST_CACHES / (int64_t)sizeof(float);
	if (x->shape[1] == 0 || x->shape[3] == 0)
		return PE_OK;
	return pe_parallel(e->ctx, x->shape[0] * w.blocks, do_block, &w, e->encoder->table.name);
}
