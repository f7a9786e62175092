/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "eigen_engines.h"
#include "eigen_parts.h"
#include "linalg/arpack.h"
#include "pool.h"
#include "xt_eigen.h"

#define TOLERANCE 1e-10

static void solve(pe_context *ctx, struct xt_problem problem, int32_t k, int32_t count)
{
	assert_true(xt_eigen_solve(ctx, pe_eigen_shift_invert, problem, k, count, TOLERANCE));
}

static void finds_pairs_of_plain_graphs(void **state)
{
	for (int sym = 0; sym < 2; sym++) {
		solve(*state, xt_eigen_grid(17, 23, sym), 8, 8);
		solve(*state, xt_eigen_barbell(20, 60, sym), 10, 10);
		solve(*state, xt_eigen_random(700, 0, sym), 12, 12);
	}
}

/* Groups of 2, 2, 1, …; of 2; of 9 and 36; all beyond one block. */
static void finds_every_member_of_a_group(void **state)
{
	for (int sym = 0; sym < 2; sym++) {
		solve(*state, xt_eigen_grid(20, 20, sym), 4, 5);
		solve(*state, xt_eigen_cycle(300, sym), 7, 8);
		solve(*state, xt_eigen_hypercube(9, sym), 1, 9);
		solve(*state, xt_eigen_hypercube(9, sym), 12, 9 + 36);
		solve(*state, xt_eigen_bipartite(20, 30, sym), 3, sym ? 48 : 29);
	}
}

static void says_when_a_group_is_too_large(void **state)
{
	for (int sym = 0; sym < 2; sym++) {
		struct xt_problem star = xt_eigen_bipartite(1, 400, sym);
		struct pe_eigen_request request = xt_eigen_ask(8, TOLERANCE);
		struct pe_eigen_result result;
		assert_int_equal(pe_eigen_shift_invert(*state, &star.p, &request, &result), PE_OK);
		assert_true(result.converged && !result.complete && result.certified);
		assert_int_equal(result.count, 8);
		for (int j = 0; j < 8; j++)
			xt_close_f64(result.values[j], 1, 0, 1e-12);
		xt_eigen_check_pairs(&star, &result, TOLERANCE);
		pe_eigen_result_free(*state, &result);
		xt_problem_free(&star);
	}
}

static void finds_all_pairs(void **state)
{
	solve(*state, xt_eigen_grid(6, 7, true), 41, 41);
	solve(*state, xt_eigen_cycle(31, false), 30, 30);
	solve(*state, xt_eigen_cycle(3, true), 1, 2);
	solve(*state, xt_eigen_bipartite(1, 1, true), 1, 1);
}

/* Twelve orders of magnitude: what must hold is relative to the norm. */
static void takes_weights_far_apart(void **state)
{
	for (int sym = 0; sym < 2; sym++) {
		struct xt_problem problem = xt_eigen_random(600, 6, sym);
		struct pe_eigen_request request = xt_eigen_ask(8, TOLERANCE);
		struct pe_eigen_result result;
		assert_int_equal(pe_eigen_shift_invert(*state, &problem.p, &request, &result), PE_OK);
		assert_true(result.converged);
		xt_eigen_check_pairs(&problem, &result, TOLERANCE);
		double *spectrum = xt_eigen_spectrum(*state, &problem);
		xt_eigen_check_values(&result, spectrum, 1e-10 * problem.p.norm1);
		free(spectrum);
		pe_eigen_result_free(*state, &result);
		xt_problem_free(&problem);
	}
}

/* Where the basis is the whole space: what rounding leaves of the largest values in the inverse is not
 * enough, and need not be. */
