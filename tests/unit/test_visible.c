/* SPDX-License-Identifier: BSD-2-Clause
 * Which keys a query sees: the range of keys, of sequences at any offsets, is what cell by cell is seen. */
#include "xt.h"

#include <math.h>

#include "attention/plan.h"

enum { KEYS = 23, QUERIES = 11 };

static void one_row(const struct pe_plan *p, int64_t query)
{
	unsigned char seen[KEYS];
	int64_t first, end, count;
	pe_plan_key_range(p, 0, query, query + 1, &first, &end);
	count = pe_plan_visible(p, &(struct pe_cells){0, 0, query, 0, KEYS}, seen);
	assert_int_equal(end - first, count);
	for (int64_t j = 0; j < KEYS; j++)
		if (seen[j] != (j >= first && j < end))
			fail_msg("query %lld at %.17g, key %lld at %.17g: %d, range %lld to %lld", (long long)query,
				pe_domain_position(p->query_domain, 0, query), (long long)j,
				pe_domain_position(p->key_domain, 0, j), seen[j], (long long)first, (long long)end);
}

/* What several queries see any of. */
static void all_rows(const struct pe_plan *p)
{
	int64_t first, end, least = KEYS, most = 0;
	for (int64_t query = 0; query < QUERIES; query++) {
		int64_t own_first, own_end;
		one_row(p, query);
		pe_plan_key_range(p, 0, query, query + 1, &own_first, &own_end);
		least = own_end > own_first ? pe_min(least, own_first) : least;
		most = own_end > own_first ? pe_max(most, own_end) : most;
	}
	pe_plan_key_range(p, 0, 0, QUERIES, &first, &end);
	assert_true(most <= least || (first <= least && end >= most));
}

/* Tenths, whose sums and differences are rounded, near 0 and far from it. */
static void test_ranges(void **state)
{
	static const double bases[] = {0, 1e3, -7e8, 4e15};
	(void)state;
	for (int n = 0; n < 4 * 30 * 30 * 8; n++) {
		int64_t length = 20;
		struct pe_domain keys = {.kind = PE_DOMAIN_SEQUENCE, .tokens = KEYS, .batch = 1, .axes = 1};
		struct pe_domain queries = keys;
		struct pe_plan plan = {.batch = 1, .heads = 1, .queries = QUERIES, .keys = KEYS};
		queries.tokens = QUERIES;
		queries.first = n % 3;
		keys.offset = bases[n / 7200] + 0.1 * (n / 240 % 30 - 15);
		queries.offset = bases[n / 7200] + 0.1 * (n / 8 % 30 - 15);
		plan.key_domain = &keys;
		plan.query_domain = &queries;
		plan.causal = n % 2;
		plan.windowed = n % 4 > 1;
		plan.left = 0.1 * (n % 37);
		plan.right = 0.1 * (n % 5) - 0.1;
		plan.key_lengths = n % 8 > 3 ? &length : NULL;
		all_rows(&plan);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
	};
	return xt_run(argc, argv, tests) != 0;
}
