/* SPDX-License-Identifier: BSD-2-Clause
 * Depthwise convolutions of any window, padding and type: a block of channels is copied with its padding, as
 * many rows as a window reaches, and written in place. */
#include <math.h>
#include <string.h>

#include "depthwise_grid.h"
#include "pool.h"

#define NEAR (24 << 10) /* bytes of the rows of a window that stay in the nearest cache */
#define NARROW 64       /* channels a piece of work, at least: shorter runs of memory cost more */
#define PAST_CACHES ((int64_t)16 << 20) /* bytes of an output that goes to memory, not to the caches */

/* ---- rows --------------------------------------------------------------------------- */

struct work {
	const pe_encoding *e;
	const struct pe_depthwise *s;
	const pe_tensor *x, *y; /* (batch, tokens, dim) */
	int64_t height, width;  /* of y's grid */
	int64_t block, blocks;  /* channels a block, and how many */
	bool single;            /* computed in single precision; else in double */
	bool stream;
};

/* A block of channels of one batch. Rows are of floats if the work is single, else of doubles; each is the
 * grid's row between `reach` tokens of padding. */
struct block {
	const struct work *w;
	int64_t batch, channel, channels, width; /* width: channels, filled up */
	int64_t row;                             /* bytes of a row */
	bool whole;                              /* all rows are kept, not only those that a window reaches */
	char *rows, *zeros;
	const void **window; /* (frames, kernel) */
	double *out;         /* one token, or, in single precision, one row of y */
};

static size_t size_of(const struct work *w)
{
	return w->single ? sizeof(float) : sizeof(double);
}

/* Where a window finds place i of n, or -1: zeros. */
static int64_t source(enum pe_padding padding, int64_t i, int64_t n)
{
	if (i >= 0 && i < n)
		return i;
	if (padding == PE_PAD_CIRCULAR)
		return i < 0 ? i + n : i - n;
	if (padding == PE_PAD_REFLECT)
		return i < 0 ? -i : 2 * (n - 1) - i;
	if (padding == PE_PAD_REPLICATE)
		return i < 0 ? 0 : n - 1;
	return -1;
}

/* A row of the grid in the block. */
static char *row_of(const struct block *b, int64_t frame, int64_t y)
{
	const struct pe_depthwise *s = b->w->s;
	int64_t slot = b->whole ? frame * b->w->e->domain->height + y : y % s->kernel;
	return b->rows + slot * b->row;
}

static void load_single(float *out, const float *in, int64_t last, const struct block *b)
{
	bool relu = b->w->s->relu_first;
	if (last == 1 && !relu)
		memcpy(out, in, (size_t)b->channels * sizeof *out);
	else
		for (int64_t c = 0; c < b->channels; c++)
			out[c] = relu && in[c * last] < 0 ? 0 : in[c * last];
}

static void load_double(double *out, const char *in, int64_t last, const struct block *b)
{
	pe_load_f64(out, in, b->w->x->dtype, last, b->channels);
	for (int64_t c = 0; b->w->s->relu_first && c < b->channels; c++)
		out[c] = out[c] < 0 ? 0 : out[c];
}

/* `count` tokens from `first` on. */
static void load_tokens(const struct block *b, int64_t first, int64_t count, char *out)
{
	const pe_tensor *x = b->w->x;
	const char *in = pe_tensor_at(x, b->batch, first, b->channel);
	int64_t step = x->strides[1] * (int64_t)pe_dtype_size(x->dtype), last = x->strides[2];
	size_t token = (size_t)b->width * size_of(b->w);
	for (int64_t i = 0; i < count; i++, in += step, out += token)
		if (b->w->single)
			load_single((float *)(void *)out, (const float *)(const void *)in, last, b);
		else
			load_double((double *)(void *)out, in, last, b);
}

