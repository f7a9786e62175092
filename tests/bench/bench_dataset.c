/* SPDX-License-Identifier: BSD-2-Clause
 * A whole dataset, the whole process, against LAPACK's dsyevd alone on the same graphs, in turns.
 *
 *   bench_dataset POSENC INPUT OUTPUT.npz [THREADS [ROUNDS]]
 *
 * Prints, a round: the process's seconds without fsync, fsync, dsyevd's seconds, their ratio; then
 * the median ratio. dsyevd is given ready-made normalised Laplacians and one BLAS thread. */
#define _GNU_SOURCE
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph.h"
#include "linalg/blas_threads.h"

#define MAX_ROUNDS 50

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The number behind "key": in a line of JSON. */
static double number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at ? strtod(at + strlen(key), NULL) : NAN;
}

static double run_posenc(
	const char *posenc, const char *input, const char *output, const char *threads, double *sync)
{
	char command[8192];
	static char json[1 << 16];
	snprintf(command, sizeof command,
		"'%s' encode '%s' --with lap:k=8 --with rwse:steps=20 --threads %s -q --json -o '%s'", posenc, input,
		threads, output);
	double start = now();
	FILE *pipe = popen(command, "r");
	size_t size = pipe ? fread(json, 1, sizeof json - 1, pipe) : 0;
	int status = pipe ? pclose(pipe) : -1;
	double seconds = now() - start;
	json[size] = '\0';
	if (status != 0) {
		fprintf(stderr, "posenc failed: %s\n", command);
		exit(1);
	}
	*sync = number_after(json, "\"sync\":");
	return seconds - *sync;
}

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
		double start = now();
		LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', n, a, n > 0 ? n : 1, values, work, PE_COUNT(work),
			iwork, PE_COUNT(iwork));
		seconds += now() - start;
	}
	return seconds;
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fputs("usage: bench_dataset POSENC INPUT OUTPUT.npz [THREADS [ROUNDS]]\n", stderr);
		return 2;
	}
	const char *threads = argc > 4 ? argv[4] : "1";
	int rounds = argc > 5 ? atoi(argv[5]) : 7;
	double ratios[MAX_ROUNDS], sync;
	pe_context *ctx;
	pe_graph *graph;
	if (rounds < 1 || rounds > MAX_ROUNDS || pe_context_create(NULL, &ctx) != PE_OK)
		return 2;
	if (pe_graph_from_file(ctx, argv[2], NULL, &graph) != PE_OK) {
		fprintf(stderr, "%s\n", pe_context_message(ctx));
		return 1;
	}
	int64_t *offsets;
	double *matrices = make_matrices(graph, &offsets);
	(void)pe_blas_threads_one();
	run_posenc(argv[1], argv[2], argv[3], threads, &sync);
	printf(
		"%lld graphs, %lld nodes, %s threads\n", (long long)graph->count, (long long)graph->nodes, threads);
	for (int r = 0; r < rounds; r++) {
		double ours = run_posenc(argv[1], argv[2], argv[3], threads, &sync);
		double theirs = run_dsyevd(graph, matrices, offsets);
		ratios[r] = ours / theirs;
		printf("posenc %.3f s (%.2f us a graph), fsync %.3f s, dsyevd %.3f s (%.1f us), ratio %.3f\n", ours,
			1e6 * ours / (double)graph->count, sync, theirs, 1e6 * theirs / (double)graph->count, ratios[r]);
	}
	qsort(ratios, (size_t)rounds, sizeof *ratios, compare_doubles);
	printf("median ratio %.3f (%.3f to %.3f)\n", ratios[rounds / 2], ratios[0], ratios[rounds - 1]);
	free(matrices);
	free(offsets);
	pe_graph_destroy(&graph);
	pe_context_destroy(&ctx);
	return 0;
}
