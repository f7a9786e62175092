/* SPDX-License-Identifier: BSD-2-Clause
 * Rotation of queries and keys beside memcpy of the same bytes, alternately: (1, 32, 4096, 128) in single
 * precision, by each set, in both layouts, in place, out of place and past the caches.
 *
 *   bench_rotate
 *
 * Cosines and sines are computed anew every time, once for a block of positions in all heads. 100 % is
 * memcpy's time; times are CPU times, the least of several turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "xt_kernels.h"

enum { HEADS = 32, TOKENS = 4096, WIDTH = 128, PAIRS = WIDTH / 2, BLOCK = PE_ROTATE_TOKENS, TURNS = 25 };

static const size_t size = (size_t)HEADS * TOKENS * WIDTH * sizeof(float);

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *allocate(void)
{
	float *memory = aligned_alloc(64, size);
	if (!memory)
		exit(1);
	memset(memory, 0, size);
	return memory;
}

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
	double start = now();
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
	return now() - start;
}

static void keep_least(double *least, double seconds)
{
	if (seconds < *least)
		*least = seconds;
}

static void layout(const char *name, const struct pe_kernels *kernels, int64_t half, float *x, float *y)
{
	double copy = 1e9, in_place = 1e9, apart = 1e9, past = 1e9;
	for (int turn = 0; turn < TURNS; turn++) {
		double start = now();
		memcpy(y, x, size);
		keep_least(&copy, now() - start);
		keep_least(&in_place, rotate(kernels, x, x, half, false));
		start = now();
		memcpy(y, x, size);
		keep_least(&copy, now() - start);
		keep_least(&apart, rotate(kernels, x, y, half, false));
		keep_least(&past, rotate(kernels, x, y, half, true));
	}
	printf("%-7s %-11s memcpy %.1f ms (%.1f GB/s)  in place %.0f %%  out of place %.0f %%  past the caches "
		   "%.0f %%\n",
		kernels->name, name, copy * 1e3, (double)size / copy * 1e-9, copy / in_place * 100,
		copy / apart * 100, copy / past * 100);
}

int main(void)
{
	float *x = allocate(), *y = allocate();
	for (size_t i = 0; i < size / sizeof *x; i++)
		x[i] = (float)(i % 1000) * 1e-3F;
	for (int k = 0; xt_kernels(k); k++) {
		layout("neighbours", xt_kernels(k), 0, x, y);
		layout("halves", xt_kernels(k), PAIRS, x, y);
	}
	free(x);
	free(y);
	return 0;
}
