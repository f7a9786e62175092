/* SPDX-License-Identifier: BSD-2-Clause
 * Tables of positions in single precision beside memset of the same bytes, alternately, in one thread:
 * axial for 64 x 64 tokens of 1024 channels, sinusoidal for 8192 tokens of 1024.
 *
 *   bench_tables
 *
 * Figures in brackets are of pe_encoding_compute alone, the others of the creation too. Times are CPU
 * times, the least of several turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "posenc.h"

enum { TURNS = 25, DIM = 1024 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(pe_status status, const pe_context *ctx)
{
	if (status == PE_OK)
		return;
	fprintf(stderr, "bench_tables: %s\n", pe_context_message(ctx));
	exit(1);
}

static void keep_least(double *least, double seconds)
{
	if (seconds < *least)
		*least = seconds;
}

static void measure(pe_context *ctx, const char *name, const char *settings, const pe_domain *domain)
{
	double whole = 1e9, computed = 1e9, set = 1e9;
	int64_t shape[] = {pe_domain_tokens(domain), DIM};
	size_t size = (size_t)shape[0] * DIM * sizeof(float);
	float *out = malloc(size);
	pe_params *params;
	must(pe_params_create(ctx, name, &params), ctx);
	must(pe_params_set(params, "dim", "1024"), ctx);
	if (settings)
		must(pe_params_set(params, "layout", settings), ctx);
	pe_tensor tensor = pe_tensor_dense(out, PE_F32, 2, shape);
	for (int turn = 0; turn < TURNS; turn++) {
		pe_encoding *e;
		double start = now();
		memset(out, turn, size);
		keep_least(&set, now() - start);
		start = now();
		must(pe_encoding_create(ctx, pe_encoder_find(name), params, domain, NULL, &e), ctx);
		double bound = now();
		must(pe_encoding_compute(e, &tensor, 1), ctx);
		keep_least(&computed, now() - bound);
		keep_least(&whole, now() - start);
		pe_encoding_destroy(&e);
	}
	printf("%s %s: %.2f ms (%.2f computing), memset %.2f ms: %.0f %% of its bandwidth (%.0f %%)\n", name,
		settings ? settings : "", whole * 1e3, computed * 1e3, set * 1e3, set / whole * 100,
		set / computed * 100);
	pe_params_destroy(&params);
	free(out);
}

int main(void)
{
	pe_context_options options = {.size = sizeof options, .threads = 1};
	pe_context *ctx;
	pe_domain *grid, *sequence;
	if (pe_context_create(&options, &ctx) != PE_OK)
		return 1;
	must(pe_domain_grid(ctx, 1, 64, 64, 0, &grid), ctx);
	must(pe_domain_sequence(ctx, 8192, 0, &sequence), ctx);
	measure(ctx, "axial", NULL, grid);
	measure(ctx, "axial", "interleaved", grid);
	measure(ctx, "sinusoidal", NULL, sequence);
	measure(ctx, "sinusoidal", "halves", sequence);
	pe_domain_destroy(&grid);
	pe_domain_destroy(&sequence);
	pe_context_destroy(&ctx);
	return 0;
}
