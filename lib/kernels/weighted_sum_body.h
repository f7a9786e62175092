/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of weighted_sum.h, once an instruction set. Before this is included are defined:
 *   vec, VEC_LANES  a vector of doubles that takes + and *
 *   half            as many floats */
#include "weighted_sum.h"

#define VECS 4 /* vectors that share a weight */
#define INLINE static inline __attribute__((always_inline))
#define EACH(v, n) _Pragma("GCC unroll 8") for (int v = 0; v < (n); v++)

typedef vec loose_vec __attribute__((aligned(8)));
typedef half loose_half __attribute__((aligned(4)));

INLINE vec vec_at(const double *p)
{
	return *(const loose_vec *)p;
}

/* Sums i … i + vecs · VEC_LANES - 1. */
INLINE void sum_vecs(const struct pe_weighted_sum *s, int64_t i, const int vecs, vec *sum)
{
	const double *in = s->in + i;
	EACH(v, vecs) sum[v] = s->weights[0] * vec_at(in + v * VEC_LANES);
	for (int64_t k = 1; k < s->count; k++) {
		in += s->step;
		EACH(v, vecs) sum[v] += s->weights[k] * vec_at(in + v * VEC_LANES);
	}
	if (s->plus)
		EACH(v, vecs) sum[v] += vec_at(s->plus + i + v * VEC_LANES);
}

INLINE double sum_one(const struct pe_weighted_sum *s, int64_t i)
{
	double sum = s->weights[0] * s->in[i];
	for (int64_t k = 1; k < s->count; k++)
		sum += s->weights[k] * s->in[k * s->step + i];
	return s->plus ? sum + s->plus[i] : sum;
}

INLINE void do_f64(const struct pe_weighted_sum *s, int64_t i, const int vecs, double *out)
{
	vec sum[VECS];
	sum_vecs(s, i, vecs, sum);
	EACH(v, vecs) * (loose_vec *)(out + i + v * VEC_LANES) = sum[v];
}

INLINE void do_f32(const struct pe_weighted_sum *s, int64_t i, const int vecs, float *out)
{
	vec sum[VECS];
	sum_vecs(s, i, vecs, sum);
	EACH(v, vecs) * (loose_half *)(out + i + v * VEC_LANES) = __builtin_convertvector(sum[v], half);
}

static void weighted_sum(const struct pe_weighted_sum *sum, double *out)
{
	const struct pe_weighted_sum copy = *sum, *s = &copy; /* which the compiler knows that no store changes */
	int64_t i = 0;
	for (; i + VECS * VEC_LANES <= s->n; i += VECS * VEC_LANES)
		do_f64(s, i, VECS, out);
	for (; i + VEC_LANES <= s->n; i += VEC_LANES)
		do_f64(s, i, 1, out);
	for (; i < s->n; i++)
		out[i] = sum_one(s, i);
}

static void weighted_sum_f32(const struct pe_weighted_sum *sum, float *out)
{
	const struct pe_weighted_sum copy = *sum, *s = &copy;
	int64_t i = 0;
	for (; i + VECS * VEC_LANES <= s->n; i += VECS * VEC_LANES)
		do_f32(s, i, VECS, out);
	for (; i + VEC_LANES <= s->n; i += VEC_LANES)
		do_f32(s, i, 1, out);
	for (; i < s->n; i++)
		out[i] = (float)sum_one(s, i);
}

#undef INLINE
#undef EACH
