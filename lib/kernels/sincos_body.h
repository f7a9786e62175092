/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sincos.h, once an instruction set. Before this is included are defined:
 *   vec, ivec     vectors of VEC_LANES doubles and int64_t
 *   vec_all       vec_all(a): a in every lane
 *   vec_fused     vec_fused(a, b, c) = a b + c, rounded once: all sets must agree
 *   vec_choose    vec_choose(m, a, b): in each lane b if m is negative, a if not
 *   vec_within    vec_within(a, b): whether |a| ≤ b in every lane
 *
 * An angle x is n pi/2 + r with |r| ≤ pi/4, nearly. pi/2 is taken in three parts (Cody and Waite).
 * The first product leaves no error: the lowest bit of x and of the first part is 2^-53 or more where
 * n ≠ 0, and the difference is below 1. What the second leaves is kept in lo. No double below the limit
 * is within 2^-62 of a multiple of pi/2, and r + lo is off by less than 2^-125. Angles beyond the limit
 * are reduced one by one. */
#include <math.h>
#include <string.h>

#include "huge_angle.h"
#include "sincos.h"

#define INLINE static inline __attribute__((always_inline))

#define HALF_PI_1 0x1.921fb54442d18p+0
#define HALF_PI_2 0x1.1a62633145c07p-54
#define HALF_PI_3 -0x1.f1976b7ed8fbcp-110
#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define LIMIT 0x1p36
#define SHIFTER 0x1.8p52 /* added to a number, its lowest bits are the nearest integer */

/* sin r = r + r³ P(r²), cos r = 1 - r²/2 + r⁴ Q(r²): minimax on |r| ≤ pi/4 (1 + 2^-14), relative
 * errors 2^-58 and 2^-63, each coefficient rounded before the next was fitted. */
static const double sine_terms[] = {
	-0x1.5555555555549p-3,
	0x1.111111110f8a5p-7,
	-0x1.a01a019c15e58p-13,
	0x1.71de357ae1cb4p-19,
	-0x1.ae5e6869b4a46p-26,
	0x1.5d939324bd64bp-33,
};
static const double cosine_terms[] = {
	0x1.555555555554bp-5,
	-0x1.6c16c16c15014p-10,
	0x1.a01a019c8efb8p-16,
	-0x1.27e4f7f16a412p-22,
	0x1.1ee9dbafbfb07p-29,
	-0x1.8fa6725cd0836p-37,
};

INLINE vec polynomial(const double terms[6], vec z)
{
	vec sum = vec_all(terms[5]);
#pragma GCC unroll 5
	for (int i = 4; i >= 0; i--)
		sum = vec_fused(sum, z, vec_all(terms[i]));
	return sum;
}

INLINE vec sine_near_zero(vec r, vec lo, vec z)
{
	vec tail = vec_fused(vec_all(-0.5) * z, lo, lo);
	vec s = r + vec_fused(r * z, polynomial(sine_terms, z), tail);
	ivec sign = (ivec)vec_all(-0.0);
	return (vec)((ivec)s | ((ivec)r & sign)); /* the sum may have lost the sign of -0 */
}

INLINE vec cosine_near_zero(vec r, vec lo, vec z)
{
	vec half = vec_all(0.5), one = vec_all(1);
	vec lost = vec_fused(half, vec_fused(r, r, -z), r * lo); /* half of r² that z and lo leave out */
	vec head = one - half * z;
	vec tail = vec_fused(z * z, polynomial(cosine_terms, z), -lost);
	return head + ((one - head - half * z) + tail);
}

/* Of n pi/2 + r + lo. */
INLINE void sincos_reduced(ivec n, vec r, vec lo, vec *sine, vec *cosine)
{
	vec z = r * r, s = sine_near_zero(r, lo, z), c = cosine_near_zero(r, lo, z);
	ivec odd = n << 63, sign = (ivec)vec_all(-0.0);
	*sine = (vec)((ivec)vec_choose(odd, s, c) ^ ((n << 62) & sign));
	*cosine = (vec)((ivec)vec_choose(odd, c, s) ^ (((n << 62) ^ odd) & sign));
}

INLINE void sincos_within(vec x, vec *sine, vec *cosine)
{
	vec shifted = vec_fused(x, vec_all(TWO_OVER_PI), vec_all(SHIFTER));
	vec n = shifted - vec_all(SHIFTER);
	vec first = vec_fused(-n, vec_all(HALF_PI_1), x);
	vec product = n * vec_all(HALF_PI_2), product_lo = vec_fused(n, vec_all(HALF_PI_2), -product);
	vec r = first - product, back = r - first;
	vec lo = (first - (r - back)) - (product + back); /* first - product is r + lo (Knuth) */
	lo = vec_fused(-n, vec_all(HALF_PI_3), lo - product_lo);
	sincos_reduced((ivec)shifted, r, lo, sine, cosine);
}

static __attribute__((noinline, cold)) void sincos_beyond(vec x, double *sine, double *cosine)
{
	for (int i = 0; i < VEC_LANES; i++)
		if (!(fabs(x[i]) <= LIMIT)) {
			vec s, c;
			double r, lo;
			int64_t n = pe_reduce_huge_angle(x[i], &r, &lo);
			sincos_reduced((ivec){0} + n, vec_all(r), vec_all(lo), &s, &c);
			sine[i] = s[0];
			cosine[i] = c[0];
		}
}

INLINE void sincos_vector(const double *angle, double *sine, double *cosine)
{
	vec x, s, c;
	memcpy(&x, angle, sizeof x);
	sincos_within(x, &s, &c);
	memcpy(sine, &s, sizeof s);
	memcpy(cosine, &c, sizeof c);
	if (__builtin_expect(!vec_within(x, LIMIT), 0))
		sincos_beyond(x, sine, cosine);
}

static void sincos_all(const double *angle, int64_t n, double *sine, double *cosine)
{
	int64_t i = 0;
	for (; i + VEC_LANES <= n; i += VEC_LANES)
		sincos_vector(angle + i, sine + i, cosine + i);
	if (i < n) {
		double x[VEC_LANES] = {0}, s[VEC_LANES], c[VEC_LANES];
		size_t rest = (size_t)(n - i) * sizeof *x;
		memcpy(x, angle + i, rest);
		sincos_vector(x, s, c);
		memcpy(sine + i, s, rest);
		memcpy(cosine + i, c, rest);
	}
}

#undef INLINE
