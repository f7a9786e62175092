/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

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

/* Every node linked to ten others at random: the factor of such a graph is nearly dense. */
static struct xt_problem expander(int32_t n)
{
	int32_t *u = malloc((size_t)n * 10 * sizeof *u), *v = malloc((size_t)n * 10 * sizeof *v);
	assert_true(u && v);
	int64_t edges = 0;
	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j < 10; j++) {
			/* Strides of its own for each j: no edge comes twice. */
			int32_t to = (int32_t)(((int64_t)i + 1 + j * 97 + (int64_t)j * j * 389 +
									   (int64_t)(pe_rng_uniform(3, 3, (uint64_t)(i / 8 * 10 + j)) * 90)) %
				n);
			if (to != i) {
				u[edges] = i;
				v[edges++] = to;
			}
		}
	struct xt_problem out = xt_problem(n, edges, u, v, NULL, true);
	free(u);
	free(v);
	return out;
}

static void chooses_by_size_and_fill(void **state)
{
	expect(*state, xt_eigen_cycle(60, true), 5, "dense");
	expect(*state, xt_eigen_grid(25, 25, true), 400, "dense");
	expect(*state, xt_eigen_grid(60, 61, true), 8, "shift-invert");
	expect(*state, expander(6000), 4, "block Lanczos");
	/* All near all, but only by way of one node: a tree factors without fill. */
	expect(*state, xt_eigen_bipartite(1, 4000, true), 3, "shift-invert");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(chooses_by_size_and_fill),
	};
	return xt_run(argc, argv, tests);
}
