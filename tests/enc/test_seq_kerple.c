/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_scores.h"

#include <math.h>

/* The authors' formulas and clamps in numpy. */
static void equals_the_authors_formulas(void **state)
{
	static const char *const cases[][2] = {
		{"log", "heads=5,direction=causal"},
		{"log_last", "heads=5,direction=causal,weight=1"},
		{"log_real", "heads=5"},
		{"power", "heads=5,form=power,direction=causal"},
		{"power_last", "heads=5,form=power,direction=causal,weight=1"},
		{"power_real", "heads=5,form=power,weight=1"},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
		xt_golden_case(*state, "kerple", "kerple/kerple.npz", cases[k][0], cases[k][1], 1e-13, 1e-300);
}

static void depends_on_the_distance_alone(void **state)
{
	static const char *const settings[] = {
		"", "form=power", "direction=causal,weight=1", "form=power,direction=causal,weight=1"};
	for (int k = 0; k < 4; k++) {
		xt_stays_when_moved(*state, "kerple", settings[k], "bias", 0);
		xt_table_holds(*state, "kerple", settings[k], "bias");
		xt_last_queries_give_last_rows(*state, "kerple", settings[k], "bias");
		if (k < 2)
			continue;
		xt_stays_when_moved(*state, "kerple", settings[k], "gain", 0);
		xt_table_holds(*state, "kerple", settings[k], "gain");
		xt_last_queries_give_last_rows(*state, "kerple", settings[k], "gain");
	}
}

/* Parameters begin inside the authors' ranges, differ between heads and by seed, and are not clamped where
 * they are kept. */
static void begins_as_the_authors_do(void **state)
{
	pe_domain *domain;
	double least[4] = {9, 9, 9, 9}, most[4] = {-9, -9, -9, -9};
	assert_int_equal(pe_domain_sequence(*state, 1, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "kerple", "heads=2000,weight=1", domain, NULL, NULL, NULL);
	assert_int_equal(pe_encoding_weight_count(e), 4);
	for (int w = 0; w < 4; w++) {
		const char *name;
		pe_tensor values;
		assert_int_equal(pe_encoding_weight_at(e, w, &name, &values), PE_OK);
		assert_int_equal(pe_tensor_count(&values), 2000);
		for (int h = 0; h < 2000; h++) {
			least[w] = fmin(least[w], ((double *)values.data)[h]);
			most[w] = fmax(most[w], ((double *)values.data)[h]);
		}
		assert_true(least[w] >= 0 && least[w] < 0.01);
		xt_close_f64(most[w], w % 2 ? 1 : 2, 0.01, 0);
	}
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* The gain multiplies q·k, and not the bias. */
static void multiplies_scores_before_the_bias(void **state)
{
	double q[] = {1, 2}, k[] = {3, 1, -1, 2}, v[] = {1, 0, 0, 1}, out[2];
	pe_domain *keys, *query;
	assert_int_equal(pe_domain_sequence(*state, 2, 0, &keys), PE_OK);
	assert_int_equal(pe_domain_tail(*state, keys, 1, &query), PE_OK);
	pe_encoding *e = xt_encode(*state, "kerple", "heads=1,weight=1,form=power", keys, query, NULL, NULL);
	pe_tensor bias = xt_computed(e, "bias"), gain = xt_computed(e, "gain");
	const double *b = bias.data, *w = gain.data;
	xt_attend_plain(*state, e, true, 1, 1, 2, 2, q, k, v, out);
	double first = w[0] * 5 / sqrt(2) + b[0], second = w[1] * 3 / sqrt(2) + b[1];
	assert_true(w[0] < 0.99 && b[0] < -0.01);
	xt_close_f64(w[1], 1, 0, 0);
	xt_close_f64(out[0], 1 / (1 + exp(second - first)), 1e-14, 0);
	free(bias.data);
	free(gain.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&query);
	pe_domain_destroy(&keys);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_authors_formulas),
		cmocka_unit_test(depends_on_the_distance_alone),
		cmocka_unit_test(begins_as_the_authors_do),
		cmocka_unit_test(multiplies_scores_before_the_bias),
	};
	return xt_run(argc, argv, tests);
}
