/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

static double *slopes(pe_context *ctx, const char *settings, int64_t *heads)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	double *out = xt_first_array(ctx, "alibi", settings, domain, heads);
	pe_domain_destroy(&domain);
	return out;
}

/* What get_slopes of the authors' code and of transformers' Bloom give. */
static void has_the_slopes_of_released_models(void **state)
{
	static const double three[] = {0.0625, 0.00390625, 0.25};
	static const double six[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
	static const double twelve[] = {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625,
		0.7071067811865476, 0.35355339059327379, 0.17677669529663689, 0.088388347648318447};
	static const struct {
		const char *settings;
		int64_t heads;
		const double *slopes;
	} cases[] = {{"heads=3", 3, three}, {"heads=6", 6, six}, {"heads=12", 12, twelve}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		int64_t heads;
		double *got = slopes(*state, cases[k].settings, &heads);
		assert_int_equal(heads, cases[k].heads);
		for (int64_t h = 0; h < heads; h++)
			xt_close_f64(got[h], cases[k].slopes[h], 1e-15, 0);
		free(got);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_slopes_of_released_models),
	};
	return xt_run(argc, argv, tests);
}
