/* SPDX-License-Identifier: BSD-2-Clause
 * The inner loops of tiled attention in f32. Queries lie along SIMD lanes: a tile of scores is
 * keys × lanes, so that maxima, sums and rescaling need no step across lanes, a head may be of any width
 * without padding, and a tile may have any number of keys.
 *
 * Queries come in groups of `vecs` (1 or 2) vectors: lanes = vecs · tile_vec. Lanes behind the last query
 * hold zero queries; what is computed there is never looked at. Arrays with a lane index are 64-byte
 * aligned, all others as floats are. Scores are in units of log 2: whoever packs the queries scales
 * them by scale · log2(e), and biases come multiplied by log2(e). */
#ifndef PE_ATTENTION_TILE_H
#define PE_ATTENTION_TILE_H

#include <stdbool.h>
#include <stdint.h>

/* Lanes of a group at most, whatever the set. */
#define PE_TILE_MAX_LANES 32
/* A block of keys: a multiple of tile_rows in every set. */
#define PE_TILE_KEYS 120

/* out[c][lane] ← scale · q[lane][c] for n ≤ lanes queries of this width; 0 in the lanes behind them.
 * Element c of query i is at q[i · stride + c · step]. */
typedef void pe_tile_queries_fn(float *out, int vecs, const float *q, int64_t n, int64_t stride, int64_t step,
	int64_t width, float scale);

/* n × width keys into panels of tile_rows keys, the last of as many as are left: key j of the panel that
 * begins at key p has element c at out[p · width + c · (keys of the panel) + j - p]. */
typedef void pe_tile_pack_keys_fn(
	float *out, const float *k, int64_t n, int64_t stride, int64_t step, int64_t width);

/* n × width values into dense rows. Tells whether all are finite. */
typedef bool pe_tile_pack_values_fn(
	float *out, const float *v, int64_t n, int64_t stride, int64_t step, int64_t width);

/* A finite number that is farther from 0 is taken as this, so that f32 can hold it. */
#define PE_TILE_MOST 0x1p125

/* out[i] ← factor · x[i] - base, rounded, x being so bounded. */
typedef void pe_tile_round_fn(float *out, const double *x, double factor, double base, int64_t n);

/* The greatest of n numbers, NaN left out; -inf if there is none. */
typedef double pe_tile_most_fn(const double *x, int64_t n);

struct pe_tile_scores {
	int vecs;
	int64_t width;
	const float *q; /* packed queries */
	const float *k; /* packed keys, from the beginning of a panel on */
	int64_t keys;   /* up to the end of a panel, unless it is all of the block */
	/* 0: packed. Else from key to key, where they lie as rows. */
	int64_t k_stride;
	/* What is added: for the lanes of key j, contiguous floats from bias + j · bias_step on. NULL: none. */
	const float *bias;
	int64_t bias_step;
	float *scores;  /* keys × lanes */
	float *max;     /* lanes: maximum of these scores; overwritten */
	int64_t stride; /* of scores, from key to key, in floats: a multiple of tile_vec. 0: lanes */
};
typedef void pe_tile_scores_fn(const struct pe_tile_scores *t);

/* scores ← gain · cap(scores) + bias, where cap(s) = softcap · tanh(s / softcap), in place, and their maxima.
 * Steps as in pe_tile_scores. */
struct pe_tile_adjust {
	int vecs;
	int64_t keys;
	float softcap;     /* 0: none */
	const float *gain; /* NULL: 1 */
	int64_t gain_step;
	const float *bias; /* NULL: 0 */
	int64_t bias_step;
	float *scores;
	float *max;
};
typedef void pe_tile_adjust_fn(const struct pe_tile_adjust *t);

/* scores[j][lane] += scale[lane] · x(index[lane - j]), where x(row) is 0 unless first ≤ row < first + count,
 * and else, with n = row - first: products[n][lane], or, by_key, products[j · count + n]. */
struct pe_tile_gather {
	int vecs;
	bool by_key;
	int64_t keys;
	const int32_t *index;
	int32_t first, count;
	const float *products;
	const float *scale; /* lanes. NULL: 1 */
	float *scores;
	float *max; /* lanes: maximum of the sums; overwritten */
};
typedef void pe_tile_gather_fn(const struct pe_tile_gather *t);

