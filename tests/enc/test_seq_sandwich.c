/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_scores.h"

#include <math.h>

static void equals_nemo(void **state)
{
	xt_golden_case(
		*state, "sandwich", "sandwich/sandwich.npz", "causal", "heads=3,direction=causal", 0, 2e-13);
	xt_golden_case(*state, "sandwich", "sandwich/sandwich.npz", "both", "heads=5,head_dim=16", 0, 2e-13);
	xt_golden_case(*state, "sandwich", "sandwich/sandwich.npz", "real", "heads=2,head_dim=32", 0, 2e-13);
}

/* Worked out by hand for 8 heads of width 64. */
static void has_the_biases_of_the_formula(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 11, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "sandwich", "", domain, NULL, NULL, NULL);
	pe_tensor bias = xt_computed(e, "bias");
	const double *first = bias.data, *last = first + 7 * 121;
	xt_close_f64(first[0], 0, 0, 0);
	xt_close_f64(first[1 * 11], -0.6234706, 0, 5e-8);
	xt_close_f64(last[1 * 11], -0.0779338, 0, 5e-8);
	xt_close_f64(first[10 * 11], -9.1093001, 0, 5e-8);
	xt_close_f64(last[10], -1.1386625, 0, 5e-8);
	free(bias.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void depends_on_the_distance_alone(void **state)
{
	xt_stays_when_moved(*state, "sandwich", "", "bias", 0);
	xt_stays_when_moved(*state, "sandwich", "direction=causal", "bias", 0);
	xt_table_holds(*state, "sandwich", "heads=3,head_dim=8", "bias");
	xt_last_queries_give_last_rows(*state, "sandwich", "heads=3,head_dim=8,direction=causal", "bias");
}

static void refuses_an_odd_width(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 11, 0, &domain), PE_OK);
	xt_encode_refused(*state, "sandwich", "head_dim=7", domain, PE_ERR_RANGE,
		"sandwich: head dimension 7 is odd; it needs an even one");
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_nemo),
		cmocka_unit_test(has_the_biases_of_the_formula),
		cmocka_unit_test(depends_on_the_distance_alone),
		cmocka_unit_test(refuses_an_odd_width),
	};
	return xt_run(argc, argv, tests);
}
