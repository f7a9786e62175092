/* SPDX-License-Identifier: BSD-2-Clause
 * Payne and Hanek, "Radian reduction for trigonometric functions", 1983, in integers: of the product of
 * the mantissa with 2/pi only the 256 bits from weight 2 down are computed. */
#include "huge_angle.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define WORDS 8 /* of 32 bits, the lowest first: numbers of 256 bits */

/* 32 zeros, then the bits of 2/pi from weight 1/2 on. */
static const uint32_t two_over_pi[] = {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599,
	0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c,
	0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
	0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66,
	0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046,
	0xfc7b6bab, 0xf0cfbc20};

/* 256 bits of two_over_pi from bit `first` on; the highest is bit 0. */
static void window(int first, uint32_t out[WORDS])
{
	const uint32_t *from = two_over_pi + first / 32;
	int shift = first % 32;
	for (int i = 0; i < WORDS; i++) {
		uint64_t pair = (uint64_t)from[i] << 32 | from[i + 1];
		out[WORDS - 1 - i] = (uint32_t)(pair << shift >> 32);
	}
}

/* sum += digit · a · 2^(32 place), modulo 2^256. */
static void add_multiple(uint32_t sum[WORDS], uint32_t digit, const uint32_t a[WORDS], int place)
{
	uint64_t carry = 0;
	for (int i = 0; i + place < WORDS; i++) {
		carry += (uint64_t)digit * a[i] + sum[i + place];
		sum[i + place] = (uint32_t)carry;
		carry >>= 32;
	}
}

static void negate(uint32_t a[WORDS])
{
	uint64_t carry = 1;
	for (int i = 0; i < WORDS; i++) {
		carry += (uint32_t)~a[i];
		a[i] = (uint32_t)carry;
		carry >>= 32;
	}
}

/* a · 2^-254 as the sum of *high and *low, 85 bits or more of it. */
static void fraction(const uint32_t a[WORDS], double *high, double *low)
{
	int top = WORDS - 1;
	while (top > 3 && a[top] == 0)
		top--;
	double parts[4];
	for (int i = 0; i < 4; i++)
		parts[i] = ldexp((double)a[top - i], 32 * (top - i) - 254);
	double upper = parts[0] + parts[1], rest = parts[1] - (upper - parts[0]);
	double lower = rest + (parts[2] + parts[3]);
	*high = upper + lower;
	*low = lower - (*high - upper);
}

int64_t pe_reduce_huge_angle(double x, double *r, double *lo)
{
	if (!isfinite(x)) {
		*r = *lo = (double)NAN;
		return 0;
	}
	int exponent;
	uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(x), &exponent), 53);
	uint32_t bits[WORDS], product[WORDS] = {0};
	/* |x| = mantissa · 2^e, e = exponent - 53: bits of 2/pi above weight 2^(1-e) give multiples of 4. */
	window(exponent - 53 + 30, bits);
	add_multiple(product, (uint32_t)mantissa, bits, 0);
	add_multiple(product, (uint32_t)(mantissa >> 32), bits, 1);

	int64_t n = product[WORDS - 1] >> 30;
	bool up = product[WORDS - 1] >> 29 & 1; /* the fraction is a half or more */
	n += up;
	product[WORDS - 1] &= 0x3fffffff;
	if (up) {
		product[WORDS - 1] |= 0xc0000000; /* minus 1 */
		negate(product);
	}
	double high, low;
	fraction(product, &high, &low);
	const double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;
	double sum = high * half_pi, error = fma(high, half_pi, -sum);
	error += high * half_pi_low + low * half_pi;
	*r = sum + error;
	*lo = error - (*r - sum);
	bool negative = up != (x < 0);
	if (negative) {
		*r = -*r;
		*lo = -*lo;
	}
	return x < 0 ? -n : n;
}
