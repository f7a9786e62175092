/* SPDX-License-Identifier: BSD-2-Clause
 * Encoder lap on one graph. Many graphs: unit/test_lap_many.c; spectra:
 * unit/test_lap_spectra.c; real files: unit/test_lap_data.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "xt_lap.h"

/* ---- weights, loops, direction ------------------------------------------------------ */

static void weights_over_twelve_orders(void **state)
{
	for (int seed = 0; seed < 20; seed++)
		for (int normalized = 0; normalized < 2; normalized++) {
			struct xt_edges e = xt_random_graph((uint64_t)seed, 35, 30, 12);
			struct xt_lap lap = xt_lap_of(*state, &e, NULL, normalized ? "k=9" : "k=9,normalization=none");
			assert_int_equal(lap.status, PE_OK);
			double *l = xt_laplacian(&e, normalized, false, false, NULL);
			xt_check_pairs(l, 35, &lap, 9, 1e-13);
			free(l);
			xt_lap_free(&lap);
			xt_edges_free(&e);
		}
}

static void equal_weights_are_as_none(void **state)
{
	struct xt_edges a = xt_random_graph(8, 30, 20, 0), b = xt_random_graph(8, 30, 20, 0);
	for (int i = 0; i < b.count; i++)
		b.w[i] = 0.25;
	struct xt_lap x = xt_lap_of(*state, &a, NULL, ""), y = xt_lap_of(*state, &b, NULL, "");
	for (int i = 0; i < 30 * 8; i++)
		xt_close_f64(x.vectors[i], y.vectors[i], 0, 1e-11);
	xt_lap_free(&y);
	y = xt_lap_of(*state, &b, NULL, "normalization=none");
	struct xt_lap z = xt_lap_of(*state, &a, NULL, "normalization=none");
	for (int j = 0; j < 8; j++)
		xt_close_f64(y.values[j], 0.25 * z.values[j], 0, 1e-13);
	xt_lap_free(&x);
	xt_lap_free(&y);
	xt_lap_free(&z);
	xt_edges_free(&a);
	xt_edges_free(&b);
}

static void weights_below_zero(void **state)
{
	double values[20];
	struct xt_edges e = xt_random_graph(5, 20, 30, 0);
	for (int i = 0; i < e.count; i += 3)
		e.w[i] = -2;
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "");
	assert_int_equal(lap.status, PE_ERR_UNSUPPORTED);
	assert_non_null(strstr(lap.message, "normalization=none"));
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &e, NULL, "normalization=none,k=19");
	assert_int_equal(lap.status, PE_OK);
	double *l = xt_laplacian(&e, false, false, false, NULL);
	xt_check_pairs(l, 20, &lap, 19, 1e-13);
	xt_eigen(l, 20, values);
	assert_true(values[0] < -1 && lap.values[0] < -1);
	int zero = 0; /* the one null vector is left out where it stands */
	while (values[zero] < -1e-9)
		zero++;
	for (int j = 0; j < 19; j++)
		xt_close_f64(lap.values[j], values[j < zero ? j : j + 1], 0, 1e-12);
	free(l);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

static void a_negative_loop_that_is_left_out(void **state)
{
	struct xt_edges e = xt_path_graph(4);
	xt_join(&e, 2, 2, -5);
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "k=3");
	assert_int_equal(lap.status, PE_OK);
	xt_close_f64(lap.values[0], 0.5, 1e-14, 0);
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &e, "loops=keep", "k=3");
	assert_int_equal(lap.status, PE_ERR_UNSUPPORTED);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

static void loops(void **state)
{
	struct xt_edges e = xt_random_graph(6, 15, 10, 1);
	xt_join(&e, 3, 3, 2.5);
	xt_join(&e, 7, 7, 0.5);
	for (int keep = 0; keep < 2; keep++)
		for (int normalized = 0; normalized < 2; normalized++) {
			struct xt_lap lap = xt_lap_of(
				*state, &e, keep ? "loops=keep" : NULL, normalized ? "k=14" : "k=14,normalization=none");
			double *l = xt_laplacian(&e, normalized, keep, false, NULL);
			xt_check_pairs(l, 15, &lap, 14, 1e-13);
			free(l);
			xt_lap_free(&lap);
		}
	xt_edges_free(&e);
}

