/* SPDX-License-Identifier: BSD-2-Clause
 * Resampling a grid of vectors, one axis after the other. A piece of work is a block of channels, copied so
 * that its tokens lie together, of a band of the new grid's rows. The axis that leaves less to do comes
 * first: down, a row of the new grid at a time, or across, all rows that the band needs. */
#include <string.h>

#include "kernels/kernels.h"
#include "pool.h"
#include "resample.h"
#include "tensor.h"

#define CHANNELS 64    /* of a block */
#define BAND 16        /* rows of a band, where blocks alone are too few to share */
#define NEAR (1 << 19) /* bytes of a block that stay in a near cache */
#define MANY_BLOCKS 8  /* enough to share */
#define LINE 64        /* bytes */
#define AHEAD 8        /* tokens: memory is told what is wanted next, pages apart as tokens are */

struct work {
	const struct pe_grid_resample *g;
	const pe_tensor *out;
	int64_t skip, last;
	int64_t blocks, band;
	bool down_first;
};

/* A piece of work. */
struct piece {
	const struct work *w;
	const struct pe_kernels *kernels;
	int64_t channel, channels;
	int64_t from, to;  /* rows of the new grid */
	int64_t low, high; /* rows of the old one that they need */
	double *old;       /* (high - low, across.in, channels) */
	double *half;      /* one axis done: a new row of across.in, or high - low old rows of `columns` */
	double *token;     /* one, where the output cannot take it as it comes */
};

/* Multiplications a channel. */
static bool is_down_first(const struct pe_grid_resample *g)
{
	double rows = (double)g->rows, columns = (double)g->columns;
	double down = (double)g->down.taps, across = (double)g->across.taps;
	double down_first = rows * (double)g->across.in * down + rows * columns * across;
	double across_first = (double)g->down.in * columns * across + rows * columns * down;
	return down_first <= across_first;
}

static void copy_block(const struct piece *p)
{
	const struct pe_grid_resample *g = p->w->g;
	const double *in = g->in + p->low * g->across.in * g->channels + p->channel;
	double *out = p->old;
	int64_t count = (p->high - p->low) * g->across.in;
	for (int64_t i = 0; i < count; i++, in += g->channels, out += p->channels) {
		for (int64_t c = 0; c < p->channels && i + AHEAD < count; c += LINE / (int64_t)sizeof *in)
			__builtin_prefetch(in + AHEAD * g->channels + c);
		memcpy(out, in, (size_t)p->channels * sizeof *out);
	}
}

/* Number of a place among the grid's tokens. */
static int64_t number_of(const struct pe_grid_resample *g, int64_t y, int64_t x)
{
	int64_t side = g->block;
	if (side == 1)
		return y * g->columns + x;
	int64_t block = y / side * (g->columns / side) + x / side;
	return (block * side + y % side) * side + x % side;
}

/* The last sum of a token. */
static void put_token(const struct piece *p, int64_t y, int64_t x, struct pe_weighted_sum *sum)
{
	const struct pe_grid_resample *g = p->w->g;
	const pe_tensor *out = p->w->out;
	int64_t number = number_of(g, y, x) - p->w->skip;
	if (number < 0)
		return;
	if (g->plus)
		sum->plus =
			g->plus + (y % g->plus_height * g->plus_width + x % g->plus_width) * g->channels + p->channel;
	int64_t offset = number * out->strides[0] + p->channel * out->strides[1];
	char *to = (char *)out->data + offset * (int64_t)pe_dtype_size(out->dtype);
	if (out->strides[1] == 1 && out->dtype == PE_F32) {
		float *here = (float *)(void *)to;
		for (int64_t c = 0; c < p->channels && number + AHEAD < p->w->last; c += LINE / (int64_t)sizeof *here)
			__builtin_prefetch(here + AHEAD * out->strides[0] + c, 1);
		p->kernels->weighted_sum_f32(sum, here);
	} else {
		p->kernels->weighted_sum(sum, p->token);
		pe_store_f64(to, out->dtype, out->strides[1], p->token, 1, p->channels);
	}
}

