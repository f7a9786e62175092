/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of half_walk_body.h in vectors of 4 doubles. Before this is included: MAX_VECS. Wider
 * vectors gain nothing here: a step is bound by its loads and stores, and wastes more lanes. */
#include <immintrin.h>
#include <stdbool.h>

#include "kernels.h"

typedef double vec __attribute__((vector_size(32), may_alias));

#define VEC_LANES 4

static inline vec vec_all(double a)
{
	return (vec)_mm256_set1_pd(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return _mm256_fmadd_pd(a, b, c);
}

static inline void vec_transpose(vec a[VEC_LANES])
{
	vec low = _mm256_unpacklo_pd(a[0], a[1]), high = _mm256_unpackhi_pd(a[0], a[1]);
	vec low2 = _mm256_unpacklo_pd(a[2], a[3]), high2 = _mm256_unpackhi_pd(a[2], a[3]);
	a[0] = _mm256_permute2f128_pd(low, low2, 0x20);
	a[1] = _mm256_permute2f128_pd(high, high2, 0x20);
	a[2] = _mm256_permute2f128_pd(low, low2, 0x31);
	a[3] = _mm256_permute2f128_pd(high, high2, 0x31);
}

#include "half_walk_body.h"
