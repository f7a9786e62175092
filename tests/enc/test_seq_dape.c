/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt_attend.h"

#define BASE "dape:heads=2,width=5"

static void is_what_version_1_computes(void **state)
{
	xt_attend_file(*state, "dape/v1.npz", BASE ",over=alibi", true, 1e-13);
	xt_attend_file(*state, "dape/v1_bidirectional.npz", BASE ",over=alibi", false, 1e-13);
	xt_attend_file(*state, "dape/v1_logits.npz", BASE ",inputs=logits", true, 1e-13);
	xt_attend_file(*state, "dape/v1_decode.npz", BASE ",over=alibi", true, 1e-13);
}

static void is_what_version_2_computes(void **state)
{
#define V2 BASE ",over=alibi,version=2"
	xt_attend_file(*state, "dape/v2_published.npz", BASE ",over=alibi,preset=published", true, 1e-13);
	xt_attend_file(*state, "dape/v2_wide.npz", V2 ",kernel=5,direction=bidirectional", true, 1e-13);
	xt_attend_file(*state, "dape/v2_bidirectional.npz", V2 ",direction=bidirectional", false, 1e-13);
}

/* The golden rows were computed with later keys present, which these queries do not see. */
static void gives_a_query_the_same_scores_before_later_keys_come(void **state)
{
	xt_attend_file(*state, "dape/v2_causal.npz", V2, true, 1e-13);
	xt_attend_file(*state, "dape/v2_decode.npz", V2, true, 1e-13);
	xt_attend_file(*state, "dape/v2_wide_decode.npz", V2 ",kernel=5", true, 1e-13);
#undef V2
}

static void maps_encoders_beside_it(void **state)
{
	pe_bundle *bundle = xt_golden_bundle(*state, "dape/v1.npz");
	pe_attention_options options = {.size = sizeof options, .core = PE_CORE_REFERENCE, .causal = 1};
	xt_attend_golden(*state, bundle, (const char *const[]){"alibi:heads=2", BASE, NULL}, &options, 1e-13);
	xt_attend_golden(*state, bundle, (const char *const[]){BASE, "alibi:heads=2", NULL}, &options, 1e-13);
	pe_bundle_destroy(&bundle);
}

static pe_status create(
	pe_context *ctx, const char *settings, pe_domain *domain, const pe_bundle *weights, pe_encoding **out)
{
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, "dape", &params), PE_OK);
	xt_set(params, settings);
	pe_encoding_options options = {.size = sizeof options, .weights = weights};
	pe_status status = pe_encoding_create(ctx, pe_encoder_find("dape"), params, domain, &options, out);
	pe_params_destroy(&params);
	return status;
}

static void refuses_what_it_cannot_map(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	xt_fails(ctx, create(ctx, "over=nothing", domain, NULL, &e), PE_ERR_ARGUMENT, "no encoder \"nothing\"");
	xt_fails(
		ctx, create(ctx, "over=dape", domain, NULL, &e), PE_ERR_ARGUMENT, "dape does not only give biases");
	xt_fails(
		ctx, create(ctx, "over=sinusoidal", domain, NULL, &e), PE_ERR_ARGUMENT, "does not only give biases");
	xt_fails(ctx, create(ctx, "kernel=5", domain, NULL, &e), PE_ERR_RANGE, "no effect with version=1");
	xt_fails(ctx, create(ctx, "version=2,kernel=4", domain, NULL, &e), PE_ERR_RANGE, "even");
	pe_domain_destroy(&domain);
}