/* Copies a row of the grid and pads it. The filling of tokens and the zeros of rows stay as they began. */
static void load_row(const struct block *b, int64_t frame, int64_t y)
{
	const struct pe_depthwise *s = b->w->s;
	const pe_domain *domain = b->w->e->domain;
	int64_t first = domain->prefix + (frame * domain->height + y) * domain->width;
	size_t token = (size_t)b->width * size_of(b->w);
	char *row = row_of(b, frame, y), *own = row + (size_t)s->reach * token;
	load_tokens(b, first, domain->width, own);
	for (int64_t i = 0; i < 2 * s->reach; i++) {
		int64_t at = i < s->reach ? i - s->reach : domain->width + i - s->reach;
		int64_t from = source(s->padding, at, domain->width);
		if (from >= 0)
			memcpy(own + at * (int64_t)token, own + (size_t)from * token, token);
	}
}

static void find_window(const struct block *b, int64_t frame, int64_t y)
{
	const struct pe_depthwise *s = b->w->s;
	const pe_domain *domain = b->w->e->domain;
	const void **window = b->window;
	for (int64_t f = 0; f < s->frames; f++)
		for (int64_t r = 0; r < s->kernel; r++) {
			int64_t from = source(s->padding, frame + f - s->back, domain->frames);
			int64_t at = source(s->padding, y + r - s->reach, domain->height);
			*window++ = from < 0 || at < 0 ? b->zeros : row_of(b, from, at);
		}
}

/* ---- the convolution ---------------------------------------------------------------- */

static double activate(enum pe_activation activation, double v)
{
	if (activation == PE_ACT_RELU)
		return v < 0 ? 0 : v;
	return activation == PE_ACT_GELU ? 0.5 * v * (1 + erf(v / sqrt(2))) : v;
}

/* out[channels] ← token i of a row, as kernels/depthwise.h does it, in double. */
static void convolve_token(const struct block *b, int64_t i, const double *x, double *out)
{
	const struct pe_depthwise *s = b->w->s;
	int64_t taps = s->frames * s->kernel * s->kernel;
	const double *weight = s->taps + b->channel;
	memcpy(out, weight + taps * s->dim, (size_t)b->channels * sizeof *out);
	for (int64_t r = 0; r < s->frames * s->kernel; r++)
		for (int64_t t = 0; t < s->kernel; t++, weight += s->dim) {
			const double *in = (const double *)b->window[r] + (i * s->stride + t) * b->width;
			for (int64_t c = 0; c < b->channels; c++)
				out[c] += weight[c] * in[c];
		}
	for (int64_t c = 0; c < b->channels; c++)
		out[c] = activate(s->activation, out[c]);
	for (int64_t c = 0; x && c < b->channels; c++)
		out[c] = x[c] + out[c];
}

static void do_row_double(const struct block *b, int64_t first, const double *x)
{
	const struct pe_depthwise *s = b->w->s;
	const pe_tensor *y = b->w->y;
	for (int64_t i = 0; i < b->w->width; i++) {
		convolve_token(b, i, x ? x + i * s->stride * b->width : NULL, b->out);
		pe_store_f64(pe_tensor_at(y, b->batch, first + i, b->channel), y->dtype, y->strides[2], b->out, 1,
			b->channels);
	}
}

static void do_row_single(pe_context *worker, const struct block *b, int64_t first, const float *x)
{
	const struct pe_depthwise *s = b->w->s;
	const pe_tensor *y = b->w->y;
	bool direct = y->strides[2] == 1;
	float *out = (float *)(void *)(direct ? pe_tensor_at(y, b->batch, first, b->channel) : (char *)b->out);
	int64_t step = direct ? y->strides[1] : b->width;
	worker->kernels->depthwise(&(struct pe_depthwise_row){.rows = (const float *const *)b->window,
		.row_count = s->frames * s->kernel,
		.taps = s->kernel,
		.weight = s->rows_taps + b->channel,
		.bias = s->rows_taps + s->frames * s->kernel * s->kernel * s->step + b->channel,
		.x = x,
		.width = b->width,
		.weight_step = s->step,
		.stride = s->stride,
		.count = b->w->width,
		.y = out,
		.y_step = step,
		.channels = b->channels,
		.stream = direct && b->w->stream});
	for (int64_t i = 0; !direct && i < b->w->width; i++)
		for (int64_t c = 0; c < b->channels; c++)
			*(float *)(void *)pe_tensor_at(y, b->batch, first + i, b->channel + c) = out[i * step + c];
}

