/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void samples_as_scipy_does(void **state)
{
	static const int cases[][2] = {{3, 4}, {3, 7}, {1, 5}, {2, 3}, {5, 8}};
	pe_bundle *bundle = xt_golden_bundle(*state, "spline/spline.npz");
	for (int k = 0; k < 5; k++) {
		char name[32], settings[80];
		snprintf(name, sizeof name, "d%dp%d.x", cases[k][0], cases[k][1]);
		pe_tensor x = xt_array(bundle, name);
		name[strlen(name) - 1] = 'y';
		pe_tensor want = xt_array(bundle, name), got = want;
		pe_domain *domain;
		int64_t shape[3];
		snprintf(settings, sizeof settings, "dim=3,stage=sample,degree=%d,control_points=%d", cases[k][0],
			cases[k][1]);
		assert_int_equal(pe_domain_sequence(*state, x.shape[1], 0, &domain), PE_OK);
		pe_encoding *e = xt_encode(*state, "spline", settings, domain, NULL, NULL, NULL);
		assert_int_equal(pe_encoding_apply_shape(e, 3, x.shape, shape), PE_OK);
		assert_memory_equal(shape, want.shape, sizeof shape);
		double y[2 * 11 * 3];
		got.data = y;
		assert_int_equal(pe_encoding_apply(e, &x, &got), PE_OK);
		for (int64_t i = 0; i < pe_tensor_count(&want); i++)
			xt_close_f64(y[i], ((double *)want.data)[i], 1e-13, 1e-13);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
	pe_bundle_destroy(&bundle);
}

static double *weights_at(pe_context *ctx, const char *settings, const double *positions, int64_t count)
{
	pe_domain *domain = xt_positions(ctx, positions, count);
	pe_encoding *e = xt_encode(ctx, "spline", settings, domain, NULL, NULL, NULL);
	pe_tensor got = xt_computed(e, "spline_weights");
	assert_int_equal(got.shape[0], count);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	return got.data;
}

/* The published cubic basis at the ends and in the middle, by positions of any kind; and a single one. */
static void knows_the_cubic_basis(void **state)
{
	static const double positions[] = {-1, 1.5, 4};
	static const double want[] = {1 / 6.0, 2 / 3.0, 1 / 6.0, 0, 0.0208333, 0.4791667, 0.4791667, 0.0208333, 0,
		1 / 6.0, 2 / 3.0, 1 / 6.0};
	double *got = weights_at(*state, "", positions, 3);
	for (int i = 0; i < 12; i++)
		xt_close_f64(got[i], want[i], 0, 5e-8);
	free(got);
	got = weights_at(*state, "", positions, 1);
	for (int i = 0; i < 4; i++)
		xt_close_f64(got[i], want[i], 0, 5e-8);
	free(got);
}

/* Weights are of no sign, sum to 1, and reproduce what is linear in the control points. */
static void makes_affine_sums(void **state)
{
	double positions[40];
	for (int i = 0; i < 40; i++)
		positions[i] = i;
	for (int degree = 1; degree <= 7; degree++) {
		char settings[64];
		snprintf(settings, sizeof settings, "control_points=11,degree=%d", degree);
		double *w = weights_at(*state, settings, positions, 40);
		for (int i = 0; i < 40; i++) {
			double sum = 0, line = 0;
			for (int k = 0; k < 11; k++) {
				assert_true(w[i * 11 + k] >= 0);
				sum += w[i * 11 + k], line += k * w[i * 11 + k];
			}
			xt_close_f64(sum, 1, 1e-14, 0);
			xt_close_f64(line, (degree - 1) / 2.0 + i / 39.0 * (11 - degree), 1e-13, 1e-13);
		}
		free(w);
	}
}

static void prepends_control_tokens(void **state)
{
	pe_context *ctx = *state;
	double control[] = {1, 2, 3, 4, 5, 6, 7, 8}, x[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25},
		   y[28];
	pe_tensor weight = pe_tensor_dense(control, PE_F64, 2, (int64_t[]){4, 2});
	pe_domain *domain;
	pe_bundle *bundle;
	int64_t shape[] = {2, 3, 2}, out[3];
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
	assert_int_equal(pe_bundle_add(bundle, "control_tokens", &weight), PE_OK);
	pe_encoding *e = xt_encode(ctx, "spline", "dim=2", domain, NULL, bundle, NULL);
	assert_int_equal(pe_encoding_apply_shape(e, 3, shape, out), PE_OK);
	assert_int_equal(out[1], 7);
	pe_tensor tx = pe_tensor_dense(x, PE_F64, 3, shape), ty = pe_tensor_dense(y, PE_F64, 3, out);
	assert_int_equal(pe_encoding_apply(e, &tx, &ty), PE_OK);
	for (int b = 0; b < 2; b++) {
		assert_memory_equal(y + b * 14, control, sizeof control);
		assert_memory_equal(y + b * 14 + 8, x + b * 6, 6 * sizeof *x);
	}
	assert_int_equal(pe_encoder_sites(pe_encoder_find("spline")), PE_SITE_SEQUENCE);
	pe_encoding_destroy(&e);
	pe_bundle_destroy(&bundle);
	pe_domain_destroy(&domain);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	xt_encode_refused(ctx, "spline", "control_points=3", domain, PE_ERR_RANGE,
		"a spline of degree 3 needs 4 control points");
	xt_encode_refused(ctx, "spline", "stage=sample", domain, PE_ERR_SHAPE,
		"the 3 tokens are fewer than the 4 control points");
	pe_encoding *e = xt_encode(ctx, "spline", "dim=4", domain, NULL, NULL, NULL);
	int64_t shape[] = {3, 8};
	xt_fails(
		ctx, pe_encoding_apply_shape(e, 2, shape, shape), PE_ERR_SHAPE, "features are 8 wide, and dim is 4");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_as_scipy_does),
		cmocka_unit_test(knows_the_cubic_basis),
		cmocka_unit_test(makes_affine_sums),
		cmocka_unit_test(prepends_control_tokens),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
