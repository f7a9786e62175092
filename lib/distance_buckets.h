/* SPDX-License-Identifier: BSD-2-Clause
 * T5's buckets of distances: one a distance at first, then ever wider ones up to max_distance. */
#ifndef PE_DISTANCE_BUCKETS_H
#define PE_DISTANCE_BUCKETS_H

#include <math.h>

#include "encoder.h"

struct pe_buckets {
	int64_t max_distance;
	int32_t after; /* what is added for keys after the query; causal: 0 */
	bool causal;   /* keys after the query count as at distance 0 */
	int32_t *of;   /* of distances 0 … max_distance; to be freed */
};

/* Fails, with e's name in the message, if there are no such buckets: an odd number of them for both
 * directions, or too few for max_distance. */
pe_status pe_buckets_make(
	pe_encoding *e, int64_t buckets, int64_t max_distance, bool causal, struct pe_buckets *out) PE_NODISCARD;

/* The bucket of a key at a distance key - query, which is rounded to the nearest whole number, halves
 * away from 0. */
static inline int32_t pe_bucket(const struct pe_buckets *b, double distance)
{
	double whole = round(distance), size = fabs(whole);
	if (b->causal && whole > 0)
		return b->of[0];
	return b->of[size < (double)b->max_distance ? (int64_t)size : b->max_distance] +
		(whole > 0 ? b->after : 0);
}

#endif
