/* SPDX-License-Identifier: BSD-2-Clause
 * Rotation of pairs of channels of many rows, in single precision:
 *   a' = a cos - b sin,  b' = a sin + b cos
 * each product and sum rounded, so that all sets give the same bits. */
#ifndef PE_ROTATE_H
#define PE_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

/* So many tokens a block is best for large tensors: their turns stay in the nearest cache, and the rows
 * of the next head, which are fetched while one head is rotated, in the next. */
#define PE_ROTATE_TOKENS 32

/* A block of tokens in all heads. Steps are in floats. Turns are those of the tokens, alike in all
 * heads; heads that are turned differently are blocks of their own. */
struct pe_rotate_block {
	const float *x; /* the row of token i in head h is at x + h x_head + i x_token */
	float *y;       /* likewise; x itself, with the same steps, or apart from it */
	int64_t x_head, x_token, y_head, y_token;
	int64_t heads, tokens, width;
	const float *cosine, *sine; /* those of token i at + i turn_step, `pairs` of each */
	int64_t turn_step;
	/* Pair t is channels (2t, 2t + 1) if half is 0, else (t, t + half), half ≥ pairs. All are below
	 * width. Channels in no pair are copied. */
	int64_t pairs, half;
	/* Write past the caches: for outputs that would not stay in them. Has no effect unless y, its steps
	 * and half are multiples of a vector's size; gains only out of place. */
	bool stream;
};

typedef void pe_rotate_fn(const struct pe_rotate_block *block);

#endif
