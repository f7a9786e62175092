/* SPDX-License-Identifier: BSD-2-Clause
 * Rotation of queries and keys beside memcpy of the same bytes, alternately: (1, 32, 4096, 128) in single
 * precision, in both layouts, in place and out of place; by the kernel of each set, also past the caches, and
 * by rope through the library, which chooses all of it.
 *
 *   bench_rotate            both
 *   bench_rotate library    the library alone
 *
 * Cosines and sines are computed anew every time, once for a block of positions in all heads. 100 % is
 * memcpy's time; times are CPU times, the least of several turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "posenc.h"
#include "xt_kernels.h"

enum { HEADS = 32, TOKENS = 4096, WIDTH = 128, PAIRS = WIDTH / 2, BLOCK = PE_ROTATE_TOKENS, TURNS = 25 };

static const size_t size = (size_t)HEADS * TOKENS * WIDTH * sizeof(float);

static void turns(const struct pe_kernels *kernels, int first, float *cosine, float *sine)
{
	double frequency[PAIRS], angle[PAIRS], s[PAIRS], c[PAIRS];
	for (int t = 0; t < PAIRS; t++)
		frequency[t] = exp2(-t / 5.0);
	for (int i = 0; i < BLOCK; i++) {
		for (int t = 0; t < PAIRS; t++)
			angle[t] = (first + i) * frequency[t];
		kernels->sincos(angle, PAIRS, s, c);
		for (int t = 0; t < PAIRS; t++) {
			sine[i * PAIRS + t] = (float)s[t];
			cosine[i * PAIRS + t] = (float)c[t];
		}
	}
}

static double rotate(const struct pe_kernels *kernels, const float *x, float *y, int64_t half, bool stream)
{
	static float cosine[BLOCK * PAIRS], sine[BLOCK * PAIRS];
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	for (int first = 0; first < TOKENS; first += BLOCK) {
		turns(kernels, first, cosine, sine);
		kernels->rotate(&(struct pe_rotate_block){.x = x + first * WIDTH,
			.y = y + first * WIDTH,
			.x_head = TOKENS * WIDTH,
			.x_token = WIDTH,
			.y_head = TOKENS * WIDTH,
			.y_token = WIDTH,
			.heads = HEADS,
			.tokens = BLOCK,
			.width = WIDTH,
			.cosine = cosine,
			.sine = sine,
			.turn_step = PAIRS,
			.pairs = PAIRS,
			.half = half,
			.stream = stream});
	}
	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static void layout(const char *name, const struct pe_kernels *kernels, int64_t half, float *x, float *y)
{
	double copy = 1e9, in_place = 1e9, apart = 1e9, past = 1e9;
	for (int turn = 0; turn < TURNS; turn++) {
		double start = now(CLOCK_PROCESS_CPUTIME_ID);
		memcpy(y, x, size);
		keep_least(&copy, now(CLOCK_PROCESS_CPUTIME_ID) - start);
		keep_least(&in_place, rotate(kernels, x, x, half, false));
		start = now(CLOCK_PROCESS_CPUTIME_ID);
		memcpy(y, x, size);
		keep_least(&copy, now(CLOCK_PROCESS_CPUTIME_ID) - start);
		keep_least(&apart, rotate(kernels, x, y, half, false));
		keep_least(&past, rotate(kernels, x, y, half, true));
	}
	printf("%-7s %-11s memcpy %.1f ms (%.1f GB/s)  in place %.0f %%  out of place %.0f %%  past the caches "
		   "%.0f %%\n",
		kernels->name, name, copy * 1e3, (double)size / copy * 1e-9, copy / in_place * 100,
		copy / apart * 100, copy / past * 100);
}

/* ---- through the library --------------------------------------------------------------- */

static pe_encoding *bind_rope(pe_context *ctx, const pe_domain *domain, const char *layout)
{
	pe_params *params;
	pe_encoding *rope;
	check(ctx, pe_params_create(ctx, "rope", &params));
	check(ctx, pe_params_set(params, "head_dim", "128"));
	check(ctx, pe_params_set(params, "layout", layout));
	check(ctx, pe_encoding_create(ctx, pe_encoder_find("rope"), params, domain, NULL, &rope));
	pe_params_destroy(&params);
	return rope;
}

/* Queries and keys, y overwritten by the latter if it is another array. */
static double rotate_both(pe_context *ctx, pe_encoding *rope, const pe_tensor *q, const pe_tensor *k,
	const pe_tensor *q_out, const pe_tensor *k_out)
{
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	check(ctx, pe_encoding_rotate(rope, PE_QUERIES, q, q_out));
	check(ctx, pe_encoding_rotate(rope, PE_KEYS, k, k_out));
	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static void library(pe_context *ctx, const pe_domain *domain, const char *layout, float *x, float *y)
{
	double copy = 1e9, in_place = 1e9, apart = 1e9;
	pe_encoding *rope = bind_rope(ctx, domain, layout);
	pe_tensor a = pe_tensor_dense(x, PE_F32, 4, (int64_t[]){1, HEADS, TOKENS, WIDTH}), b = a;
	b.data = y;
	for (int turn = 0; turn < TURNS; turn++) {
		double start = now(CLOCK_PROCESS_CPUTIME_ID);
		memcpy(y, x, size);
		memcpy(y, x, size);
		keep_least(&copy, now(CLOCK_PROCESS_CPUTIME_ID) - start);
		keep_least(&apart, rotate_both(ctx, rope, &a, &a, &b, &b));
		keep_least(&in_place, rotate_both(ctx, rope, &a, &b, &a, &b));
	}
	printf("library %-18s memcpy %.1f ms (%.1f GB/s)  in place %.0f %%  into another array %.0f %%\n", layout,
		copy * 1e3, 2 * (double)size / copy * 1e-9, copy / in_place * 100, copy / apart * 100);
	pe_encoding_destroy(&rope);
}

static void libraries(float *x, float *y)
{
	pe_context *ctx;
	pe_domain *domain;
	pe_context_options options = {.size = sizeof options, .threads = 1};
	check(NULL, pe_context_create(&options, &ctx));
	check(ctx, pe_domain_sequence(ctx, TOKENS, 0, &domain));
	library(ctx, domain, "interleaved", x, y);
	library(ctx, domain, "halves", x, y);
	pe_domain_destroy(&domain);
	pe_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
	bool kernels = argc < 2 || strcmp(argv[1], "library") != 0;
	float *x = get_memory(size), *y = get_memory(size);
	for (size_t i = 0; i < size / sizeof *x; i++)
		x[i] = (float)(i % 1000) * 1e-3F;
	libraries(x, y);
	for (int k = 0; kernels && xt_kernels(k); k++) {
		layout("neighbours", xt_kernels(k), 0, x, y);
		layout("halves", xt_kernels(k), PAIRS, x, y);
	}
	free(x);
	free(y);
	return 0;
}