static void exhausts_a_space_of_weights_far_apart(void **state)
{
	for (int sym = 0; sym < 2; sym++)
		for (int32_t n = 4; n <= 120; n += 29) {
			struct xt_problem problem = xt_eigen_random(n, 6, sym);
			struct pe_eigen_request request = xt_eigen_ask(n / 2 + 1, 1e-12);
			struct pe_eigen_result result;
			assert_int_equal(pe_eigen_shift_invert(*state, &problem.p, &request, &result), PE_OK);
			assert_true(result.converged && result.certified);
			xt_eigen_check_pairs(&problem, &result, 1e-12);
			double *spectrum = xt_eigen_spectrum(*state, &problem);
			xt_eigen_check_values(&result, spectrum, 1e-12 * problem.p.norm1);
			free(spectrum);
			pe_eigen_result_free(*state, &result);
			xt_problem_free(&problem);
		}
}

/* A cycle with one edge of weight -1/2 among ones has values below 0. */
static void takes_negative_weights(void **state)
{
	enum { N = 300 };
	int32_t u[N], v[N];
	double w[N];
	for (int32_t i = 0; i < N; i++) {
		u[i] = i;
		v[i] = (i + 1) % N;
		w[i] = i % 100 == 7 ? -0.5 : 1;
	}
	struct xt_problem problem = xt_problem(N, N, u, v, w, false);
	assert_false(problem.p.semidefinite);
	double *spectrum = xt_eigen_spectrum(*state, &problem);
	assert_true(spectrum[2] < -1e-3 && spectrum[3] > -1e-10);
	free(spectrum);
	solve(*state, problem, 9, 9);
}

/* Sylvester: a pair that is left out shows as a count one too high. */
static void counts_what_is_there(void **state)
{
	struct xt_problem grid = xt_eigen_grid(20, 20, true);
	struct pe_sparse_matrix matrix = pe_eigen_matrix(&grid.p);
	struct pe_sparse_factor *factor;
	double *spectrum = xt_eigen_spectrum(*state, &grid);
	assert_int_equal(pe_sparse_factor_create(*state, &matrix, &factor), PE_OK);
	for (int32_t j = 1; j < 399; j++) {
		double point;
		int64_t count;
		bool valid;
		if (spectrum[j] - spectrum[j - 1] < 1e-9)
			continue;
		assert_int_equal(
			pe_eigen_count_below(*state, factor, spectrum[j - 1], spectrum[j], &point, &count, &valid),
			PE_OK);
		assert_true(valid && point > spectrum[j - 1] && point < spectrum[j]);
		assert_int_equal(count, j + 1);
	}
	free(spectrum);
	pe_sparse_factor_destroy(*state, &factor);
	xt_problem_free(&grid);
}

/* The triangular graph of 22, nodes in the order of the pairs: 0, 22 and 42, and its parts have whole values
 * too, so that factors at whole points have pivots near 0. */
static void counts_between_whole_values(void **state)
{
	enum { OF = 22, N = OF * (OF - 1) / 2, EDGES = N * (OF - 2) };
	static int32_t u[EDGES], v[EDGES];
	int32_t first[N], second[N], n = 0, edges = 0;
	for (int32_t a = 0; a < OF; a++)
		for (int32_t b = a + 1; b < OF; b++, n++) {
			first[n] = a;
			second[n] = b;
			for (int32_t i = 0; i < n; i++) {
				if (first[i] != a && second[i] != a && second[i] != b)
					continue;
				u[edges] = i;
				v[edges++] = n;
			}
		}
	assert_int_equal(edges, EDGES);
	for (int sym = 0; sym < 2; sym++)
		solve(*state, xt_problem(N, EDGES, u, v, NULL, sym), 12, 21);
}

/* In an interval narrower than rounding no count is worth anything. */
static void refuses_a_count_that_rounding_decides(void **state)
{
	struct xt_problem grid = xt_eigen_grid(20, 20, true);
	struct pe_sparse_matrix matrix = pe_eigen_matrix(&grid.p);
	struct pe_sparse_factor *factor;
	double point;
	int64_t count;
	bool valid;
	assert_int_equal(pe_sparse_factor_create(*state, &matrix, &factor), PE_OK);
	assert_int_equal(
		pe_eigen_count_below(*state, factor, 1.2345, 1.2345 + 4e-15, &point, &count, &valid), PE_OK);
	assert_false(valid);
	pe_sparse_factor_destroy(*state, &factor);
	xt_problem_free(&grid);
}

