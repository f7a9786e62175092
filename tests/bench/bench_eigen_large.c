/* SPDX-License-Identifier: BSD-2-Clause
 * The smallest eigenpairs of one large graph's Laplacian.
 *
 *   bench_eigen_large GRAPH [sym|none [ENGINE [K [ROUNDS]]]]
 *
 * GRAPH: a file of any format, of which the largest component is taken, or grid:ROWSxCOLUMNS.
 * ENGINE: auto, shift_invert, block, arpack or dense. Prints, a round: wall-clock seconds, CPU seconds, the
 * largest residual, whether certified, and what was done. One thread. Times begin with the matrix in memory
 * and end with the vectors: ordering, factorisation and certificate are in them. peer_scipy_eigsh.py runs it.
 */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "eigen_engines.h"
#include "graph.h"
#include "measure.h"
#include "xt_eigen.h"

typedef pe_status engine_fn(
	pe_context *, const struct pe_eigen_problem *, const struct pe_eigen_request *, struct pe_eigen_result *);

static struct xt_problem problem_from_file(pe_context *ctx, const char *path, bool sym)
{
	pe_params *params = NULL;
	pe_graph *graph = NULL;
	if (pe_params_create(ctx, "graph", &params) != PE_OK ||
		pe_params_set(params, "component", "largest") != PE_OK ||
		pe_graph_from_file(ctx, path, params, &graph) != PE_OK)
		stop(pe_context_message(ctx));
	if (graph->directed || graph->weight)
		stop("wants an undirected graph without weights");
	struct pe_csr g = pe_graph_view(graph, 0);
	int64_t count = 0;
	int32_t *u = malloc((size_t)g.row[g.n] * sizeof *u), *v = malloc((size_t)g.row[g.n] * sizeof *v);
	if (!u || !v)
		stop("out of memory");
	for (int32_t i = 0; i < g.n; i++)
		for (int64_t e = g.row[i]; e < g.row[i + 1]; e++)
			if (g.col[e] < i) {
				u[count] = i;
				v[count++] = g.col[e];
			}
	struct xt_problem out = xt_problem(g.n, count, u, v, NULL, sym);
	free(u);
	free(v);
	pe_graph_destroy(&graph);
	pe_params_destroy(&params);
	return out;
}

static engine_fn *engine_named(const char *name)
{
	static const struct {
		const char *name;
		engine_fn *run;
	} engines[] = {{"auto", pe_eigen_auto}, {"shift_invert", pe_eigen_shift_invert},
		{"block", pe_eigen_block}, {"arpack", pe_eigen_arpack}, {"dense", pe_eigen_dense}};
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
		if (strcmp(engines[i].name, name) == 0)
			return engines[i].run;
	stop("no such engine");
	return NULL;
}

static void bench(pe_context *ctx, const struct xt_problem *problem, engine_fn *engine, int32_t k)
{
	struct pe_eigen_request request = {.k = k, .tolerance = 1e-10, .max_group = 64, .certify = true};
	struct pe_eigen_result r;
	double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID), worst = 0;
	if (engine(ctx, &problem->p, &request, &r) != PE_OK)
		stop(pe_context_message(ctx));
	wall = now(CLOCK_MONOTONIC) - wall;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	double *scratch = malloc((size_t)problem->p.n * sizeof *scratch);
	if (!scratch)
		stop("out of memory");
	for (int32_t j = 0; j < r.count; j++)
		worst = fmax(worst,
			pe_eigen_residual(&problem->p, r.values[j], r.vectors + (int64_t)j * problem->p.n, scratch));
	free(scratch);
	printf("%.4f %.4f %.1e %s %s\n", wall, cpu, worst, r.certified ? "certified" : "not-certified", r.note);
	pe_eigen_result_free(ctx, &r);
}

int main(int argc, char **argv)
{
	pe_context *ctx;
	int rows, columns;
	if (argc < 2)
		stop("GRAPH [sym|none [ENGINE [K [ROUNDS]]]]");
	if (pe_context_create(NULL, &ctx) != PE_OK)
		stop("no context");
	bool sym = argc < 3 || strcmp(argv[2], "none") != 0;
	struct xt_problem problem = sscanf(argv[1], "grid:%dx%d", &rows, &columns) == 2
		? xt_eigen_grid(rows, columns, sym)
		: problem_from_file(ctx, argv[1], sym);
	engine_fn *engine = engine_named(argc > 3 ? argv[3] : "auto");
	for (int round = argc > 5 ? atoi(argv[5]) : 1; round > 0; round--)
		bench(ctx, &problem, engine, argc > 4 ? atoi(argv[4]) : 8);
	xt_problem_free(&problem);
	pe_context_destroy(&ctx);
	return 0;
}
