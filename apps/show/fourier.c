/* SPDX-License-Identifier: BSD-2-Clause
 * Cooley and Tukey (1965) with any factors: n = p·m for the smallest prime p, so that n costs n times the
 * sum of its primes. */
#include "fourier.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"

static const double turn = 6.283185307179586476925286766559;

static int64_t smallest_prime(int64_t n)
{
	for (int64_t p = 2; p * p <= n; p++)
		if (n % p == 0)
			return p;
	return n;
}

/* out[0 … n-1] ← transform of in[0], in[step], …; scratch has n places. wave[j] = exp(-turn·i·j / N) and
 * wave_step = N / n. */
static void transform(const double complex *in, int64_t step, int64_t n, double complex *out,
	double complex *scratch, const double complex *wave, int64_t wave_step)
{
	if (n == 1) {
		out[0] = in[0];
		return;
	}
	int64_t p = smallest_prime(n), m = n / p;
	for (int64_t r = 0; r < p; r++)
		transform(in + r * step, step * p, m, scratch + r * m, out + r * m, wave, wave_step * p);
	for (int64_t k = 0; k < n; k++) {
		double complex sum = 0;
		for (int64_t r = 0; r < p; r++)
			sum += scratch[r * m + k % m] * wave[r * k % n * wave_step];
		out[k] = sum;
	}
}

void amplitudes(const double *samples, int64_t n, double *out)
{
	double complex *room = get_memory((size_t)n, 4 * sizeof *room);
	double complex *in = room, *spectrum = room + n, *scratch = room + 2 * n, *wave = room + 3 * n;
	for (int64_t i = 0; i < n; i++) {
		in[i] = samples[i];
		double angle = turn * (double)i / (double)n;
		wave[i] = cos(angle) - sin(angle) * I;
	}
	transform(in, 1, n, spectrum, scratch, wave, 1);
	for (int64_t f = 0; f <= n / 2; f++)
		out[f] = cabs(spectrum[f]) * (f == 0 || 2 * f == n ? 1 : 2) / (double)n;
	free(room);
}
