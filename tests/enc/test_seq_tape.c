/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>

#include "xt_attend.h"

static void compare(pe_context *ctx, const char *golden, const char *settings, int64_t tokens, int64_t length)
{
	pe_bundle *bundle = xt_golden_bundle(ctx, "tape/table.npz");
	pe_tensor want = xt_array(bundle, golden);
	pe_domain *domain;
	int64_t dim;
	assert_int_equal(pe_domain_sequence(ctx, tokens, 0, &domain), PE_OK);
	double *got = xt_first_array(ctx, "tape", settings, domain, &dim);
	assert_int_equal(want.shape[0], length);
	assert_int_equal(want.shape[1], dim);
	for (int64_t i = 0; i < tokens * dim; i++)
		xt_close_f64(got[i], ((double *)want.data)[i], 0, 1e-14);
	free(got);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
}

static void is_what_convtran_computes(void **state)
{
	compare(*state, "even", "dim=8", 16, 16);
	compare(*state, "scaled", "dim=6,scale=0.5", 50, 50);
	compare(*state, "scaled", "dim=6,scale=0.5,length=50", 20, 50); /* a shorter series */
}

/* Angles of position 1, dim 8, L 16: 0.5, 0.05, 0.005, 0.0005. An odd dim ends in a sine. */
static void fits_the_length(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 16, 0, &domain), PE_OK);
	double *even = xt_first_array(*state, "tape", "dim=8", domain, NULL);
	double *odd = xt_first_array(*state, "tape", "dim=5,length=10", domain, NULL);
	for (int t = 0; t < 4; t++) {
		double angle = 0.5 * pow(10, -t);
		xt_close_f64(even[8 + 2 * t], sin(angle), 1e-14, 0);
		xt_close_f64(even[8 + 2 * t + 1], cos(angle), 1e-14, 0);
	}
	xt_close_f64(odd[3 * 5 + 4], sin(3 * pow(10000, -0.8) * 0.5), 1e-14, 0);
	free(even);
	free(odd);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_convtran_computes),
		cmocka_unit_test(fits_the_length),
	};
	return xt_run(argc, argv, tests);
}
