/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>

#include "chebyshev.h"
#include "xt_eigen.h"

#define TOLERANCE 1e-10

static void solve(pe_context *ctx, struct xt_problem problem, int32_t k, int32_t count)
{
	int32_t n = problem.p.n;
	bool certified = xt_eigen_solve(ctx, pe_eigen_block, problem, k, count, TOLERANCE);
	/* Nothing proves it; only a search of the whole space does. */
	assert_true(!certified || count == n - 1);
}

static void finds_pairs_of_plain_graphs(void **state)
{
	for (int sym = 0; sym < 2; sym++) {
		solve(*state, xt_eigen_grid(17, 23, sym), 8, 8);
		solve(*state, xt_eigen_barbell(20, 60, sym), 10, 10);
		solve(*state, xt_eigen_random(700, 0, sym), 12, 12);
	}
}

static void finds_every_member_of_a_group(void **state)
{
	for (int sym = 0; sym < 2; sym++) {
		solve(*state, xt_eigen_grid(20, 20, sym), 4, 5);
		solve(*state, xt_eigen_cycle(300, sym), 7, 8);
		solve(*state, xt_eigen_hypercube(8, sym), 1, 8);
	}
}

/* Words of three digits 0 … q-1, joined where they differ in one. Four eigenvalues, the first of
 * multiplicity 3(q-1): the Krylov space of a block is exhausted with a few vectors of each. */
static struct xt_problem hamming(int32_t q)
{
	int32_t n = q * q * q;
	int64_t edges = 0, most = (int64_t)n * 3 * (q - 1) / 2;
	int32_t *u = malloc((size_t)most * sizeof *u), *v = malloc((size_t)most * sizeof *v);
	for (int32_t i = 0; i < n; i++)
		for (int32_t place = 1; place < n; place *= q)
			for (int32_t digit = i / place % q + 1; digit < q; digit++) {
				u[edges] = i;
				v[edges++] = i + (digit - i / place % q) * place;
			}
	assert_int_equal(edges, most);
	struct xt_problem problem = xt_problem(n, edges, u, v, NULL, true);
	free(u);
	free(v);
	return problem;
}

static void finds_groups_larger_than_its_block(void **state)
{
	solve(*state, hamming(9), 1, 24);
	solve(*state, hamming(9), 12, 24);
	solve(*state, hamming(7), 18, 18);
}

/* Six classes of twins. Eigenvalues 0, 45.9, 74 times 59, 103.6, 119 …: in the search for what the first has
 * left of 59, a polynomial that parts it from its own rounding makes 1e22 of what was found before. */
static struct xt_problem classes_of_twins(void)
{
	static const int32_t size[] = {92, 32, 108, 27, 75, 24};
	static const int32_t joined[][2] = {{2, 0}, {2, 1}, {3, 0}, {4, 1}, {4, 3}, {5, 0}, {5, 3}};
	static int32_t u[23157], v[23157];
	int32_t first[7] = {0}, edges = 0;
	for (int c = 0; c < 6; c++)
		first[c + 1] = first[c] + size[c];
	for (int e = 0; e < 7; e++)
		for (int32_t i = first[joined[e][0]]; i < first[joined[e][0] + 1]; i++)
			for (int32_t j = first[joined[e][1]]; j < first[joined[e][1] + 1]; j++) {
				u[edges] = i;
				v[edges++] = j;
			}
	assert_int_equal(edges, 23157);
	return xt_problem(first[6], edges, u, v, NULL, false);
}

static void keeps_out_what_was_found(void **state)
{
	struct xt_problem twins = classes_of_twins();
	struct pe_eigen_request request = xt_eigen_ask(2, TOLERANCE);
	struct pe_eigen_result result;
	request.max_group = twins.p.n;
	request.insist = true;
	assert_int_equal(pe_eigen_block(*state, &twins.p, &request, &result), PE_OK);
	assert_true(result.converged && result.complete && result.certified);
	assert_int_equal(result.count, 75);
	xt_eigen_check_pairs(&twins, &result, TOLERANCE);
	pe_eigen_result_free(*state, &result);
	xt_problem_free(&twins);
}

