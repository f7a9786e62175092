/* SPDX-License-Identifier: BSD-2-Clause
 * Depthwise convolutions of 3 × 3 taps in single precision, where tokens lie: a block of channels goes down
 * the grid in strips of rows, and along each in pieces of columns, which are read straight from x. Tokens
 * that all fall into the same few sets of the nearest cache, or are not whole vectors of channels, are
 * copied a piece at a time. */
#include <string.h>

#include "depthwise_grid.h"
#include "pool.h"

/* Rows of a strip and columns of a piece: as many as there may be, or, where tokens are copied or beyond the
 * caches, so that a piece and the next stay in the second of them. */
#define NEAR_SIDE 64
#define SIDE 16
#define NEAR_BLOCK 128 /* channels a piece of work, at most; beyond the caches */
#define BLOCK 256
#define BAD_STEP 512 /* floats: tokens that far apart share an eighth of the sets, or fewer */
/* Bytes of tokens that come from memory, or from more pages than the processor knows by heart. */
#define BEYOND ((int64_t)8 << 20)

static const float zeros[PE_DEPTHWISE_LANES];

struct work {
	const pe_encoding *e;
	const struct pe_depthwise *s;
	const pe_tensor *x, *y;
	int64_t block, blocks; /* channels a block, and how many */
	bool in_place, bad, beyond;
};

/* A block of channels of one frame. */
struct block {
	const struct work *w;
	const struct pe_kernels *kernels;
	int64_t batch, first, channel, channels; /* first: token */
	int64_t width;                           /* channels, filled up */
	int64_t side;                            /* rows of a strip, columns of a piece */
	bool copies, copies_out;                 /* x; y, also where it streams, for longer runs of memory */
	bool streams;                            /* y is written past the caches */
	float *left;
	float *saved[2]; /* in place: the row above a strip, and that above the next */
	float *piece;    /* (rows + 2, columns + 1, width + lanes) */
};

static const float *x_at(const struct block *b, int64_t row, int64_t column)
{
	int64_t token = b->first + row * b->w->e->domain->width + column;
	return (const float *)(const void *)pe_tensor_at(b->w->x, b->batch, token, b->channel);
}

static float *y_at(const struct block *b, int64_t row, int64_t column)
{
	int64_t token = b->first + row * b->w->e->domain->width + column;
	return (float *)(void *)pe_tensor_at(b->w->y, b->batch, token, b->channel);
}

/* `count` tokens of a block's channels, `last` floats from one channel to the next. */
static void copy_tokens(const struct block *b, float *out, int64_t out_step, int64_t out_last,
	const float *in, int64_t in_step, int64_t in_last, int64_t count, bool stream)
{
	for (int64_t i = 0; i < count; i++, in += in_step, out += out_step)
		if (out_last == 1 && in_last == 1)
			b->kernels->copy(out, in, b->channels * (int64_t)sizeof *out, stream);
		else
			for (int64_t c = 0; c < b->channels; c++)
				out[c * out_last] = in[c * in_last];
}

/* Has the strip read from copies of its tokens, and written into them if y is copied, too. */
static void copy_in(const struct block *b, struct pe_depthwise_strip *d)
{
	int64_t tokens = d->columns + !d->last, step = b->width + PE_DEPTHWISE_LANES, row = tokens * step;
	int64_t last = b->w->x->strides[2];
	bool saved = b->w->in_place;
	if (d->above_step)
		copy_tokens(b, b->piece, step, 1, d->above, d->above_step, saved ? 1 : last, tokens, false);
	for (int64_t r = 0; r < d->rows + (d->below_step != 0); r++)
		copy_tokens(
			b, b->piece + (r + 1) * row, step, 1, d->x + r * d->x_row, d->x_step, last, tokens, false);
	if (d->above_step) {
		d->above = b->piece;
		d->above_step = step;
	}
	if (d->below_step) {
		d->below = b->piece + (d->rows + 1) * row;
		d->below_step = step;
	}
	d->x = b->piece + row;
	d->x_row = row;
	d->x_step = step;
	if (b->copies_out) {
		d->y = b->piece + row;
		d->y_row = row;
		d->y_step = step;
	}
}

static void copy_out(const struct block *b, const struct pe_depthwise_strip *d, float *y)
{
	const pe_tensor *out = b->w->y;
	for (int64_t r = 0; r < d->rows; r++, y += out->strides[1] * b->w->e->domain->width)
		copy_tokens(b, y, out->strides[1], out->strides[2], d->y + r * d->y_row, d->y_step, 1, d->columns,
			b->streams);
}

/* The rows before and after a piece of x; zeros at the grid's edges. */
static void find_neighbours(const struct block *b, int64_t row, int64_t column, struct pe_depthwise_strip *d)
{
	const struct work *w = b->w;
	if (row > 0) {
		d->above = w->in_place ? b->saved[row / b->side % 2] + column * b->width : x_at(b, row - 1, column);
		d->above_step = w->in_place ? b->width : d->x_step;
	}
	if (row + d->rows < w->e->domain->height) {
		d->below = x_at(b, row + d->rows, column);
		d->below_step = d->x_step;
	}
}

/* Has the next piece fetched, or what of it is not this one's neighbour. */
static void find_ahead(const struct block *b, int64_t row, int64_t column, struct pe_depthwise_strip *d)
{
	if (!d->last)
		d->ahead = x_at(b, row, column + d->columns + 1);
	else if (d->below_step)
		d->ahead = x_at(b, row + d->rows, 0);
}

