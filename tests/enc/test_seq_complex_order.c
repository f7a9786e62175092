/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 2, L = 7, D = 6 };

static void check_golden(pe_context *ctx, const char *file, const char *settings, bool halves, double sign)
{
	pe_bundle *bundle = xt_golden_bundle(ctx, file);
	pe_tensor x = xt_array(bundle, "x"), positions;
	const double *real = xt_array(bundle, "real").data, *imag = xt_array(bundle, "imag").data;
	pe_domain *domain;
	if (pe_bundle_find(bundle, "positions", &positions))
		assert_int_equal(pe_domain_positions(ctx, &positions, 0, &domain), PE_OK);
	else
		assert_int_equal(pe_domain_sequence(ctx, L, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(ctx, "complex_order", settings, domain, NULL, bundle, NULL);
	double y[B * L * 2 * D];
	int64_t shape[3];
	assert_int_equal(pe_encoding_apply_shape(e, 3, x.shape, shape), PE_OK);
	assert_int_equal(shape[2], 2 * D);
	pe_tensor out = pe_tensor_dense(y, PE_F64, 3, shape);
	assert_int_equal(pe_encoding_apply(e, &x, &out), PE_OK);
	for (int i = 0; i < B * L * D; i++) {
		const double *at = y + i / D * 2 * D;
		xt_close_f64(halves ? at[i % D] : at[2 * (i % D)], real[i], 0, 2e-14);
		xt_close_f64(halves ? at[D + i % D] : at[2 * (i % D) + 1], sign * imag[i], 0, 2e-14);
	}
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
}

static void turns_amplitudes(void **state)
{
	check_golden(*state, "complex_order/words.npz", "dim=6,preset=authors", true, 1);
	check_golden(*state, "complex_order/shared.npz", "dim=6", true, 1);
	check_golden(*state, "complex_order/shared.npz", "dim=6,layout=interleaved,conjugate=1", false, -1);
}

/* The array holds what turns, and the dot product of rows depends on the difference of positions. */
static void sees_the_difference_of_positions(void **state)
{
	double near[] = {0, 3, 5}, far[] = {-100.5, -97.5, -95.5};
	double products[2][3];
	for (int k = 0; k < 2; k++) {
		pe_domain *domain = xt_positions(*state, k ? far : near, 3);
		pe_encoding *e = xt_encode(*state, "complex_order", "dim=6", domain, NULL, NULL, NULL);
		double x[3 * D], y[3 * 2 * D];
		for (int i = 0; i < 3 * D; i++)
			x[i] = cos(i * 0.7) + 0.2;
		pe_tensor tx = pe_tensor_dense(x, PE_F64, 2, (int64_t[]){3, D});
		pe_tensor ty = pe_tensor_dense(y, PE_F64, 2, (int64_t[]){3, 2 * D});
		assert_int_equal(pe_encoding_apply(e, &tx, &ty), PE_OK);
		for (int i = 0; i < 3; i++) {
			products[k][i] = 0;
			for (int c = 0; c < 2 * D; c++)
				products[k][i] += y[c] * y[i * 2 * D + c];
		}
		pe_tensor cosine = xt_computed(e, "cos"), sine = xt_computed(e, "sin");
		for (int i = 0; i < 3 * D; i++) {
			const double *at = y + i / D * 2 * D + i % D;
			assert_true(at[0] == x[i] * ((double *)cosine.data)[i]);
			assert_true(at[D] == x[i] * ((double *)sine.data)[i]);
		}
		free(cosine.data), free(sine.data);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
	for (int i = 0; i < 3; i++)
		xt_close_f64(products[0][i], products[1][i], 0, 1e-12);
	assert_true(fabs(products[0][1] - products[0][2]) > 0.1);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	double numbers[2 * D] = {0};
	pe_bundle *bundle;
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, "complex_order", &params), PE_OK);
	xt_set(params, "dim=6");
	pe_tensor frequency = pe_tensor_dense(numbers, PE_F64, 2, (int64_t[]){2, D});
	assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
	assert_int_equal(pe_bundle_add(bundle, "frequency", &frequency), PE_OK);
	pe_encoding_options options = {sizeof options, .weights = bundle};
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("complex_order"), params, domain, &options, &e),
		PE_ERR_SHAPE, "frequency must be (3, 6), and is (2, 6)");
	e = xt_encode(ctx, "complex_order", "dim=6", domain, NULL, NULL, NULL);
	int64_t shape[] = {3, 8};
	xt_fails(
		ctx, pe_encoding_apply_shape(e, 2, shape, shape), PE_ERR_SHAPE, "features are 8 wide, and dim is 6");
	pe_encoding_destroy(&e);
	pe_params_destroy(&params);
	pe_bundle_destroy(&bundle);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_amplitudes),
		cmocka_unit_test(sees_the_difference_of_positions),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
