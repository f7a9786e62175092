/* SPDX-License-Identifier: BSD-2-Clause
 * Encoder lap on graphs with many twins, and with values that lie close together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "xt_lap.h"

#define PI 3.14159265358979323846

/* ---- twins -------------------------------------------------------------------------- */

/* Node i of a random connected graph becomes `copies` or fewer, which are not joined to each other. */
static struct xt_edges blown_up(uint64_t seed, int n, int extra, double orders, int copies)
{
	struct xt_edges base = xt_random_graph(seed, n, extra, orders);
	int *first = malloc((size_t)(n + 1) * sizeof *first);
	first[0] = 0;
	for (int i = 0; i < n; i++)
		first[i + 1] = first[i] + 1 + (int)(xt_next(&seed) % (uint64_t)copies);
	struct xt_edges e = xt_empty(first[n]);
	for (int t = 0; t < base.count; t++)
		for (int i = first[base.u[t]]; i < first[base.u[t] + 1]; i++)
			for (int j = first[base.v[t]]; j < first[base.v[t] + 1]; j++)
				xt_join(&e, i, j, base.w[t]);
	free(first);
	xt_edges_free(&base);
	return e;
}

/* The same columns as from all of the spectrum, by LAPACK, which knows nothing of twins. */
static void compare_with_dense(pe_context *ctx, const struct xt_edges *e, const char *settings)
{
	char dense[200];
	snprintf(dense, sizeof dense, "engine=dense,%s", settings);
	struct xt_lap want = xt_lap_of(ctx, e, NULL, dense), got = xt_lap_of(ctx, e, NULL, settings);
	assert_int_equal(want.status, PE_OK);
	assert_int_equal(got.status, PE_OK);
	assert_int_equal(got.quality.certified, 1);
	assert_int_equal(got.quality.split_groups, want.quality.split_groups);
	assert_memory_equal(got.groups, want.groups, (size_t)want.k * sizeof *want.groups);
	for (int64_t j = 0; j < want.k; j++)
		xt_close_f64(got.values[j], want.values[j], 0, 1e-11 * (1 + fabs(want.values[want.k - 1])));
	for (int64_t i = 0; i < want.nodes * want.k; i++)
		xt_close_f64(got.vectors[i], want.vectors[i], 0, 1e-7);
	xt_lap_free(&want);
	xt_lap_free(&got);
}

static void like_lapack(void **state)
{
	static const char *const settings[] = {"k=5", "k=40,normalization=none", "k=12,zero=keep",
		"k=30,normalization=rw", "k=60,zero=drop_first", "k=9,group=complete,normalization=none"};
	for (int i = 0; i < 6; i++) {
		struct xt_edges a = blown_up((uint64_t)i, 9 + 4 * i, 6 * i, i % 2 * 2, 750 / (9 + 4 * i));
		struct xt_edges b = xt_random_graph(1, 40, 30, 0), both = xt_union(&b, &a);
		int *to = xt_permutation(5, both.n);
		struct xt_edges mixed = xt_relabelled(&both, to);
		assert_true(a.n > 256 && a.n <= 512); /* beyond lanes, and where LAPACK hands out whole groups */
		compare_with_dense(*state, &a, settings[i]);
		compare_with_dense(*state, &mixed, settings[i]);
		free(to);
		xt_edges_free(&a);
		xt_edges_free(&b);
		xt_edges_free(&both);
		xt_edges_free(&mixed);
	}
}

/* Classes whose value is also one of the quotient: a path of hubs, an eigenvector of which is 0 on every
 * other hub, so that its adjacency matrix has the value 0, as twins have. */
static void twins_share_their_value(void **state)
{
	struct xt_edges e = xt_empty(0);
	int hubs = 5, copies = 60;
	e.n = hubs * copies;
	for (int h = 0; h + 1 < hubs; h++)
		for (int i = 0; i < copies; i++)
			for (int j = 0; j < copies; j++)
				xt_join(&e, i * hubs + h, j * hubs + h + 1, 1);
	compare_with_dense(*state, &e, "k=20");
	compare_with_dense(*state, &e, "k=120");
	xt_edges_free(&e);
}

/* K_{1,m}: the basis of vectors that sum to 0 on the leaves is that of the whole space, which no iteration
 * could find: leaf j less the mean of those from j on. */
static void a_star_of_many_leaves(void **state)
{
	enum { M = 100000, K = 6 };
	struct xt_edges e = xt_star(M);
	for (int none = 0; none < 2; none++) {
		struct xt_lap lap = xt_lap_of(*state, &e, NULL, none ? "k=6,normalization=none" : "k=6");
		assert_int_equal(lap.status, PE_OK);
		assert_int_equal(lap.quality.certified, 1);
		assert_int_equal(lap.quality.split_groups, 1);
		assert_true(lap.quality.max_residual < 1e-15 && lap.quality.max_orthogonality_error < 1e-13);
		for (int j = 0; j < K; j++) {
			double rest = M - j, length = sqrt(1 - 1 / rest);
			xt_close_f64(lap.values[j], 1, 0, 1e-15);
			assert_int_equal(lap.groups[j], 0);
			xt_close_f64(lap.vectors[j], 0, 0, 1e-16);
			for (int i = 0; i < M; i++) {
				double want = i < j ? 0 : i == j ? length : -1 / rest / length;
				xt_close_f64(lap.vectors[(1 + i) * K + j], want, 0, 1e-13);
			}
		}
		xt_lap_free(&lap);
	}
	xt_edges_free(&e);
}