/* A node with nothing but a loop has L = 1 - 1 = 0 where loops count, whatever isolated says. */
static void a_lonely_loop(void **state)
{
	struct xt_edges e = xt_path_graph(3);
	e.n = 4;
	xt_join(&e, 3, 3, 1);
	struct xt_lap lap = xt_lap_of(*state, &e, "loops=keep", "k=4,zero=keep,isolated=1");
	xt_close_f64(lap.values[1], 0, 0, 0);
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &e, NULL, "k=4,zero=keep,isolated=1");
	xt_close_f64(lap.values[1], 1, 1e-14, 0);
	xt_close_f64(lap.values[3], 2, 1e-14, 0);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

static void directed_edges_become_two_way(void **state)
{
	struct xt_edges e = xt_random_graph(4, 25, 20, 0);
	struct xt_lap x = xt_lap_of(*state, &e, NULL, "");
	e.directed = true;
	struct xt_lap y = xt_lap_of(*state, &e, NULL, "");
	assert_int_equal(y.status, PE_OK);
	assert_memory_equal(x.vectors, y.vectors, 25 * 8 * sizeof(double));
	xt_lap_free(&x);
	xt_lap_free(&y);
	xt_edges_free(&e);
}

/* ---- few nodes, few edges ----------------------------------------------------------- */

static void expect(pe_context *ctx, const struct xt_edges *edges, const char *settings, int columns,
	const double *values, const double *vectors)
{
	struct xt_lap lap = xt_lap_of(ctx, edges, NULL, settings);
	double fill = strstr(settings, "pad=nan") ? NAN : 0;
	assert_int_equal(lap.status, PE_OK);
	for (int j = 0; j < lap.k; j++) {
		xt_close_f64(lap.values[j], j < columns ? values[j] : fill, 1e-15, 1e-15);
		assert_true(j < columns ? lap.groups[j] >= 0 : lap.groups[j] == -1);
		for (int i = 0; i < edges->n; i++)
			xt_close_f64(
				lap.vectors[i * lap.k + j], j < columns ? vectors[i * columns + j] : fill, 1e-15, 1e-15);
	}
	xt_lap_free(&lap);
}

static void no_one_and_two_nodes(void **state)
{
	const double r = sqrt(0.5);
	struct xt_edges none = xt_empty(0), one = xt_empty(1), two = xt_path_graph(2);
	expect(*state, &none, "k=2", 0, NULL, NULL);
	expect(*state, &none, "k=2,zero=keep,pad=nan", 0, NULL, NULL);
	expect(*state, &one, "k=2", 0, NULL, NULL);
	expect(*state, &one, "k=2,pad=nan,isolated=0,normalization=rw", 0, NULL, NULL);
	expect(*state, &one, "k=2,zero=keep", 1, (double[]){0}, (double[]){1});
	expect(*state, &one, "k=2,isolated=1", 1, (double[]){1}, (double[]){1});
	expect(*state, &one, "k=2,isolated=1,zero=drop_first", 0, NULL, NULL);
	expect(*state, &two, "k=1", 1, (double[]){2}, (double[]){r, -r});
	expect(*state, &two, "k=3,pad=nan", 1, (double[]){2}, (double[]){r, -r});
	expect(*state, &two, "k=3,zero=keep,normalization=none", 2, (double[]){0, 2}, (double[]){r, r, r, -r});
	expect(*state, &two, "k=3,zero=keep,normalization=rw", 2, (double[]){0, 2}, (double[]){r, r, r, -r});
	xt_edges_free(&two);
}

