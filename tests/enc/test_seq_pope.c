/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "xt_attend.h"
#include "xt_rotation.h"

#define GOLDEN "pope:heads=2,head_dim=7"

/* Vectors of x-transformers, (batch 2, heads, tokens, 14), all keys and the last 5 queries. */
static void turns_as_x_transformers(void **state)
{
	pe_context *ctx = *state;
	static const char *const names[][2] = {{"q", "polar_q"}, {"k", "polar_k"}};
	pe_bundle *golden = xt_golden_bundle(ctx, "pope/heads.npz");
	pe_domain *keys, *queries;
	assert_int_equal(pe_domain_sequence(ctx, 9, 0, &keys), PE_OK);
	assert_int_equal(pe_domain_sequence(ctx, 5, 4, &queries), PE_OK);
	pe_encoding *e = xt_encoding(ctx, GOLDEN, keys, queries, golden);
	for (int side = PE_QUERIES; side <= PE_KEYS; side++) {
		pe_tensor x = xt_array(golden, names[side][0]), want = xt_array(golden, names[side][1]);
		pe_tensor y = pe_tensor_dense(NULL, PE_F64, 4, want.shape);
		double *data = malloc((size_t)pe_tensor_bytes(&y));
		y.data = data;
		assert_int_equal(pe_encoding_rotate(e, (pe_side)side, &x, &y), PE_OK);
		for (int64_t i = 0; i < pe_tensor_count(&y); i++)
			xt_close_f64(data[i], (double)((float *)want.data)[i], 1e-6, 2e-6);
		free(data);
	}
	pe_encoding_destroy(&e);
	pe_domain_destroy(&keys);
	pe_domain_destroy(&queries);
	pe_bundle_destroy(&golden);
}

static void attends_as_x_transformers(void **state)
{
	xt_attend_file(*state, "pope/heads.npz", GOLDEN, true, 5e-6);
	xt_attend_file(*state, "pope/shared.npz", GOLDEN, true, 5e-6);
}

static double softplus(double x)
{
	return log(1 + exp(x));
}

/* The formula, with delta of 0; a common shift of positions changes nothing. */
static void scores_follow_the_formula(void **state)
{
	double q[12], k[12], scores[2];
	xt_numbers(q, 12);
	xt_numbers(k, 12);
	static const double at[][2] = {{5, 2}, {131077, 131074}, {-3.5, 1000}};
	for (int c = 0; c < 3; c++) {
		xt_scores(*state, "pope:heads=2,head_dim=6", at[c][0], at[c][1], q, k, 6, scores);
		for (int h = 0; h < 2; h++) {
			double sum = 0;
			for (int t = 0; t < 6; t++)
				sum += softplus(q[6 * h + t]) * softplus(k[6 * h + t]) *
					cos((at[c][0] - at[c][1]) * pow(1e4, -t / 6.0));
			xt_close_f64(scores[h], sum / sqrt(6), 0, 1e-12);
		}
	}
}

static void begins_as_it_is_told(void **state)
{
	struct xt_turns zeros = xt_turns_from(*state, "pope:head_dim=5,heads=3", 4, 2);
	struct xt_turns uniform = xt_turns_from(*state, "pope:head_dim=5,heads=3,initial=uniform", 4, 2);
	assert_int_equal(zeros.count, 3);
	assert_string_equal(zeros.info[2].name, "delta");
	assert_int_equal(zeros.info[2].shape[0], 3);
	double low = 0;
	for (int i = 0; i < 15; i++) {
		assert_true(zeros.arrays[2][i] == 0);
		assert_true(uniform.arrays[2][i] <= 0 && uniform.arrays[2][i] >= -6.2831853071795865);
		low = fmin(low, uniform.arrays[2][i]);
	}
	assert_true(low < -4);
	for (int i = 0; i < 4; i++)
		for (int t = 0; t < 5; t++) {
			xt_close_f64(zeros.arrays[0][i * 5 + t], cos((i + 2) * pow(1e4, -t / 5.0)), 0, 1e-15);
			assert_true(uniform.arrays[1][i * 5 + t] == zeros.arrays[1][i * 5 + t]);
		}
	xt_turns_free(&zeros);
	xt_turns_free(&uniform);
}

/* Large features: e^x must not overflow, and e^-x must not be lost. */
static void keeps_large_and_small_features(void **state)
{
	pe_context *ctx = *state;
	double x[3] = {-800, 0, 800}, y[6];
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 1, 0, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, "pope:heads=1,head_dim=3", domain, NULL, NULL);
	pe_tensor in = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 1, 1, 3});
	pe_tensor out = pe_tensor_dense(y, PE_F64, 4, (int64_t[]){1, 1, 1, 6});
	assert_int_equal(pe_encoding_rotate(e, PE_QUERIES, &in, &out), PE_OK);
	assert_true(y[0] == 0 && y[2] == 800 && y[5] == 0);
	xt_close_f64(y[1], log(2), 1e-15, 0);
	x[0] = -40;
	assert_int_equal(pe_encoding_rotate(e, PE_QUERIES, &in, &out), PE_OK);
	xt_close_f64(y[0], exp(-40), 1e-14, 0);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* More heads of keys than delta has rows for. */
static void refuses_heads_that_have_no_phase(void **state)
{
	pe_context *ctx = *state;
	double x[12] = {0}, y[24];
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 2, 0, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, "pope:heads=1,head_dim=3", domain, NULL, NULL);
	pe_tensor in = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 2, 2, 3});
	pe_tensor out = pe_tensor_dense(y, PE_F64, 4, (int64_t[]){1, 2, 2, 6}), v = in;
	pe_tensor sum = pe_tensor_dense(y, PE_F64, 4, (int64_t[]){1, 2, 2, 3});
	xt_fails(
		ctx, pe_encoding_rotate(e, PE_KEYS, &in, &out), PE_ERR_SHAPE, "there are 2 heads, and it knows 1");
	assert_int_equal(pe_encoding_rotate(e, PE_QUERIES, &in, &out), PE_OK);
	pe_attention_options options = {.size = sizeof options, .core = PE_CORE_REFERENCE};
	pe_attention_tensors t = {.size = sizeof t, .q = &in, .k = &in, .v = &v, .out = &sum};
	xt_fails(
		ctx, pe_attend(ctx, &e, 1, &options, &t), PE_ERR_SHAPE, "it has 1 heads of keys, and attention 2");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void tiles_agree(void **state)
{
	xt_tiles_agree(*state, "pope:head_dim=24,heads=2,initial=uniform", 24, 1e-5);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_as_x_transformers),
		cmocka_unit_test(attends_as_x_transformers),
		cmocka_unit_test(scores_follow_the_formula),
		cmocka_unit_test(begins_as_it_is_told),
		cmocka_unit_test(keeps_large_and_small_features),
		cmocka_unit_test(refuses_heads_that_have_no_phase),
		cmocka_unit_test(tiles_agree),
	};
	return xt_run(argc, argv, tests);
}