/* Likewise where rows follow on each other: scores[j][lane] += products of row lane - j, which are
 * products[(lane - j) · lanes + lane], or, by_key, scale[lane] · products[j · stride + lane - j]. All that
 * lanes name can be read. */
struct pe_tile_slant {
	int vecs;
	bool by_key;
	int64_t keys;
	const float *products; /* of lane 0 of the first key */
	int64_t stride;        /* by_key */
	const float *scale;    /* by_key: lanes */
	float *scores;
	float *max; /* lanes: maximum of the sums; overwritten */
};
typedef void pe_tile_slant_fn(const struct pe_tile_slant *t);

/* out[c][lane] ← q[c][lane] + scale[lane] · row[c]. */
typedef void pe_tile_shift_fn(
	float *out, const float *q, int vecs, const float *scale, const float *row, int64_t width);

/* out[j][lane] ← from[r][lane - start[r] - j · step[r]] for the lanes of run r, those from start[r] to
 * start[r + 1] - 1; start[0] is 0 and start[runs] at most the number of lanes. Of a run, up to a vector more
 * is read; and up to a vector is written behind the last key. */
struct pe_tile_copy {
	int vecs, runs;
	int64_t keys;
	int32_t start[PE_TILE_MAX_LANES + 1];
	const float *from[PE_TILE_MAX_LANES];
	int64_t step[PE_TILE_MAX_LANES];
	float *out;
};
typedef void pe_tile_copy_fn(const struct pe_tile_copy *t);

/* biases ← of a mask's cells, keys × lanes: log2(e) · (cell - base) + added, the difference being
 * bounded by PE_TILE_MOST; -inf stays what it is, whatever is added. Tells whether there is any. */
struct pe_tile_mask {
	int vecs;
	int64_t keys;
	const float *base;  /* lanes: below 2^54 */
	const float *added; /* of key j from added + j · added_step on. NULL: nothing */
	int64_t added_step;
	const float *cells;
	float *biases; /* may be cells */
};
typedef bool pe_tile_mask_fn(const struct pe_tile_mask *t);

/* scores ← -inf where keys × lanes biases are, and the maxima of all. */
typedef void pe_tile_hide_fn(float *scores, const float *biases, int64_t keys, int vecs, float *max);

/* max[lane] ← maximum of keys × lanes scores; -inf for no keys. */
typedef void pe_tile_max_fn(const float *scores, int64_t keys, int vecs, float *max);

/* What is carried from tile to tile, one entry a lane: greatest score so far (-inf at the start), sum of
 * the weights 2^(score - max) so far, and the factor that the last step brought to all before it. */
struct pe_tile_state {
	_Alignas(64) float max[PE_TILE_MAX_LANES], sum[PE_TILE_MAX_LANES], rescale[PE_TILE_MAX_LANES];
};

/* Turns scores into weights in place, max being their maxima, and moves the state on. A lane of which all
 * scores so far are -inf gets weights 0. */
typedef void pe_tile_softmax_fn(
	float *scores, int64_t keys, int vecs, const float *max, struct pe_tile_state *state);

/* out[c][lane] ← rescale[lane] · out[c][lane] + Σ_j values[j · stride + c] · weights[j][lane]. */
struct pe_tile_sum {
	int vecs;
	int64_t keys, width, stride;
	const float *weights; /* keys × lanes */
	const float *values;
	const float *rescale; /* lanes. NULL: 1 */
	float *out;           /* width × lanes */
};
typedef void pe_tile_sum_fn(const struct pe_tile_sum *t);

/* out[i · out_stride + c] ← factor[i] · Σ_j weights[j · lanes + i] · values[j · stride + c], for a width of
 * whole vectors. Tells whether all are finite. */
struct pe_tile_apply {
	int64_t queries, keys, width, lanes;
	const float *weights, *values, *factor;
	float *out;
	int64_t stride, out_stride;
};
typedef bool pe_tile_apply_fn(const struct pe_tile_apply *t);

/* out[i · stride + c] ← factor[i] · sums[c][i] for the first n lanes. */
typedef void pe_tile_finish_fn(
	float *out, int64_t stride, const float *sums, int vecs, int64_t n, int64_t width, const float *factor);

/* out[i] ← in[i · step], exactly. */
typedef void pe_tile_convert_fn(float *out, const uint16_t *in, int64_t step, int64_t n);

#endif
