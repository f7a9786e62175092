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

/* Weights of a row of three taps. Named: GCC would keep arrays of them in memory. */
struct three {
	vec a, b, c;
};

struct four {
	vec s, t, u, v;
};

INLINE struct three three_at(const float *weight, int64_t step)
{
	return (struct three){at(weight), at(weight + step), at(weight + 2 * step)};
}

/* Adds one row's part to the sums of four tokens; a value is read once for all its taps. */
INLINE struct four add_three(struct four sum, const float *x, int64_t width, struct three w)
{
	vec p = at(x), q = at(x + width), r = at(x + 2 * width);
	sum.s = sum.s + w.a * p + w.b * q + w.c * r;
	p = at(x + 3 * width);
	sum.t = sum.t + w.a * q + w.b * r + w.c * p;
	q = at(x + 4 * width);
	sum.u = sum.u + w.a * r + w.b * p + w.c * q;
	r = at(x + 5 * width);
	sum.v = sum.v + w.a * p + w.b * q + w.c * r;
	return sum;
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

/* 3 × 3 taps next to each other, of at least TILE tokens; the last tile may do some again. */
INLINE void do_three(const struct pe_depthwise_row *d, int64_t channel, const bool stream)
{
	const float *x = d->rows[0] + channel, *y = d->rows[1] + channel, *z = d->rows[2] + channel;
	const float *weight = d->weight + channel;
	const struct three above = three_at(weight, d->weight_step);
	const struct three own = three_at(weight + 3 * d->weight_step, d->weight_step);
	const struct three below = three_at(weight + 6 * d->weight_step, d->weight_step);
	const vec bias = at(d->bias + channel);
	const int64_t width = d->width, step = d->y_step, count = d->count, lanes = d->channels - channel;
	for (int64_t next = 0; next < count; next += TILE) {
		int64_t i = next + TILE <= count ? next : count - TILE, first = i * width;
		struct four sum = {bias, bias, bias, bias};
		sum = add_three(sum, x + first, width, above);
		sum = add_three(sum, y + first, width, own);
		sum = add_three(sum, z + first, width, below);
		float *out = d->y + channel + i * step;
		const float *in = d->x ? d->x + channel + first : NULL;
		put(out, in, lanes, sum.s, stream);
		put(out + step, in ? in + width : NULL, lanes, sum.t, stream);
		put(out + 2 * step, in ? in + 2 * width : NULL, lanes, sum.u, stream);
		put(out + 3 * step, in ? in + 3 * width : NULL, lanes, sum.v, stream);
	}
}

INLINE void do_any(const struct pe_depthwise_row *d, int64_t channel, const bool stream)
{
	int64_t i = 0;
	for (; i + TILE <= d->count; i += TILE)
		tile(d, i, channel, TILE, stream);
	for (; i < d->count; i++)
		tile(d, i, channel, 1, stream);
}

INLINE void do_channels(const struct pe_depthwise_row *d, int64_t channel, const bool stream)
{
	if (d->row_count == 3 && d->taps == 3 && d->stride == 1 && d->count >= TILE)
		do_three(d, channel, stream);
	else
		do_any(d, channel, stream);
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

#undef INLINE
#undef EACH