static void do_piece(const struct block *b, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
	const struct work *w = b->w;
	const pe_domain *domain = w->e->domain;
	const int64_t x_step = w->x->strides[1], y_step = w->y->strides[1];
	struct pe_depthwise_strip d = {
		.weight = w->s->strip_taps + b->channel / PE_DEPTHWISE_LANES * PE_STRIP_WEIGHTS,
		.x = x_at(b, row, column),
		.y = y_at(b, row, column),
		.x_row = x_step * domain->width,
		.x_step = x_step,
		.y_row = y_step * domain->width,
		.y_step = y_step,
		.above = zeros,
		.below = zeros,
		.left = b->left,
		.last = column + columns == domain->width,
		.residual = w->s->residual,
		.stream = b->streams && !b->copies_out,
		.rows = rows,
		.columns = columns,
		.channels = b->width,
		.ahead_row = x_step * domain->width,
		.ahead_step = x_step};
	float *y = d.y;
	find_neighbours(b, row, column, &d);
	if (w->beyond)
		find_ahead(b, row, column, &d);
	if (b->copies)
		copy_in(b, &d);
	b->kernels->depthwise_strip(&d);
	if (b->copies_out)
		copy_out(b, &d, y);
}

static void do_strip(const struct block *b, int64_t row, int64_t rows)
{
	const pe_domain *domain = b->w->e->domain;
	memset(b->left, 0, (size_t)((rows + 2) * b->width) * sizeof *b->left);
	if (b->w->in_place && row + rows < domain->height)
		copy_tokens(b, b->saved[(row / b->side + 1) % 2], b->width, 1, x_at(b, row + rows - 1, 0),
			b->w->x->strides[1], b->w->x->strides[2], domain->width, false);
	for (int64_t column = 0; column < domain->width; column += b->side)
		do_piece(b, row, rows, column, pe_min(b->side, domain->width - column));
}

/* Whether vectors of y, or copies of its tokens, are whole lines of a cache. */
static bool can_stream(const struct block *b)
{
	const struct work *w = b->w;
	return w->beyond && !w->in_place && (b->copies || b->kernels->depthwise_streams) &&
		b->channels == b->width && w->y->strides[2] == 1 && w->y->strides[1] % PE_DEPTHWISE_LANES == 0 &&
		(uintptr_t)y_at(b, 0, 0) % (PE_DEPTHWISE_LANES * sizeof(float)) == 0;
}

/* Memory of tokens; the channels that they are filled up with stay 0. */
static float *allocate(pe_context *worker, const struct block *b, int64_t tokens, int64_t step)
{
	size_t size = (size_t)step * sizeof(float);
	return b->channels == b->width ? pe_alloc(worker, tokens, size) : pe_alloc_zero(worker, tokens, size);
}

static pe_status start_block(pe_context *worker, struct block *b)
{
	const pe_domain *domain = b->w->e->domain;
	int64_t rows = pe_min(b->side, domain->height) + 2, columns = pe_min(b->side, domain->width) + 1;
	b->left = pe_alloc(worker, rows, (size_t)b->width * sizeof(float));
	for (int i = 0; i < 2 && b->w->in_place; i++)
		b->saved[i] = allocate(worker, b, domain->width, b->width);
	if (b->copies)
		b->piece = allocate(worker, b, rows * columns, b->width + PE_DEPTHWISE_LANES);
	if (!b->left || (b->w->in_place && (!b->saved[0] || !b->saved[1])) || (b->copies && !b->piece))
		return PE_ERR_NOMEM;
	return PE_OK;
}

static pe_status do_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const pe_domain *domain = w->e->domain;
	int64_t image = chunk / w->blocks, frame = image % domain->frames;
	struct block b = {.w = w,
		.kernels = worker->kernels,
		.batch = image / domain->frames,
		.first = domain->prefix + frame * domain->height * domain->width,
		.channel = chunk % w->blocks * w->block};
	b.channels = pe_min(w->block, w->s->dim - b.channel);
	b.width = pe_depthwise_filled_up(b.channels);
	b.copies = w->bad || b.width != b.channels;
	b.side = b.copies || w->beyond ? SIDE : NEAR_SIDE;
	b.streams = can_stream(&b);
	b.copies_out = b.width != b.channels || w->y->strides[2] != 1 || (b.copies && b.streams);
	pe_status status = start_block(worker, &b);
	for (int64_t row = 0; status == PE_OK && row < domain->height; row += b.side)
		do_strip(&b, row, pe_min(b.side, domain->height - row));
	if (b.streams)
		worker->kernels->copy_fence();
	pe_free(worker, b.left);
	pe_free(worker, b.saved[0]);
	pe_free(worker, b.saved[1]);
	pe_free(worker, b.piece);
	return status;
}

static bool lies_badly(const pe_tensor *t)
{
	return t->strides[2] != 1 || t->strides[1] % BAD_STEP == 0;
}

pe_status pe_depthwise_strips(
	pe_encoding *e, const struct pe_depthwise *s, const pe_tensor *x, const pe_tensor *y)
{
	int64_t whole = s->dim / PE_DEPTHWISE_LANES * PE_DEPTHWISE_LANES;
	bool beyond = pe_tensor_bytes(y) >= BEYOND;
	struct work w = {.e = e,
		.s = s,
		.x = x,
		.y = y,
		.block = pe_min(pe_max(whole, PE_DEPTHWISE_LANES), beyond ? BLOCK : NEAR_BLOCK),
		.in_place = x->data == y->data,
		.bad = lies_badly(x) || lies_badly(y),
		.beyond = beyond};
	w.blocks = (s->dim + w.block - 1) / w.block;
	return pe_parallel(e->ctx, x->shape[0] * e->domain->frames * w.blocks, do_chunk, &w, "peg");
}
