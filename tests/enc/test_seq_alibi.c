/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 12 }; /* tokens of the golden rows */

static pe_tensor computed(pe_context *ctx, const char *settings, int64_t tokens, const char *array)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, tokens, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(ctx, "alibi", settings, domain, NULL, NULL, NULL);
	pe_tensor out = xt_computed(e, array);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	return out;
}

/* What get_slopes of the authors' code gives, written out. */
static void has_the_slopes_of_the_authors(void **state)
{
	static const double one[] = {0.00390625}, three[] = {0.0625, 0.00390625, 0.25};
	static const double six[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
	static const double twelve[] = {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625,
		0.7071067811865476, 0.35355339059327379, 0.17677669529663689, 0.088388347648318447};
	static const struct {
		int heads;
		const double *slopes;
	} cases[] = {{1, one}, {3, three}, {6, six}, {12, twelve}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		char settings[32];
		snprintf(settings, sizeof settings, "heads=%d", cases[k].heads);
		pe_tensor got = computed(*state, settings, 3, "slopes");
		assert_int_equal(pe_tensor_count(&got), cases[k].heads);
		for (int h = 0; h < cases[k].heads; h++)
			xt_close_f64(((double *)got.data)[h], cases[k].slopes[h], 1e-15, 0);
		free(got.data);
	}
}

/* Slopes of Bloom, and of MPT with two values of alibi_bias_max, for 48 numbers of heads. Theirs are powers
 * of a base rounded to f32, so that some are off by 64 half units. */
static void has_the_slopes_of_released_models(void **state)
{
	static const char *const models[][2] = {{"bloom", "8"}, {"mpt", "8"}, {"mpt_16", "16"}};
	pe_bundle *bundle = xt_golden_bundle(*state, "alibi/alibi.npz");
	pe_tensor counts = xt_array(bundle, "heads");
	for (int m = 0; m < 3; m++) {
		pe_tensor slopes = xt_array(bundle, models[m][0]);
		const double *expected = slopes.data;
		for (int64_t k = 0; k < pe_tensor_count(&counts); k++) {
			int64_t heads = ((int64_t *)counts.data)[k];
			char settings[64];
			snprintf(settings, sizeof settings, "heads=%d,max_bias=%s", (int)heads, models[m][1]);
			pe_tensor got = computed(*state, settings, 1, "slopes");
			for (int64_t h = 0; h < heads; h++)
				xt_close_f64(((double *)got.data)[h], expected[h], 4e-6, 0);
			expected += heads;
			free(got.data);
		}
		assert_ptr_equal(expected, (double *)slopes.data + pe_tensor_count(&slopes));
	}
	pe_bundle_destroy(&bundle);
}

/* MPT's one row is the last; Bloom's differs from each row, where that is not masked, by a constant. */
static void agrees_with_the_rows_of_released_models(void **state)
{
	static const struct {
		const char *row, *settings;
	} cases[] = {{"row_mpt_12", "heads=12"}, {"row_mpt_5_16", "heads=5,max_bias=16,direction=causal"},
		{"row_bloom_12", "heads=12,direction=causal"}};
	pe_bundle *bundle = xt_golden_bundle(*state, "alibi/alibi.npz");
	for (int k = 0; k < 3; k++) {
		pe_tensor row = xt_array(bundle, cases[k].row),
				  got = computed(*state, cases[k].settings, ROW, "bias");
		const double *r = row.data, *b = got.data;
		for (int64_t n = 0; n < got.shape[0] * ROW * ROW; n++) {
			int64_t h = n / ROW / ROW, i = n / ROW % ROW, j = n % ROW;
			if (k < 2 ? i == ROW - 1 : j <= i)
				xt_close_f64(b[n], r[h * ROW + j] - r[h * ROW + i], 1e-6, 1e-6);
		}
		free(got.data);
	}
	pe_bundle_destroy(&bundle);
}

/* -m |i - j| at any real positions; causal: 0 for keys after the query. */
static void falls_linearly_at_real_positions(void **state)
{
	static const double keys[] = {-3.5, 0, 0, 0.125, 1e6}, queries[] = {-1e3, 0.5};
	for (int causal = 0; causal < 2; causal++) {
		pe_domain *k = xt_positions(*state, keys, 5), *q = xt_positions(*state, queries, 2);
		pe_encoding *e =
			xt_encode(*state, "alibi", causal ? "heads=2,direction=causal" : "heads=2", k, q, NULL, NULL);
		pe_tensor bias = xt_computed(e, "bias");
		for (int n = 0; n < 20; n++) {
			double slope = n / 10 ? 1. / 256 : 1. / 16, distance = queries[n / 5 % 2] - keys[n % 5];
			double expected = causal && distance < 0 ? 0 : -slope * fabs(distance);
			xt_close_f64(((double *)bias.data)[n], expected, 1e-15, 0);
		}
		assert_false(xt_has_array(e, "bias_table"));
		free(bias.data);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&k);
		pe_domain_destroy(&q);
	}
}

