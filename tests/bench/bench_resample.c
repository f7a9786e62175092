/* SPDX-License-Identifier: BSD-2-Clause
 * The encoder learned_grid, which resizes a table of one grid to another, in single precision, on one thread,
 * beside memset of the rows it gives.
 *
 *   bench_resample                                   some usual sizes
 *   bench_resample time STORED SIDE CHANNELS ANTIALIAS
 *                                                    seconds: resizing alone, and with the encoding's
 * creation
 *
 * Times are CPU times, the least of several turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "posenc.h"

enum { TURNS = 25 };

struct problem {
	int64_t stored, side, channels;
	int antialias;
};

struct times {
	double resized, whole, set;
};

static float *allocate(int64_t count)
{
	float *memory = get_memory((size_t)count * sizeof *memory);
	for (int64_t i = 0; i < count; i++)
		memory[i] = (float)(i * 37 % 1001) * 1e-3F;
	return memory;
}

static struct times measure(pe_context *ctx, const struct problem *p)
{
	struct times least = {1e9, 1e9, 1e9};
	const int64_t table[] = {1, p->stored, p->stored, p->channels}, rows[] = {p->side * p->side, p->channels};
	pe_tensor weight = pe_tensor_dense(allocate(table[1] * table[2] * table[3]), PE_F32, 4, table);
	pe_tensor out = pe_tensor_dense(allocate(rows[0] * rows[1]), PE_F32, 2, rows);
	pe_bundle *bundle;
	pe_domain *grid;
	pe_params *params;
	check(ctx, pe_bundle_create(ctx, &bundle));
	check(ctx, pe_bundle_add(bundle, "pos_embed", &weight));
	check(ctx, pe_domain_grid(ctx, 1, p->side, p->side, 0, &grid));
	check(ctx, pe_params_create(ctx, "learned_grid", &params));
	check(ctx, pe_params_set(params, "antialias", p->antialias ? "1" : "0"));
	pe_encoding_options options = {.size = sizeof options, .weights = bundle};
	for (int turn = 0; turn < TURNS; turn++) {
		pe_encoding *e;
		double start = now(CLOCK_THREAD_CPUTIME_ID);
		memset(out.data, turn, (size_t)(rows[0] * rows[1]) * sizeof(float));
		keep_least(&least.set, now(CLOCK_THREAD_CPUTIME_ID) - start);
		start = now(CLOCK_THREAD_CPUTIME_ID);
		check(ctx, pe_encoding_create(ctx, pe_encoder_find("learned_grid"), params, grid, &options, &e));
		double bound = now(CLOCK_THREAD_CPUTIME_ID);
		check(ctx, pe_encoding_compute(e, &out, 1));
		keep_least(&least.resized, now(CLOCK_THREAD_CPUTIME_ID) - bound);
		keep_least(&least.whole, now(CLOCK_THREAD_CPUTIME_ID) - start);
		pe_encoding_destroy(&e);
	}
	pe_params_destroy(&params);
	pe_domain_destroy(&grid);
	pe_bundle_destroy(&bundle);
	free(weight.data);
	free(out.data);
	return least;
}

int main(int argc, char **argv)
{
	static const struct problem usual[] = {
		{37, 64, 1024, 1}, {37, 64, 1024, 0}, {37, 16, 1024, 1}, {14, 24, 768, 1}, {14, 24, 768, 0}};
	pe_context *ctx;
	if (pe_context_create(NULL, &ctx) != PE_OK)
		return 1;
	if (argc == 6 && strcmp(argv[1], "time") == 0) {
		struct problem p = {atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5])};
		struct times t = measure(ctx, &p);
		printf("%g %g\n", t.resized, t.whole);
	}
	for (size_t i = 0; argc == 1 && i < sizeof usual / sizeof *usual; i++) {
		const struct problem *p = &usual[i];
		struct times t = measure(ctx, p);
		printf("%2d to %2d, %4d channels, bicubic%s: %.3f ms (%.3f with the creation), memset %.3f ms\n",
			(int)p->stored, (int)p->side, (int)p->channels, p->antialias ? " antialiased" : "",
			t.resized * 1e3, t.whole * 1e3, t.set * 1e3);
	}
	pe_context_destroy(&ctx);
	return 0;
}
