/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_scores.h"

#include <math.h>
#include <stdio.h>

/* Biases in f32 by transformers, buckets by its logarithm. */
static void equals_transformers(void **state)
{
	xt_golden_case(*state, "t5", "t5/t5.npz", "encoder", "heads=3", 0, 0);
	xt_golden_case(*state, "t5", "t5/t5.npz", "decoder", "heads=2,direction=causal", 0, 0);
	xt_golden_case(*state, "t5", "t5/t5.npz", "last", "heads=2,max_distance=20,direction=causal", 0, 0);
	xt_golden_case(*state, "t5", "t5/t5.npz", "wide", "heads=1,max_distance=20", 0, 0);
}

static void has_the_buckets_of_transformers(void **state)
{
	static const int cases[][2] = {
		{32, 128}, {16, 128}, {32, 256}, {16, 64}, {8, 20}, {64, 2048}, {32, 20}, {12, 128}, {6, 9}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
		for (int causal = 0; causal < 2; causal++) {
			const char *direction = causal ? "causal" : "bidirectional";
			char name[64], settings[128];
			snprintf(name, sizeof name, "%d_%d_%s", cases[k][0], cases[k][1], direction);
			snprintf(settings, sizeof settings, "heads=1,buckets=%d,max_distance=%d,direction=%s",
				cases[k][0], cases[k][1], direction);
			xt_golden_case(*state, "t5", "t5/t5.npz", name, settings, 0, 0);
		}
}

/* The first distances of the buckets that the formula gives in exact arithmetic; 16, 32 and 64 in both
 * directions lie on a boundary, where a logarithm one bit low is wrong. */
static void begins_buckets_where_the_formula_does(void **state)
{
	static const int causal[][2] = {{15, 15}, {16, 16}, {18, 16}, {19, 17}, {21, 18}, {24, 19}, {27, 20},
		{31, 21}, {35, 22}, {40, 23}, {46, 24}, {52, 25}, {59, 26}, {67, 27}, {77, 28}, {87, 29}, {99, 30},
		{112, 30}, {113, 31}, {5000, 31}};
	static const int both[][2] = {{7, 7}, {8, 8}, {11, 8}, {12, 9}, {15, 9}, {16, 10}, {22, 10}, {23, 11},
		{31, 11}, {32, 12}, {45, 12}, {46, 13}, {63, 13}, {64, 14}, {90, 14}, {91, 15}, {100000, 15}};
	for (int direction = 0; direction < 2; direction++) {
		int count = direction ? sizeof causal / sizeof *causal : sizeof both / sizeof *both;
		double zero = 0, positions[40];
		for (int k = 0; k < count; k++) {
			positions[k] = -(direction ? causal : both)[k][0];
			positions[count + k] = -positions[k];
		}
		pe_domain *keys = xt_positions(*state, positions, 2 * count);
		pe_domain *queries = xt_positions(*state, &zero, 1);
		pe_encoding *e =
			xt_encode(*state, "t5", direction ? "direction=causal" : "", keys, queries, NULL, NULL);
		pe_tensor buckets = xt_computed(e, "buckets");
		const double *got = buckets.data;
		for (int k = 0; k < count; k++) {
			int expected = (direction ? causal : both)[k][1];
			assert_int_equal(got[k], expected);
			assert_int_equal(got[count + k], direction ? 0 : expected + 16);
		}
		free(buckets.data);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&queries);
		pe_domain_destroy(&keys);
	}
}

/* No bucket is left or taken twice on the way out, in either direction, for any setting. */
static void grows_with_the_distance(void **state)
{
	static const char *const settings[] = {"", "direction=causal", "buckets=4,max_distance=2",
		"buckets=2,max_distance=2,direction=causal", "buckets=33,max_distance=999,direction=causal",
		"buckets=4096,max_distance=1048576", "buckets=320,max_distance=81"};
	pe_domain *keys;
	double zero = 0;
	assert_int_equal(pe_domain_sequence(*state, 4000, -2000, &keys), PE_OK);
	pe_domain *query = xt_positions(*state, &zero, 1);
	for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
		pe_encoding *e = xt_encode(*state, "t5", settings[k], keys, query, NULL, NULL);
		pe_tensor buckets = xt_computed(e, "buckets");
		const double *at = (const double *)buckets.data + 2000;
		for (int d = 1; d < 2000; d++) {
			assert_true(at[-d] >= at[-d + 1]);
			assert_true(d < 2 || at[d] >= at[d - 1]);
			assert_true(at[d] == 0 || (at[d] > at[-d] && at[d] - at[-d] == at[1] - at[-1]));
		}
		free(buckets.data);
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&query);
	pe_domain_destroy(&keys);
}

static void rounds_real_distances(void **state)
{
	static const double positions[] = {-1e300, -16.49, -15.5, -2.5, -0.5, -0.49, 0.49, 0.5, 15.5, 1e300};
	static const int expected[] = {15, 10, 10, 3, 1, 0, 0, 17, 26, 31};
	double zero = 0;
	pe_domain *keys = xt_positions(*state, positions, 10), *query = xt_positions(*state, &zero, 1);
	pe_encoding *e = xt_encode(*state, "t5", "", keys, query, NULL, NULL);
	pe_tensor buckets = xt_computed(e, "buckets");
	for (int k = 0; k < 10; k++)
		assert_int_equal(((double *)buckets.data)[k], expected[k]);
	free(buckets.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&query);
	pe_domain_destroy(&keys);
}

