/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of lane_eigen_body.h in plain C, two lanes a pack. */
#include <math.h>

#include "kernels.h"

#define WIDTH 2
#define PACKS 4
#define GROUP 4

typedef double vec __attribute__((vector_size(16), may_alias));
typedef int64_t mask __attribute__((vector_size(16)));

static inline vec vec_all(double a)
{
	return (vec){a, a};
}

/* a b + c */
static inline vec vec_fma(vec a, vec b, vec c)
{
	return a * b + c;
}

/* c - a b */
static inline vec vec_fnma(vec a, vec b, vec c)
{
	return c - a * b;
}

static inline mask vec_less(vec a, vec b)
{
	return (mask)(a < b);
}

static inline vec vec_select(mask m, vec yes, vec no)
{
	return (vec)(((mask)yes & m) | ((mask)no & ~m));
}

static inline vec vec_sqrt(vec a)
{
	return (vec){sqrt(a[0]), sqrt(a[1])};
}

static inline vec vec_min(vec a, vec b)
{
	return vec_select(vec_less(a, b), a, b);
}

static inline vec vec_max(vec a, vec b)
{
	return vec_select(vec_less(b, a), a, b);
}

static inline vec vec_abs(vec a)
{
	return (vec)((mask)a & INT64_MAX);
}

/* |a| with the sign of b */
static inline vec vec_copysign(vec a, vec b)
{
	return (vec)(((mask)a & INT64_MAX) | ((mask)b & INT64_MIN));
}

#include "lane_eigen_body.h"

void pe_lane_eigen_scalar(struct pe_kernels *kernels)
{
	fill_lane_eigen(kernels);
}
