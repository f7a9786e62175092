/* SPDX-License-Identifier: BSD-2-Clause
 * Cooley and Tukey (1965) with any factors: n = p·m for the smallest prime p, so that n costs n times the
 * sum of its primes; large primes by Bluestein's convolution (1970) in a power of two. */
#include "amplitudes.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"

#define LARGE_PRIME 64

static const double pi = 3.141592653589793238462643383280;

static double complex times(double complex a, double complex b)
{
	return creal(a) * creal(b) - cimag(a) * cimag(b) + (creal(a) * cimag(b) + cimag(a) * creal(b)) * I;
}

static double complex turned(double angle)
{
	return cos(angle) + sin(angle) * I;
}

static int64_t smallest_prime(int64_t n)
{
	for (int64_t p = 2; p * p <= n; p++)
		if (n % p == 0)
			return p;
	return n;
}

static void bluestein(const double complex *in, int64_t step, int64_t n, double complex *out);

/* out[0 … n-1] ← transform of in[0], in[step], …; scratch has n places. wave[j] = exp(-2πi j / N) and
 * wave_step = N / n. */
static void transform(const double complex *in, int64_t step, int64_t n, double complex *out,
	double complex *scratch, const double complex *wave, int64_t wave_step)
{
	int64_t p = smallest_prime(n), m = n / p;
	if (n == 1) {
		out[0] = in[0];
		return;
	}
	if (m == 1 && p > LARGE_PRIME) {
		bluestein(in, step, n, out);
		return;
	}
	for (int64_t r = 0; r < p; r++)
		transform(in + r * step, step * p, m, scratch + r * m, out + r * m, wave, wave_step * p);
	for (int64_t k = 0; k < n; k++) {
		double complex sum = 0;
		for (int64_t r = 0; r < p; r++)
			sum += times(scratch[r * m + k % m], wave[r * k % n * wave_step]);
		out[k] = sum;
	}
}

/* room: 2 n places. */
static void transform_all(const double complex *in, int64_t n, double complex *out, double complex *room)
{
	double complex *scratch = room, *wave = room + n;
	for (int64_t i = 0; i < n; i++)
		wave[i] = turned(-2 * pi * (double)i / (double)n);
	transform(in, 1, n, out, scratch, wave, 1);
}

/* jk = (j² + k² - (j-k)²) / 2 makes of the transform a convolution with exp(πi j² / n), which is cyclic in a
 * power of two. */
static void bluestein(const double complex *in, int64_t step, int64_t n, double complex *out)
{
	int64_t m = 1;
	while (m < 2 * n)
		m *= 2;
	double complex *a = get_memory((size_t)m, 6 * sizeof *a), *b = a + m, *c = b + m, *room = c + m;
	for (int64_t j = 0; j < n; j++) {
		double complex chirp = turned(pi * (double)(j * j % (2 * n)) / (double)n);
		a[j] = times(in[j * step], conj(chirp));
		b[j] = chirp;
		b[(m - j) % m] = chirp;
	}
	transform_all(a, m, c, room);
	transform_all(b, m, a, room);
	for (int64_t j = 0; j < m; j++)
		b[j] = conj(times(c[j], a[j])); /* conjugates before and after make the way back of the way there */
	transform_all(b, m, c, room);
	for (int64_t k = 0; k < n; k++)
		out[k] = times(conj(c[k]) / (double)m, conj(turned(pi * (double)(k * k % (2 * n)) / (double)n)));
	free(a);
}

void amplitudes(const double *samples, int64_t n, double *out)
{
	double complex *in = get_memory((size_t)n, 5 * sizeof *in), *spectrum = in + n, *room = in + 2 * n;
	for (int64_t i = 0; i < n; i++)
		in[i] = samples[i];
	transform_all(in, n, spectrum, room);
	for (int64_t f = 0; f <= n / 2; f++)
		out[f] = cabs(spectrum[f]) * (f == 0 || 2 * f == n ? 1 : 2) / (double)n;
	free(in);
}
