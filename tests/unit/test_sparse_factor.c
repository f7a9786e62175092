/* SPDX-License-Identifier: BSD-2-Clause
 * The sparse factorisation: what it solves, what it counts, and how it judges itself, on graphs of every
 * shape, with shifts below the spectrum and inside. */
#include "xt.h"

#include <math.h>

#include "eigen_parts.h"
#include "rng.h"
#include "xt_eigen.h"

enum { MOST = 9 };

static struct pe_sparse_factor *analyse(pe_context *ctx, const struct xt_problem *problem)
{
	struct pe_sparse_matrix matrix = pe_eigen_matrix(&problem->p);
	struct pe_sparse_factor *factor;
	assert_int_equal(pe_sparse_factor_create(ctx, &matrix, &factor), PE_OK);
	return factor;
}

static void factorise(pe_context *ctx, struct pe_sparse_factor *factor, double shift)
{
	bool exists;
	assert_int_equal(pe_sparse_factor_numeric(ctx, factor, shift, &exists), PE_OK);
	assert_true(exists);
}

/* ‖(M - shift·I) x - b‖ is small beside ‖M‖ ‖x‖ and ‖b‖, for every number of vectors. */
static void check_solves(
	pe_context *ctx, const struct xt_problem *problem, const struct pe_sparse_factor *factor, double shift)
{
	int64_t n = problem->p.n;
	double *x = malloc((size_t)(n * MOST) * sizeof *x), *y = malloc((size_t)n * sizeof *y);
	assert_true(x && y);
	for (int32_t count = 1; count <= MOST; count++) {
		for (int64_t i = 0; i < n * count; i++)
			x[i] = pe_rng_uniform(7, 0, (uint64_t)i) - 0.5;
		assert_int_equal(pe_sparse_factor_solve(ctx, factor, count, x), PE_OK);
		for (int64_t j = 0; j < count; j++) {
			double most = 0, worst = 0;
			pe_eigen_apply(&problem->p, x + j * n, y);
			for (int64_t i = 0; i < n; i++) {
				double wanted = pe_rng_uniform(7, 0, (uint64_t)(j * n + i)) - 0.5;
				worst = fmax(worst, fabs(y[i] - shift * x[j * n + i] - wanted));
				most = fmax(most, fabs(x[j * n + i]));
			}
			xt_close_f64(worst, 0, 0, 1e-12 * (1 + problem->p.norm1 * most));
		}
	}
	free(x);
	free(y);
}

static int64_t count_below(const double *spectrum, int32_t others, double shift)
{
	int64_t count = shift > 0;
	for (int32_t j = 0; j < others; j++)
		count += spectrum[j] < shift;
	return count;
}

/* Solves below the spectrum, and wherever the factor calls itself good; counts there too. */
static void check(pe_context *ctx, struct xt_problem problem)
{
	static const double shifts[] = {-1, -1e-3, 0.0123, 0.31, 0.77, 1.3, 5.1};
	struct pe_sparse_factor *factor = analyse(ctx, &problem);
	double *spectrum = xt_eigen_spectrum(ctx, &problem), error;
	assert_true(pe_sparse_factor_fill(factor) >= problem.p.n && pe_sparse_factor_flops(factor) > 0);
	for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
		factorise(ctx, factor, shifts[i]);
		assert_int_equal(pe_sparse_factor_error(ctx, factor, i, &error), PE_OK);
		if (shifts[i] < 0)
			assert_true(error < 1e-12 * problem.p.norm1 * problem.p.n);
		if (!(error < 1e-11))
			continue;
		assert_int_equal(
			pe_sparse_factor_negative(factor), count_below(spectrum, problem.p.n - 1, shifts[i]));
		check_solves(ctx, &problem, factor, shifts[i]);
	}
	free(spectrum);
	pe_sparse_factor_destroy(ctx, &factor);
	xt_problem_free(&problem);
}

static void solves_and_counts(void **state)
{
	for (int sym = 0; sym < 2; sym++) {
		check(*state, xt_eigen_grid(17, 23, sym));
		check(*state, xt_eigen_cycle(301, sym));
		check(*state, xt_eigen_hypercube(8, sym));
		check(*state, xt_eigen_bipartite(1, 300, sym));
		check(*state, xt_eigen_bipartite(40, 70, sym));
		check(*state, xt_eigen_bipartite(1, 1, sym));
		check(*state, xt_eigen_barbell(90, 40, sym));
		check(*state, xt_eigen_random(500, 0, sym));
	}
}

/* Fronts wider than one panel, and several of them. */
static void takes_a_dense_matrix(void **state)
{
	check(*state, xt_eigen_barbell(300, 2, false));
	check(*state, xt_eigen_bipartite(280, 290, true));
}

/* The first pivot is a leaf's: 0 where the shift is its diagonal entry, and hardly more beside it, where what
 * is left of the next entry is rounding. */
static void judges_itself(void **state)
{
	struct xt_problem star = xt_eigen_bipartite(1, 200, false);
	struct pe_sparse_factor *factor = analyse(*state, &star);
	bool exists;
	double error;
	assert_int_equal(pe_sparse_factor_numeric(*state, factor, 1, &exists), PE_OK);
	assert_false(exists);
	factorise(*state, factor, 1 + 7e-16);
	assert_int_equal(pe_sparse_factor_error(*state, factor, 0, &error), PE_OK);
	assert_true(error > 1);
	factorise(*state, factor, 1.5);
	assert_int_equal(pe_sparse_factor_error(*state, factor, 0, &error), PE_OK);
	assert_true(error < 1e-12);
	assert_int_equal(pe_sparse_factor_negative(factor), 200);
	pe_sparse_factor_destroy(*state, &factor);
	xt_problem_free(&star);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(solves_and_counts),
		cmocka_unit_test(takes_a_dense_matrix),
		cmocka_unit_test(judges_itself),
	};
	return xt_run(argc, argv, tests);
}