static void no_edges(void **state)
{
	struct xt_edges e = xt_empty(4);
	const double axes[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}; /* 4 × 3: the first three */
	const double rest[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
	expect(*state, &e, "k=3", 0, NULL, NULL);
	expect(*state, &e, "k=3,zero=keep", 3, (double[]){0, 0, 0}, axes);
	expect(*state, &e, "k=3,zero=drop_first", 3, (double[]){0, 0, 0}, rest);
	expect(*state, &e, "k=3,isolated=1", 3, (double[]){1, 1, 1}, axes);
	expect(*state, &e, "k=3,isolated=1,normalization=rw", 3, (double[]){1, 1, 1}, axes);
	expect(*state, &e, "k=3,isolated=1,zero=drop_first", 3, (double[]){1, 1, 1}, rest);
	expect(*state, &e, "k=3,isolated=1,normalization=none", 0, NULL, NULL);
}

/* Two components whose nodes alternate: null vectors in the order of the components, each on its own. */
static void null_vectors(void **state)
{
	struct xt_edges e = xt_empty(5);
	xt_join(&e, 0, 2, 1);
	xt_join(&e, 2, 4, 1);
	xt_join(&e, 1, 3, 5);
	const double a = 1 / sqrt(3), b = sqrt(0.5), s = 0.5, t = sqrt(0.5);
	const double plain[] = {a, 0, 0, b, a, 0, 0, b, a, 0}, sym[] = {s, 0, 0, b, t, 0, 0, b, s, 0};
	const double zeros[2] = {0};
	expect(*state, &e, "k=2,zero=keep,normalization=none", 2, zeros, plain);
	expect(*state, &e, "k=2,zero=keep,normalization=rw", 2, zeros, plain);
	expect(*state, &e, "k=2,zero=keep", 2, zeros, sym);
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "k=5,zero=drop_first,pad=nan");
	const double values[] = {0, 1, 2, 2};
	for (int j = 0; j < 5; j++)
		xt_close_f64(lap.values[j], j < 4 ? values[j] : NAN, 1e-14, 0);
	const int32_t groups[] = {0, 1, 2, 2, -1};
	assert_memory_equal(lap.groups, groups, sizeof groups);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

static void padding_can_be_refused(void **state)
{
	struct xt_edges e = xt_cycle(6);
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "k=6,pad=error");
	assert_int_equal(lap.status, PE_ERR_RANGE);
	assert_non_null(strstr(lap.message, "k=6 eigenvectors are wanted and there are 5"));
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &e, NULL, "k=5,pad=error");
	assert_int_equal(lap.status, PE_OK);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

/* ---- groups ------------------------------------------------------------------------- */

/* C_7 has pairs of equal values; k = 3 cuts the second pair. */
static void groups_are_cut_or_left_out(void **state)
{
	struct xt_edges e = xt_cycle(7);
	struct xt_lap whole = xt_lap_of(*state, &e, NULL, "k=4"), cut = xt_lap_of(*state, &e, NULL, "k=3"),
				  left = xt_lap_of(*state, &e, NULL, "k=3,group=complete");
	assert_int_equal(whole.quality.split_groups, 0);
	assert_int_equal(cut.quality.split_groups, 1);
	assert_int_equal(left.quality.split_groups, 0);
	const int32_t groups[] = {0, 0, 1, 1};
	assert_memory_equal(whole.groups, groups, sizeof groups);
	assert_memory_equal(cut.groups, groups, 3 * sizeof *groups);
	assert_int_equal(left.groups[2], -1);
	for (int i = 0; i < 7; i++) {
		/* The basis was made before the cut. */
		assert_memory_equal(cut.vectors + 3 * i, whole.vectors + 4 * i, 3 * sizeof(double));
		assert_memory_equal(left.vectors + 3 * i, whole.vectors + 4 * i, 2 * sizeof(double));
		xt_close_f64(left.vectors[3 * i + 2], 0, 0, 0);
	}
	xt_lap_free(&whole);
	xt_lap_free(&cut);
	xt_lap_free(&left);
	xt_edges_free(&e);
}

/* All of K_9 but the null vector: by the rule, the basis of test_canonical.c. */
static void the_basis_of_a_complete_graph(void **state)
{
	struct xt_edges e = xt_complete(9);
	for (int k = 1; k <= 8; k += 7) {
		char settings[32];
		snprintf(settings, sizeof settings, "k=%d", k);
		struct xt_lap lap = xt_lap_of(*state, &e, NULL, settings);
		assert_int_equal(lap.quality.split_groups, k < 8);
		for (int j = 0; j < k; j++)
			for (int i = 0; i < 9; i++) {
				double rest = 9 - j, length = sqrt(1 - 1 / rest);
				xt_close_f64(lap.vectors[i * k + j],
					i < j        ? 0
						: i == j ? length
								 : -1 / rest / length,
					0, 1e-13);
			}
		xt_lap_free(&lap);
	}
	xt_edges_free(&e);
}

