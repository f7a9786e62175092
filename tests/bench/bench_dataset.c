/* SPDX-License-Identifier: BSD-2-Clause
 * A whole dataset, the whole process, against LAPACK's dsyevd alone on the same graphs, in turns.
 *
 *   bench_dataset POSENC INPUT OUTPUT.npz [THREADS [ROUNDS]] [-- OPTION VALUE …]
 *
 * What stands behind -- goes to posenc encode, and decides how the graphs of dsyevd are read: say
 * "-- --edge-weights 1". Prints, a round: the process's seconds without fsync, fsync, dsyevd's seconds, their
 * ratio; then the median ratio. dsyevd is given ready-made normalised Laplacians and one BLAS thread. */
#define _GNU_SOURCE
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "linalg/blas_threads.h"
#include "posenc_run.h"

#define MAX_ROUNDS 50

/* Dense normalised Laplacians, one after the other. */
static double *make_matrices(const pe_graph *graph, int64_t **offsets)
{
	int64_t *at = malloc((size_t)(graph->count + 1) * sizeof *at);
	at[0] = 0;
	for (int64_t g = 0; g < graph->count; g++) {
		int64_t n = graph->ptr[g + 1] - graph->ptr[g];
		at[g + 1] = at[g] + n * n;
	}
	double *all = calloc((size_t)at[graph->count], sizeof *all);
	double degree[4096];
	for (int64_t g = 0; g < graph->count; g++) {
		struct pe_csr csr = pe_graph_view(graph, g);
		for (int32_t i = 0; i < csr.n && csr.n <= 4096; i++) {
			degree[i] = 0;
			for (int64_t e = csr.row[i]; e < csr.row[i + 1]; e++)
				degree[i] += csr.weight ? csr.weight[e] : 1;
		}
		for (int32_t i = 0; i < csr.n; i++) {
			all[at[g] + (int64_t)i * csr.n + i] = 1;
			for (int64_t e = csr.row[i]; e < csr.row[i + 1]; e++)
				all[at[g] + (int64_t)i * csr.n + csr.col[e]] -=
					(csr.weight ? csr.weight[e] : 1) / sqrt(degree[i] * degree[csr.col[e]]);
		}
	}
	*offsets = at;
	return all;
}

static double run_dsyevd(const pe_graph *graph, const double *matrices, const int64_t *offsets)
{
	static double a[4096 * 4096], values[4096], work[1 << 20];
	static lapack_int iwork[1 << 16];
	double seconds = 0;
	for (int64_t g = 0; g < graph->count; g++) {
		lapack_int n = (lapack_int)(graph->ptr[g + 1] - graph->ptr[g]);
		memcpy(a, matrices + offsets[g], (size_t)(offsets[g + 1] - offsets[g]) * sizeof *a);
		double start = now(CLOCK_MONOTONIC);
		LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', n, a, n > 0 ? n : 1, values, work, PE_COUNT(work),
			iwork, PE_COUNT(iwork));
		seconds += now(CLOCK_MONOTONIC) - start;
	}
	return seconds;
}

/* The graphs as posenc reads them with these options. */
static pe_graph *read_graphs(pe_context *ctx, const char *input, char **options)
{
	pe_params *params = NULL;
	pe_graph *graph = NULL;
	pe_status status = pe_params_create(ctx, "graph", &params);
	for (; status == PE_OK && options[0] && options[1]; options += 2) {
		char name[64];
		snprintf(name, sizeof name, "%s", options[0] + strspn(options[0], "-"));
		for (char *at = name; *at; at++)
			*at = *at == '-' ? '_' : *at;
		if (pe_params_get(params, name)) /* else an option that says nothing of graphs */
			status = pe_params_set(params, name, options[1]);
	}
	if (status == PE_OK)
		status = pe_graph_from_file(ctx, input, params, &graph);
	if (status != PE_OK)
		fprintf(stderr, "%s\n", pe_context_message(ctx));
	pe_params_destroy(&params);
	return graph;
}

static int compare(const char *command, const pe_graph *graph, const char *threads, int rounds)
{
	double ratios[MAX_ROUNDS];
	int64_t *offsets;
	double *matrices = make_matrices(graph, &offsets);
	(void)pe_blas_threads_one();
	run_posenc(command);
	printf("%lld graphs, %lld nodes, %s, %s threads\n", (long long)graph->count, (long long)graph->nodes,
		graph->weight ? "weighted" : "no weights", threads);
	for (int r = 0; r < rounds; r++) {
		struct posenc_times ours = run_posenc(command);
		double theirs = run_dsyevd(graph, matrices, offsets);
		ratios[r] = ours.whole / theirs;
		printf("posenc %.3f s (%.2f us a graph), fsync %.3f s, dsyevd %.3f s (%.1f us), ratio %.3f\n",
			ours.whole, 1e6 * ours.whole / (double)graph->count, ours.sync, theirs,
			1e6 * theirs / (double)graph->count, ratios[r]);
	}
	double middle = median(ratios, rounds);
	printf("median ratio %.3f (%.3f to %.3f)\n", middle, ratios[0], ratios[rounds - 1]);
	free(matrices);
	free(offsets);
	return 0;
}

int main(int argc, char **argv)
{
	int own = 1;
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	char **options = argv + own + (own < argc);
	if (own < 4) {
		fputs("usage: bench_dataset POSENC INPUT OUTPUT.npz [THREADS [ROUNDS]] [-- OPTION VALUE ...]\n",
			stderr);
		return 2;
	}
	const char *threads = own > 4 ? argv[4] : "1";
	int rounds = own > 5 ? atoi(argv[5]) : 7;
	char command[COMMAND_SIZE];
	make_command(command, argv + 1, threads, options);
	pe_context *ctx;
	if (rounds < 1 || rounds > MAX_ROUNDS || pe_context_create(NULL, &ctx) != PE_OK)
		return 2;
	pe_graph *graph = read_graphs(ctx, argv[2], options);
	int failed = graph ? compare(command, graph, threads, rounds) : 1;
	pe_graph_destroy(&graph);
	pe_context_destroy(&ctx);
	return failed;
}
