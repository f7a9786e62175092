/* SPDX-License-Identifier: BSD-2-Clause
 * Depthwise convolutions whose channels lie together in memory, in single precision:
 *   y[i] = x[i] + (bias + sum over r, t of weight[r][t] rows[r][i stride + t])
 * summed in that order, each product and sum rounded, so that all sets give the same bits. */
#ifndef PE_DEPTHWISE_H
#define PE_DEPTHWISE_H

#include <stdbool.h>
#include <stdint.h>

#define PE_DEPTHWISE_LANES 16

/* One row, by any taps. Tokens of rows and x are `width` floats; width and weight_step are multiples of
 * PE_DEPTHWISE_LANES. */
struct pe_depthwise_row {
	const float *const *rows; /* row_count of them, each of (count - 1) stride + taps tokens */
	int64_t row_count, taps;
	const float *weight; /* (row_count, taps, weight_step), of which `width` floats are read */
	const float *bias;   /* width */
	const float *x;      /* what is added, count tokens, stride tokens apart; or NULL: nothing */
	int64_t width, weight_step, stride, count;
	float *y; /* count tokens of `channels` floats, channels ≤ width, y_step floats apart */
	int64_t y_step, channels;
	/* Write past the caches: for outputs that would not stay in them. Has no effect unless y and y_step
	 * are multiples of a vector's size. */
	bool stream;
};

typedef void pe_depthwise_fn(const struct pe_depthwise_row *row);

#define PE_STRIP_WEIGHTS (10 * PE_DEPTHWISE_LANES) /* floats of PE_DEPTHWISE_LANES channels */

/* `rows` rows, at least one, of 3 × 3 taps a pixel apart, of the same columns; y may be x. Steps lead from
 * one token of a row to the next; channels are a multiple of PE_DEPTHWISE_LANES. */
struct pe_depthwise_strip {
	const float *weight; /* (channels / lanes, 10, lanes): nine taps and the bias */
	const float *x;
	float *y;
	int64_t x_row, x_step, y_row, y_step;
	/* The rows of x before and after. With step 0, of PE_DEPTHWISE_LANES floats: what all their tokens and
	 * channels are. */
	const float *above, *below;
	int64_t above_step, below_step;
	/* (channels / lanes, rows + 2, lanes), the column before, from the row above to that below; becomes the
	 * last one of x as it was, so that the next strip beside it may begin there. */
	float *left;
	bool last; /* column: zeros follow it; else x goes on */
	bool residual;
	bool stream; /* write past the caches: y and its steps are then multiples of PE_DEPTHWISE_LANES floats */
	int64_t rows, columns, channels;
	/* What to fetch into a cache meanwhile, as large as x; or NULL. */
	const float *ahead;
	int64_t ahead_row, ahead_step;
};

typedef void pe_depthwise_strip_fn(const struct pe_depthwise_strip *strip);

#endif
