/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "xt_attend.h"

/* transformers' own scale is rounded to single precision. */
#define TOLERANCE 3e-7

static void is_version_1_of_transformers(void **state)
{
	xt_attend_file(
		*state, "deberta/v1_short.npz", "deberta:heads=2,head_dim=6,max_distance=16", false, TOLERANCE);
	xt_attend_file(
		*state, "deberta/v1_long.npz", "deberta:heads=2,head_dim=6,max_distance=5", false, TOLERANCE);
	xt_attend_file(
		*state, "deberta/v1_c2p.npz", "deberta:heads=2,head_dim=6,max_distance=5,p2c=0", false, TOLERANCE);
	xt_attend_file(
		*state, "deberta/v1_p2c.npz", "deberta:heads=2,head_dim=6,max_distance=5,c2p=0", false, TOLERANCE);
}

static void is_version_2_of_transformers(void **state)
{
#define V2 "deberta:version=2,heads=2,head_dim=6,"
	xt_attend_file(*state, "deberta/v2_share.npz", V2 "buckets=6,max_distance=12", false, TOLERANCE);
	xt_attend_file(
		*state, "deberta/v2_norm.npz", V2 "buckets=6,max_distance=12,norm=layer_norm", false, TOLERANCE);
	xt_attend_file(*state, "deberta/v2_own.npz", V2 "buckets=6,max_distance=12,share=0", false, TOLERANCE);
	xt_attend_file(
		*state, "deberta/v2_no_buckets.npz", V2 "buckets=0,max_distance=5,share=0", false, TOLERANCE);
#undef V2
}

/* Array buckets of one query at `position` among keys 0 … 600. */
static int32_t *rows_from(pe_context *ctx, double position)
{
	pe_domain *keys, *queries;
	pe_params *params;
	pe_encoding *e;
	pe_tensor outs[PE_MAX_ARRAYS] = {0};
	int32_t *rows = malloc(601 * sizeof *rows);
	assert_int_equal(pe_domain_sequence(ctx, 601, 0, &keys), PE_OK);
	assert_int_equal(pe_domain_sequence(ctx, 1, position, &queries), PE_OK);
	assert_int_equal(pe_params_create(ctx, "deberta", &params), PE_OK);
	xt_set(params, "preset=v2,heads=1,head_dim=1");
	pe_encoding_options options = {.size = sizeof options, .queries = queries};
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("deberta"), params, keys, &options, &e), PE_OK);
	outs[0] = pe_tensor_dense(rows, PE_I32, 2, (int64_t[]){1, 601});
	assert_int_equal(pe_encoding_compute(e, outs, pe_encoding_array_count(e)), PE_OK);
	pe_encoding_destroy(&e);
	pe_params_destroy(&params);
	pe_domain_destroy(&queries);
	pe_domain_destroy(&keys);
	return rows;
}