static void depends_on_the_distance_alone(void **state)
{
	xt_stays_when_moved(*state, "alibi", "", "bias", 0);
	xt_stays_when_moved(*state, "alibi", "heads=3,direction=causal", "bias", 0);
	xt_table_holds(*state, "alibi", "heads=3", "bias");
	xt_table_holds(*state, "alibi", "heads=3,direction=causal", "bias");
	xt_last_queries_give_last_rows(*state, "alibi", "heads=3", "bias");
}

/* Under a causal mask both directions are the same, and bidirectional attention differs from both. */
static void is_added_to_the_scores(void **state)
{
	double q[] = {1, 0, 0, 1, 1, 1}, k[] = {1, 2, 0, 1, 1, 0}, v[] = {1, 0, 0, 1, 1, 1}, out[3][6];
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 3, 0, &domain), PE_OK);
	for (int run = 0; run < 3; run++) {
		pe_encoding *e = xt_encode(
			*state, "alibi", run == 1 ? "heads=1,direction=causal" : "heads=1", domain, NULL, NULL, NULL);
		xt_attend_plain(*state, e, run < 2, 1, 3, 3, 2, q, k, v, out[run]);
		pe_encoding_destroy(&e);
	}
	for (int n = 0; n < 6; n++)
		xt_close_f64(out[0][n], out[1][n], 0, 0);
	/* Row 1 sees keys 0 and 1 with scores 2/sqrt(2) - m and 1/sqrt(2), m = 2^-8. */
	xt_close_f64(out[0][2], 1 / (1 + exp(1 / sqrt(2) - 2 / sqrt(2) + 1. / 256)), 1e-14, 0);
	assert_true(fabs(out[2][2] - out[0][2]) > 0.01);
	pe_domain_destroy(&domain);
}

/* Given slopes replace the series, in the bias too. */
static void takes_slopes_as_weights(void **state)
{
	float given[] = {3, 0.5f};
	pe_tensor tensor = pe_tensor_dense(given, PE_F32, 1, (int64_t[]){2});
	pe_bundle *weights;
	pe_domain *domain;
	assert_int_equal(pe_bundle_create(*state, &weights), PE_OK);
	assert_int_equal(pe_bundle_add(weights, "alibi.slopes", &tensor), PE_OK);
	assert_int_equal(pe_domain_sequence(*state, 3, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "alibi", "heads=2", domain, NULL, weights, NULL);
	pe_tensor slopes = xt_computed(e, "slopes"), bias = xt_computed(e, "bias");
	xt_close_f64(((double *)slopes.data)[0], 3, 0, 0);
	xt_close_f64(((double *)slopes.data)[1], 0.5, 0, 0);
	xt_close_f64(((double *)bias.data)[2], -6, 0, 0);
	xt_close_f64(((double *)bias.data)[9 + 3], -0.5, 0, 0);
	free(slopes.data);
	free(bias.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&weights);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_slopes_of_the_authors),
		cmocka_unit_test(has_the_slopes_of_released_models),
		cmocka_unit_test(agrees_with_the_rows_of_released_models),
		cmocka_unit_test(falls_linearly_at_real_positions),
		cmocka_unit_test(depends_on_the_distance_alone),
		cmocka_unit_test(is_added_to_the_scores),
		cmocka_unit_test(takes_slopes_as_weights),
	};
	return xt_run(argc, argv, tests);
}
