/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of depthwise.h, once an instruction set. Before this is included are defined:
 *   vec, VEC_LANES  a vector of floats that takes + and *
 *   vec_stream      vec_stream(p, a): stores past the caches; p is a multiple of the vector's size
 *   vec_fence       orders such stores before all later ones */
#include <string.h>

#include "depthwise.h"

#define TILE 4 /* tokens at once: their sums and the nine weights of 3 × 3 fit into 16 registers */
#define INLINE static inline __attribute__((always_inline))
#define EACH(i, n) _Pragma("GCC unroll 8") for (int i = 0; i < (n); i++)

INLINE vec at(const float *p)
{
	vec a;
	memcpy(&a, p, sizeof a);
	return a;
}

/* Where the sum of token i goes; all of a vector, or its first `lanes` numbers. */
INLINE void put(const struct pe_depthwise_row *d, int64_t i, int64_t channel, vec sum, const bool stream)
{
	int64_t lanes = d->channels - channel;
	float *y = d->y + i * d->y_step + channel;
	if (d->x)
		sum = at(d->x + i * d->stride * d->width + channel) + sum;
	if (lanes < VEC_LANES)
		memcpy(y, &sum, (size_t)lanes * sizeof *y);
	else if (stream)
		vec_stream(y, sum);
	else
		memcpy(y, &sum, sizeof sum);
}

/* Tokens i … i + TILE - 1 by 3 × 3 taps, next to each other: a value is read once for all its taps. */
INLINE void tile_of_three(const struct pe_depthwise_row *d, int64_t i, int64_t channel, vec weight[3][3],
	vec bias, const bool stream)
{
	vec sum[TILE] = {bias, bias, bias, bias};
	EACH(r, 3)
	{
		const float *x = d->rows[r] + i * d->width + channel;
		EACH(j, TILE + 2)
		{
			vec value = at(x + j * d->width);
			EACH(t, 3)
			if (j >= t && j - t < TILE)
				sum[j - t] += weight[r][t] * value;
		}
	}
	EACH(k, TILE) put(d, i + k, channel, sum[k], stream);
}

/* `tokens` tokens from i on, by any taps. */
INLINE void tile(
	const struct pe_depthwise_row *d, int64_t i, int64_t channel, const int tokens, const bool stream)
{
	vec sum[TILE];
	EACH(k, tokens) sum[k] = at(d->bias + channel);
	for (int64_t r = 0; r < d->row_count; r++) {
		const float *x = d->rows[r] + i * d->stride * d->width + channel;
		const float *weight = d->weight + r * d->taps * d->width + channel;
		for (int64_t t = 0; t < d->taps; t++) {
			vec w = at(weight + t * d->width);
			EACH(k, tokens) sum[k] += w * at(x + (k * d->stride + t) * d->width);
		}
	}
	EACH(k, tokens) put(d, i + k, channel, sum[k], stream);
}

/* Returns how many tokens are done. */
INLINE int64_t do_three(const struct pe_depthwise_row *d, int64_t channel, const bool stream)
{
	vec weight[3][3], bias = at(d->bias + channel);
	EACH(r, 3) EACH(t, 3) weight[r][t] = at(d->weight + (r * 3 + t) * d->width + channel);
	int64_t i = 0;
	for (; i + TILE <= d->count; i += TILE)
		tile_of_three(d, i, channel, weight, bias, stream);
	return i;
}

INLINE void do_channels(const struct pe_depthwise_row *d, int64_t channel, const bool stream)
{
	int64_t i = 0;
	if (d->row_count == 3 && d->taps == 3 && d->stride == 1)
		i = do_three(d, channel, stream);
	for (; i + TILE <= d->count; i += TILE)
		tile(d, i, channel, TILE, stream);
	for (; i < d->count; i++)
		tile(d, i, channel, 1, stream);
}

static void depthwise_row(const struct pe_depthwise_row *d)
{
	bool stream = d->stream && (uintptr_t)d->y % sizeof(vec) == 0 && d->y_step % VEC_LANES == 0;
	for (int64_t c = 0; c < d->channels; c += VEC_LANES)
		if (stream)
			do_channels(d, c, true);
		else
			do_channels(d, c, false);
	if (stream)
		vec_fence();
}

#undef INLINE
#undef EACH
