/* SPDX-License-Identifier: BSD-2-Clause
 * The encoder peg in single precision beside memcpy of the same tokens, alternately, on one thread.
 *
 *   bench_peg [HEIGHTxWIDTHxCHANNELS …]      14x14x768 56x56x64 64x64x1024 unless said
 *   bench_peg time HEIGHT WIDTH CHANNELS     seconds, the least out of place and in place
 *
 * BENCH_PEG_CPU names the highest kernel set, as --cpu of posenc does.
 * Times are CPU times; the ratio is the median of those of neighbouring turns. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "posenc.h"

enum { TURNS = 41 };

struct tokens {
	int64_t height, width, channels, repeats;
	pe_tensor x, y;
	size_t size;
};

static float *allocate(size_t size)
{
	float *memory = get_memory(size);
	for (size_t i = 0; i < size / sizeof *memory; i++)
		memory[i] = (float)(i % 1000) * 1e-3F;
	return memory;
}

static pe_encoding *prepare(pe_context *ctx, struct tokens *t, pe_domain **domain)
{
	const int64_t shape[] = {t->height * t->width, t->channels};
	pe_params *params;
	pe_encoding *e;
	char dim[32];
	snprintf(dim, sizeof dim, "%lld", (long long)t->channels);
	check(ctx, pe_domain_grid(ctx, 1, t->height, t->width, 0, domain));
	check(ctx, pe_params_create(ctx, "peg", &params));
	check(ctx, pe_params_set(params, "dim", dim));
	check(ctx, pe_encoding_create(ctx, pe_encoder_find("peg"), params, *domain, NULL, &e));
	pe_params_destroy(&params);
	t->size = (size_t)(shape[0] * shape[1]) * sizeof(float);
	t->x = pe_tensor_dense(allocate(t->size), PE_F32, 2, shape);
	t->y = pe_tensor_dense(allocate(t->size), PE_F32, 2, shape);
	t->repeats = 1 + (int64_t)4000000 / (int64_t)t->size;
	return e;
}

static double apply(pe_context *ctx, pe_encoding *e, const struct tokens *t, const pe_tensor *y)
{
	double start = now(CLOCK_THREAD_CPUTIME_ID);
	for (int64_t i = 0; i < t->repeats; i++)
		check(ctx, pe_encoding_apply(e, &t->x, y));
	return (now(CLOCK_THREAD_CPUTIME_ID) - start) / (double)t->repeats;
}

static double copy(const struct tokens *t)
{
	double start = now(CLOCK_THREAD_CPUTIME_ID);
	for (int64_t i = 0; i < t->repeats; i++)
		memcpy(t->y.data, t->x.data, t->size);
	return (now(CLOCK_THREAD_CPUTIME_ID) - start) / (double)t->repeats;
}

static void run(struct tokens t, int only_time)
{
	pe_context *ctx;
	pe_domain *domain;
	pe_context_options options = {.size = sizeof options, .cpu = getenv("BENCH_PEG_CPU")};
	check(NULL, pe_context_create(&options, &ctx));
	pe_encoding *e = prepare(ctx, &t, &domain);
	double ratio[TURNS], in_ratio[TURNS], copied = 1, apart = 1, in_place = 1;
	for (int i = -2; i < TURNS; i++) {
		double c = copy(&t), a = apply(ctx, e, &t, &t.y), p;
		memset(t.x.data, 0, t.size);
		p = apply(ctx, e, &t, &t.x);
		keep_least(&copied, c);
		keep_least(&apart, a);
		keep_least(&in_place, p);
		ratio[i < 0 ? 0 : i] = a / c;
		in_ratio[i < 0 ? 0 : i] = p / c;
	}
	if (only_time)
		printf("%g %g\n", apart, in_place);
	else
		printf("%3lld x %lld x %-5lld memcpy %.4f ms  out of place %.4f ms, %.2f times  in place %.4f ms, "
			   "%.2f times\n",
			(long long)t.height, (long long)t.width, (long long)t.channels, copied * 1e3, apart * 1e3,
			median(ratio, TURNS), in_place * 1e3, median(in_ratio, TURNS));
	free(t.x.data);
	free(t.y.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"14x14x768", "56x56x64", "64x64x1024"};
	if (argc == 5 && strcmp(argv[1], "time") == 0) {
		run((struct tokens){.height = atoi(argv[2]), .width = atoi(argv[3]), .channels = atoi(argv[4])}, 1);
		return 0;
	}
	for (int i = 0; i < (argc > 1 ? argc - 1 : 3); i++) {
		long long h, w, c;
		if (sscanf(argc > 1 ? argv[i + 1] : usual[i], "%lldx%lldx%lld", &h, &w, &c) != 3)
			return 2;
		run((struct tokens){.height = h, .width = w, .channels = c}, 0);
	}
	return 0;
}
