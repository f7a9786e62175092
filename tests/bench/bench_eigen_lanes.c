/* SPDX-License-Identifier: BSD-2-Clause
 * Many small eigenproblems in lanes against a loop of LAPACK's dsyevd over the same matrices, in turn.
 *	bench_eigen_lanes [SET [PAIRS [ROUNDS]]]   SET: avx512, avx2, scalar, or - for the best
 * Set OPENBLAS_NUM_THREADS=1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lapacke.h>

#include "context.h"
#include "eigen_lanes.h"
#include "measure.h"
#include "small_graphs.h"
#include "xt.h"

static void run_dsyevd(const struct pe_eigen_problem *problems, int64_t count, double *sink)
{
	static double a[PE_LANES_MAX_N * PE_LANES_MAX_N], w[PE_LANES_MAX_N];
	for (int64_t i = 0; i < count; i++) {
		const struct pe_eigen_problem *p = &problems[i];
		small_dense(p, a);
		LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', p->n, a, p->n, w);
		*sink += w[0];
	}
}

static void bench(pe_context *ctx, const char *title, struct small_set *set, int32_t k, int rounds)
{
	struct pe_lanes *lanes = NULL;
	struct pe_lanes_result *results = calloc((size_t)set->count, sizeof *results);
	struct pe_eigen_request request = {.k = k, .tolerance = 1e-10, .max_group = 32};
	double best_ours = INFINITY, best_lapack = INFINITY, sink = 0.0;
	if (!results || pe_lanes_create(ctx, &lanes) != PE_OK)
		exit(1);
	for (int round = 0; round < rounds; round++) {
		double start = now(CLOCK_PROCESS_CPUTIME_ID);
		for (int64_t i = 0; i < set->count; i += 4096)
			if (pe_eigen_lanes(ctx, lanes, set->problems + i, pe_min(4096, set->count - i), &request,
					results + i) != PE_OK)
				exit(1);
		double middle = now(CLOCK_PROCESS_CPUTIME_ID);
		run_dsyevd(set->problems, pe_min(set->count, 1000), &sink);
		double scale = 1e6 / (double)pe_min(set->count, 1000);
		best_ours = fmin(best_ours, (middle - start) * 1e6 / (double)set->count);
		best_lapack = fmin(best_lapack, (now(CLOCK_PROCESS_CPUTIME_ID) - middle) * scale);
	}
	double residual = 0.0, orthogonality = 0.0;
	int64_t failed = 0, pairs = 0;
	for (int64_t i = 0; i < set->count; i++) {
		residual = fmax(residual, results[i].residual);
		orthogonality = fmax(orthogonality, results[i].orthogonality);
		failed += !results[i].ok;
		pairs += results[i].count;
	}
	printf("%s: %lld graphs, %.2f pairs, lanes %.2f us, dsyevd %.2f us, ratio %.4f; residual %.1e, "
		   "orthogonality %.1e, failed %lld\n",
		title, (long long)set->count, (double)pairs / (double)set->count, best_ours, best_lapack,
		best_ours / best_lapack, residual, orthogonality, (long long)failed);
	pe_lanes_destroy(ctx, &lanes);
	free(results);
}

int main(int argc, char **argv)
{
	const char *cpu = argc > 1 && strcmp(argv[1], "-") != 0 ? argv[1] : NULL;
	int32_t k = argc > 2 ? atoi(argv[2]) : 8;
	int rounds = argc > 3 ? atoi(argv[3]) : 5;
	pe_context *ctx = xt_context(1, cpu);
	struct small_set molecules, weighted;
	small_molecules(&molecules, 8192, 1);
	small_weighted(&weighted, 1000, 2);
	bench(ctx, "molecules, 6-38 nodes", &molecules, k, rounds);
	bench(ctx, "weighted, 40-120 nodes", &weighted, k, rounds);
	small_free(&molecules);
	small_free(&weighted);
	pe_context_destroy(&ctx);
	return 0;
}