/* A row of y. Rows of x that it is the last to need may be overwritten by it. */
static void do_row(pe_context *worker, const struct block *b, int64_t frame, int64_t y)
{
	const struct work *w = b->w;
	const struct pe_depthwise *s = w->s;
	int64_t first = w->e->domain->prefix + (frame * w->height + y) * w->width;
	const char *x = row_of(b, frame, y * s->stride) + (size_t)(s->reach * b->width) * size_of(w);
	find_window(b, frame, y * s->stride);
	if (w->single)
		do_row_single(worker, b, first, s->residual ? (const float *)(const void *)x : NULL);
	else
		do_row_double(b, first, s->residual ? (const double *)(const void *)x : NULL);
}

static void do_block(pe_context *worker, const struct block *b)
{
	const struct pe_depthwise *s = b->w->s;
	const pe_domain *domain = b->w->e->domain;
	for (int64_t f = 0; b->whole && f < domain->frames; f++)
		for (int64_t y = 0; y < domain->height; y++)
			load_row(b, f, y);
	for (int64_t f = 0; f < domain->frames; f++)
		for (int64_t y = 0, next = 0; y < b->w->height; y++) {
			int64_t end = pe_min(y * s->stride + s->reach + 1, domain->height);
			for (next = pe_max(next, y * s->stride - s->reach); !b->whole && next < end; next++)
				load_row(b, f, next);
			do_row(worker, b, f, y);
		}
}

/* ---- work --------------------------------------------------------------------------- */

static pe_status start_block(pe_context *worker, struct block *b)
{
	const struct work *w = b->w;
	const struct pe_depthwise *s = w->s;
	const pe_domain *domain = w->e->domain;
	int64_t rows = s->kernel;
	b->whole = s->frames > 1 || s->padding == PE_PAD_CIRCULAR;
	if (b->whole)
		rows = domain->frames * domain->height;
	b->row = (domain->width + 2 * s->reach) * b->width * (int64_t)size_of(w);
	b->rows = pe_alloc_zero(worker, rows + 1, (size_t)b->row);
	b->window = pe_alloc(worker, s->frames * s->kernel, sizeof *b->window);
	b->out = pe_alloc(worker, b->width * w->width, sizeof *b->out);
	if (!b->rows || !b->window || !b->out)
		return PE_ERR_NOMEM;
	b->zeros = b->rows + rows * b->row;
	return PE_OK;
}

static pe_status do_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const struct pe_depthwise *s = w->s;
	struct block b = {.w = w, .batch = chunk / w->blocks, .channel = chunk % w->blocks * w->block};
	b.channels = pe_min(w->block, s->dim - b.channel);
	b.width = pe_depthwise_filled_up(b.channels);
	pe_status status = start_block(worker, &b);
	if (status == PE_OK)
		do_block(worker, &b);
	pe_free(worker, b.rows);
	pe_free(worker, b.window);
	pe_free(worker, b.out);
	return status;
}

pe_status pe_depthwise_windows(
	pe_encoding *e, const struct pe_depthwise *s, const pe_tensor *x, const pe_tensor *y)
{
	struct work w = {.e = e,
		.s = s,
		.x = x,
		.y = y,
		.height = pe_depthwise_strided(s, e->domain->height),
		.width = pe_depthwise_strided(s, e->domain->width),
		.single = x->dtype == PE_F32 && s->activation == PE_ACT_NONE};
	int64_t near = NEAR / (s->kernel * (e->domain->width + 2 * s->reach) * (int64_t)sizeof(float));
	w.block = pe_max(NARROW, near / PE_DEPTHWISE_LANES * PE_DEPTHWISE_LANES);
	w.blocks = (s->dim + w.block - 1) / w.block;
	w.stream = x->data != y->data && pe_tensor_bytes(y) >= PAST_CACHES;
	return pe_parallel(e->ctx, x->shape[0] * w.blocks, do_chunk, &w, "peg");
}
