/* SPDX-License-Identifier: BSD-2-Clause
 * rwse against what others do, in the same run.
 *
 *   bench_rwse DATA           molecules beside the same half walks by dgemm, then large graphs
 *   bench_rwse DATA GRAPH     one graph file: "SECONDS PEAK_BYTES" of one thread, for peer_sparse_powers.py
 *
 * DATA is the folder of real data. CPU time of two threads beside one tells what sharing costs even where
 * other programs are running. Times are the least of several turns, taken alternately. Memory is
 * what the library had allocated at most while encoding, input and output not counted. */
#define _XOPEN_SOURCE 700
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "count_memory.h"
#include "graph.h"
#include "measure.h"
#include "posenc.h"

#define STEPS 20
#define HALF (STEPS / 2)

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha,
	const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
	const int *ldc);

static pe_context *context(int32_t threads, const char *cpu)
{
	pe_context_options options = {.size = sizeof options, .threads = threads, .cpu = cpu};
	options.allocator = (pe_allocator){count_allocate, count_release, NULL};
	pe_context *ctx;
	if (pe_context_create(&options, &ctx) != PE_OK)
		stop("no context");
	return ctx;
}

/* ---- ours --------------------------------------------------------------------------- */

static pe_graph *load(pe_context *ctx, const char *data, const char *name)
{
	char path[4096];
	pe_graph *graph;
	snprintf(path, sizeof path, "%s/%s", data, name);
	if (pe_graph_from_file(ctx, name[0] == '/' ? name : path, NULL, &graph) != PE_OK)
		stop(pe_context_message(ctx));
	return graph;
}

/* Seconds to encode the graph into single precision. */
static double encode(pe_context *ctx, const pe_graph *graph, float *out)
{
	pe_domain *domain;
	pe_encoding *e;
	double start = now(CLOCK_MONOTONIC);
	atomic_store(&peak, atomic_load(&used));
	if (pe_domain_graph(ctx, graph, &domain) != PE_OK ||
		pe_encoding_create(ctx, pe_encoder_find("rwse"), NULL, domain, NULL, &e) != PE_OK)
		stop(pe_context_message(ctx));
	int64_t shape[] = {pe_domain_tokens(domain), STEPS};
	pe_tensor tensor = pe_tensor_dense(out, PE_F32, 2, shape);
	if (pe_encoding_compute(e, &tensor, 1) != PE_OK)
		stop(pe_context_message(ctx));
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	return now(CLOCK_MONOTONIC) - start;
}

static float *rows_for(const pe_graph *graph)
{
	float *out = calloc((size_t)pe_graph_get_report(graph)->nodes * STEPS + 1, sizeof *out);
	if (!out)
		stop("no memory");
	return out;
}

/* ---- half walks by dgemm ------------------------------------------------------------ */

static void dense_graph(const struct pe_csr *g, double *p, double *power, double *next, float *out)
{
	int n = g->n;
	const double one = 1, zero = 0;
	memset(p, 0, (size_t)(n * n) * sizeof *p);
	for (int i = 0; i < n; i++) /* column i of Pᵀ is the row of i: dgemm counts columns first */
		for (int64_t e = g->row[i]; e < g->row[i + 1]; e++)
			p[i * n + g->col[e]] = 1.0 / (double)(g->row[i + 1] - g->row[i]);
	memcpy(power, p, (size_t)(n * n) * sizeof *p);
	for (int k = 1; k <= STEPS; k++) {
		for (int i = 0; i < n; i++)
			out[i * STEPS + k - 1] = (float)power[i * n + i];
		if (k == STEPS)
			break;
		dgemm_("N", "N", &n, &n, &n, &one, p, &n, power, &n, &zero, next, &n);
		double *swap = power;
		power = next;
		next = swap;
	}
}

/* The same with half of the products: inner products of columns of S^m and S^m, S^(m+1). */
static void dense_half_graph(const struct pe_csr *g, double *p, double *power, double *next, float *out)
{
	int n = g->n;
	const double one = 1, zero = 0;
	memset(p, 0, (size_t)(n * n) * sizeof *p);
	memset(power, 0, (size_t)(n * n) * sizeof *power);
	for (int i = 0; i < n; i++) {
		for (int64_t e = g->row[i]; e < g->row[i + 1]; e++)
			p[i * n + g->col[e]] = 1.0 / (double)(g->row[i + 1] - g->row[i]);
		power[i * n + i] = 1;
	}
	for (int m = 0; m < HALF; m++) {
		dgemm_("T", "N", &n, &n, &n, &one, p, &n, power, &n, &zero, next, &n);
		for (int i = 0; i < n; i++) {
			double even = 0, odd = 0, scale = 1.0 / (double)(g->row[i + 1] - g->row[i]);
			for (int j = 0; j < n; j++) {
				double weighed = next[i * n + j] * (double)(g->row[j + 1] - g->row[j]);
				even += weighed * next[i * n + j];
				odd += weighed * power[i * n + j];
			}
			out[i * STEPS + 2 * m] = (float)(odd * scale);
			out[i * STEPS + 2 * m + 1] = (float)(even * scale);
		}
		double *swap = power;
		power = next;
		next = swap;
	}
}

typedef void dense_fn(const struct pe_csr *g, double *p, double *power, double *next, float *out);