/* ARPACK on the same factorisation comes to the same values; counted, too. */
static void agrees_with_arpack(void **state)
{
	struct xt_problem problem = xt_eigen_random(900, 0, true);
	struct pe_eigen_request request = xt_eigen_ask(9, TOLERANCE);
	struct pe_eigen_result a, b;
	assert_int_equal(pe_eigen_arpack(*state, &problem.p, &request, &a), PE_OK);
	assert_int_equal(pe_eigen_shift_invert(*state, &problem.p, &request, &b), PE_OK);
	assert_true(a.converged && a.certified && a.count == 9 && b.count == 9);
	xt_eigen_check_pairs(&problem, &a, TOLERANCE);
	xt_eigen_check_values(&a, b.values, 1e-13);
	pe_eigen_result_free(*state, &a);
	pe_eigen_result_free(*state, &b);
	xt_problem_free(&problem);
}

/* ARPACK counts its memory in 32 bits. */
static void arpack_counts_in_32_bits(void **state)
{
	struct pe_arpack_problem problem = {.n = 46340, .k = 1, .basis = 46339};
	int32_t converged;
	int64_t products;
	pe_status status = pe_arpack_largest(*state, &problem, NULL, NULL, &converged, &products);
	xt_fails(*state, status, PE_ERR_UNSUPPORTED, "too large for ARPACK");
}

struct solo {
	const struct xt_problem *problem;
	double value[8];
};

static pe_status solve_one(pe_context *worker, void *arg, int64_t chunk)
{
	struct solo *solo = arg;
	struct pe_eigen_request request = xt_eigen_ask(3, TOLERANCE);
	struct pe_eigen_result result;
	pe_status status = chunk % 2 ? pe_eigen_arpack(worker, &solo->problem->p, &request, &result)
								 : pe_eigen_shift_invert(worker, &solo->problem->p, &request, &result);
	if (status == PE_OK) {
		solo->value[chunk] = result.values[2];
		pe_eigen_result_free(worker, &result);
	}
	return status;
}

/* ARPACK's static variables must not be shared by two threads at once. */
static void runs_in_several_threads(void **state)
{
	(void)state;
	struct xt_problem problem = xt_eigen_random(2000, 0, true);
	struct solo solo = {.problem = &problem};
	pe_context *ctx = xt_context(4, NULL);
	assert_int_equal(pe_parallel(ctx, 8, solve_one, &solo, NULL), PE_OK);
	for (int i = 2; i < 8; i++)
		assert_memory_equal(&solo.value[i], &solo.value[i % 2], sizeof(double));
	xt_close_f64(solo.value[1], solo.value[0], 0, 1e-13);
	pe_context_destroy(&ctx);
	xt_problem_free(&problem);
}

static void hands_over_what_has_not_converged(void **state)
{
	struct xt_problem grid = xt_eigen_grid(20, 21, true);
	struct pe_eigen_request request = xt_eigen_ask(5, TOLERANCE);
	struct pe_eigen_result result;
	request.tolerance = 1e-19;
	assert_int_equal(pe_eigen_shift_invert(*state, &grid.p, &request, &result), PE_OK);
	assert_false(result.converged || result.certified || result.complete);
	assert_int_equal(result.count, 5);
	xt_eigen_check_pairs(&grid, &result, 1e-12);
	pe_eigen_result_free(*state, &result);
	xt_problem_free(&grid);
}

