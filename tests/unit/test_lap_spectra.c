/* SPDX-License-Identifier: BSD-2-Clause
 * Spectra that encoder lap must find: closed forms, and those of LAPACK. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "xt_lap.h"

#define PI 3.14159265358979323846

/* ---- closed forms ------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Encodes with k = n and zero=keep, so that every pair is there, and compares with expected (n). */
static void has_spectrum(pe_context *ctx, struct xt_edges edges, const char *normalization, double *expected)
{
	char settings[100];
	int n = edges.n;
	snprintf(settings, sizeof settings, "k=%d,zero=keep,normalization=%s", n, normalization);
	struct xt_lap lap = xt_lap_of(ctx, &edges, NULL, settings);
	assert_int_equal(lap.status, PE_OK);
	qsort(expected, (size_t)n, sizeof *expected, ascending);
	for (int j = 0; j < n; j++)
		xt_close_f64(lap.values[j], expected[j], 1e-12, 1e-12);
	double *l = xt_laplacian(&edges, strcmp(normalization, "none") != 0, false, false, NULL);
	if (strcmp(normalization, "rw") != 0)
		xt_check_pairs(l, n, &lap, n, 1e-13);
	assert_true(lap.quality.max_residual <= 1e-13 && lap.quality.max_orthogonality_error <= 1e-12);
	assert_int_equal(lap.quality.certified, 1);
	assert_int_equal(lap.quality.split_groups, 0);
	free(l);
	xt_lap_free(&lap);
	xt_edges_free(&edges);
}

static void paths_and_cycles(void **state)
{
	double x[64];
	for (int n = 3; n <= 40; n += 7) {
		for (int j = 0; j < n; j++)
			x[j] = 2 - 2 * cos(PI * j / n);
		has_spectrum(*state, xt_path_graph(n), "none", x);
		for (int j = 0; j < n; j++)
			x[j] = 1 - cos(PI * j / (n - 1));
		has_spectrum(*state, xt_path_graph(n), "sym", x);
		for (int j = 0; j < n; j++)
			x[j] = 2 - 2 * cos(2 * PI * j / n);
		has_spectrum(*state, xt_cycle(n), "none", x);
		for (int j = 0; j < n; j++)
			x[j] = 1 - cos(2 * PI * j / n);
		has_spectrum(*state, xt_cycle(n), "rw", x);
	}
}

static void fill(double *x, int from, int to, double value)
{
	for (int j = from; j < to; j++)
		x[j] = value;
}

static void complete_and_bipartite(void **state)
{
	double x[64] = {0};
	fill(x, 1, 9, 9);
	has_spectrum(*state, xt_complete(9), "none", x);
	fill(x, 0, 1, 0);
	fill(x, 1, 9, 9.0 / 8);
	has_spectrum(*state, xt_complete(9), "sym", x);
	fill(x, 0, 1, 0);
	fill(x, 1, 7, 1);
	x[7] = 8;
	has_spectrum(*state, xt_star(7), "none", x);
	fill(x, 0, 1, 0);
	fill(x, 1, 7, 1);
	x[7] = 2;
	has_spectrum(*state, xt_star(7), "sym", x);
	fill(x, 0, 1, 0);
	fill(x, 1, 5, 3); /* K_{3,5}: a = 3 to the power b - 1, b = 5 to the power a - 1 */
	fill(x, 5, 7, 5);
	x[7] = 8;
	has_spectrum(*state, xt_bipartite(3, 5), "none", x);
}

static void cubes_and_strongly_regular_graphs(void **state)
{
	static const int binomial[] = {1, 5, 10, 10, 5, 1};
	double x[64];
	int at = 0;
	for (int j = 0; j <= 5; j++)
		for (int t = 0; t < binomial[j]; t++)
			x[at++] = 2 * j;
	has_spectrum(*state, xt_hypercube(5), "none", x);
	x[0] = 0;
	fill(x, 1, 6, 2);
	fill(x, 6, 10, 5);
	has_spectrum(*state, xt_petersen(), "none", x);
	x[0] = 0; /* adjacency 6, 2 (6 times), -2 (9 times) */
	fill(x, 1, 7, 4);
	fill(x, 7, 16, 8);
	has_spectrum(*state, xt_shrikhande(), "none", x);
	x[0] = 0;
	fill(x, 1, 7, 4.0 / 6);
	fill(x, 7, 16, 8.0 / 6);
	has_spectrum(*state, xt_shrikhande(), "sym", x);
}

