/* SPDX-License-Identifier: BSD-2-Clause */
#include "relation.h"

static struct pe_range positions_of(const pe_domain *domain)
{
	struct pe_range range = {INFINITY, -INFINITY};
	if (!domain->positions && domain->tokens > 0) /* they ascend */
		return (struct pe_range){
			pe_domain_position(domain, 0, 0), pe_domain_position(domain, 0, domain->tokens - 1)};
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

/* In four sums, so that the processor need not wait for one addition to begin the next. */
static double dot(const double *a, const double *b, int64_t n)
{
	double sum[4] = {0};
	int64_t i = 0;
	for (; i + 4 <= n; i += 4)
		for (int64_t k = 0; k < 4; k++)
			sum[k] += a[i + k] * b[i + k];
	for (; i < n; i++)
		sum[0] += a[i] * b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void pe_linear(const double *weight, const double *bias, int64_t in, int64_t out, const double *x, double *y)
{
	for (int64_t o = 0; o < out; o++)
		y[o] = dot(weight + o * in, x, in) + (bias ? bias[o] : 0);
}