static void twenty_copies(void **state)
{
	struct xt_edges copy = xt_random_graph(9, 12, 8, 0), all = xt_empty(0);
	for (int c = 0; c < 20; c++) {
		struct xt_edges more = xt_union(&all, &copy);
		xt_edges_free(&all);
		all = more;
	}
	struct xt_lap one = xt_lap_of(*state, &copy, NULL, "k=4"), lap = xt_lap_of(*state, &all, NULL, "k=80");
	double *l = xt_laplacian(&all, true, false, false, NULL);
	xt_check_pairs(l, 240, &lap, 80, 1e-13);
	for (int j = 0; j < 80; j++) {
		xt_close_f64(lap.values[j], one.values[j / 20], 1e-13, 0);
		assert_int_equal(lap.groups[j], j / 20);
		/* Copy by copy: the largest entries tie, and the first row wins. */
		for (int i = 0; i < 240; i++)
			xt_close_f64(fabs(lap.vectors[i * 80 + j]),
				i / 12 == j % 20 ? fabs(one.vectors[i % 12 * 4 + j / 20]) : 0, 0, 1e-11);
	}
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &all, NULL, "k=30,zero=keep");
	for (int j = 0; j < 20; j++)
		xt_close_f64(lap.values[j], 0, 0, 0);
	assert_int_equal(lap.groups[19], 0);
	assert_int_equal(lap.groups[20], 1);
	assert_int_equal(lap.quality.split_groups, 1);
	free(l);
	xt_lap_free(&lap);
	xt_lap_free(&one);
	xt_edges_free(&copy);
	xt_edges_free(&all);
}

/* Values do not change, projectors of whole groups go with the nodes. */
static void nodes_in_another_order(void **state)
{
	struct xt_edges a = xt_cycle(6), b = xt_path_graph(4),
					graphs[] = {xt_product(&a, &b), xt_hypercube(4), xt_random_graph(11, 33, 25, 3),
						xt_union(&a, &a), xt_shrikhande()};
	for (int g = 0; g < 5; g++) {
		int n = graphs[g].n, *to = xt_permutation((uint64_t)g, n);
		struct xt_edges moved = xt_relabelled(&graphs[g], to);
		struct xt_lap x = xt_lap_of(*state, &graphs[g], NULL, "k=11,group=complete");
		struct xt_lap y = xt_lap_of(*state, &moved, NULL, "k=11,group=complete");
		assert_memory_equal(x.groups, y.groups, 11 * sizeof *x.groups);
		for (int j = 0, end; j < 11 && x.groups[j] >= 0; j = end) {
			for (end = j; end < 11 && x.groups[end] == x.groups[j]; end++)
				xt_close_f64(x.values[end], y.values[end], 1e-12, 1e-14);
			assert_true(xt_projector_difference(&x, &y, j, end - j, to) < 1e-9);
		}
		xt_lap_free(&x);
		xt_lap_free(&y);
		xt_edges_free(&moved);
		xt_edges_free(&graphs[g]);
		free(to);
	}
	xt_edges_free(&a);
	xt_edges_free(&b);
}

/* ---- signs -------------------------------------------------------------------------- */

static void canonical_signs(void **state)
{
	for (int seed = 0; seed < 30; seed++) {
		struct xt_edges e = xt_random_graph((uint64_t)seed, 24, 12, 0);
		struct xt_lap lap = xt_lap_of(*state, &e, NULL, seed % 2 ? "k=11" : "k=11,normalization=rw");
		for (int j = 0; j < 11; j++) {
			double largest = 0;
			int i = 0;
			for (int t = 0; t < 24; t++)
				largest = fmax(largest, fabs(lap.vectors[t * 11 + j]));
			while (fabs(lap.vectors[i * 11 + j]) < (1 - 1e-6) * largest)
				i++;
			assert_true(lap.vectors[i * 11 + j] > 0);
		}
		xt_lap_free(&lap);
		xt_edges_free(&e);
	}
}