static void products_and_unions(void **state)
{
	double x[64];
	struct xt_edges a = xt_path_graph(5), b = xt_cycle(6), product = xt_product(&a, &b),
					both = xt_union(&a, &b);
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 6; j++)
			x[i * 6 + j] = 2 - 2 * cos(PI * i / 5) + 2 - 2 * cos(2 * PI * j / 6);
	has_spectrum(*state, product, "none", x);
	for (int i = 0; i < 5; i++)
		x[i] = 2 - 2 * cos(PI * i / 5);
	for (int j = 0; j < 6; j++)
		x[5 + j] = 2 - 2 * cos(2 * PI * j / 6);
	has_spectrum(*state, both, "none", x);
	xt_edges_free(&a);
	xt_edges_free(&b);
}

/* ---- against LAPACK ----------------------------------------------------------------- */

/* Each column must lie in the space of the oracle's vectors with its value: orthogonal to all others. */
static void in_the_same_spaces(
	const struct xt_lap *lap, int columns, const double *vectors, const double *all)
{
	int n = (int)lap->nodes;
	for (int j = 0; j < columns; j++)
		for (int t = 0; t < n; t++) {
			if (fabs(all[t] - lap->values[j]) < 1e-6 * (1 + all[n - 1]))
				continue;
			double s = 0;
			for (int i = 0; i < n; i++)
				s += vectors[t * n + i] * lap->vectors[i * lap->k + j];
			xt_close_f64(s, 0, 0, 1e-8);
		}
}

static void compare_with_lapack(
	pe_context *ctx, const struct xt_edges *edges, int components, const char *zero, bool normalized, int k)
{
	char settings[100];
	double all[128];
	int n = edges->n, leave = strcmp(zero, "drop") == 0 ? components : strcmp(zero, "keep") != 0;
	int columns = n - leave < k ? n - leave : k;
	snprintf(
		settings, sizeof settings, "k=%d,zero=%s,normalization=%s", k, zero, normalized ? "sym" : "none");
	struct xt_lap lap = xt_lap_of(ctx, edges, NULL, settings);
	assert_int_equal(lap.status, PE_OK);
	double *l = xt_laplacian(edges, normalized, false, false, NULL);
	xt_check_pairs(l, n, &lap, columns, 1e-12);
	xt_eigen(l, n, all);
	for (int j = 0; j < columns; j++)
		xt_close_f64(lap.values[j], all[leave + j], 0, 1e-13 * (1 + all[n - 1]));
	in_the_same_spaces(&lap, columns, l, all);
	free(l);
	xt_lap_free(&lap);
}

static void random_graphs_agree_with_lapack(void **state)
{
	static const char *const zeros[] = {"drop", "drop_first", "keep"};
	for (int seed = 0; seed < 120; seed++) {
		int n = 1 + seed % 47, k = 1 + seed % 9;
		struct xt_edges a = xt_random_graph((uint64_t)seed, n, seed % 3 * n, seed % 4 == 3 ? 2 : 0);
		struct xt_edges b = xt_random_graph((uint64_t)seed + 500, 1 + seed % 5, 3, 0);
		struct xt_edges both = xt_union(&a, &b);
		compare_with_lapack(*state, &a, 1, zeros[seed % 3], seed % 2, k);
		compare_with_lapack(*state, &both, 2, zeros[seed / 3 % 3], seed / 2 % 2, k);
		xt_edges_free(&a);
		xt_edges_free(&b);
		xt_edges_free(&both);
	}
}

/* (I - D⁻¹A) v = λ v with unit v, and the values of sym. */
static void random_walk_pairs(void **state)
{
	double degree[40], values[40];
	struct xt_edges e = xt_random_graph(3, 40, 30, 2);
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "normalization=rw,k=6");
	assert_int_equal(lap.status, PE_OK);
	double *l = xt_laplacian(&e, false, false, false, degree);
	for (int j = 0; j < 6; j++) {
		double length = 0;
		for (int i = 0; i < 40; i++) {
			double y = 0;
			for (int t = 0; t < 40; t++)
				y += l[i * 40 + t] * lap.vectors[t * 6 + j] / degree[i];
			xt_close_f64(y, lap.values[j] * lap.vectors[i * 6 + j], 0, 1e-12);
			length += lap.vectors[i * 6 + j] * lap.vectors[i * 6 + j];
		}
		xt_close_f64(length, 1, 1e-14, 0);
	}
	free(l);
	l = xt_laplacian(&e, true, false, false, NULL);
	xt_eigen(l, 40, values);
	for (int j = 0; j < 6; j++)
		xt_close_f64(lap.values[j], values[j + 1], 0, 1e-13);
	free(l);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_and_cycles),
		cmocka_unit_test(complete_and_bipartite),
		cmocka_unit_test(cubes_and_strongly_regular_graphs),
		cmocka_unit_test(products_and_unions),
		cmocka_unit_test(random_graphs_agree_with_lapack),
		cmocka_unit_test(random_walk_pairs),
	};
	return xt_run(argc, argv, tests);
}
