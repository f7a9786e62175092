/* SPDX-License-Identifier: BSD-2-Clause
 * Sums of rows with weights, in double: what resampling a grid of vectors comes down to.
 *   out[i] = (sum over k of weights[k] in[k step + i]) + plus[i], i < n, count >= 1
 * summed in that order, each product and sum rounded, so that all sets give the same bits. */
#ifndef PE_WEIGHTED_SUM_H
#define PE_WEIGHTED_SUM_H

#include <stdint.h>

struct pe_weighted_sum {
	const double *in, *weights;
	int64_t step, count, n;
	const double *plus; /* or NULL: 0 */
};

typedef void pe_weighted_sum_fn(const struct pe_weighted_sum *s, double *out);
/* Rounded once. */
typedef void pe_weighted_sum_f32_fn(const struct pe_weighted_sum *s, float *out);

#endif
