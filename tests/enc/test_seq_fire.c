/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The authors' listing as a torch module in f64. */
static void equals_the_listing(void **state)
{
	static const char *const cases[][2] = {
		{"short", "heads=3,direction=causal"},
		{"beyond", "heads=3,direction=causal"},
		{"last", "heads=2,hidden=16,direction=causal"},
		{"far", "heads=2,direction=causal"},
		{"both", "heads=2"},
		{"real", "heads=2"},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
		xt_golden_case(*state, "fire", "fire/fire.npz", cases[k][0], cases[k][1], 1e-13, 1e-14);
}

static void put(pe_bundle *bundle, const char *name, int32_t ndim, const int64_t *shape, double *values)
{
	pe_tensor tensor = pe_tensor_dense(values, PE_F64, ndim, shape);
	assert_int_equal(pe_bundle_add(bundle, name, &tensor), PE_OK);
}

/* With f(x) = x: the values that were worked out by hand for c = 0.1, T = 256; init_L is not given. */
static void relates_distances_to_the_position(void **state)
{
	static const struct {
		int query, key;
		double expected;
	} cases[] = {
		{0, 0, 0}, {1, 0, 0.0290499}, {10, 0, 0.2112666}, {300, 0, 0.9999997}, {300, 299, 0.0277550}};
	double one = 1, zero = 0, c = 0.1;
	pe_bundle *weights;
	pe_domain *domain;
	assert_int_equal(pe_bundle_create(*state, &weights), PE_OK);
	put(weights, "mlp.0.weight", 2, (int64_t[]){1, 1}, &one);
	put(weights, "mlp.0.bias", 1, (int64_t[]){1}, &zero);
	put(weights, "mlp.2.weight", 2, (int64_t[]){1, 1}, &one);
	put(weights, "mlp.2.bias", 1, (int64_t[]){1}, &zero);
	put(weights, "c", 0, NULL, &c);
	put(weights, "fire.L_multiplier", 0, NULL, &one);
	assert_int_equal(pe_domain_sequence(*state, 301, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "fire", "heads=1,hidden=1,preset=dape", domain, NULL, weights, NULL);
	pe_tensor bias = xt_computed(e, "bias");
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
		xt_close_f64(((double *)bias.data)[cases[k].query * 301 + cases[k].key], cases[k].expected, 0, 6e-8);
	free(bias.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&weights);
}

/* ---- against the perceptron by its definition --------------------------------------- */

static pe_tensor weight(const pe_encoding *e, const char *name)
{
	const char *is;
	pe_tensor out;
	for (int64_t i = 0; i < pe_encoding_weight_count(e); i++) {
		assert_int_equal(pe_encoding_weight_at(e, i, &is, &out), PE_OK);
		if (strcmp(is, name) == 0)
			return out;
	}
	fail_msg("no weight %s", name);
	return (pe_tensor){0};
}

static double activation(double x, double leak)
{
	return x > 0 ? x : leak * x;
}

static double perceptron(const pe_encoding *e, int64_t head, double x, double leak)
{
	pe_tensor w2 = weight(e, "mlp.2.weight");
	const double *w1 = weight(e, "mlp.0.weight").data, *b1 = weight(e, "mlp.0.bias").data;
	int64_t hidden = w2.shape[1];
	double sum = ((double *)weight(e, "mlp.2.bias").data)[head];
	for (int64_t m = 0; m < hidden; m++)
		sum += ((double *)w2.data)[head * hidden + m] * activation(w1[m] * x + b1[m], leak);
	return sum;
}

static void is_the_perceptron(pe_encoding *e, double offset, double leak)
{
	pe_tensor bias = xt_computed(e, "bias");
	int64_t length = bias.shape[1];
	for (int64_t n = 0; n < pe_tensor_count(&bias); n += 7) {
		int64_t h = n / length / length, i = n / length % length, j = n % length;
		double distance = fabs((double)(i - j)), row = fmax((double)i + offset, 20);
		double x = log1p(0.1 * distance) / (log1p(0.1 * row) + 1e-6);
		xt_close_f64(((double *)bias.data)[n], perceptron(e, h, x, leak), 0, 1e-13);
	}
	free(bias.data);
}

/* Rows before and beyond the threshold, with offsets, for all widths. */
static void is_the_perceptron_at_any_width(void **state)
{
	static const int widths[] = {1, 2, 33, 1024};
	for (int k = 0; k < 8; k++) {
		char settings[64];
		double offset = k % 2 ? 1000 : 0;
		pe_domain *domain;
		bool leaky = k / 2 % 2;
		snprintf(settings, sizeof settings, "heads=2,hidden=%d,threshold=20,activation=%s", widths[k / 2],
			leaky ? "leaky_relu" : "relu");
		assert_int_equal(pe_domain_sequence(*state, 90, offset, &domain), PE_OK);
		pe_encoding *e = xt_encode(*state, "fire", settings, domain, NULL, NULL, NULL);
		is_the_perceptron(e, offset, leaky ? 0.01 : 0);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
}

/* Units that are constant, never on, always on, or turn at 0 or at the same place as another. */
static void meets_odd_units(void **state)
{
	double w1[] = {0, 0, 2, -2, 1, -1, 1e-320, 3, -3, 0, 1}, b1[] = {1, -1, -1, 1, 0, 0, 1, -1.5, 1.5, 0, -9};
	double w2[22], b2[] = {0.5, -0.25}, one = 1, c = 0.1;
	for (int m = 0; m < 22; m++)
		w2[m] = m % 5 - 1.75;
	pe_bundle *weights;
	pe_domain *domain;
	assert_int_equal(pe_bundle_create(*state, &weights), PE_OK);
	put(weights, "mlp.0.weight", 2, (int64_t[]){11, 1}, w1);
	put(weights, "mlp.0.bias", 1, (int64_t[]){11}, b1);
	put(weights, "mlp.2.weight", 2, (int64_t[]){2, 11}, w2);
	put(weights, "mlp.2.bias", 1, (int64_t[]){2}, b2);
	put(weights, "c", 0, NULL, &c);
	put(weights, "L_multiplier", 0, NULL, &one);
	assert_int_equal(pe_domain_sequence(*state, 90, 0, &domain), PE_OK);
	for (int leaky = 0; leaky < 2; leaky++) {
		const char *settings = leaky ? "heads=2,threshold=20,activation=leaky_relu" : "heads=2,threshold=20";
		pe_encoding *e = xt_encode(*state, "fire", settings, domain, NULL, weights, NULL);
		is_the_perceptron(e, 0, leaky ? 0.01 : 0);
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&weights);
}

/* A sequence and its positions give the same; so do the last queries alone, and parts of a row. */
static void does_not_depend_on_how_positions_are_given(void **state)
{
	double positions[90];
	for (int k = 0; k < 90; k++)
		positions[k] = k + 7;
	for (int both = 0; both < 2; both++) {
		const char *settings = both ? "threshold=20" : "threshold=20,direction=causal";
		pe_domain *sequence, *listed = xt_positions(*state, positions, 90);
		assert_int_equal(pe_domain_sequence(*state, 90, 7, &sequence), PE_OK);
		pe_encoding *a = xt_encode(*state, "fire", settings, sequence, NULL, NULL, NULL);
		pe_encoding *b = xt_encode(*state, "fire", settings, listed, NULL, NULL, NULL);
		pe_tensor x = xt_computed(a, "bias"), y = xt_computed(b, "bias");
		for (int64_t n = 0; n < pe_tensor_count(&x); n++)
			xt_close_f64(((double *)x.data)[n], ((double *)y.data)[n], 0, 1e-14);
		free(x.data);
		free(y.data);
		pe_encoding_destroy(&a);
		pe_encoding_destroy(&b);
		pe_domain_destroy(&sequence);
		pe_domain_destroy(&listed);
		xt_last_queries_give_last_rows(*state, "fire", settings, "bias");
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_listing),
		cmocka_unit_test(relates_distances_to_the_position),
		cmocka_unit_test(is_the_perceptron_at_any_width),
		cmocka_unit_test(meets_odd_units),
		cmocka_unit_test(does_not_depend_on_how_positions_are_given),
	};
	return xt_run(argc, argv, tests);
}
