/* SPDX-License-Identifier: BSD-2-Clause */
#include "relation.h"

static struct pe_range positions_of(const pe_domain *domain)
{
	struct pe_range range = {INFINITY, -INFINITY};
	for (int64_t b = 0; b < domain->batch; b++)
		for (int64_t i = 0; i < domain->tokens; i++) {
			double position = pe_domain_position(domain, b, i);
			range.low = fmin(range.low, position);
			range.high = fmax(range.high, position);
		}
	return range;
}

struct pe_range pe_distance_range(const pe_encoding *e)
{
	if (e->queries->tokens == 0 || e->domain->tokens == 0 || e->queries->batch == 0 || e->domain->batch == 0)
		return (struct pe_range){0, -1};
	struct pe_range keys = positions_of(e->domain), queries = positions_of(e->queries);
	return (struct pe_range){keys.low - queries.high, keys.high - queries.low};
}

void pe_linear(const double *weight, const double *bias, int64_t in, int64_t out, const double *x, double *y)
{
	for (int64_t o = 0; o < out; o++) {
		double sum = bias ? bias[o] : 0;
		for (int64_t i = 0; i < in; i++)
			sum += weight[o * in + i] * x[i];
		y[o] = sum;
	}
}