/* Nothing is lost where memory ends on the way to the quotient, in it, or back. */
static void every_allocation_may_fail(void **state)
{
	struct xt_edges e = blown_up(3, 12, 6, 2, 62);
	struct xt_shortage s = {0};
	assert_true(e.n > 256); /* beyond lanes */
	pe_graph *graph = xt_graph(*state, &e, 1, NULL);
	pe_domain *domain;
	pe_params *params;
	assert_int_equal(pe_params_create(*state, "lap", &params), PE_OK);
	assert_int_equal(pe_domain_graph(*state, graph, &domain), PE_OK);
	double *out = malloc((size_t)e.n * 8 * sizeof *out);
	pe_tensor outs[3] = {pe_tensor_dense(out, PE_F64, 2, (int64_t[]){e.n, 8})};
	while (xt_shortage_next(&s)) {
		pe_encoding *encoding = NULL;
		xt_shortage_begin(&s);
		pe_status status =
			pe_encoding_create(*state, pe_encoder_find("lap"), params, domain, NULL, &encoding);
		if (status == PE_OK)
			status = pe_encoding_compute(encoding, outs, 3);
		xt_shortage_end(&s, status);
		pe_encoding_destroy(&encoding);
	}
	assert_true(s.failed > 19);
	free(out);
	pe_params_destroy(&params);
	pe_domain_destroy(&domain);
	pe_graph_destroy(&graph);
	xt_edges_free(&e);
}

/* ---- large groups without twins ----------------------------------------------------- */

/* `legs` paths from one hub: every value of a leg alone comes legs - 1 times. */
static struct xt_edges spider(int legs, int length)
{
	struct xt_edges e = xt_empty(1 + legs * length);
	for (int i = 0; i < legs * length; i++)
		xt_join(&e, i % length ? i : 0, i + 1, 1);
	return e;
}

/* A group of more pairs than a search begins with, whose size is counted, and one that is not completed. */
static void legs_of_a_spider(void **state)
{
	struct xt_edges e = spider(40, 20);
	compare_with_dense(*state, &e, "k=6");
	compare_with_dense(*state, &e, "k=6,normalization=none");
	compare_with_dense(*state, &e, "k=45,normalization=none");
	xt_edges_free(&e);
	e = spider(400, 5);
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "k=6,normalization=none");
	assert_int_equal(lap.status, PE_OK);
	assert_int_equal(lap.quality.certified, 1);
	assert_int_equal(lap.quality.split_groups, 1);
	for (int j = 0; j < 6; j++) { /* of a path of 5 nodes whose first has an edge more */
		double half = sin(PI / 22);
		xt_close_f64(lap.values[j], 4 * half * half, 0, 1e-12);
		assert_int_equal(lap.groups[j], 0);
	}
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

/* ---- close values ------------------------------------------------------------------- */

/* Neighbours on a long path or cycle are 2e-10 of the norm apart: still they are told apart, but pairs of a
 * cycle are not. */
static void long_paths_and_cycles(void **state)
{
	enum { N = 200000, K = 8 };
	for (int cycle = 0; cycle < 2; cycle++) {
		struct xt_edges e = cycle ? xt_cycle(N) : xt_path_graph(N);
		struct xt_lap lap = xt_lap_of(*state, &e, NULL, "k=8,normalization=none");
		assert_int_equal(lap.status, PE_OK);
		assert_int_equal(lap.quality.certified, 1);
		assert_int_equal(lap.quality.split_groups, 0);
		for (int j = 0; j < K; j++) {
			double half = sin(PI * (cycle ? j / 2 + 1 : (j + 1) / 2.0) / N);
			xt_close_f64(lap.values[j], 4 * half * half, 1e-6, 0);
			assert_int_equal(lap.groups[j], cycle ? j / 2 : j);
		}
		/* A path's vectors are known: cosines. */
		for (int j = 0; j < K && !cycle; j++)
			for (int i = 0; i < N; i += 997) {
				double want = sqrt(2.0 / N) * cos(PI * (j + 1) * (i + 0.5) / N);
				xt_close_f64(fabs(lap.vectors[(int64_t)i * K + j]), fabs(want), 0, 0.01 * sqrt(2.0 / N));
			}
		xt_lap_free(&lap);
		xt_edges_free(&e);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_lapack),
		cmocka_unit_test(twins_share_their_value),
		cmocka_unit_test(a_star_of_many_leaves),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(legs_of_a_spider),
		cmocka_unit_test(long_paths_and_cycles),
	};
	return xt_run(argc, argv, tests);
}
