/* SPDX-License-Identifier: BSD-2-Clause
 * Sines and cosines against the C library's long double, at angles of every size, beside multiples of
 * pi/2, and at the edges; all sets give the same bits. */
#include "xt.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "context.h"
#include "rng.h"
#include "xt_kernels.h"

#define MOST_ULPS 0.8

/* |got - exact| in units of the last place of a double of exact's size. */
static double ulps(double got, long double exact)
{
	int exponent;
	frexpl(exact, &exponent);
	long double unit = ldexpl(1, exponent - 53 < -1074 ? -1074 : exponent - 53);
	return (double)(fabsl((long double)got - exact) / unit);
}

/* Every set at n angles; more than 0.8 ulp off fails. */
static void check(const double *angle, int64_t n)
{
	double *s = malloc((size_t)n * sizeof *s), *c = malloc((size_t)n * sizeof *c);
	for (int k = 0; xt_kernels(k); k++) {
		const struct pe_kernels *kernels = xt_kernels(k);
		kernels->sincos(angle, n, s, c);
		for (int64_t i = 0; i < n; i++) {
			double error = fmax(ulps(s[i], sinl(angle[i])), ulps(c[i], cosl(angle[i])));
			if (!(error <= MOST_ULPS))
				fail_msg(
					"%s: angle %a: sine %a, cosine %a, %.3f ulp", kernels->name, angle[i], s[i], c[i], error);
		}
	}
	free(s);
	free(c);
}

enum { MANY = 20000 };

static void random_angles(void **state)
{
	(void)state;
	double *angle = malloc(MANY * sizeof *angle);
	for (int exponent = -60; exponent <= 1024; exponent += exponent < 36 ? 8 : 52) {
		for (int i = 0; i < MANY; i++) {
			double u = 2 * pe_rng_uniform(7, (uint64_t)exponent, (uint64_t)i) - 1;
			angle[i] = ldexp(u, exponent);
		}
		check(angle, MANY);
	}
	free(angle);
}

/* The doubles beside n pi/2, for all small n and for random ones up to the limit, each sign. */
static void beside_multiples_of_half_pi(void **state)
{
	(void)state;
	double *angle = malloc(4 * MANY * sizeof *angle);
	for (int i = 0; i < MANY; i++) {
		double n = i < MANY / 4 ? i + 1 : floor(exp2(35.3 * pe_rng_uniform(8, 0, (uint64_t)i)));
		long double exact = (long double)n * 1.57079632679489661923132169163975144L;
		double near = (double)exact, other = near > exact ? nextafter(near, 0) : nextafter(near, 1e300);
		memcpy(angle + 4 * i, (double[]){near, other, -near, -other}, 4 * sizeof *angle);
	}
	check(angle, 4 * MANY);
	/* Beside n pi/4, where sine and cosine change places. */
	for (int i = 0; i < 4 * MANY; i++)
		angle[i] = (i % 2 ? -1 : 1) * nextafter((double)((i / 2 + 1) * 0.785398163397448309616L), 0);
	check(angle, 4 * MANY);
	free(angle);
}

/* Numerators of the convergents of pi: integers nearer to a multiple of pi/2 than any below them. */
static void hard_angles(void **state)
{
	(void)state;
	static const double pi_convergents[] = {3, 22, 333, 355, 103993, 104348, 208341, 312689, 833719, 1146408,
		4272943, 5419351, 80143857, 165707065, 245850922, 411557987, 1068966896, 2549491779, 6167950454,
		14885392687, 21053343141};
	double angle[PE_COUNT(pi_convergents) * 6];
	int64_t n = 0;
	for (int64_t i = 0; i < PE_COUNT(pi_convergents); i++)
		for (int k = 0; k < 6; k++)
			angle[n++] = ldexp(pi_convergents[i], k - 4);
	check(angle, n);
	double edge[] = {0x1p36, nextafter(0x1p36, 1e300), -0x1p36, nextafter(-0x1p36, -1e300), 1e12, -1e15};
	check(edge, PE_COUNT(edge));
	double tiny[] = {DBL_TRUE_MIN, -DBL_TRUE_MIN, DBL_MIN, -DBL_MIN, 1e-300, 0x1p-27, 0x1p-26, 1e-8, -1e-5};
	check(tiny, PE_COUNT(tiny));
}