static void random_signs(void **state)
{
	(void)state;
	struct xt_edges e = xt_random_graph(2, 30, 20, 0);
	struct xt_lap laps[3];
	int flipped[3] = {0};
	for (int seed = 0; seed < 3; seed++) {
		pe_context_options options = {.size = sizeof options, .seed = (uint64_t)(seed / 2)};
		pe_context *ctx;
		assert_int_equal(pe_context_create(&options, &ctx), PE_OK);
		laps[seed] = xt_lap_of(ctx, &e, NULL, "k=20,sign=random");
		struct xt_lap lap = xt_lap_of(ctx, &e, NULL, "k=20");
		for (int j = 0; j < 20; j++) {
			double ratio = laps[seed].vectors[j] / lap.vectors[j];
			xt_close_f64(fabs(ratio), 1, 0, 0);
			flipped[seed] += ratio < 0;
		}
		xt_lap_free(&lap);
		pe_context_destroy(&ctx);
	}
	assert_true(flipped[0] > 3 && flipped[0] < 17);
	assert_memory_equal(laps[0].vectors, laps[1].vectors, 30 * 20 * sizeof(double));
	assert_memory_not_equal(laps[0].vectors, laps[2].vectors, 30 * 20 * sizeof(double));
	for (int seed = 0; seed < 3; seed++)
		xt_lap_free(&laps[seed]);
	xt_edges_free(&e);
}

/* ---- demands that are not met ------------------------------------------------------- */

static void residual_above_the_limit(void **state)
{
	struct xt_edges e = xt_random_graph(1, 60, 60, 0);
	struct xt_lap good = xt_lap_of(*state, &e, NULL, ""),
				  lap = xt_lap_of(*state, &e, NULL, "max_residual=1e-16");
	assert_int_equal(lap.status, PE_ERR_NOT_CONVERGED);
	assert_non_null(strstr(lap.message, "max_residual"));
	assert_int_equal(lap.quality.failed, 1);
	assert_memory_equal(lap.vectors, good.vectors, 60 * 8 * sizeof(double));
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &e, NULL, "engine=dense,tolerance=1e-16");
	assert_int_equal(lap.status, PE_ERR_NOT_CONVERGED);
	assert_non_null(strstr(lap.message, "tolerance"));
	xt_lap_free(&lap);
	xt_lap_free(&good);
	xt_edges_free(&e);
}

static void every_allocation_may_fail(void **state)
{
	struct xt_edges a = xt_cycle(8), b = xt_path_graph(5), both = xt_union(&a, &b);
	pe_graph *graph = xt_graph(*state, &both, 1, NULL);
	pe_params *params;
	pe_domain *domain;
	double out[13 * 5];
	assert_int_equal(pe_params_create(*state, "lap", &params), PE_OK);
	xt_set(params, "k=5,normalization=rw");
	assert_int_equal(pe_domain_graph(*state, graph, &domain), PE_OK);
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		pe_encoding *e = NULL;
		pe_tensor outs[3] = {pe_tensor_dense(out, PE_F64, 2, (int64_t[]){13, 5})};
		xt_shortage_begin(&s);
		pe_status status = pe_encoding_create(*state, pe_encoder_find("lap"), params, domain, NULL, &e);
		if (status == PE_OK)
			status = pe_encoding_compute(e, outs, 3);
		xt_shortage_end(&s, status);
		pe_encoding_destroy(&e);
	}
	assert_true(s.failed > 19);
	pe_domain_destroy(&domain);
	pe_params_destroy(&params);
	pe_graph_destroy(&graph);
	xt_edges_free(&a);
	xt_edges_free(&b);
	xt_edges_free(&both);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_over_twelve_orders),
		cmocka_unit_test(equal_weights_are_as_none),
		cmocka_unit_test(weights_below_zero),
		cmocka_unit_test(a_negative_loop_that_is_left_out),
		cmocka_unit_test(loops),
		cmocka_unit_test(a_lonely_loop),
		cmocka_unit_test(directed_edges_become_two_way),
		cmocka_unit_test(no_one_and_two_nodes),
		cmocka_unit_test(no_edges),
		cmocka_unit_test(null_vectors),
		cmocka_unit_test(padding_can_be_refused),
		cmocka_unit_test(groups_are_cut_or_left_out),
		cmocka_unit_test(the_basis_of_a_complete_graph),
		cmocka_unit_test(twenty_copies),
		cmocka_unit_test(nodes_in_another_order),
		cmocka_unit_test(canonical_signs),
		cmocka_unit_test(random_signs),
		cmocka_unit_test(residual_above_the_limit),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return xt_run(argc, argv, tests);
}
