/* SPDX-License-Identifier: BSD-2-Clause
 * Depthwise convolutions of a grid's tokens where they lie, their channels together: what peg.c is made of.
 *   y = x + act(bias + sum of weight x), or without x; x may be taken by relu first.
 * x and y are (batch, tokens, dim) of one type, y may be x; tokens before the grid's are not touched. */
#ifndef PE_DEPTHWISE_GRID_H
#define PE_DEPTHWISE_GRID_H

#include "encoder.h"
#include "kernels/kernels.h"

enum pe_padding { PE_PAD_ZERO, PE_PAD_REFLECT, PE_PAD_CIRCULAR, PE_PAD_REPLICATE };
enum pe_activation { PE_ACT_NONE, PE_ACT_RELU, PE_ACT_GELU };

struct pe_depthwise {
	int64_t dim, kernel, frames, stride; /* frames: taps over frames */
	int64_t reach;                       /* kernel / 2 */
	int64_t back;                        /* frames before its own that a window sees */
	enum pe_padding padding;
	enum pe_activation activation;
	bool residual, relu_first;
	double *taps;      /* (frames, kernel, kernel, dim), then bias */
	float *rows_taps;  /* the same with dim filled up to `step`, a multiple of PE_DEPTHWISE_LANES */
	float *strip_taps; /* as struct pe_depthwise_strip has them, or NULL if it cannot do this */
	int64_t step;
};

/* Packs weight (dim, taps of a channel) and bias (dim). */
pe_status pe_depthwise_pack(
	pe_context *ctx, struct pe_depthwise *s, const double *weight, const double *bias) PE_NODISCARD;
void pe_depthwise_free(pe_context *ctx, struct pe_depthwise *s);

/* Any of them, of any type: a block of channels is copied with its padding, as many rows as a window reaches.
 * In double, or in single precision if x is f32 and there is no activation. */
pe_status pe_depthwise_windows(
	pe_encoding *e, const struct pe_depthwise *s, const pe_tensor *x, const pe_tensor *y) PE_NODISCARD;

/* f32, with strip_taps: to the same bits, with nothing copied but what lies badly. */
pe_status pe_depthwise_strips(
	pe_encoding *e, const struct pe_depthwise *s, const pe_tensor *x, const pe_tensor *y) PE_NODISCARD;

/* The rows or columns that windows `stride` apart have of n. */
static inline int64_t pe_depthwise_strided(const struct pe_depthwise *s, int64_t n)
{
	return (n - 1) / s->stride + 1;
}

static inline int64_t pe_depthwise_filled_up(int64_t channels)
{
	return (channels + PE_DEPTHWISE_LANES - 1) / PE_DEPTHWISE_LANES * PE_DEPTHWISE_LANES;
}

#endif
