/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "xt.h"

#include "eigen_merge.h"

static struct pe_pair pair(double value, int component)
{
	return (struct pe_pair){.value = value, .norm1 = 2, .component = component};
}

static struct pe_pair null_pair(int component)
{
	return (struct pe_pair){.norm1 = 2, .component = component, .zero = true};
}

static void groups(const struct pe_pair *pairs, int count, const char *expected)
{
	char text[64] = "";
	for (int i = 0; i < count; i++)
		text[i] = (char)('a' + pairs[i].group);
	assert_string_equal(text, expected);
}

static void order(void **state)
{
	(void)state;
	struct pe_pair p[] = {
		pair(1, 0), pair(2, 0), pair(1, 1), pair(0, 1), null_pair(1), null_pair(0), pair(-1, 2)};
	pe_pairs_sort(p, 7);
	const double values[] = {-1, 0, 0, 0, 1, 1, 2};
	const int components[] = {2, 0, 1, 1, 0, 1, 0};
	for (int i = 0; i < 7; i++) {
		xt_close_f64(p[i].value, values[i], 0, 0);
		assert_int_equal(p[i].component, components[i]);
	}
	assert_true(p[1].zero && p[2].zero && !p[3].zero);
	groups(p, 7, "abbcdde"); /* the value 0 that is not a known null vector is a group of its own */
}

static void gaps(void **state)
{
	(void)state;
	/* A chain of small steps is one group, as long as it may become. */
	struct pe_pair p[] = {pair(1, 0), pair(1 + 1.9e-12, 0), pair(1 + 3.8e-12, 1), pair(1 + 5.9e-12, 0)};
	pe_pairs_sort(p, 4);
	groups(p, 4, "aaab");
	/* Between components the larger norm counts. */
	struct pe_pair q[] = {pair(1, 0), pair(1 + 9e-12, 1), pair(1 + 3e-11, 1)};
	q[0].norm1 = 10;
	q[1].norm1 = q[2].norm1 = 1;
	pe_pairs_sort(q, 3);
	groups(q, 3, "aab");
}

/* Between equal and far apart residuals decide: 100 of them, of the worse pair. */
static void residuals(void **state)
{
	(void)state;
	const double residual[] = {0, 1e-14, 4e-13, 1e-12, 6e-12, 1};
	const char *const expected[] = {"abcd", "abcd", "aabc", "aabc", "aaab", "aaab"};
	for (int i = 0; i < 6; i++) {
		struct pe_pair p[] = {pair(1, 0), pair(1 + 7e-11, 0), pair(1 + 1e-9, 0), pair(1 + 4e-9, 0)};
		p[1].residual = residual[i];
		p[3].residual = 1; /* yet what is farther than 1e-9 of the norm is apart */
		pe_pairs_sort(p, 4);
		groups(p, 4, expected[i]);
	}
}

static void range(struct pe_pair_range found, int first, int end, bool split)
{
	assert_int_equal(found.first, first);
	assert_int_equal(found.end, end);
	assert_int_equal(found.split, split);
}

static void choice(void **state)
{
	(void)state;
	struct pe_pair p[] = {pair(1, 0), pair(2, 0), pair(2, 1), pair(2, 2), pair(3, 0)};
	pe_pairs_sort(p, 5);
	range(pe_pairs_choose(p, 5, 0, 1, false), 0, 1, false);
	range(pe_pairs_choose(p, 5, 0, 2, false), 0, 2, true);
	range(pe_pairs_choose(p, 5, 0, 3, false), 0, 3, true);
	range(pe_pairs_choose(p, 5, 0, 3, true), 0, 1, false);
	range(pe_pairs_choose(p, 5, 0, 4, true), 0, 4, false);
	range(pe_pairs_choose(p, 5, 0, 9, true), 0, 5, false);
	range(pe_pairs_choose(p, 5, 1, 2, true), 1, 1, false);
	range(pe_pairs_choose(p, 5, 1, 2, false), 1, 3, true);
	range(pe_pairs_choose(p, 5, 7, 2, false), 5, 5, false);
	range(pe_pairs_choose(p, 0, 1, 2, true), 0, 0, false);
	/* A component that may have more of the value: its group is not whole, wherever in it that stands. */
	p[1].open = true;
	range(pe_pairs_choose(p, 5, 0, 4, false), 0, 4, true);
	range(pe_pairs_choose(p, 5, 0, 4, true), 0, 1, false);
	range(pe_pairs_choose(p, 5, 0, 5, true), 0, 5, false);
}

/* Values in one group that doubles tell apart keep their vectors. */
static void close_is_not_equal(void **state)
{
	int32_t order[] = {0, 1, 2}, start[] = {0, 3};
	struct pe_laplacian l = {.n = 3, .components = 1, .order = order, .start = start};
	const double r = sqrt(0.5), v[2][3] = {{r, r, 0}, {r, -r, 0}};
	double rows[6];
	for (int equal = 0; equal < 2; equal++) {
		struct pe_pair p[] = {pair(1, 0), pair(equal ? 1 + 1e-13 : 1 + 1e-10, 0)};
		p[0].residual = 1e-12;
		for (int j = 0; j < 2; j++) {
			p[j].vector = v[j];
			p[j].step = 1;
		}
		pe_pairs_sort(p, 2);
		groups(p, 2, "aa");
		struct pe_pair_range all = {0, 2, false};
		assert_int_equal(pe_pairs_write(*state, &l, p, 2, all, rows, 2), PE_OK);
		const double apart[] = {r, r, r, -r, 0, 0}, axes[] = {1, 0, 0, 1, 0, 0};
		for (int i = 0; i < 6; i++)
			xt_close_f64(rows[i], (equal ? axes : apart)[i], 0, 1e-15);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order),
		cmocka_unit_test(gaps),
		cmocka_unit_test(residuals),
		cmocka_unit_test(choice),
		cmocka_unit_test(close_is_not_equal),
	};
	return xt_run(argc, argv, tests);
}
