/* SPDX-License-Identifier: BSD-2-Clause
 * Sines and cosines of double angles beside the C library's, in the same run.
 *
 *   bench_sincos          ns an angle of each set and of the C library; a table beside memset
 *   bench_sincos table    seconds for the table alone, for peer_numpy_sincos.py
 *
 * The table is that of a rotation: sines and cosines, rounded to single precision, of 131072 positions
 * times 64 frequencies. Times are of the processor, the least of several turns, taken alternately. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "xt_kernels.h"

enum { POSITIONS = 131072, FREQUENCIES = 64, ANGLES = 4096, TURNS = 9, MOST_SETS = 8 };

/* sine and cosine: POSITIONS × FREQUENCIES each. */
static double table(const struct pe_kernels *kernels, float *sine, float *cosine)
{
	double frequency[FREQUENCIES], angle[FREQUENCIES], s[FREQUENCIES], c[FREQUENCIES],
		start = now(CLOCK_PROCESS_CPUTIME_ID);
	for (int k = 0; k < FREQUENCIES; k++)
		frequency[k] = pow(10000, -(double)k / FREQUENCIES);
	for (int p = 0; p < POSITIONS; p++) {
		for (int k = 0; k < FREQUENCIES; k++)
			angle[k] = p * frequency[k];
		kernels->sincos(angle, FREQUENCIES, s, c);
		for (int k = 0; k < FREQUENCIES; k++) {
			sine[p * FREQUENCIES + k] = (float)s[k];
			cosine[p * FREQUENCIES + k] = (float)c[k];
		}
	}
	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static double library(const double *angle, double *s, double *c)
{
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < ANGLES; i++)
		sincos(angle[i], &s[i], &c[i]);
	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* ns an angle; the arrays stay in the cache. */
static void angles(double largest)
{
	double *angle = get_memory(ANGLES * sizeof *angle), *s = get_memory(ANGLES * sizeof *s);
	double *c = get_memory(ANGLES * sizeof *c), least[MOST_SETS], c_library = 1e9;
	for (int k = 0; k < MOST_SETS; k++)
		least[k] = 1e9;
	for (int i = 0; i < ANGLES; i++)
		angle[i] = largest * ((i * 2654435761u & 0xffffff) * 0x1p-24);
	for (int turn = 0; turn < 20 * TURNS; turn++) {
		for (int k = 0; xt_kernels(k); k++) {
			double start = now(CLOCK_PROCESS_CPUTIME_ID);
			xt_kernels(k)->sincos(angle, ANGLES, s, c);
			keep_least(&least[k], now(CLOCK_PROCESS_CPUTIME_ID) - start);
		}
		keep_least(&c_library, library(angle, s, c));
	}
	printf("angles up to %-8g ns an angle:", largest);
	for (int k = 0; xt_kernels(k); k++)
		printf("  %s %.2f", xt_kernels(k)->name, least[k] / ANGLES * 1e9);
	printf("  C library %.2f\n", c_library / ANGLES * 1e9);
	free(angle);
	free(s);
	free(c);
}

int main(int argc, char **argv)
{
	size_t size = (size_t)POSITIONS * FREQUENCIES * sizeof(float);
	float *sine = get_memory(size), *cosine = get_memory(size);
	double ours = 1e9, set = 1e9;
	for (int turn = 0; turn < TURNS; turn++) {
		keep_least(&ours, table(pe_kernels_select(NULL), sine, cosine));
		double start = now(CLOCK_PROCESS_CPUTIME_ID);
		memset(sine, turn, size);
		memset(cosine, turn, size);
		keep_least(&set, now(CLOCK_PROCESS_CPUTIME_ID) - start);
	}
	if (argc > 1 && strcmp(argv[1], "table") == 0) {
		printf("%.6f\n", ours);
	} else {
		angles(1);
		angles(1e4);
		angles(1e9);
		angles(1e12);
		printf("table of %d x %d: %.1f ms (%.2f ns a pair), memset of it %.1f ms\n", POSITIONS, FREQUENCIES,
			ours * 1e3, ours / POSITIONS / FREQUENCIES * 1e9, set * 1e3);
	}
	free(sine);
	free(cosine);
	return 0;
}
