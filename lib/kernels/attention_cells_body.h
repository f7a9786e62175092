/* SPDX-License-Identifier: BSD-2-Clause
 * Those loops of attention_tile.h that go over the cells of a tile: softcap, gains, biases, content and
 * masks. A part of attention_tile_body.h. */
#include "attention_tile.h"
#include "float_lanes.h"

/* tanh, to 1e-7 of itself: its series where |x| < 1/4, else by 2^-|x|, which cannot overflow. */
INLINE vec vec_tanh(vec x)
{
	const vec one = vec_all(1.0f);
	vec size = vec_max(-x, x), square = x * x;
	vec power = vec_exp2(vec_all(-2.88539008f) * size), large = (one - power) / (one + power);
	vec series = vec_fused(vec_all(0.0218694885f), square, vec_all(-0.0539682540f));
	series = vec_fused(series, square, vec_all(0.133333333f));
	series = vec_fused(series, square, vec_all(-0.333333333f));
	series = vec_fused(series * square, size, size);
	vec_bits sign = (vec_bits)x & INT32_MIN, near = (vec_bits)(size < vec_all(0.25f));
	return (vec)(((vec_bits)series & near) | ((vec_bits)large & ~near) | sign);
}

INLINE vec adjusted(const struct pe_tile_adjust *t, vec s, int64_t key, int64_t lane)
{
	if (t->softcap > 0.0f)
		s = vec_all(t->softcap) * vec_tanh(s / vec_all(t->softcap));
	if (t->gain)
		s *= at_loose(t->gain + key * t->gain_step + lane);
	if (t->bias)
		s += at_loose(t->bias + key * t->bias_step + lane);
	return s;
}

static void tile_adjust(const struct pe_tile_adjust *t)
{
	for (int v = 0; v < t->vecs; v++) {
		vec greatest = vec_all(-__builtin_inff());
		for (int64_t j = 0; j < t->keys; j++) {
			float *cell = t->scores + (j * t->vecs + v) * VEC_LANES;
			vec s = adjusted(t, at(cell), j, v * VEC_LANES);
			put(cell, s);
			greatest = vec_max(s, greatest);
		}
		put(t->max + v * VEC_LANES, greatest);
	}
}

/* One vector of lanes, from `lane` on, of all keys. */
INLINE void gather_lanes(const struct pe_tile_gather *t, const int lane, const bool by_key)
{
	int32_t lanes = t->vecs * VEC_LANES;
	int32_t first = t->first, count = t->count;
	int64_t keys = t->keys;
	const int32_t *index = t->index + lane;
	const float *products = t->products + (by_key ? 0 : lane);
	float *scores = t->scores + lane;
	vec scale = t->scale ? at(t->scale + lane) : vec_all(1.0f), greatest = vec_all(-__builtin_inff());
	for (int64_t j = 0; j < keys; j++) {
		vec_bits row = *(const loose_bits *)(index - j) - first;
		vec x = vec_gather(by_key ? products + j * count : products, row, count, by_key ? 0 : lanes);
		x = vec_fused(scale, x, at(scores + j * lanes));
		put(scores + j * lanes, x);
		greatest = vec_max(x, greatest);
	}
	put(t->max + lane, greatest);
}

static void tile_gather(const struct pe_tile_gather *t)
{
	for (int v = 0; v < t->vecs; v++)
		if (t->by_key)
			gather_lanes(t, v * VEC_LANES, true);
		else
			gather_lanes(t, v * VEC_LANES, false);
}

/* Of a key's row of products every lane wants another one. Keys of a vector of lanes are taken so many at a
 * time, and lanes go to their rows by the bits of their number. */
#define SLANT 8

/* x[m] ← x[m + step] in the lanes whose number has this bit. */
INLINE void slant_by(vec x[SLANT - 1 + VEC_LANES], const int step)
{
	vec_bits moves;
	for (int i = 0; i < VEC_LANES; i++)
		moves[i] = (i & step) != 0 ? -1 : 0;
	_Pragma("GCC unroll 16") for (int m = 0; m < SLANT - 1 + step; m++) x[m] =
		(vec)(((vec_bits)x[m + step] & moves) | ((vec_bits)x[m] & ~moves));
}

/* x[m][i] ← element i of row m + i. */
INLINE void slant_rows(const float *rows, int64_t lanes, vec x[SLANT - 1 + VEC_LANES])
{
	_Pragma("GCC unroll 32") for (int m = 0; m < SLANT - 1 + VEC_LANES; m++) x[m] = at(rows + m * lanes);
	if (VEC_LANES > 8)
		slant_by(x, VEC_LANES > 8 ? 8 : 0);
	if (VEC_LANES > 4)
		slant_by(x, VEC_LANES > 4 ? 4 : 0);
	slant_by(x, 2);
	slant_by(x, 1);
}

