/* SPDX-License-Identifier: BSD-2-Clause
 * Encoder lap against golden/lap/cases.txt, which golden/make_lap.py wrote by numpy and scipy: values,
 * groups, and vectors entry by entry, for basis and sign are canonical. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "xt_lap.h"

static double number(FILE *file)
{
	double x;
	assert_int_equal(fscanf(file, "%lf", &x), 1);
	return x;
}

static int whole(FILE *file)
{
	return (int)number(file);
}

/* The rest of a case, after its line; false at the end of the file. */
static bool check_case(pe_context *ctx, FILE *file)
{
	char name[64], policy[64], settings[128];
	if (fscanf(file, " case %63s | %63s | %127s", name, policy, settings) != 3)
		return false;
	struct xt_edges edges = xt_empty(whole(file));
	int m = whole(file), k = whole(file), columns = whole(file);
	for (int e = 0; e < m; e++) {
		int u = whole(file), v = whole(file);
		xt_join(&edges, u, v, number(file));
	}
	print_message("           %s\n", name);
	struct xt_lap lap = xt_lap_of(ctx, &edges, policy, settings);
	if (lap.status != PE_OK)
		fail_msg("%s", lap.message);
	assert_int_equal(lap.k, k);
	for (int j = 0; j < columns; j++)
		xt_close_f64(lap.values[j], number(file), 0, 1e-12);
	for (int j = 0; j < columns; j++)
		assert_int_equal(lap.groups[j], whole(file));
	for (int i = 0; i < edges.n; i++)
		for (int j = 0; j < columns; j++)
			xt_close_f64(lap.vectors[i * k + j], number(file), 0, 1e-11);
	for (int j = columns; j < k; j++)
		assert_int_equal(lap.groups[j], -1);
	xt_lap_free(&lap);
	xt_edges_free(&edges);
	return true;
}

static void golden(void **state)
{
	FILE *file = fopen(xt_source("tests/golden/lap/cases.txt"), "r");
	int cases = 0;
	assert_non_null(file);
	while (check_case(*state, file))
		cases++;
	assert_int_equal(cases, 14);
	fclose(file);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
	};
	return xt_run(argc, argv, tests);
}
