/* SPDX-License-Identifier: BSD-2-Clause
 * One row of a depthwise convolution whose channels lie together in memory, in single precision:
 *   y[i] = x[i] + (bias + sum over r, t of weight[r][t] rows[r][i stride + t])
 * summed in that order, each product and sum rounded, so that all sets give the same bits. */
#ifndef PE_DEPTHWISE_H
#define PE_DEPTHWISE_H

#include <stdbool.h>
#include <stdint.h>

#define PE_DEPTHWISE_LANES 16

/* Tokens of rows and x are `width` floats; width and weight_step are multiples of PE_DEPTHWISE_LANES. */
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

#endif