static void do_down_first(const struct piece *p)
{
	const struct pe_resample *down = &p->w->g->down, *across = &p->w->g->across;
	int64_t row = across->in * p->channels;
	for (int64_t y = p->from; y < p->to; y++) {
		struct pe_weighted_sum sum = {.in = p->old + (down->first[y] - p->low) * row,
			.weights = down->weights + y * down->taps,
			.step = row,
			.count = down->count[y],
			.n = row};
		p->kernels->weighted_sum(&sum, p->half);
		for (int64_t x = 0; x < p->w->g->columns; x++) {
			sum = (struct pe_weighted_sum){.in = p->half + across->first[x] * p->channels,
				.weights = across->weights + x * across->taps,
				.step = p->channels,
				.count = across->count[x],
				.n = p->channels};
			put_token(p, y, x, &sum);
		}
	}
}

static void do_across_first(const struct piece *p)
{
	const struct pe_resample *down = &p->w->g->down, *across = &p->w->g->across;
	int64_t columns = p->w->g->columns, row = columns * p->channels;
	for (int64_t i = 0; i < (p->high - p->low) * columns; i++) {
		int64_t y = i / columns, x = i % columns;
		struct pe_weighted_sum sum = {.in = p->old + (y * across->in + across->first[x]) * p->channels,
			.weights = across->weights + x * across->taps,
			.step = p->channels,
			.count = across->count[x],
			.n = p->channels};
		p->kernels->weighted_sum(&sum, p->half + i * p->channels);
	}
	for (int64_t y = p->from; y < p->to; y++)
		for (int64_t x = 0; x < columns; x++) {
			struct pe_weighted_sum sum = {.in = p->half + (down->first[y] - p->low) * row + x * p->channels,
				.weights = down->weights + y * down->taps,
				.step = row,
				.count = down->count[y],
				.n = p->channels};
			put_token(p, y, x, &sum);
		}
}

static pe_status do_piece(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const struct pe_grid_resample *g = w->g;
	struct piece p = {.w = w, .kernels = worker->kernels};
	p.channel = chunk % w->blocks * CHANNELS;
	p.channels = pe_min(CHANNELS, g->channels - p.channel);
	p.from = chunk / w->blocks * w->band;
	p.to = pe_min(p.from + w->band, g->rows);
	pe_resample_span(&g->down, p.from, p.to, &p.low, &p.high);
	int64_t halves = w->down_first ? g->across.in : (p.high - p.low) * g->columns;
	size_t token = (size_t)p.channels * sizeof(double);
	p.old = pe_alloc(worker, (p.high - p.low) * g->across.in, token);
	p.half = pe_alloc(worker, halves, token);
	p.token = pe_alloc(worker, 1, token);
	bool there = p.old && p.half && p.token;
	if (there) {
		copy_block(&p);
		if (w->down_first)
			do_down_first(&p);
		else
			do_across_first(&p);
	}
	pe_free(worker, p.old);
	pe_free(worker, p.half);
	pe_free(worker, p.token);
	return there ? PE_OK : PE_ERR_NOMEM;
}

pe_status pe_resample_tokens(
	pe_context *ctx, const struct pe_grid_resample *grid, int64_t skip, const pe_tensor *out)
{
	struct work w = {.g = grid, .out = out, .skip = skip, .last = out->shape[0]};
	w.down_first = is_down_first(grid);
	w.blocks = (grid->channels + CHANNELS - 1) / CHANNELS;
	bool near = grid->down.in * grid->across.in <= NEAR / (CHANNELS * (int64_t)sizeof(double));
	w.band = near && w.blocks >= MANY_BLOCKS ? grid->rows : BAND;
	int64_t bands = (grid->rows + w.band - 1) / w.band;
	return pe_parallel(ctx, w.blocks * bands, do_piece, &w, "resampling");
}

pe_status pe_resample_grid(pe_context *ctx, const struct pe_resample_rule *y,
	const struct pe_resample_rule *x, const double *in, int64_t height, int64_t width, int64_t channels,
	int64_t new_height, int64_t new_width, double *out)
{
	struct pe_grid_resample grid = {
		.in = in, .channels = channels, .rows = new_height, .columns = new_width, .block = 1};
	const int64_t shape[] = {new_height * new_width, channels};
	pe_tensor to = pe_tensor_dense(out, PE_F64, 2, shape);
	pe_status status = pe_resample_make(ctx, y, height, new_height, &grid.down);
	if (status == PE_OK)
		status = pe_resample_make(ctx, x, width, new_width, &grid.across);
	if (status == PE_OK)
		status = pe_resample_tokens(ctx, &grid, 0, &to);
	pe_resample_free(ctx, &grid.down);
	pe_resample_free(ctx, &grid.across);
	return status;
}
