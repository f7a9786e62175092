/* SPDX-License-Identifier: BSD-2-Clause
 * Weighted sums of rows against the formula: every set to the same bits, any count and length, in f64 and
 * rounded to f32, with guards around the output. */
#include "xt.h"

#include <string.h>

#include "rng.h"
#include "xt_kernels.h"

enum { LONGEST = 101, MOST = 9, STEP = 107, GUARD = 16 };

static double expect(const struct pe_weighted_sum *s, int64_t i)
{
	double sum = s->weights[0] * s->in[i];
	for (int64_t k = 1; k < s->count; k++) {
		double product = s->weights[k] * s->in[k * s->step + i];
		sum = sum + product;
	}
	return s->plus ? sum + s->plus[i] : sum;
}

struct buffers {
	_Alignas(64) double in[MOST * STEP], weights[MOST], plus[LONGEST];
	_Alignas(64) double out[LONGEST + 2 * GUARD], want[LONGEST + 2 * GUARD];
	_Alignas(64) float out32[LONGEST + 2 * GUARD], want32[LONGEST + 2 * GUARD];
};

static void check(const struct pe_kernels *kernels, struct buffers *b, int64_t count, int64_t n, int64_t at)
{
	for (int k = 0; k < 2; k++) {
		struct pe_weighted_sum s = {b->in + at, b->weights, STEP, count, n, k ? b->plus : NULL};
		for (int64_t i = 0; i < LONGEST + 2 * GUARD; i++)
			b->out[i] = b->want[i] = b->out32[i] = b->want32[i] = -7;
		for (int64_t i = 0; i < n; i++) {
			b->want[GUARD + at + i] = expect(&s, i);
			b->want32[GUARD + at + i] = (float)expect(&s, i);
		}
		kernels->weighted_sum(&s, b->out + GUARD + at);
		kernels->weighted_sum_f32(&s, b->out32 + GUARD + at);
		assert_memory_equal(b->out, b->want, sizeof b->out);
		assert_memory_equal(b->out32, b->want32, sizeof b->out32);
	}
}

static void is_the_formula_in_every_set(void **state)
{
	static const int64_t lengths[] = {0, 1, 2, 7, 8, 31, 32, 33, 64, 96, LONGEST - 3};
	(void)state;
	struct buffers *b = aligned_alloc(64, sizeof *b);
	assert_non_null(b);
	for (size_t i = 0; i < sizeof b->in / sizeof *b->in; i++)
		b->in[i] = pe_rng_normal(1, 1, i);
	for (size_t i = 0; i < MOST; i++)
		b->weights[i] = pe_rng_normal(1, 2, i);
	for (size_t i = 0; i < LONGEST; i++)
		b->plus[i] = pe_rng_normal(1, 3, i);
	for (int k = 0; xt_kernels(k); k++)
		for (int64_t count = 1; count <= MOST; count++)
			for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
				for (int64_t at = 0; at < 4; at += 3)
					check(xt_kernels(k), b, count, lengths[l], at);
	free(b);
}

/* One input of weight 1 is a copy, to the sign of zero. */
static void copies(void **state)
{
	double in[5] = {-0.0, 1e-300, -3, 1.0 / 3, 4}, out[5], one = 1;
	(void)state;
	for (int k = 0; xt_kernels(k); k++) {
		xt_kernels(k)->weighted_sum(&(struct pe_weighted_sum){in, &one, 5, 1, 5, NULL}, out);
		assert_memory_equal(out, in, sizeof in);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_formula_in_every_set),
		cmocka_unit_test(copies),
	};
	return xt_run(argc, argv, tests);
}