/* Options of the encoder stand behind colons; it gets dape's heads. */
static void takes_options_of_what_it_maps(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	if (create(ctx, "heads=3,over=fire:preset=dape:hidden=7", domain, NULL, &e) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	int found = 0;
	for (int64_t i = 0; i < pe_encoding_weight_count(e); i++) {
		const char *name;
		pe_tensor view;
		assert_int_equal(pe_encoding_weight_at(e, i, &name, &view), PE_OK);
		if (strcmp(name, "fire.mlp.2.weight") == 0) {
			assert_int_equal(view.shape[0], 3);
			assert_int_equal(view.shape[1], 7);
			found++;
		}
		if (strcmp(name, "fire.init_L") == 0) {
			assert_true(*(double *)view.data == 256);
			found++;
		}
	}
	assert_int_equal(found, 2);
	pe_encoding_destroy(&e);
	xt_fails(ctx, create(ctx, "heads=3,over=alibi:heads=2", domain, NULL, &e), PE_ERR_RANGE,
		"alibi has 2 heads, and dape 3");
	pe_domain_destroy(&domain);
}

/* The first encoder that only gives biases and has weights, or NULL. */
static const pe_encoder *with_weights(void)
{
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = pe_encoder_at(i)); i++)
		if (pe_encoder_sites(encoder) == PE_SITE_SCORES && pe_encoder_family(encoder) == PE_SEQ &&
			pe_encoder_weight_count(encoder) > 0)
			return encoder;
	return NULL;
}

/* All weights of e but one are as they are; that one is filled with numbers it does not begin with. */
static pe_bundle *own_weights(pe_context *ctx, const pe_encoding *e, int64_t changed, const char *prefix)
{
	pe_bundle *weights;
	assert_int_equal(pe_bundle_create(ctx, &weights), PE_OK);
	for (int64_t i = 0; i < pe_encoding_weight_count(e); i++) {
		char full[100];
		const char *name;
		pe_tensor view;
		assert_int_equal(pe_encoding_weight_at(e, i, &name, &view), PE_OK);
		for (int64_t k = 0; i == changed && k < pe_tensor_count(&view); k++)
			((double *)view.data)[k] = 0.25 + (double)k;
		snprintf(full, sizeof full, "%s%s", prefix, name);
		assert_int_equal(pe_bundle_add(weights, full, &view), PE_OK);
	}
	return weights;
}

/* The mapped encoder's weights are listed, and found again under dape's own prefix and without. */
static void hands_on_the_weights_of_what_it_maps(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_encoding *e, *again;
	char settings[100];
	if (!with_weights())
		skip();
	const char *over = pe_encoder_name(with_weights());
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	snprintf(settings, sizeof settings, "heads=3,over=%s", over);
	for (int prefixed = 0; prefixed < 2; prefixed++) {
		if (create(ctx, settings, domain, NULL, &e) != PE_OK)
			fail_msg("%s", pe_context_message(ctx));
		int64_t count = pe_encoding_weight_count(e);
		assert_true(count > 4);
		pe_bundle *weights = own_weights(ctx, e, count - 1, prefixed ? "dape." : "");
		const char *name;
		pe_tensor view, last;
		assert_int_equal(pe_encoding_weight_at(e, count - 1, &name, &view), PE_OK);
		assert_int_equal(strncmp(name, over, strlen(over)), 0);
		if (create(ctx, settings, domain, weights, &again) != PE_OK)
			fail_msg("%s", pe_context_message(ctx));
		assert_int_equal(pe_encoding_weight_at(again, count - 1, &name, &last), PE_OK);
		assert_memory_equal(last.data, view.data, (size_t)pe_tensor_bytes(&last));
		pe_encoding_destroy(&again);
		pe_encoding_destroy(&e);
		pe_bundle_destroy(&weights);
	}
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_version_1_computes),
		cmocka_unit_test(is_what_version_2_computes),
		cmocka_unit_test(gives_a_query_the_same_scores_before_later_keys_come),
		cmocka_unit_test(maps_encoders_beside_it),
		cmocka_unit_test(refuses_what_it_cannot_map),
		cmocka_unit_test(takes_options_of_what_it_maps),
		cmocka_unit_test(hands_on_the_weights_of_what_it_maps),
	};
	return xt_run(argc, argv, tests);
}
