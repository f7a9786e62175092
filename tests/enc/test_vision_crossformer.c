/* SPDX-License-Identifier: BSD-2-Clause
 * CrossFormer's dynamic position bias against torch's layers. */
#include "xt.h"

#include "xt_scores.h"
#include "xt_window.h"

static void is_what_torch_computes(void **state)
{
	static const char *const cases[] = {"square", "rectangle", "uneven", "one"};
	static const char *const settings[] = {
		"heads=3,dim=96", "heads=2,dim=64", "heads=8,dim=90", "heads=1,dim=16"};
	for (int i = 0; i < 4; i++)
		xt_golden_case(
			*state, "crossformer", "crossformer/crossformer.npz", cases[i], settings[i], 1e-11, 1e-12);
}

/* The network sees offsets, so a larger window changes nothing. */
static void does_not_depend_on_the_window(void **state)
{
	pe_domain *domain = xt_grid(*state, 3, 4, 0);
	pe_encoding *e[] = {xt_encode(*state, "crossformer", "heads=2", domain, NULL, NULL, NULL),
		xt_encode(*state, "crossformer", "heads=2,window=9/7", domain, NULL, NULL, NULL)};
	pe_tensor a = xt_computed(e[0], "bias"), b = xt_computed(e[1], "bias");
	for (int i = 0; i < 2 * 12 * 12; i++)
		assert_true(((double *)a.data)[i] == ((double *)b.data)[i]);
	free(a.data);
	free(b.data);
	pe_encoding_destroy(&e[0]);
	pe_encoding_destroy(&e[1]);
	pe_domain_destroy(&domain);
}

static void leaves_prefix_tokens_alone(void **state)
{
	xt_window_leaves_prefix_alone(*state, "crossformer", "heads=2");
}

static void refuses_what_it_cannot_place(void **state)
{
	xt_window_refuses(*state, "crossformer");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_torch_computes),
		cmocka_unit_test(does_not_depend_on_the_window),
		cmocka_unit_test(leaves_prefix_tokens_alone),
		cmocka_unit_test(refuses_what_it_cannot_place),
	};
	return xt_run(argc, argv, tests);
}