static void depends_on_the_distance_alone(void **state)
{
	xt_stays_when_moved(*state, "t5", "", "bias", 0);
	xt_stays_when_moved(*state, "t5", "direction=causal", "buckets", 0);
	xt_table_holds(*state, "t5", "heads=3", "bias");
	xt_last_queries_give_last_rows(*state, "t5", "heads=3,direction=causal", "bias");
	xt_last_queries_give_last_rows(*state, "t5", "", "buckets");
}

/* One query, two keys: the weights are softmax(q·k + b), with no 1/sqrt(width). */
static void attends_with_scale_one(void **state)
{
	double q[] = {1, 2, 0.5, -1}, k[] = {0.5, 0.25, 1, 1, -1, 0.75, 0.5, 0}, v[] = {1, 0, 0, 0, 0, 1, 0, 0};
	double out[4];
	pe_domain *keys, *query;
	assert_int_equal(pe_domain_sequence(*state, 2, 0, &keys), PE_OK);
	assert_int_equal(pe_domain_tail(*state, keys, 1, &query), PE_OK);
	pe_encoding *e = xt_encode(*state, "t5", "heads=1", keys, query, NULL, NULL);
	pe_tensor bias = xt_computed(e, "bias");
	const double *b = bias.data;
	xt_attend_plain(*state, e, false, 1, 1, 2, 4, q, k, v, out);
	double first = 0.5 + b[0], second = 0.75 + b[1];
	xt_close_f64(out[0], 1 / (1 + exp(second - first)), 1e-14, 0);
	xt_close_f64(out[1], 1 / (1 + exp(first - second)), 1e-14, 0);
	assert_true(fabs(b[0] - b[1]) > 1e-3);
	free(bias.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&query);
	pe_domain_destroy(&keys);
}

static pe_encoding *share(pe_context *ctx, const pe_domain *domain, const pe_bundle *weights, pe_sizes sizes)
{
	pe_encoding *e;
	pe_encoding_options options = {
		.size = sizeof options, .weights = weights, .weights_shared = 1, .sizes = sizes};
	if (pe_encoding_create(ctx, pe_encoder_find("t5"), NULL, domain, &options, &e) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	return e;
}

/* Weights of others leave it as it begins; its own are found, and sizes fill what is not set. */
static void says_where_its_table_comes_from(void **state)
{
	pe_context *ctx = *state;
	double table[32 * 3] = {1};
	pe_tensor tensor = pe_tensor_dense(table, PE_F64, 2, (int64_t[]){32, 3}), view;
	const char *name;
	pe_bundle *weights;
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 4, 0, &domain), PE_OK);
	assert_int_equal(pe_bundle_create(ctx, &weights), PE_OK);
	assert_int_equal(pe_bundle_add(weights, "another", &tensor), PE_OK);
	pe_encoding *e = share(ctx, domain, weights, (pe_sizes){.heads = 3});
	assert_string_equal(pe_params_get(pe_encoding_params(e), "heads"), "3");
	assert_int_equal(pe_encoding_is_random(e), 1);
	assert_null(pe_encoding_weight_source(e, 0));
	assert_int_equal(pe_encoding_weight_at(e, 0, &name, &view), PE_OK);
	assert_int_equal(view.shape[1], 3);
	pe_encoding_destroy(&e);
	assert_int_equal(pe_bundle_add(weights, "t5.relative_attention_bias.weight", &tensor), PE_OK);
	e = share(ctx, domain, weights, (pe_sizes){.heads = 3});
	assert_int_equal(pe_encoding_is_random(e), 0);
	assert_string_equal(pe_encoding_weight_source(e, 0), "t5.relative_attention_bias.weight");
	assert_null(pe_encoding_weight_source(e, 1));
	pe_encoding_destroy(&e);
	pe_bundle_destroy(&weights);
	pe_domain_destroy(&domain);
}

static void refuses_impossible_buckets(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 4, 0, &domain), PE_OK);
	xt_encode_refused(*state, "t5", "buckets=31", domain, PE_ERR_RANGE,
		"t5: 31 buckets cannot be halved between keys before and after the query: give an even number");
	xt_encode_refused(*state, "t5", "buckets=2", domain, PE_ERR_RANGE,
		"t5: 2 buckets are too few; there must be at least 4");
	xt_encode_refused(*state, "t5", "max_distance=8", domain, PE_ERR_RANGE,
		"t5: max_distance must be above 8, up to which each distance has a bucket of its own");
	xt_encode_refused(*state, "t5", "max_distance=16,direction=causal", domain, PE_ERR_RANGE,
		"t5: max_distance must be above 16, up to which each distance has a bucket of its own");
	pe_encoding *e = xt_encode(*state, "t5", "max_distance=9", domain, NULL, NULL, NULL);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_transformers),
		cmocka_unit_test(has_the_buckets_of_transformers),
		cmocka_unit_test(begins_buckets_where_the_formula_does),
		cmocka_unit_test(grows_with_the_distance),
		cmocka_unit_test(rounds_real_distances),
		cmocka_unit_test(depends_on_the_distance_alone),
		cmocka_unit_test(attends_with_scale_one),
		cmocka_unit_test(says_where_its_table_comes_from),
		cmocka_unit_test(refuses_impossible_buckets),
	};
	return xt_run(argc, argv, tests);
}
