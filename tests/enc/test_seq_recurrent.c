/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 2, L = 12, D = 5 };

/* y of features through the golden weights. */
static void apply(pe_context *ctx, const pe_bundle *bundle, const char *settings, pe_tensor *x, double *y)
{
	pe_domain *domain;
	int64_t shape[3];
	assert_int_equal(pe_domain_sequence(ctx, L, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(ctx, "recurrent", settings, domain, NULL, bundle, NULL);
	assert_int_equal(pe_encoding_apply_shape(e, 3, x->shape, shape), PE_OK);
	pe_tensor out = pe_tensor_dense(y, PE_F64, 3, shape);
	assert_int_equal(pe_encoding_apply(e, x, &out), PE_OK);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static double merged(int merge, double x, double h)
{
	return merge == 0 ? x + h : merge == 1 ? x * h : merge == 2 ? x * (1 + h) : h;
}

/* Each way of merging what torch computes; concat last. */
static void runs_as_torch_does_over_features(void **state)
{
	static const char *const kinds[] = {"gru", "recursion"};
	static const char *const merges[] = {"add", "multiply", "one_plus", "replace"};
	double y[B * L * 2 * D];
	for (int n = 0; n < 8; n++) {
		char file[64], settings[80];
		snprintf(file, sizeof file, "recurrent/%s.npz", kinds[n / 4]);
		pe_bundle *bundle = xt_golden_bundle(*state, file);
		pe_tensor x = xt_array(bundle, "x"), h = xt_array(bundle, "h");
		const double *xs = x.data, *hs = h.data;
		snprintf(settings, sizeof settings, "dim=5,kind=%s,merge=%s", kinds[n / 4], merges[n % 4]);
		apply(*state, bundle, settings, &x, y);
		for (int i = 0; i < B * L * D; i++)
			xt_close_f64(y[i], merged(n % 4, xs[i], hs[i]), 0, 1e-14);
		snprintf(settings, sizeof settings, "dim=5,kind=%s,merge=concat", kinds[n / 4]);
		apply(*state, bundle, settings, &x, y);
		for (int i = 0; i < B * L * D; i++) {
			assert_true(y[i / D * 2 * D + i % D] == xs[i]);
			xt_close_f64(y[i / D * 2 * D + D + i % D], hs[i], 0, 1e-14);
		}
		pe_bundle_destroy(&bundle);
	}
}

static void makes_rows_as_torch_does_over_zeros(void **state)
{
	static const char *const kinds[] = {"gru", "recursion"};
	double at[] = {11, 0, 3, 3};
	for (int k = 0; k < 2; k++) {
		char file[64], settings[80];
		snprintf(file, sizeof file, "recurrent/%s.npz", kinds[k]);
		pe_bundle *bundle = xt_golden_bundle(*state, file);
		pe_tensor want = xt_array(bundle, "rows");
		const double *rows = want.data;
		pe_domain *domain = xt_positions(*state, at, 4);
		snprintf(settings, sizeof settings, "dim=5,kind=%s,target=positions", kinds[k]);
		pe_encoding *e = xt_encode(*state, "recurrent", settings, domain, NULL, bundle, NULL);
		pe_tensor got = xt_computed(e, "position_encoding");
		const double *p = got.data;
		for (int i = 0; i < 4 * D; i++)
			xt_close_f64(p[i], rows[(int)at[i / D] * D + i % D], 0, 1e-14);
		free(got.data);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
		pe_bundle_destroy(&bundle);
	}
}

/* A later token changes no earlier one; an earlier one changes all later. */
static void looks_back_alone(void **state)
{
	pe_bundle *bundle = xt_golden_bundle(*state, "recurrent/gru.npz");
	pe_tensor x = xt_array(bundle, "x");
	double copy[B * L * D], a[B * L * D], b[B * L * D];
	apply(*state, bundle, "preset=neishi,dim=5", &x, a);
	memcpy(copy, x.data, sizeof copy);
	copy[6 * D] += 1;
	x.data = copy;
	apply(*state, bundle, "preset=neishi,dim=5", &x, b);
	assert_memory_equal(a, b, 6 * D * sizeof *a);
	for (int i = 6; i < L; i++)
		assert_true(a[i * D] != b[i * D]);
	assert_memory_equal(a + L * D, b + L * D, L * D * sizeof *a);
	pe_bundle_destroy(&bundle);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0.5, &domain), PE_OK);
	xt_encode_refused(
		ctx, "recurrent", "target=positions", domain, PE_ERR_RANGE, "position 0.5 is not a whole");
	pe_encoding *e = xt_encode(ctx, "recurrent", "dim=4", domain, NULL, NULL, NULL);
	int64_t shape[] = {3, 8};
	xt_fails(
		ctx, pe_encoding_apply_shape(e, 2, shape, shape), PE_ERR_SHAPE, "features are 8 wide, and dim is 4");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	assert_int_equal(pe_domain_sequence(ctx, 5, 0, &domain), PE_OK);
	xt_encode_refused(
		ctx, "recurrent", "target=positions,max_length=4", domain, PE_ERR_RANGE, "0 to 3: max_length is 4");
	xt_encode_refused(
		ctx, "recurrent", "target=positions,merge=replace", domain, PE_ERR_RANGE, "would lose the features");
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_as_torch_does_over_features),
		cmocka_unit_test(makes_rows_as_torch_does_over_zeros),
		cmocka_unit_test(looks_back_alone),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
