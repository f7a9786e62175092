/* SPDX-License-Identifier: BSD-2-Clause
 * Decomposed relative positions against transformers' SAM and timm's MViTv2. */
#include "xt.h"

#include <stdio.h>

#include "xt_attend.h"
#include "xt_scores.h"
#include "xt_window.h"

static void is_what_sam_and_mvit_compute(void **state)
{
	static const char *const files[] = {"same", "row", "class_token", "pooled_keys", "pooled_queries",
		"resampled", "mvit_larger", "mvit_smaller", "mvit_mixed"};
	for (int i = 0; i < 9; i++) {
		char name[64];
		snprintf(name, sizeof name, "decomposed/%s.npz", files[i]);
		xt_attend_file(*state, name, "decomposed:head_dim=5", false, 1e-12);
		xt_attend_file_tiled(*state, name, "decomposed:head_dim=5", 1e-5);
	}
}

/* The scale is not in the term: with another one only q·k changes. */
static void is_not_scaled(void **state)
{
	pe_bundle *bundle = xt_golden_bundle(*state, "decomposed/scaled.npz");
	pe_attention_options options = {sizeof options, .core = PE_CORE_REFERENCE, .scale = 0.125};
	xt_attend_golden(*state, bundle, (const char *const[]){"decomposed:head_dim=5", NULL}, &options, 1e-12);
	pe_bundle_destroy(&bundle);
}

static void refuses_what_it_cannot_place(void **state)
{
	pe_domain *frames;
	assert_int_equal(pe_domain_grid(*state, 2, 7, 8, 0, &frames), PE_OK);
	xt_encode_refused(*state, "decomposed", "", frames, PE_ERR_UNSUPPORTED, "2 frames");
	pe_domain_destroy(&frames);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_sam_and_mvit_compute),
		cmocka_unit_test(is_not_scaled),
		cmocka_unit_test(refuses_what_it_cannot_place),
	};
	return xt_run(argc, argv, tests);
}