static void says_when_a_group_is_too_large(void **state)
{
	struct xt_problem star = xt_eigen_bipartite(1, 4000, true);
	struct pe_eigen_request request = xt_eigen_ask(3, TOLERANCE);
	struct pe_eigen_result result;
	assert_int_equal(pe_eigen_block(*state, &star.p, &request, &result), PE_OK);
	assert_true(result.converged && !result.complete);
	assert_int_equal(result.count, 3);
	xt_eigen_check_pairs(&star, &result, TOLERANCE);
	pe_eigen_result_free(*state, &result);
	xt_problem_free(&star);
}

static void finds_all_pairs(void **state)
{
	solve(*state, xt_eigen_grid(6, 7, true), 41, 41);
	solve(*state, xt_eigen_cycle(31, false), 30, 30);
	solve(*state, xt_eigen_bipartite(1, 1, true), 1, 1);
}

/* The polynomial of M times a vector, by the eigenvectors of a path of two rows. */
static void applies_the_polynomial(void **state)
{
	struct xt_problem grid = xt_eigen_grid(5, 9, true);
	struct pe_eigen_request request = xt_eigen_ask(44, TOLERANCE);
	struct pe_eigen_result all;
	assert_int_equal(pe_eigen_dense(*state, &grid.p, &request, &all), PE_OK);
	struct pe_chebyshev filter = {.problem = &grid.p};
	_Alignas(64) double scratch[2 * PE_CHEBYSHEV_LANES * 45];
	filter.scratch = scratch;
	for (int32_t degree = 1; degree < 20; degree += 6) {
		pe_chebyshev_set(&filter, 0.05, 0.4, 2, degree);
		for (int32_t j = 0; j < 44; j++) {
			double x[45], at = (1.2 - all.values[j]) / 0.8, value, slope;
			double *v = all.vectors + (int64_t)j * 45;
			double p = (at > 1 ? cosh(degree * acosh(at)) : cos(degree * acos(fmax(at, -1)))) /
				cosh(degree * acosh((1.2 - 0.05) / 0.8));
			for (int32_t i = 0; i < 45; i++)
				x[i] = v[i];
			assert_int_equal(pe_chebyshev_apply(*state, &filter, 1, x), PE_OK);
			for (int32_t i = 0; i < 45; i++)
				xt_close_f64(x[i], p * v[i], 0, 1e-13);
			if (all.values[j] < 0.39) {
				assert_true(pe_chebyshev_invert(&filter, p, &value, &slope));
				xt_close_f64(value, all.values[j], 1e-10, 0);
			}
		}
	}
	pe_eigen_result_free(*state, &all);
	xt_problem_free(&grid);
}

static void hands_over_what_has_not_converged(void **state)
{
	struct xt_problem grid = xt_eigen_grid(12, 13, true);
	struct pe_eigen_request request = xt_eigen_ask(5, TOLERANCE);
	struct pe_eigen_result result;
	request.tolerance = 1e-19;
	assert_int_equal(pe_eigen_block(*state, &grid.p, &request, &result), PE_OK);
	assert_false(result.converged || result.certified || result.complete);
	assert_int_equal(result.count, 5);
	xt_eigen_check_pairs(&grid, &result, 1e-12);
	pe_eigen_result_free(*state, &result);
	xt_problem_free(&grid);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_pairs_of_plain_graphs),
		cmocka_unit_test(finds_every_member_of_a_group),
		cmocka_unit_test(finds_groups_larger_than_its_block),
		cmocka_unit_test(keeps_out_what_was_found),
		cmocka_unit_test(says_when_a_group_is_too_large),
		cmocka_unit_test(finds_all_pairs),
		cmocka_unit_test(applies_the_polynomial),
		cmocka_unit_test(hands_over_what_has_not_converged),
	};
	return xt_run(argc, argv, tests);
}
