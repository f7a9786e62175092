/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "xt_attend.h"

static void is_what_convtran_computes(void **state)
{
	xt_attend_file(*state, "erpe/whole.npz", "erpe:heads=3", false, 1e-13);
	xt_attend_file(*state, "erpe/whole.npz", "erpe:heads=3,max_length=7,dim=12", false, 1e-13);
	xt_attend_file(*state, "erpe/last_queries.npz", "erpe:heads=3", true, 1e-13);
}

static void yields_what_is_added(void **state)
{
	pe_bundle *bundle = xt_golden_bundle(*state, "erpe/whole.npz");
	pe_tensor golden = xt_array(bundle, "bias"), outs[PE_MAX_ARRAYS] = {0};
	double bias[3 * 7 * 7];
	struct xt_layer layer;
	xt_layer_make(*state, (const char *const[]){"erpe:heads=3", NULL}, bundle, 7, 7, &layer);
	outs[0] = pe_tensor_dense(bias, PE_F64, 3, (int64_t[]){3, 7, 7});
	assert_int_equal(pe_encoding_compute(layer.list[0], outs, pe_encoding_array_count(layer.list[0])), PE_OK);
	for (int i = 0; i < 3 * 7 * 7; i++)
		assert_true(bias[i] == ((double *)golden.data)[i]);
	xt_layer_free(&layer);
	pe_bundle_destroy(&bundle);
}

static pe_status create(pe_context *ctx, int64_t tokens, const char *settings, const pe_bundle *weights)
{
	pe_domain *domain;
	pe_params *params;
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, tokens, 0, &domain), PE_OK);
	assert_int_equal(pe_params_create(ctx, "erpe", &params), PE_OK);
	xt_set(params, settings);
	pe_encoding_options options = {.size = sizeof options, .weights = weights};
	pe_status status = pe_encoding_create(ctx, pe_encoder_find("erpe"), params, domain, &options, &e);
	pe_encoding_destroy(&e);
	pe_params_destroy(&params);
	pe_domain_destroy(&domain);
	return status;
}

static void refuses_distances_beyond_its_table(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *bundle = xt_golden_bundle(ctx, "erpe/whole.npz");
	assert_int_equal(create(ctx, 7, "heads=3", bundle), PE_OK);
	assert_int_equal(create(ctx, 5, "heads=3", bundle), PE_OK);
	xt_fails(ctx, create(ctx, 8, "heads=3", bundle), PE_ERR_RANGE, "7 apart, and the table ends at 6");
	xt_fails(ctx, create(ctx, 7, "heads=3,max_length=8", bundle), PE_ERR_SHAPE, "relative_bias_table");
	assert_int_equal(create(ctx, 12, "max_length=12", NULL), PE_OK);
	xt_fails(ctx, create(ctx, 13, "max_length=12", NULL), PE_ERR_RANGE, "made for max_length 12");
	pe_bundle_destroy(&bundle);
}

static void begins_with_zeros(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 5, 0, &domain), PE_OK);
	double *bias = xt_first_array(*state, "erpe", "heads=2", domain, NULL);
	for (int i = 0; i < 50; i++)
		assert_true(bias[i] == 0);
	free(bias);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_convtran_computes),
		cmocka_unit_test(yields_what_is_added),
		cmocka_unit_test(refuses_distances_beyond_its_table),
		cmocka_unit_test(begins_with_zeros),
	};
	return xt_run(argc, argv, tests);
}
