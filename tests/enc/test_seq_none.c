/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_scores.h"

#include <math.h>

enum { HEADS = 2, LENGTH = 9, WIDTH = 4, ROW = LENGTH * WIDTH, ALL = HEADS * ROW };

static void fill(double *x, unsigned seed)
{
	for (int n = 0; n < ALL; n++)
		x[n] = sin(1 + 7.3 * n + seed);
}

/* to[token k] ← from[token order[k]], in every head. */
static void permute(const double *from, const int *order, double *to)
{
	for (int n = 0; n < ALL; n++)
		to[n] = from[n / ROW * ROW + order[n % ROW / WIDTH] * WIDTH + n % WIDTH];
}

/* The largest difference between attention of permuted tokens and permuted attention of tokens. */
static double difference(pe_context *ctx, const char *encoder, bool causal)
{
	static const int order[LENGTH] = {4, 0, 7, 8, 2, 1, 6, 3, 5};
	double x[3][ALL], p[3][ALL], out[ALL], permuted[ALL], expected[ALL], most = 0;
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, LENGTH, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(ctx, encoder, "", domain, NULL, NULL, NULL);
	for (unsigned k = 0; k < 3; k++) {
		fill(x[k], k);
		permute(x[k], order, p[k]);
	}
	xt_attend_plain(ctx, e, causal, HEADS, LENGTH, LENGTH, WIDTH, x[0], x[1], x[2], out);
	xt_attend_plain(ctx, e, causal, HEADS, LENGTH, LENGTH, WIDTH, p[0], p[1], p[2], permuted);
	permute(out, order, expected);
	for (int n = 0; n < ALL; n++)
		most = fmax(most, fabs(permuted[n] - expected[n]));
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	return most;
}

static void sees_no_order_but_that_of_a_mask(void **state)
{
	assert_true(difference(*state, "none", false) < 1e-14);
	assert_true(difference(*state, "none", true) > 0.1);
}

/* The same bits as attention without any encoding. */
static void changes_nothing(void **state)
{
	double q[ALL], k[ALL], v[ALL], with[ALL], without[ALL];
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, LENGTH, 3, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "none", "", domain, NULL, NULL, NULL);
	fill(q, 0), fill(k, 1), fill(v, 2);
	for (int causal = 0; causal < 2; causal++) {
		xt_attend_plain(*state, e, causal, HEADS, LENGTH, LENGTH, WIDTH, q, k, v, with);
		xt_attend_plain(*state, NULL, causal, HEADS, LENGTH, LENGTH, WIDTH, q, k, v, without);
		assert_memory_equal(with, without, sizeof with);
	}
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void acts_nowhere_and_yields_nothing(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 4, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "none", "", domain, NULL, NULL, NULL);
	assert_int_equal(pe_encoder_sites(pe_encoder_find("none")), 0);
	assert_int_equal(pe_encoding_array_count(e), 0);
	assert_int_equal(pe_encoding_weight_count(e), 0);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sees_no_order_but_that_of_a_mask),
		cmocka_unit_test(changes_nothing),
		cmocka_unit_test(acts_nowhere_and_yields_nothing),
	};
	return xt_run(argc, argv, tests);
}
