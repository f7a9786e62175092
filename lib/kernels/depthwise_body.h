/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of depthwise.h, once an instruction set. Before this is included are defined:
 *   vec, VEC_LANES  a vector of floats that takes + and *
 *   VEC_COLUMNS     of a strip at once, 4 or 2: the more, the fewer reads, if registers hold sums and weights
 *   vec_stream      vec_stream(p, a): stores past the caches; p is a multiple of the vector's size
 *   vec_sum         a + b, by a unit that multiplies if there are others that only add
 *   vec_keep        vec_keep(&a, &b): has both computed here in the order of instructions, or nothing
 *   vec_fence       orders such stores before all later ones */
#include <string.h>

#include "depthwise.h"

#define TILE 4 /* tokens at once, whose sums are in registers */
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__ /* which does not read GCC's, and would keep arrays of vectors in memory */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define EACH(i, n) UNROLL for (int i = 0; i < (n); i++)

typedef vec loose_vec __attribute__((aligned(4)));

INLINE vec at(const float *p)
{
	return *(const loose_vec *)p;
}

/* y ← x + sum, or sum without x: all lanes, or the first `lanes` of them. */
INLINE void put(float *y, const float *x, int64_t lanes, vec sum, const bool stream)
{
	if (x)
		sum = at(x) + sum;
	if (lanes < VEC_LANES) {
		vec part = sum; /* so that sum itself is never in memory */
		memcpy(y, &part, (size_t)lanes * sizeof *y);
	} else if (stream) {
		vec_stream(y, sum);
	} else {
		*(loose_vec *)y = sum;
	}
}

/* `tokens` tokens from i on, by any taps. */
INLINE void tile(
	const struct pe_depthwise_row *d, int64_t i, int64_t channel, const int tokens, const bool stream)
{
	vec sum[TILE];
	EACH(k, tokens) sum[k] = at(d->bias + channel);
	for (int64_t r = 0; r < d->row_count; r++) {
		const float *x = d->rows[r] + i * d->stride * d->width + channel;
		const float *weight = d->weight + r * d->taps * d->weight_step + channel;
		for (int64_t t = 0; t < d->taps; t++) {
			vec w = at(weight + t * d->weight_step);
			EACH(k, tokens) sum[k] += w * at(x + (k * d->stride + t) * d->width);
		}
	}
	EACH(k, tokens)
	put(d->y + (i + k) * d->y_step + channel, d->x ? d->x + (i + k) * d->stride * d->width + channel : NULL,
		d->channels - channel, sum[k], stream);
}

INLINE void do_channels(const struct pe_depthwise_row *d, int64_t channel, const bool stream)
{
	int64_t i = 0;
	for (; i + TILE <= d->count; i += TILE)
		tile(d, i, channel, TILE, stream);
	for (; i < d->count; i++)
		tile(d, i, channel, 1, stream);
}

static void depthwise_row(const struct pe_depthwise_row *row)
{
	const struct pe_depthwise_row copy = *row,
								  *d = &copy; /* which the compiler knows that no store changes */
	bool stream = d->stream && (uintptr_t)d->y % sizeof(vec) == 0 && d->y_step % VEC_LANES == 0;
	for (int64_t c = 0; c < d->channels; c += VEC_LANES)
		if (stream)
			do_channels(d, c, true);
		else
			do_channels(d, c, false);
	if (stream)
		vec_fence();
}
