/* SPDX-License-Identifier: BSD-2-Clause
 * How far apart a query and a key are, for encoders whose tables have one row a distance. */
#ifndef PE_RELATION_H
#define PE_RELATION_H

#include <math.h>

#include "encoder.h"

/* A distance as a whole number, halves away from 0, and none beyond -limit or limit. */
static inline int64_t pe_whole_distance(double distance, int64_t limit)
{
	double most = (double)limit;
	return (int64_t)fmax(-most, fmin(most, round(distance)));
}

/* The least and the largest key - query position of any cell; {0, -1} if there is no cell. Batches are
 * taken together. */
struct pe_range {
	double low, high;
};
struct pe_range pe_distance_range(const pe_encoding *e);

/* Σ a b, one after the other. */
static inline double pe_dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* y[o] ← Σ_i weight[o, i] x[i] + bias[o], weight (out, in) as of PyTorch's Linear; bias may be NULL. */
void pe_linear(const double *weight, const double *bias, int64_t in, int64_t out, const double *x, double *y);

#endif
