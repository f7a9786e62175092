/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of rotate.h, once an instruction set. Before this is included are defined:
 *   vec           a vector of VEC_LANES floats
 *   vec_twice     vec_twice(p): p[0], p[0], p[1], p[1], … of VEC_LANES / 2 numbers
 *   vec_swap      each even lane exchanged with the odd one behind it
 *   vec_turned    vec_turned(a, b): a - b in even lanes, a + b in odd ones
 *   vec_fetch     vec_fetch(p): begins to bring p's cache line into the second cache
 *   vec_stream    vec_stream(p, a): stores past the caches; p is a multiple of the vector's size
 *   vec_fence     orders such stores before all later ones */
#include <string.h>

#include "rotate.h"

#define LINE 16 /* floats in a cache line */
#define INLINE static inline __attribute__((always_inline))

INLINE vec at(const float *p)
{
	vec a;
	memcpy(&a, p, sizeof a);
	return a;
}

INLINE void put(float *p, vec a, const bool stream)
{
	if (stream)
		vec_stream(p, a);
	else
		memcpy(p, &a, sizeof a);
}

INLINE void rotate_pair(const float *x, float *y, int64_t first, int64_t second, float c, float s)
{
	float a = x[first], b = x[second];
	y[first] = a * c - b * s;
	y[second] = b * c + a * s;
}

INLINE void rotate_neighbours(
	const float *x, float *y, const float *c, const float *s, int64_t pairs, const bool stream)
{
	int64_t t = 0;
	for (; t + VEC_LANES / 2 <= pairs; t += VEC_LANES / 2) {
		vec a = at(x + 2 * t);
		put(y + 2 * t, vec_turned(a * vec_twice(c + t), vec_swap(a) * vec_twice(s + t)), stream);
	}
	for (; t < pairs; t++)
		rotate_pair(x, y, 2 * t, 2 * t + 1, c[t], s[t]);
}

#define VECS (LINE / VEC_LANES)

/* A cache line of first channels, then one of second ones: stores past the caches come line by line. */
INLINE void rotate_line(
	const float *x, float *y, const float *c, const float *s, int64_t half, const bool stream)
{
	vec second[VECS];
#pragma GCC unroll 4
	for (int v = 0; v < VECS; v++) {
		const int t = v * VEC_LANES;
		vec a = at(x + t), b = at(x + half + t), cosine = at(c + t), sine = at(s + t);
		put(y + t, a * cosine - b * sine, stream);
		second[v] = b * cosine + a * sine;
	}
#pragma GCC unroll 4
	for (int v = 0; v < VECS; v++)
		put(y + half + v * VEC_LANES, second[v], stream);
}

INLINE void rotate_halves(
	const float *x, float *y, const float *c, const float *s, int64_t pairs, int64_t half, const bool stream)
{
	int64_t t = 0;
	for (; t + LINE <= pairs; t += LINE)
		rotate_line(x + t, y + t, c + t, s + t, half, stream);
	for (; t < pairs; t++)
		rotate_pair(x, y, t, half + t, c[t], s[t]);
}

INLINE void copy_channels(const float *x, float *y, int64_t first, int64_t end)
{
	if (first < end)
		memcpy(y + first, x + first, (size_t)(end - first) * sizeof *y);
}

INLINE void rotate_row(
	const struct pe_rotate_block *b, const float *x, float *y, int64_t turn, const bool stream)
{
	const float *c = b->cosine + turn, *s = b->sine + turn;
	if (b->half > 0)
		rotate_halves(x, y, c, s, b->pairs, b->half, stream);
	else
		rotate_neighbours(x, y, c, s, b->pairs, stream);
	if (x != y) {
		copy_channels(x, y, b->pairs, b->half);
		copy_channels(x, y, b->half > 0 ? b->half + b->pairs : 2 * b->pairs, b->width);
	}
}

/* Steps of x, of y and of the turns. */
struct loop {
	int64_t count, x, y, turn;
};

/* A processor does not foresee the jump to the next head: its rows are fetched one by one meanwhile. */
INLINE void rotate_all(const struct pe_rotate_block *b, const bool stream)
{
	struct loop outer = {b->heads, b->x_head, b->y_head, 0},
				inner = {b->tokens, b->x_token, b->y_token, b->turn_step};
	if (b->x_head < b->x_token) {
		struct loop swap = outer;
		outer = inner;
		inner = swap;
	}
	for (int64_t i = 0; i < outer.count; i++)
		for (int64_t j = 0; j < inner.count; j++) {
			const float *x = b->x + i * outer.x + j * inner.x;
			if (i + 1 < outer.count)
				for (int64_t c = 0; c < b->width; c += LINE)
					vec_fetch(x + outer.x + c);
			rotate_row(b, x, b->y + i * outer.y + j * inner.y, i * outer.turn + j * inner.turn, stream);
		}
}

static void rotate_block(const struct pe_rotate_block *b)
{
	int64_t steps = b->y_head | b->y_token | b->half;
	if (b->stream && (uintptr_t)b->y % sizeof(vec) == 0 && steps % VEC_LANES == 0) {
		rotate_all(b, true);
		vec_fence();
	} else {
		rotate_all(b, false);
	}
}

#undef INLINE
