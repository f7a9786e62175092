/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of lane_eigen_body.h by intrinsics of any width. The file that includes it has defined vec,
 * mask, WIDTH, PACKS, GROUP, MM(name), the intrinsic of its width, vec_less and vec_select. */
static inline vec vec_all(double a)
{
	return (vec)MM(set1_pd)(a);
}

/* a b + c */
static inline vec vec_fma(vec a, vec b, vec c)
{
	return (vec)MM(fmadd_pd)(a, b, c);
}

/* c - a b */
static inline vec vec_fnma(vec a, vec b, vec c)
{
	return (vec)MM(fnmadd_pd)(a, b, c);
}

static inline vec vec_sqrt(vec a)
{
	return (vec)MM(sqrt_pd)(a);
}

static inline vec vec_min(vec a, vec b)
{
	return (vec)MM(min_pd)(a, b);
}

static inline vec vec_max(vec a, vec b)
{
	return (vec)MM(max_pd)(a, b);
}

static inline vec vec_abs(vec a)
{
	return (vec)MM(andnot_pd)(vec_all(-0.0), a);
}

/* |a| with the sign of b */
static inline vec vec_copysign(vec a, vec b)
{
	return (vec)MM(or_pd)(vec_abs(a), MM(and_pd)(vec_all(-0.0), b));
}

#include "lane_eigen_body.h"
