/* SPDX-License-Identifier: BSD-2-Clause
 * BEiT's bias against timm's, class token and all. */
#include "xt.h"

#include "xt_scores.h"
#include "xt_window.h"

static void is_what_timm_computes(void **state)
{
	static const char *const cases[] = {"square", "rectangle", "row", "one", "no_class"};
	static const char *const heads[] = {"heads=2", "heads=3", "heads=2", "heads=2", "heads=2"};
	for (int i = 0; i < 5; i++)
		xt_golden_case(*state, "beit", "beit/beit.npz", cases[i], heads[i], 0, 0);
}

static void resamples_and_keeps_the_class_rows(void **state)
{
	xt_golden_case(*state, "beit", "beit/beit.npz", "grown", "heads=2", 1e-12, 1e-12);
	xt_golden_case(*state, "beit", "beit/beit.npz", "grown", "heads=2,pretrained_window=3/3", 1e-12, 1e-12);
}

/* n, n + 1 and n + 2, for each of two prefix tokens. */
static void takes_every_prefix_token_for_the_class(void **state)
{
	enum { N = 3 * 4, P = 2, ALL = N + P, ROWS = 5 * 7 };
	pe_domain *domain = xt_grid(*state, 3, 4, P);
	pe_encoding *e = xt_encode(*state, "beit", "", domain, NULL, NULL, NULL);
	pe_tensor index = xt_computed(e, "relative_position_index");
	const double *x = index.data;
	for (int i = 0; i < ALL; i++)
		for (int j = 0; j < ALL; j++) {
			int row = (int)x[i * ALL + j];
			if (i >= P && j >= P)
				assert_true(row >= 0 && row < ROWS);
			else
				assert_int_equal(row, ROWS + (j >= P ? 0 : i >= P ? 1 : 2));
		}
	free(index.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void refuses_what_it_cannot_place(void **state)
{
	xt_window_refuses(*state, "beit");
}

/* timm computes in f32. */
static void resamples_as_timm_does(void **state)
{
	static const char *const cases[] = {"geometric_grown", "geometric_shrunk", "geometric_from_one"};
	for (int i = 0; i < 3; i++)
		xt_golden_case(*state, "beit", "beit/beit.npz", cases[i], "heads=2,preset=timm", 0, 3e-6);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(resamples_as_timm_does),
		cmocka_unit_test(is_what_timm_computes),
		cmocka_unit_test(resamples_and_keeps_the_class_rows),
		cmocka_unit_test(takes_every_prefix_token_for_the_class),
		cmocka_unit_test(refuses_what_it_cannot_place),
	};
	return xt_run(argc, argv, tests);
}