/* 6381956970095103 · 2^797 is, of all doubles, the nearest to a multiple of pi/2 (Muller, "Elementary
 * functions"). The last two from mpmath 1.3 with 1600 bits. The C library is off by 8 ulp here. */
static void huge_angles(void **state)
{
	(void)state;
	static const double angle[] = {0x1.6ac5b262ca1ffp+849, -0x1.6ac5b262ca1ffp+849, 1e22, DBL_MAX};
	static const double cosine[] = {
		-0x1.14ae72e6ba22fp-61, -0x1.14ae72e6ba22fp-61, 0x1.0be2cef01c8f4p-1, -0x1.fffe62ecfab75p-1};
	static const double sine[] = {1, -1, -0x1.b453ab76bf397p-1, 0x1.452fc98b34e97p-8};
	double s[4], c[4];
	for (int k = 0; xt_kernels(k); k++) {
		xt_kernels(k)->sincos(angle, 4, s, c);
		for (int i = 0; i < 4; i++)
			assert_true(ulps(s[i], sine[i]) < 1.5 && ulps(c[i], cosine[i]) < 1.5);
	}
}

static void edges(void **state)
{
	(void)state;
	for (int k = 0; xt_kernels(k); k++) {
		double x[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1}, s[6], c[6];
		xt_kernels(k)->sincos(x, 6, s, c);
		assert_true(s[0] == 0 && !signbit(s[0]) && c[0] == 1);
		assert_true(s[1] == 0 && signbit(s[1]) && c[1] == 1);
		for (int i = 2; i < 5; i++)
			assert_true(isnan(s[i]) && isnan(c[i]));
		assert_true(ulps(s[5], sinl(1)) < MOST_ULPS); /* untouched by its neighbours */
	}
}

enum { LENGTH = 40, GUARD = 8 };

/* Any start and any length: the bits of the scalar set, no double written outside, in place too. */
static void tails_and_sets_give_the_same_bits(void **state)
{
	(void)state;
	double angle[LENGTH], s[LENGTH], c[LENGTH], got_s[LENGTH + 2 * GUARD], got_c[LENGTH + 2 * GUARD];
	for (int i = 0; i < LENGTH; i++)
		angle[i] = ldexp(pe_rng_uniform(9, 0, (uint64_t)i) - 0.5, i % 38);
	xt_kernels(0)->sincos(angle, LENGTH, s, c);
	for (int k = 0; xt_kernels(k); k++)
		for (int first = 0; first < 9; first++)
			for (int n = 0; first + n <= LENGTH; n++) {
				int at = GUARD + first;
				for (int i = 0; i < LENGTH + 2 * GUARD; i++)
					got_s[i] = got_c[i] = 77;
				memcpy(got_s + at, angle + first, (size_t)n * sizeof *angle);
				xt_kernels(k)->sincos(got_s + at, n, got_s + at, got_c + at);
				assert_memory_equal(got_s + at, s + first, (size_t)n * sizeof *s);
				assert_memory_equal(got_c + at, c + first, (size_t)n * sizeof *c);
				for (int i = 0; i < LENGTH + 2 * GUARD; i++)
					if (i < at || i >= at + n)
						assert_true(got_s[i] == 77 && got_c[i] == 77);
			}
}

static void sets_agree_on_many_angles(void **state)
{
	(void)state;
	double *angle = malloc(MANY * sizeof *angle), *out[4];
	for (int i = 0; i < 4; i++)
		out[i] = malloc(MANY * sizeof **out);
	for (int i = 0; i < MANY; i++)
		angle[i] = ldexp(2 * pe_rng_uniform(10, 0, (uint64_t)i) - 1, i % 80 - 40);
	xt_kernels(0)->sincos(angle, MANY, out[0], out[1]);
	for (int k = 1; xt_kernels(k); k++) {
		xt_kernels(k)->sincos(angle, MANY, out[2], out[3]);
		assert_memory_equal(out[0], out[2], MANY * sizeof **out);
		assert_memory_equal(out[1], out[3], MANY * sizeof **out);
	}
	for (int i = 0; i < 4; i++)
		free(out[i]);
	free(angle);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_angles),
		cmocka_unit_test(beside_multiples_of_half_pi),
		cmocka_unit_test(hard_angles),
		cmocka_unit_test(huge_angles),
		cmocka_unit_test(edges),
		cmocka_unit_test(tails_and_sets_give_the_same_bits),
		cmocka_unit_test(sets_agree_on_many_angles),
	};
	return xt_run(argc, argv, tests);
}
