/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <string.h>

#include "components.h"

enum { MOST = 300 };

/* Components of a directed edge list, given as rows. */
static int32_t components_of(
	int32_t n, const int32_t (*edges)[2], int64_t count, int32_t *label, int32_t *sizes)
{
	static int64_t row[MOST + 1];
	static int32_t col[4 * MOST];
	int64_t at = 0;
	for (int32_t i = 0; i < n; i++) {
		row[i] = at;
		for (int64_t e = 0; e < count; e++)
			if (edges[e][0] == i)
				col[at++] = edges[e][1];
	}
	row[n] = at;
	int32_t components = -1;
	pe_components(&(struct pe_csr){.n = n, .row = row, .col = col}, label, sizes, &components);
	return components;
}

static void numbered_by_first_node(void **state)
{
	(void)state;
	const int32_t edges[][2] = {{5, 1}, {2, 2}, {4, 5}, {6, 0}};
	int32_t label[7], sizes[7];
	assert_int_equal(components_of(7, edges, 4, label, sizes), 4);
	assert_memory_equal(label, ((int32_t[]){0, 1, 2, 3, 1, 1, 0}), sizeof label);
	assert_memory_equal(sizes, ((int32_t[]){2, 3, 1, 1}), 4 * sizeof *sizes);
	assert_int_equal(components_of(0, NULL, 0, label, NULL), 0);
	assert_int_equal(components_of(3, NULL, 0, label, NULL), 3);
}

/* Paths whose nodes come in an awkward order: long chains of parents. */
static void long_paths(void **state)
{
	(void)state;
	int32_t edges[MOST][2], label[MOST], sizes[MOST];
	for (int32_t i = 0; i + 1 < MOST; i++) {
		edges[i][0] = i * 7 % MOST; /* 7 and MOST have no factor in common: one path through all */
		edges[i][1] = (i + 1) * 7 % MOST;
	}
	assert_int_equal(components_of(MOST, (const int32_t(*)[2])edges, MOST - 1, label, sizes), 1);
	assert_int_equal(sizes[0], MOST);
	for (int32_t i = 0; i + 1 < MOST; i++) {
		edges[i][0] = MOST - 1 - i;
		edges[i][1] = i % 3 ? edges[i][0] - 3 : 0;
		edges[i][1] = edges[i][1] < 0 ? edges[i][0] : edges[i][1];
	}
	/* Against propagation of the smallest label until nothing changes. */
	int32_t expected[MOST],
		components = components_of(MOST, (const int32_t(*)[2])edges, MOST - 1, label, sizes);
	for (int32_t i = 0; i < MOST; i++)
		expected[i] = i;
	for (int changed = 1; changed;) {
		changed = 0;
		for (int32_t e = 0; e + 1 < MOST; e++) {
			int32_t *a = &expected[edges[e][0]], *b = &expected[edges[e][1]];
			changed |= *a != *b;
			*a = *b = *a < *b ? *a : *b;
		}
	}
	int32_t roots = 0;
	for (int32_t i = 0; i < MOST; i++) {
		roots += expected[i] == i;
		for (int32_t j = 0; j < i; j++)
			assert_int_equal(expected[i] == expected[j], label[i] == label[j]);
	}
	assert_int_equal(components, roots);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbered_by_first_node),
		cmocka_unit_test(long_paths),
	};
	return xt_run(argc, argv, tests) != 0;
}
