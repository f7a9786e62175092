/* SPDX-License-Identifier: BSD-2-Clause
 * The inner loops of attention where queries are few: keys and values are read where they lie, once, and SIMD
 * lanes run along their width. What happens to a row of scores in between are the loops of attention_tile.h,
 * with keys along the lanes. */
#ifndef PE_ATTENTION_ROWS_H
#define PE_ATTENTION_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* scores[r · scores_stride + j] ← q[r · width …] · k[j · stride …]. */
struct pe_row_dots {
	int64_t rows, keys, width;
	const float *q, *k;
	int64_t stride;
	float *scores;
	int64_t scores_stride;
};
typedef void pe_row_dots_fn(const struct pe_row_dots *t);

/* out[c] ← Σ_j weights[j] · v[j · stride + c]. Tells whether all are finite. */
typedef bool pe_row_sum_fn(
	float *out, const float *weights, const float *v, int64_t stride, int64_t keys, int64_t width);

#endif