static void has_the_buckets_of_released_models(void **state)
{
	static const int known[][2] = {{127, 127}, {128, 128}, {129, 129}, {130, 130}, {131, 131}, {132, 131},
		{150, 143}, {200, 169}, {256, 192}, {300, 207}, {400, 233}, {510, 255}, {511, 255}, {512, 255}};
	pe_bundle *bundle = xt_golden_bundle(*state, "deberta/rows.npz");
	const int32_t *golden = xt_array(bundle, "rows").data, *other = xt_array(bundle, "other_side").data;
	int32_t *before = rows_from(*state, 600), *after = rows_from(*state, 0);
	for (int d = 0; d <= 600; d++) {
		assert_int_equal(before[600 - d], golden[d]);
		assert_int_equal(after[d], other[d]);
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		assert_int_equal(before[600 - known[i][0]], 256 + known[i][1]);
	free(before);
	free(after);
	pe_bundle_destroy(&bundle);
}

/* q·k + q·Kr + k·Qr for one query and key that are `distance` apart, from tables given projected. */
static double score(pe_context *ctx, const pe_bundle *tables, double distance, double q, double k)
{
	double key_at[] = {-distance}, query_at[] = {0}, v = 0, out, lse;
	pe_domain *keys, *queries;
	pe_params *params;
	pe_encoding *e;
	pe_tensor at = pe_tensor_dense(key_at, PE_F64, 1, (int64_t[]){1});
	pe_tensor query = pe_tensor_dense(query_at, PE_F64, 1, (int64_t[]){1});
	assert_int_equal(pe_domain_positions(ctx, &at, 0, &keys), PE_OK);
	assert_int_equal(pe_domain_positions(ctx, &query, 0, &queries), PE_OK);
	assert_int_equal(pe_params_create(ctx, "deberta", &params), PE_OK);
	xt_set(params, "heads=1,head_dim=1,max_distance=2");
	pe_encoding_options options = {.size = sizeof options, .queries = queries, .weights = tables};
	if (pe_encoding_create(ctx, pe_encoder_find("deberta"), params, keys, &options, &e) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	int64_t one[] = {1, 1, 1, 1};
	pe_tensor tq = pe_tensor_dense(&q, PE_F64, 4, one), tk = pe_tensor_dense(&k, PE_F64, 4, one);
	pe_tensor tv = pe_tensor_dense(&v, PE_F64, 4, one), to = pe_tensor_dense(&out, PE_F64, 4, one);
	pe_tensor tl = pe_tensor_dense(&lse, PE_F64, 3, one);
	pe_attention_tensors t = {.size = sizeof t, .q = &tq, .k = &tk, .v = &tv, .out = &to, .lse = &tl};
	pe_attention_options o = {.size = sizeof o, .core = PE_CORE_REFERENCE};
	assert_int_equal(pe_attend(ctx, &e, 1, &o, &t), PE_OK);
	pe_encoding_destroy(&e);
	pe_params_destroy(&params);
	pe_domain_destroy(&queries);
	pe_domain_destroy(&keys);
	return lse;
}

static void takes_projected_tables_and_real_distances(void **state)
{
	pe_context *ctx = *state;
	double keys[] = {3, 5, 7, 11}, queries[] = {-2, 4, -8, 16};
	static const double distances[][2] = {
		{-1e300, 0}, {-2, 0}, {-1.5, 0}, {-1, 1}, {-0.4, 2}, {0, 2}, {0.5, 3}, {1, 3}, {2, 3}, {1e300, 3}};
	int64_t shape[] = {1, 4, 1};
	pe_tensor tk = pe_tensor_dense(keys, PE_F64, 3, shape), tq = pe_tensor_dense(queries, PE_F64, 3, shape);
	pe_bundle *both, *one;
	assert_int_equal(pe_bundle_create(ctx, &both), PE_OK);
	assert_int_equal(pe_bundle_create(ctx, &one), PE_OK);
	assert_int_equal(pe_bundle_add(both, "position_keys", &tk), PE_OK);
	assert_int_equal(pe_bundle_add(both, "position_queries", &tq), PE_OK);
	assert_int_equal(pe_bundle_add(one, "position_queries", &tq), PE_OK);
	for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
		int row = (int)distances[i][1];
		double q = 0.5, k = -1.25, content = q * k;
		xt_close_f64(score(ctx, both, distances[i][0], q, k),
			(content + q * keys[row] + k * queries[row]) / sqrt(3), 1e-14, 0);
		xt_close_f64(
			score(ctx, one, distances[i][0], q, k), (content + k * queries[row]) / sqrt(2), 1e-14, 0);
	}
	pe_bundle_destroy(&both);
	pe_bundle_destroy(&one);
}

static void refuses_impossible_buckets(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_params *params;
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	assert_int_equal(pe_params_create(ctx, "deberta", &params), PE_OK);
	xt_set(params, "version=2,buckets=8,max_distance=5");
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("deberta"), params, domain, NULL, &e), PE_ERR_RANGE,
		"max_distance above half");
	xt_set(params, "version=1");
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("deberta"), params, domain, NULL, &e), PE_ERR_RANGE,
		"version 1 has no buckets");
	xt_set(params, "version=2,max_distance=6,heads=1,head_dim=1");
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("deberta"), params, domain, NULL, &e), PE_OK);
	pe_encoding_destroy(&e);
	pe_params_destroy(&params);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_version_1_of_transformers),
		cmocka_unit_test(is_version_2_of_transformers),
		cmocka_unit_test(has_the_buckets_of_released_models),
		cmocka_unit_test(takes_projected_tables_and_real_distances),
		cmocka_unit_test(refuses_impossible_buckets),
	};
	return xt_run(argc, argv, tests);
}
