/* SPDX-License-Identifier: BSD-2-Clause
 * SwinV2's bias and cosine attention against timm and transformers. */
#include "xt.h"

#include <math.h>
#include <stdio.h>

#include "xt_attend.h"
#include "xt_scores.h"
#include "xt_window.h"

static void is_what_timm_computes(void **state)
{
	static const struct {
		const char *name, *settings;
	} cases[] = {{"square", "heads=2"}, {"rectangle", "heads=3"},
		{"pretrained", "heads=2,pretrained_window=3/2"}, {"row", "heads=2"}, {"one", "heads=2,hidden=8"},
		{"cr", "heads=2,preset=swinv2_cr"}, {"rmlp", "heads=2,preset=rmlp"}};
	for (int i = 0; i < 7; i++)
		xt_golden_case(
			*state, "log_cpb", "log_cpb/log_cpb.npz", cases[i].name, cases[i].settings, 1e-12, 1e-12);
}

/* Windows of published models: the bias of a pair is the table's entry of its offset. */
static void windows_are_those_of_timm(void **state)
{
	static const struct {
		const char *name, *settings;
		int side;
	} cases[] = {{"window_7", "heads=1", 7}, {"window_8", "heads=1", 8},
		{"window_16_on_8", "heads=1,pretrained_window=8", 16},
		{"window_24_on_12", "heads=1,pretrained_window=12", 24}};
	for (int c = 0; c < 4; c++) {
		pe_bundle *bundle;
		pe_tensor table;
		char name[64];
		int n = cases[c].side;
		assert_int_equal(
			pe_bundle_from_file(*state, xt_source("tests/golden/log_cpb/log_cpb.npz"), NULL, &bundle), PE_OK);
		snprintf(name, sizeof name, "%s.table", cases[c].name);
		assert_true(pe_bundle_find(bundle, name, &table));
		pe_domain *domain = xt_grid(*state, n, n, 0);
		pe_encoding *e = xt_encode(*state, "log_cpb", cases[c].settings, domain, NULL, bundle, cases[c].name);
		pe_tensor bias = xt_computed(e, "bias");
		for (int i = 0; i < n * n; i++)
			for (int j = 0; j < n * n; j++) {
				int64_t at = (i / n - j / n + n - 1) * (2 * n - 1) + i % n - j % n + n - 1;
				xt_close_f64(((double *)bias.data)[i * n * n + j], ((double *)table.data)[at], 1e-12, 1e-12);
			}
		free(bias.data);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
		pe_bundle_destroy(&bundle);
	}
}

/* Of scales 7 and exp 5, which is cut at 100. */
static void attends_as_transformers_does(void **state)
{
	xt_attend_file(*state, "log_cpb/swinv2.npz", "log_cpb:heads=2", false, 1e-12);
	xt_attend_file_tiled(*state, "log_cpb/swinv2.npz", "log_cpb:heads=2", 1e-5);
}

/* A network that gives back its y coordinate: what SwinV2 feeds it at window 7, and 16 on 8. */
static void coordinates_are_those_of_the_paper(void **state)
{
	static const double seven[] = {0, .40746, .62482, .77398, .88766, .97953, 1.05664};
	double in[4] = {1, 0, -1, 0}, zeros[2] = {0}, out[2] = {1, -1};
	pe_context *ctx = *state;
	for (int k = 0; k < 2; k++) {
		pe_domain *domain = xt_grid(ctx, k ? 16 : 7, 1, 0);
		pe_bundle *bundle;
		pe_tensor views[] = {pe_tensor_dense(in, PE_F64, 2, (int64_t[]){2, 2}),
			pe_tensor_dense(zeros, PE_F64, 1, (int64_t[]){2}),
			pe_tensor_dense(out, PE_F64, 2, (int64_t[]){1, 2}),
			pe_tensor_dense(zeros, PE_F64, 3, (int64_t[]){1, 1, 1})};
		const char *names[] = {"cpb_mlp.0.weight", "cpb_mlp.0.bias", "cpb_mlp.2.weight", "logit_scale"};
		assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
		for (int i = 0; i < 4; i++)
			assert_int_equal(pe_bundle_add(bundle, names[i], &views[i]), PE_OK);
		pe_encoding *e = xt_encode(
			ctx, "log_cpb", k ? "heads=1,pretrained_window=8/1" : "heads=1", domain, NULL, bundle, NULL);
		pe_tensor bias = xt_computed(e, "bias");
		int n = k ? 16 : 7;
		for (int i = 0; i < n; i++) {
			double b = ((double *)bias.data)[i * n], c = -log(16 / b - 1);
			if (k == 0)
				xt_close_f64(c, seven[i], 0, 5e-6);
			else if (i == 15)
				xt_close_f64(c, 1.3938, 0, 5e-5);
		}
		free(bias.data);
		pe_encoding_destroy(&e);
		pe_bundle_destroy(&bundle);
		pe_domain_destroy(&domain);
	}
}

/* Values, and with cosine=0 queries and keys, stay; else the length is 1, and 0 stays 0. */
static void turns_queries_and_keys_to_length_one(void **state)
{
	pe_domain *domain = xt_grid(*state, 1, 2, 0);
	for (int k = 0; k < 2; k++) {
		pe_encoding *e = xt_encode(
			*state, "log_cpb", k ? "heads=1,cosine=1" : "heads=1,cosine=0", domain, NULL, NULL, NULL);
		for (int side = PE_QUERIES; side <= PE_VALUES; side++) {
			double x[] = {3, -4, 0, 0}, y[4];
			pe_tensor in = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 1, 2, 2}), out = in;
			out.data = y;
			assert_int_equal(pe_encoding_rotate(e, (pe_side)side, &in, &out), PE_OK);
			double factor = k == 1 && side != PE_VALUES ? 0.2 : 1;
			for (int i = 0; i < 4; i++)
				xt_close_f64(y[i], factor * x[i], 1e-15, 0);
		}
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&domain);
}

static void leaves_prefix_tokens_alone(void **state)
{
	xt_window_leaves_prefix_alone(*state, "log_cpb", "heads=2");
}

static void refuses_what_it_cannot_place(void **state)
{
	xt_window_refuses(*state, "log_cpb");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_timm_computes),
		cmocka_unit_test(windows_are_those_of_timm),
		cmocka_unit_test(attends_as_transformers_does),
		cmocka_unit_test(coordinates_are_those_of_the_paper),
		cmocka_unit_test(turns_queries_and_keys_to_length_one),
		cmocka_unit_test(leaves_prefix_tokens_alone),
		cmocka_unit_test(refuses_what_it_cannot_place),
	};
	return xt_run(argc, argv, tests);
}