static void gives_the_same_bits_again(void **state)
{
	struct xt_problem grid = xt_eigen_grid(30, 30, true);
	struct pe_eigen_request request = xt_eigen_ask(6, TOLERANCE);
	struct pe_eigen_result a, b;
	assert_int_equal(pe_eigen_shift_invert(*state, &grid.p, &request, &a), PE_OK);
	assert_int_equal(pe_eigen_shift_invert(*state, &grid.p, &request, &b), PE_OK);
	assert_int_equal(a.count, b.count);
	assert_memory_equal(a.vectors, b.vectors, (size_t)a.count * 900 * sizeof *a.vectors);
	pe_eigen_result_free(*state, &b);
	request.stream = 1;
	assert_int_equal(pe_eigen_shift_invert(*state, &grid.p, &request, &b), PE_OK);
	assert_memory_not_equal(a.vectors, b.vectors, (size_t)a.count * 900 * sizeof *a.vectors);
	pe_eigen_result_free(*state, &a);
	pe_eigen_result_free(*state, &b);
	xt_problem_free(&grid);
}

/* Nothing can be counted where 119 values lie within 1e-10: the search then goes on without a count, and not
 * with the factor that was to give it. */
static void goes_on_where_nothing_can_be_counted(void **state)
{
	enum { HALF = 60 };
	static int32_t u[HALF * HALF], v[HALF * HALF];
	static double w[HALF * HALF];
	uint32_t draw = 1;
	for (int32_t e = 0; e < HALF * HALF; e++) {
		u[e] = e / HALF;
		v[e] = HALF + e % HALF;
		draw = draw * 1664525 + 1013904223;
		w[e] = 1 + 1e-10 * ((int32_t)(draw >> 16) % 7 - 3);
	}
	for (int sym = 0; sym < 2; sym++)
		for (int32_t k = 8; k <= 20; k += 4) {
			struct xt_problem problem = xt_problem(2 * HALF, HALF * HALF, u, v, w, sym);
			struct pe_eigen_request request = xt_eigen_ask(k, 1e-11);
			struct pe_eigen_result result;
			assert_int_equal(pe_eigen_shift_invert(*state, &problem.p, &request, &result), PE_OK);
			assert_true(result.converged);
			xt_eigen_check_pairs(&problem, &result, 1e-11);
			double *spectrum = xt_eigen_spectrum(*state, &problem);
			xt_eigen_check_values(&result, spectrum, 1e-9 * problem.p.norm1);
			free(spectrum);
			pe_eigen_result_free(*state, &result);
			xt_problem_free(&problem);
		}
}

static void survives_a_failed_allocation(void **state)
{
	struct xt_problem grid = xt_eigen_grid(12, 12, true);
	struct pe_eigen_request request = xt_eigen_ask(4, TOLERANCE);
	struct pe_eigen_result result;
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_eigen_shift_invert(*state, &grid.p, &request, &result));
		assert_true(s.over || (!result.values && !result.vectors));
		if (s.over)
			pe_eigen_result_free(*state, &result);
	}
	xt_problem_free(&grid);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_pairs_of_plain_graphs),
		cmocka_unit_test(finds_every_member_of_a_group),
		cmocka_unit_test(says_when_a_group_is_too_large),
		cmocka_unit_test(finds_all_pairs),
		cmocka_unit_test(takes_weights_far_apart),
		cmocka_unit_test(exhausts_a_space_of_weights_far_apart),
		cmocka_unit_test(takes_negative_weights),
		cmocka_unit_test(counts_what_is_there),
		cmocka_unit_test(counts_between_whole_values),
		cmocka_unit_test(refuses_a_count_that_rounding_decides),
		cmocka_unit_test(goes_on_where_nothing_can_be_counted),
		cmocka_unit_test(agrees_with_arpack),
		cmocka_unit_test(arpack_counts_in_32_bits),
		cmocka_unit_test(runs_in_several_threads),
		cmocka_unit_test(hands_over_what_has_not_converged),
		cmocka_unit_test(gives_the_same_bits_again),
		cmocka_unit_test(survives_a_failed_allocation),
	};
	return xt_run(argc, argv, tests);
}
