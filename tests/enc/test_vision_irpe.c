/* SPDX-License-Identifier: BSD-2-Clause
 * Image relative position encoding against its equations in numpy. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include "xt_attend.h"
#include "xt_scores.h"
#include "xt_window.h"

static const struct {
	const char *name, *settings;
} cases[] = {
	{"product_keys", ""},
	{"product_all_heads", ",queries=1,values=1,shared=0,heads=2"},
	{"cross_all", ",method=cross,queries=1,values=1,shared=0,heads=2"},
	{"cross_prefix", ",method=cross,values=1"},
	{"euclidean", ",method=euclidean,queries=1"},
	{"quant", ",method=quant"},
	{"quant_squared", ",method=quant,preset=cream"},
	{"bias_product", ",mode=bias,queries=1,shared=0,heads=2"},
	{"bias_cross", ",mode=bias,method=cross,queries=1"},
	{"ratio", ",ratio=1"},
	{"ratio_20", ",method=cross,ratio=20"},
	{"row", ",queries=1,ratio=2.5"},
};

static void attends_by_its_equations(void **state)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char file[64], with[128];
		snprintf(file, sizeof file, "irpe/%s.npz", cases[i].name);
		snprintf(with, sizeof with, "irpe:head_dim=4%s", cases[i].settings);
		xt_attend_file(*state, file, with, false, 1e-12);
		xt_attend_file_tiled(*state, file, with, 1e-5);
	}
}

static void check_ids(pe_context *ctx, const pe_bundle *bundle, const char *settings)
{
	struct xt_layer layer;
	char with[128];
	int compared = 0;
	snprintf(with, sizeof with, "irpe:head_dim=4%s", settings);
	pe_tensor q = xt_array(bundle, "q");
	xt_layer_make(ctx, (const char *const[]){with, NULL}, bundle, q.shape[2], q.shape[2], &layer);
	for (int64_t i = 0; i < pe_bundle_count(bundle); i++) {
		const char *name;
		pe_tensor golden;
		assert_int_equal(pe_bundle_at(bundle, i, &name, &golden), PE_OK);
		if (strncmp(name, "ids.", 4) != 0)
			continue;
		pe_tensor ids = xt_computed(layer.list[0], name + 4);
		assert_int_equal(pe_tensor_count(&ids), pe_tensor_count(&golden));
		for (int64_t k = 0; k < pe_tensor_count(&ids); k++)
			assert_int_equal((int)((double *)ids.data)[k], ((const int32_t *)golden.data)[k]);
		free(ids.data);
		compared++;
	}
	assert_true(compared > 0);
	xt_layer_free(&layer);
}

static void buckets_are_those_of_its_equations(void **state)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char file[64];
		snprintf(file, sizeof file, "irpe/%s.npz", cases[i].name);
		pe_bundle *bundle = xt_golden_bundle(*state, file);
		check_ids(*state, bundle, cases[i].settings);
		pe_bundle_destroy(&bundle);
	}
}

/* Offsets 0, 1, 2, 3, 4 … are 0, 1, 2, 2, 3 … from the middle, at ratio 1.9. */
static void few_buckets_on_a_line(void **state)
{
	static const int wanted[] = {0, 1, 2, 2, 3, 3, 3};
	pe_domain *domain = xt_grid(*state, 1, 7, 0);
	pe_encoding *e = xt_encode(*state, "irpe", "method=cross,head_dim=1", domain, NULL, NULL, NULL);
	pe_tensor ids = xt_computed(e, "buckets_columns");
	for (int j = 0; j < 7; j++)
		assert_true(((double *)ids.data)[j] == 3 - wanted[j]);
	free(ids.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void refuses_what_is_not(void **state)
{
	pe_domain *domain = xt_grid(*state, 2, 3, 0), *frames;
	assert_int_equal(pe_domain_grid(*state, 2, 7, 8, 0, &frames), PE_OK);
	xt_encode_refused(*state, "irpe", "", frames, PE_ERR_UNSUPPORTED, "2 frames");
	xt_encode_refused(*state, "irpe", "mode=bias,values=1", domain, PE_ERR_RANGE, "no mode=bias");
	pe_domain_destroy(&frames);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(attends_by_its_equations),
		cmocka_unit_test(buckets_are_those_of_its_equations),
		cmocka_unit_test(few_buckets_on_a_line),
		cmocka_unit_test(refuses_what_is_not),
	};
	return xt_run(argc, argv, tests);
}
