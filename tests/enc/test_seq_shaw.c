/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "xt_attend.h"

static void is_what_tensor2tensor_computes(void **state)
{
	xt_attend_file(*state, "shaw/shared.npz", "shaw:head_dim=6,value_dim=5", false, 1e-13);
	xt_attend_file(*state, "shaw/per_head_causal_last_queries.npz", "shaw:head_dim=6", true, 1e-13);
	xt_attend_file(*state, "shaw/values_only.npz", "shaw:head_dim=6,keys=0", false, 1e-13);
}

static void is_what_wav2vec2_bert_computes(void **state)
{
	xt_attend_file(*state, "shaw/wav2vec2_bert.npz", "shaw:head_dim=8,max_distance=3,values=0", false, 1e-13);
}

static void takes_positions_of_any_kind(void **state)
{
	xt_attend_file(*state, "shaw/real_positions.npz", "shaw:head_dim=6,max_distance=3", false, 1e-13);
}

static void begins_as_glorot_zeros_or_sinusoids(void **state)
{
	pe_domain *domain;
	int64_t width;
	assert_int_equal(pe_domain_sequence(*state, 3, 0, &domain), PE_OK);
	double *glorot = xt_first_array(*state, "shaw", "head_dim=30,max_distance=10", domain, &width);
	double bound = sqrt(6.0 / (21 + 30)), most = 0, sum = 0;
	assert_int_equal(width, 30);
	for (int i = 0; i < 21 * 30; i++) {
		most = fmax(most, fabs(glorot[i]));
		sum += glorot[i] * glorot[i];
	}
	assert_true(most <= bound && most > 0.97 * bound);
	xt_close_f64(sum / 630, bound * bound / 3, 0.1, 0);
	double *zeros = xt_first_array(*state, "shaw", "preset=bert4keras", domain, NULL);
	for (int i = 0; i < 33 * 64; i++)
		assert_true(zeros[i] == 0);
	/* NEZHA: entry (row, 2t) is sin(row / 10000^(2t/64)). */
	double *nezha = xt_first_array(*state, "shaw", "preset=nezha", domain, NULL);
	xt_close_f64(nezha[5 * 64], sin(5), 1e-15, 0);
	xt_close_f64(nezha[5 * 64 + 3], cos(5 / pow(10000, 2.0 / 64)), 1e-15, 0);
	xt_close_f64(nezha[128 * 64 + 62], sin(128 / pow(10000, 62.0 / 64)), 1e-14, 0);
	free(glorot);
	free(zeros);
	free(nezha);
	pe_domain_destroy(&domain);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_params *params;
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	assert_int_equal(pe_params_create(ctx, "shaw", &params), PE_OK);
	xt_set(params, "keys=0,values=0");
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("shaw"), params, domain, NULL, &e), PE_ERR_RANGE,
		"nothing is left");
	pe_params_destroy(&params);
	pe_domain_destroy(&domain);

	struct xt_layer layer;
	pe_bundle *bundle = xt_golden_bundle(ctx, "shaw/shared.npz");
	pe_tensor q = xt_array(bundle, "q"), k = xt_array(bundle, "k"), v = xt_array(bundle, "v");
	pe_tensor out = xt_array(bundle, "out");
	xt_layer_make(ctx, (const char *const[]){"shaw:head_dim=8", NULL}, NULL, 9, 9, &layer);
	pe_attention_tensors t = {.size = sizeof t, .q = &q, .k = &k, .v = &v, .out = &out};
	xt_fails(ctx, pe_attend(ctx, layer.list, 1, NULL, &t), PE_ERR_SHAPE, "its rows are 8 wide");
	xt_layer_free(&layer);
	pe_bundle_destroy(&bundle);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_tensor2tensor_computes),
		cmocka_unit_test(is_what_wav2vec2_bert_computes),
		cmocka_unit_test(takes_positions_of_any_kind),
		cmocka_unit_test(begins_as_glorot_zeros_or_sinusoids),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