static double encode_dense(const pe_graph *graph, dense_fn *one, float *out)
{
	double *work = malloc(3 * 64 * 64 * sizeof *work);
	double start = now(CLOCK_MONOTONIC);
	for (int64_t g = 0; g < graph->count; g++) {
		struct pe_csr view = pe_graph_view(graph, g);
		if (view.n > 0 && view.n <= 64)
			one(&view, work, work + 64 * 64, work + 2 * 64 * 64, out + graph->ptr[g] * STEPS);
	}
	double seconds = now(CLOCK_MONOTONIC) - start;
	free(work);
	return seconds;
}

static double largest_difference(const float *a, const float *b, int64_t count)
{
	double most = 0;
	for (int64_t i = 0; i < count; i++) {
		double d = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];
		most = d > most ? d : most;
	}
	return most;
}

/* ---- the two parts ------------------------------------------------------------------ */

static void molecules(const char *data)
{
	pe_context *ctx = context(1, NULL), *scalar = context(1, "scalar"), *two = context(2, NULL);
	pe_graph *graph = load(ctx, data, "molecules-zinc24k/zinc24k.g6");
	float *a = rows_for(graph), *b = rows_for(graph), *c = rows_for(graph);
	double best[5] = {1e9, 1e9, 1e9, 1e9, 1e9};
	for (int turn = 0; turn < 9; turn++) {
		double t[5] = {encode(ctx, graph, a), encode(scalar, graph, b), encode(two, graph, b), 1e9, 1e9};
		if (turn < 3)
			t[3] = encode_dense(graph, dense_half_graph, c);
		if (turn < 3)
			t[4] = encode_dense(graph, dense_graph, c);
		for (int i = 0; i < 5; i++)
			best[i] = t[i] < best[i] ? t[i] : best[i];
	}
	double each = 1e6 / (double)graph->count;
	printf("molecules (%lld graphs, %.1f nodes each), us a graph:\n", (long long)graph->count,
		(double)graph->nodes / (double)graph->count);
	printf("  ours %.2f   scalar kernels %.2f   two threads %.2f (%.2fx)\n", best[0] * each, best[1] * each,
		best[2] * each, best[0] / best[2]);
	printf("  half walks by dgemm %.1f (%.1fx)   powers by dgemm %.1f (%.1fx)   largest difference %.1e\n",
		best[3] * each, best[3] / best[0], best[4] * each, best[4] / best[0],
		largest_difference(a, c, graph->nodes * STEPS));
	free(a);
	free(b);
	free(c);
	pe_graph_destroy(&graph);
	pe_context_destroy(&ctx);
	pe_context_destroy(&scalar);
	pe_context_destroy(&two);
}

static void large(const char *data, const char *name, int turns)
{
	pe_context *ctx = context(1, NULL), *two = context(2, NULL);
	pe_graph *graph = load(ctx, data, name);
	float *out = rows_for(graph);
	double best = 1e9, best_two = 1e9, work_one = 1e9, work_two = 1e9, start;
	long long memory = 0;
	for (int turn = 0; turn < turns; turn++) {
		long long before = atomic_load(&used);
		start = now(CLOCK_PROCESS_CPUTIME_ID);
		double t = encode(ctx, graph, out);
		keep_least(&work_one, now(CLOCK_PROCESS_CPUTIME_ID) - start);
		keep_least(&best, t);
		memory = atomic_load(&peak) - before;
		start = now(CLOCK_PROCESS_CPUTIME_ID);
		t = encode(two, graph, out);
		keep_least(&work_two, now(CLOCK_PROCESS_CPUTIME_ID) - start);
		keep_least(&best_two, t);
	}
	printf("%-28s %7lld nodes  %8.1f ms  %6.1f MB   two threads %8.1f ms (%.2fx, CPU time %.2fx)\n", name,
		(long long)graph->nodes, best * 1e3, (double)memory / 1e6, best_two * 1e3, best / best_two,
		work_two / work_one);
	free(out);
	pe_graph_destroy(&graph);
	pe_context_destroy(&ctx);
	pe_context_destroy(&two);
}

static void one_graph(const char *data, const char *name)
{
	pe_context *ctx = context(1, NULL);
	pe_graph *graph = load(ctx, data, name);
	float *out = rows_for(graph);
	long long before = atomic_load(&used), memory = 0;
	double best = 1e9;
	for (int turn = 0; turn < 3; turn++) {
		double t = encode(ctx, graph, out);
		best = t < best ? t : best;
		memory = atomic_load(&peak) - before;
	}
	printf("%.6f %lld\n", best, memory);
	free(out);
	pe_graph_destroy(&graph);
	pe_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		stop("usage: bench_rwse DATA [GRAPH]");
	if (argc == 3) {
		one_graph(argv[1], argv[2]);
		return 0;
	}
	molecules(argv[1]);
	large(argv[1], "graphs-metis/airfoil1.graph", 5);
	large(argv[1], "graphs-metis/4elt.graph", 5);
	large(argv[1], "graphs-metis/power.graph", 5);
	large(argv[1], "graphs-metis/polblogs.graph", 3);
	large(argv[1], "graphs-metis/astro-ph.graph", 1);
	return 0;
}
