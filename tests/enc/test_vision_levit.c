/* SPDX-License-Identifier: BSD-2-Clause
 * LeViT's bias against transformers', and its numbering on rectangles. */
#include "xt.h"

#include "xt_scores.h"
#include "xt_window.h"

static void is_what_transformers_computes(void **state)
{
	static const char *const cases[] = {"square", "rectangle", "row", "one"};
	static const char *const heads[] = {"heads=2", "heads=3", "heads=2", "heads=2"};
	for (int i = 0; i < 4; i++)
		xt_golden_case(*state, "levit", "levit/levit.npz", cases[i], heads[i], 0, 0);
}

/* A part of a window has the biases of the whole, and signs do not matter. */
static void is_symmetric_in_part_of_a_window_too(void **state)
{
	enum { H = 2, W = 3, N = H * W };
	pe_domain *domain = xt_grid(*state, H, W, 0);
	pe_encoding *e = xt_encode(*state, "levit", "window=4/5", domain, NULL, NULL, NULL);
	pe_tensor index = xt_computed(e, "relative_position_index");
	const double *x = index.data;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			assert_true(x[i * N + j] == abs(i / W - j / W) * 5 + abs(i % W - j % W));
			assert_true(x[i * N + j] == x[j * N + i]);
		}
	free(index.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void refuses_what_it_cannot_place(void **state)
{
	xt_window_refuses(*state, "levit");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_transformers_computes),
		cmocka_unit_test(is_symmetric_in_part_of_a_window_too),
		cmocka_unit_test(refuses_what_it_cannot_place),
	};
	return xt_run(argc, argv, tests);
}
