/* SPDX-License-Identifier: BSD-2-Clause
 * Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer", JMLR
 * 2020, and relative_position_bucket of its code. With n buckets a direction and e = n/2 of them for the
 * distances 0 … e-1, distance d is in bucket e + floor(ln(d/e) / ln(max_distance/e) (n-e)), at most n-1.
 * The whole distance at which each bucket begins is found once, so that no logarithm is rounded a pair. */
#include "distance_buckets.h"

/* The whole distance at which a bucket of n begins. Powers that are whole are met exactly: a power is
 * rounded by far less than the slack, and distances are below 2^21. */
static int64_t begin_of(int64_t bucket, int64_t n, int64_t max_distance)
{
	int64_t exact = n / 2;
	if (bucket <= exact)
		return bucket;
	double exponent = (double)(bucket - exact) / (double)(n - exact);
	return (int64_t)ceil((double)exact * pow((double)max_distance / (double)exact, exponent) * (1 - 1e-12));
}

static pe_status check(pe_encoding *e, int64_t buckets, int64_t max_distance, bool causal)
{
	if (!causal && buckets % 2 != 0)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"%lld buckets cannot be halved between keys before and after the query: give an even number",
			(long long)buckets);
	int64_t exact = (causal ? buckets : buckets / 2) / 2;
	if (exact < 1)
		return pe_encoding_fail(e, PE_ERR_RANGE, "%lld buckets are too few; there must be at least %d",
			(long long)buckets, causal ? 2 : 4);
	if (max_distance <= exact)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"max_distance must be above %lld, up to which each distance has a bucket of its own",
			(long long)exact);
	return PE_OK;
}

pe_status pe_buckets_make(
	pe_encoding *e, int64_t buckets, int64_t max_distance, bool causal, struct pe_buckets *out)
{
	PE_TRY(check(e, buckets, max_distance, causal));
	int64_t n = causal ? buckets : buckets / 2;
	int32_t *of = pe_alloc(e->ctx, max_distance + 1, sizeof *of);
	if (!of)
		return PE_ERR_NOMEM;
	for (int64_t bucket = 0; bucket < n; bucket++) {
		int64_t end = bucket + 1 < n ? begin_of(bucket + 1, n, max_distance) : max_distance + 1;
		for (int64_t d = begin_of(bucket, n, max_distance); d < end; d++)
			of[d] = (int32_t)bucket;
	}
	*out = (struct pe_buckets){max_distance, causal ? 0 : (int32_t)n, causal, of};
	return PE_OK;
}
