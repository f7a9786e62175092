/* SPDX-License-Identifier: BSD-2-Clause */
#include "frequency.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"

enum { BLOCK = 64 };
#define SMALL 0x1p-17

/* The first 26 bits of x, so that the product of two such numbers is exact. */
static double leading_bits(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	bits &= ~(((uint64_t)1 << 27) - 1);
	memcpy(&x, &bits, sizeof x);
	return x;
}

pe_status pe_frequencies_make(
	pe_context *ctx, const long double *frequency, int64_t count, struct pe_frequencies *out)
{
	*out = (struct pe_frequencies){.count = count, .high = pe_alloc(ctx, count, 2 * sizeof *out->high)};
	if (!out->high)
		return PE_ERR_NOMEM;
	out->low = out->high + count;
	for (int64_t t = 0; t < count; t++) {
		out->high[t] = leading_bits((double)frequency[t]);
		out->low[t] = (double)(frequency[t] - (long double)out->high[t]);
	}
	return PE_OK;
}

void pe_frequencies_free(pe_context *ctx, struct pe_frequencies *f)
{
	pe_free(ctx, f->high);
	*f = (struct pe_frequencies){0};
}

/* The angle is angle[t] + rest[t]: the leading product has no rounding, what follows is 2^26 times
 * smaller, and the rounding of their sum is known (Dekker). */
static void multiply(const struct pe_frequencies *f, double position, int64_t first, int64_t count,
	double *angle, double *rest)
{
	double leading = leading_bits(position), following = position - leading;
	const double *high = f->high + first, *low = f->low + first;
	for (int64_t t = 0; t < count; t++) {
		double large = leading * high[t], small = following * high[t] + position * low[t];
		angle[t] = large + small;
		rest[t] = (large - angle[t]) + small;
	}
}

/* Turns by what is too much for the first terms of its series; only angles beyond 2^36 leave so much. */
static void turn_by_large(double *rest, int64_t count, double *c, double *s)
{
	for (int64_t t = 0; t < count; t++) {
		if (fabs(rest[t]) <= SMALL)
			continue;
		double x = cos(rest[t]), y = sin(rest[t]), before = c[t];
		c[t] = before * x - s[t] * y;
		s[t] = before * y + s[t] * x;
		rest[t] = 0;
	}
}

/* Cosines and sines of s[t] + rest[t]; uses rest up. */
static void finish(const pe_context *ctx, double *rest, int64_t count, double *c, double *s)
{
	double largest = 0;
	ctx->kernels->sincos(s, count, s, c);
	for (int64_t t = 0; t < count; t++)
		largest = fabs(rest[t]) > largest ? fabs(rest[t]) : largest;
	if (largest > SMALL)
		turn_by_large(rest, count, c, s);
	for (int64_t t = 0; t < count; t++) {
		double before = c[t];
		c[t] -= rest[t] * s[t];
		s[t] += rest[t] * before;
	}
}

void pe_frequencies_turn(const pe_context *ctx, const struct pe_frequencies *f, double position,
	int64_t first, int64_t count, double *cosine, double *sine)
{
	double rest[BLOCK];
	for (int64_t done = 0; done < count; done += BLOCK) {
		int64_t n = pe_min(BLOCK, count - done);
		multiply(f, position, first + done, n, sine + done, rest);
		finish(ctx, rest, n, cosine + done, sine + done);
	}
}

void pe_frequencies_turn_each(const pe_context *ctx, const struct pe_frequencies *f, const double *position,
	int64_t first, int64_t count, double *cosine, double *sine)
{
	double rest[BLOCK];
	for (int64_t done = 0; done < count; done += BLOCK) {
		int64_t n = pe_min(BLOCK, count - done);
		for (int64_t t = 0; t < n; t++)
			multiply(f, position[done + t], first + done + t, 1, sine + done + t, rest + t);
		finish(ctx, rest, n, cosine + done, sine + done);
	}
}
