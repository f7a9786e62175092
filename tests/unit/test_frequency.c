/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <float.h>
#include <math.h>

#include "frequency.h"

enum { COUNT = 150 };

static void fill(long double *frequency)
{
	for (int t = 0; t < COUNT; t++)
		frequency[t] = powl(10000, -(long double)t / COUNT);
}

/* Against long double, whose own angle is within 2^-64 of itself. Two-step products of double alone would
 * be off by 1e-9 at the far end. */
static void angles_are_as_exact_as_long_double(void **state)
{
	static const double positions[] = {
		0, 1, -1, 0.1, 1e-300, 131072, 131071.7, 16777217, -16777217, 1e9 + 0.3};
	pe_context *ctx = *state;
	long double frequency[COUNT];
	double cosine[COUNT], sine[COUNT];
	struct pe_frequencies f;
	if (LDBL_MANT_DIG < 64)
		skip();
	fill(frequency);
	assert_int_equal(pe_frequencies_make(ctx, frequency, COUNT, &f), PE_OK);
	for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
		pe_frequencies_turn(ctx, &f, positions[i], 0, COUNT, cosine, sine);
		for (int t = 0; t < COUNT; t++) {
			long double angle = (long double)positions[i] * frequency[t];
			double tolerance = 2e-16 + (double)fabsl(angle) * 0x1p-62;
			xt_close_f64(cosine[t], (double)cosl(angle), 0, tolerance);
			xt_close_f64(sine[t], (double)sinl(angle), 0, tolerance);
		}
	}
	pe_frequencies_free(ctx, &f);
}

/* However far, a pair is turned and keeps its length. */
static void far_pairs_keep_their_length(void **state)
{
	static const double positions[] = {0x1p40 + 1, 0x1p53, 1e18, -1e18, 1e25, 1e100, 1e300};
	pe_context *ctx = *state;
	long double frequency[COUNT];
	double cosine[COUNT], sine[COUNT];
	struct pe_frequencies f;
	fill(frequency);
	assert_int_equal(pe_frequencies_make(ctx, frequency, COUNT, &f), PE_OK);
	for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
		pe_frequencies_turn(ctx, &f, positions[i], 0, COUNT, cosine, sine);
		for (int t = 0; t < COUNT; t++)
			xt_close_f64(cosine[t] * cosine[t] + sine[t] * sine[t], 1, 0, 1e-9);
	}
	pe_frequencies_free(ctx, &f);
}

/* Any part of a row is what the whole row holds there. */
static void parts_are_alike(void **state)
{
	pe_context *ctx = *state;
	long double frequency[COUNT];
	double all[2][COUNT], part[2][COUNT];
	struct pe_frequencies f;
	fill(frequency);
	assert_int_equal(pe_frequencies_make(ctx, frequency, COUNT, &f), PE_OK);
	pe_frequencies_turn(ctx, &f, 12345.75, 0, COUNT, all[0], all[1]);
	for (int first = 0; first < COUNT; first += 7)
		for (int count = 0; first + count <= COUNT; count += 13) {
			pe_frequencies_turn(ctx, &f, 12345.75, first, count, part[0], part[1]);
			for (int t = 0; t < count; t++)
				assert_true(part[0][t] == all[0][first + t] && part[1][t] == all[1][first + t]);
		}
	pe_frequencies_free(ctx, &f);
}

/* A position for each pair gives what one position for all gives at that pair. */
static void each_at_its_own_position(void **state)
{
	pe_context *ctx = *state;
	long double frequency[COUNT];
	double positions[COUNT], got[2][COUNT], want[2];
	struct pe_frequencies f;
	fill(frequency);
	for (int t = 0; t < COUNT; t++)
		positions[t] = 1e6 / (t + 1) - 7000.25 * (t % 3);
	assert_int_equal(pe_frequencies_make(ctx, frequency, COUNT, &f), PE_OK);
	for (int first = 0; first < COUNT; first += 11) {
		pe_frequencies_turn_each(ctx, &f, positions + first, first, COUNT - first, got[0], got[1]);
		for (int t = first; t < COUNT; t++) {
			pe_frequencies_turn(ctx, &f, positions[t], t, 1, &want[0], &want[1]);
			assert_true(got[0][t - first] == want[0] && got[1][t - first] == want[1]);
		}
	}
	pe_frequencies_free(ctx, &f);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(angles_are_as_exact_as_long_double),
		cmocka_unit_test(far_pairs_keep_their_length),
		cmocka_unit_test(parts_are_alike),
		cmocka_unit_test(each_at_its_own_position),
	};
	return xt_run(argc, argv, tests);
}
