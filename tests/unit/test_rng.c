/* SPDX-License-Identifier: BSD-2-Clause */
#include "rng.h"
#include "xt.h"

#include <math.h>

/* The known answers of the Random123 distribution (kat_vectors, philox4x32-10). */
static void gives_the_known_answers(void **state)
{
	(void)state;
	uint32_t out[4];
	pe_rng_block(0, 0, 0, out);
	assert_int_equal(out[0], 0x6627e8d5);
	assert_int_equal(out[1], 0xe169c58d);
	assert_int_equal(out[2], 0xbc57ac4c);
	assert_int_equal(out[3], 0x9b00dbd8);
	pe_rng_block(UINT64_MAX, UINT64_MAX, UINT64_MAX, out);
	assert_int_equal(out[0], 0x408f276d);
	assert_int_equal(out[1], 0x41c83b0e);
	assert_int_equal(out[2], 0xa20bc7c6);
	assert_int_equal(out[3], 0x6d5451fd);
	pe_rng_block(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, out);
	assert_int_equal(out[0], 0xd16cfe09);
	assert_int_equal(out[1], 0x94fdcceb);
	assert_int_equal(out[2], 0x5001e420);
	assert_int_equal(out[3], 0x24126ea1);
}

/* Mean and variance within five standard errors; all normals finite. */
static void has_the_right_moments(void **state)
{
	(void)state;
	enum { N = 200000 };
	double u1 = 0, u2 = 0, n1 = 0, n2 = 0, n4 = 0;
	for (uint64_t i = 0; i < N; i++) {
		double u = pe_rng_uniform(7, 3, i), n = pe_rng_normal(7, 4, i);
		assert_true(u >= 0 && u < 1 && isfinite(n));
		u1 += u;
		u2 += u * u;
		n1 += n;
		n2 += n * n;
		n4 += n * n * n * n;
	}
	xt_close_f64(u1 / N, 0.5, 0, 5 * sqrt(1.0 / 12 / N));
	xt_close_f64(u2 / N, 1.0 / 3, 0, 5 * sqrt(4.0 / 45 / N));
	xt_close_f64(n1 / N, 0, 0, 5 / sqrt(N));
	xt_close_f64(n2 / N, 1, 0, 5 * sqrt(2.0 / N));
	xt_close_f64(n4 / N, 3, 0, 5 * sqrt(96.0 / N));
}

static void streams_and_seeds_differ(void **state)
{
	(void)state;
	assert_true(pe_rng_u64(1, 0, 0) != pe_rng_u64(2, 0, 0));
	assert_true(pe_rng_u64(1, 0, 0) != pe_rng_u64(1, 1, 0));
	assert_true(pe_rng_u64(1, 0, 0) != pe_rng_u64(1, 0, 1));
	assert_true(pe_rng_u64(1, 5, 9) == pe_rng_u64(1, 5, 9));
}

static void gives_many_normals_at_once(void **state)
{
	(void)state;
	double many[7] = {0};
	pe_rng_normals(7, 4, 5, many);
	for (uint64_t i = 0; i < 5; i++)
		assert_true(many[i] == pe_rng_normal(7, 4, i));
	assert_true(many[5] == 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_many_normals_at_once),
		cmocka_unit_test(gives_the_known_answers),
		cmocka_unit_test(has_the_right_moments),
		cmocka_unit_test(streams_and_seeds_differ),
	};
	return xt_run(argc, argv, tests);
}