/* One vector of lanes, from `lane` on. */
static void slant_lanes(const struct pe_tile_slant *t, int64_t lane)
{
	int64_t lanes = t->vecs * VEC_LANES, j = 0;
	float *scores = t->scores + lane;
	const float *products = t->products + lane * lanes + lane;
	vec greatest = vec_all(-__builtin_inff());
	for (; j + SLANT <= t->keys; j += SLANT) {
		vec x[SLANT - 1 + VEC_LANES];
		slant_rows(products - (j + SLANT - 1) * lanes, lanes, x);
		_Pragma("GCC unroll 8") for (int u = 0; u < SLANT; u++)
		{
			vec s = at(scores + (j + u) * lanes) + x[SLANT - 1 - u];
			put(scores + (j + u) * lanes, s);
			greatest = vec_max(s, greatest);
		}
	}
	for (; j < t->keys; j++) {
		for (int i = 0; i < VEC_LANES; i++)
			scores[j * lanes + i] += products[(i - j) * lanes + i];
		greatest = vec_max(at(scores + j * lanes), greatest);
	}
	put(t->max + lane, greatest);
}

static void slant_lanes_by_key(const struct pe_tile_slant *t, int64_t lane)
{
	int64_t lanes = t->vecs * VEC_LANES;
	vec scale = at(t->scale + lane), greatest = vec_all(-__builtin_inff());
	for (int64_t j = 0; j < t->keys; j++) {
		float *scores = t->scores + j * lanes + lane;
		vec s = vec_fused(scale, at_loose(t->products + j * (t->stride - 1) + lane), at(scores));
		put(scores, s);
		greatest = vec_max(s, greatest);
	}
	put(t->max + lane, greatest);
}

static void tile_slant(const struct pe_tile_slant *t)
{
	for (int v = 0; v < t->vecs; v++)
		if (t->by_key)
			slant_lanes_by_key(t, v * VEC_LANES);
		else
			slant_lanes(t, v * VEC_LANES);
}

static void tile_shift(
	float *out, const float *q, int vecs, const float *scale, const float *row, int64_t width)
{
	for (int64_t c = 0; c < width; c++)
		for (int v = 0; v < vecs; v++) {
			int64_t cell = (c * vecs + v) * VEC_LANES;
			put(out + cell, vec_fused(at(scale + v * VEC_LANES), vec_all(row[c]), at(q + cell)));
		}
}

/* Each run over what the one before it wrote too much. */
static void tile_copy(const struct pe_tile_copy *t)
{
	for (int64_t j = 0; j < t->keys; j++) {
		float *out = t->out + j * t->vecs * VEC_LANES;
		for (int r = 0; r < t->runs; r++) {
			const float *from = t->from[r] - j * t->step[r];
			for (int32_t lane = t->start[r]; lane < t->start[r + 1]; lane += VEC_LANES)
				*(loose_vec *)(out + lane) = at_loose(from + lane - t->start[r]);
		}
	}
}

INLINE vec chosen(vec_bits which, vec a, vec b)
{
	return (vec)(((vec_bits)a & which) | ((vec_bits)b & ~which));
}

/* Returns where a cell is -inf. */
INLINE vec_bits mask_cell(float *bias, const float *cell, vec base, vec added)
{
	const vec hidden = vec_all(-__builtin_inff()), least = vec_all((float)-PE_TILE_MOST);
	vec x = at(cell) - base;
	vec_bits hides = (vec_bits)(x == hidden), infinite = (vec_bits)(x == -hidden);
	vec bounded = chosen(infinite, x, vec_max(least, -vec_max(least, -x)));
	put(bias, chosen(hides, hidden, vec_fused(bounded, vec_all(0x1.715476p+0f), added)));
	return hides;
}

static bool tile_mask(const struct pe_tile_mask *t)
{
	vec_bits any = (vec_bits)vec_all(0.0f);
	for (int v = 0; v < t->vecs; v++) {
		vec base = at(t->base + v * VEC_LANES);
		for (int64_t j = 0; j < t->keys; j++) {
			int64_t cell = (j * t->vecs + v) * VEC_LANES;
			int64_t of_key = j * t->added_step + v * VEC_LANES;
			vec added = t->added ? at_loose(t->added + of_key) : vec_all(0.0f);
			any |= mask_cell(t->biases + cell, t->cells + cell, base, added);
		}
	}
	int32_t all = 0;
	for (int i = 0; i < VEC_LANES; i++)
		all |= any[i];
	return all != 0;
}

static void tile_hide(float *scores, const float *biases, int64_t keys, int vecs, float *max)
{
	const vec hidden = vec_all(-__builtin_inff());
	for (int v = 0; v < vecs; v++) {
		vec greatest = hidden;
		for (int64_t j = 0; j < keys; j++) {
			int64_t cell = (j * vecs + v) * VEC_LANES;
			vec_bits hides = (vec_bits)(at(biases + cell) == hidden);
			vec s = chosen(hides, hidden, at(scores + cell));
			put(scores + cell, s);
			greatest = vec_max(s, greatest);
		}
		put(max + v * VEC_LANES, greatest);
	}
}
