/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "rng.h"
#include "xt_eigen.h"

#define TOLERANCE 1e-10

/* Solves and says whether the note begins with `engine`. */
static void expect(pe_context *ctx, struct xt_problem problem, int32_t k, const char *engine)
{
	struct pe_eigen_request request = {.k = k, .tolerance = TOLERANCE, .max_group = 64, .certify = true};
	struct pe_eigen_result result;
	assert_int_equal(pe_eigen_auto(ctx, &problem.p, &request, &result), PE_OK);
	assert_true(result.converged && result.count >= k);
	assert_memory_equal(result.note, engine, strlen(engine));
	xt_eigen_check_pairs(&problem, &result, TOLERANCE);
	pe_eigen_result_free(ctx, &result);
	xt_problem_free(&problem);
}

/* Every node linked to `links` others at random, by weights 10^±decades: the factor is nearly dense. */
static struct xt_problem expander(int32_t n, int32_t links, double decades, bool sym)
{
	int64_t most = (int64_t)n * links, edges = 0;
	int32_t *u = malloc((size_t)most * sizeof *u), *v = malloc((size_t)most * sizeof *v);
	double *w = malloc((size_t)most * sizeof *w);
	assert_true(u && v && w);
	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j < links; j++) {
			/* Strides of its own for each j: no edge comes twice. */
			int32_t to = (int32_t)(((int64_t)i + 1 + j * 97 + (int64_t)j * j * 389 +
									   (int64_t)(pe_rng_uniform(3, 3, (uint64_t)(i / 8 * 10 + j)) * 90)) %
				n);
			if (to != i) {
				u[edges] = i;
				v[edges] = to;
				w[edges] = pow(10, decades * (2 * pe_rng_uniform(3, 4, (uint64_t)edges) - 1));
				edges++;
			}
		}
	struct xt_problem out = xt_problem(n, edges, u, v, decades > 0 ? w : NULL, sym);
	free(u);
	free(v);
	free(w);
	return out;
}

static void chooses_by_size_and_fill(void **state)
{
	expect(*state, xt_eigen_cycle(60, true), 5, "dense");
	expect(*state, xt_eigen_grid(25, 25, true), 400, "dense");
	expect(*state, xt_eigen_grid(60, 61, true), 8, "shift-invert");
	expect(*state, expander(6000, 10, 0, true), 4, "block Lanczos");
	/* All near all, but only by way of one node: a tree factors without fill. */
	expect(*state, xt_eigen_bipartite(1, 4000, true), 3, "shift-invert");
}

/* With weights of twelve orders the wanted values are 1e-12 of the largest: a filter would spend 40,000
 * products in vain before the factor is tried. */
static void does_not_filter_what_is_out_of_reach(void **state)
{
	struct xt_problem problem = expander(2500, 3, 6, false);
	struct pe_eigen_request request = {.k = 8, .tolerance = TOLERANCE, .max_group = 64, .certify = true};
	struct pe_eigen_result result;
	assert_int_equal(pe_eigen_auto(*state, &problem.p, &request, &result), PE_OK);
	assert_true(result.converged && result.certified);
	assert_memory_equal(result.note, "shift-invert", 12);
	assert_in_range(result.products, 1, 1000);
	xt_eigen_check_pairs(&problem, &result, TOLERANCE);
	pe_eigen_result_free(*state, &result);
	xt_problem_free(&problem);
}

/* Weights of 200 orders, which no iteration parts: LAPACK has the last word where it can. */
static void does_not_give_up_what_is_small(void **state)
{
	for (int sym = 0; sym < 2; sym++) {
		struct xt_problem problem = expander(600, 4, 100, sym);
		struct pe_eigen_request request = xt_eigen_ask(20, 1e-13);
		struct pe_eigen_result result;
		assert_int_equal(pe_eigen_auto(*state, &problem.p, &request, &result), PE_OK);
		assert_true(result.converged);
		xt_eigen_check_pairs(&problem, &result, 1e-13);
		pe_eigen_result_free(*state, &result);
		xt_problem_free(&problem);
	}
}

/* A count costs more than the search here: it is made where it is asked for, by either engine. */
static void counts_at_any_cost_if_told_to(void **state)
{
	static pe_status (*const engines[])(pe_context *, const struct pe_eigen_problem *,
		const struct pe_eigen_request *, struct pe_eigen_result *) = {pe_eigen_auto, pe_eigen_block};
	struct xt_problem problem = expander(3000, 4, 0, true);
	for (int i = 0; i < 4; i++) {
		struct pe_eigen_request request = xt_eigen_ask(4, TOLERANCE);
		struct pe_eigen_result result;
		request.insist = i % 2;
		assert_int_equal(engines[i / 2](*state, &problem.p, &request, &result), PE_OK);
		assert_memory_equal(result.note, "block Lanczos", 13);
		assert_int_equal(result.certified, request.insist);
		xt_eigen_check_pairs(&problem, &result, TOLERANCE);
		pe_eigen_result_free(*state, &result);
	}
	xt_problem_free(&problem);
}

/* Refused before 13 GB are asked for. */
static void no_dense_matrix_beyond_lapack(void **state)
{
	struct xt_problem problem = xt_eigen_cycle(40000, true);
	struct pe_eigen_request request = xt_eigen_ask(1, TOLERANCE);
	struct pe_eigen_result result;
	xt_fail_allocation(0, true);
	pe_status status = pe_eigen_dense(*state, &problem.p, &request, &result);
	xt_fail_allocation(-1, false);
	xt_fails(*state, status, PE_ERR_UNSUPPORTED, "too large for a dense matrix");
	assert_null(result.values);
	xt_problem_free(&problem);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(chooses_by_size_and_fill),
		cmocka_unit_test(does_not_filter_what_is_out_of_reach),
		cmocka_unit_test(does_not_give_up_what_is_small),
		cmocka_unit_test(counts_at_any_cost_if_told_to),
		cmocka_unit_test(no_dense_matrix_beyond_lapack),
	};
	return xt_run(argc, argv, tests);
}
