/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <string.h>

static void check_rows(
	pe_context *ctx, const char *file, const char *settings, const double *positions, double tolerance)
{
	pe_bundle *bundle = xt_golden_bundle(ctx, file);
	pe_tensor want = xt_array(bundle, "out");
	double counted[64];
	for (int i = 0; i < want.shape[0]; i++)
		counted[i] = positions ? positions[i] : i;
	pe_domain *domain = xt_positions(ctx, counted, want.shape[0]);
	pe_encoding *e = xt_encode(ctx, "floater", settings, domain, NULL, bundle, NULL);
	pe_tensor got = xt_computed(e, "position_encoding");
	assert_int_equal(pe_tensor_count(&got), pe_tensor_count(&want));
	for (int64_t i = 0; i < pe_tensor_count(&got); i++)
		xt_close_f64(((double *)got.data)[i], ((double *)want.data)[i], tolerance, tolerance);
	free(got.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
}

static void is_what_torchdiffeq_computes(void **state)
{
	check_rows(*state, "floater/euler.npz", "dim=6,solver=euler,step=0.3,substeps=1", NULL, 1e-13);
	check_rows(*state, "floater/midpoint.npz", "dim=6,step=0.1", NULL, 1e-13);
	check_rows(*state, "floater/rk4.npz", "dim=6,solver=rk4,step=0.2,substeps=2", NULL, 1e-13);
}

/* Against a solver of order 8 with small errors, forwards to 3.5 and backwards to -2.25; the kinks of relu
 * keep the order of all down. */
static void goes_to_real_and_negative_positions(void **state)
{
	static const double positions[] = {3.5, -2.25};
	check_rows(*state, "floater/real.npz", "dim=6,solver=rk4,step=0.1,substeps=500", positions, 2e-5);
	check_rows(*state, "floater/real.npz", "dim=6,solver=midpoint,step=0.1,substeps=500", positions, 2e-5);
	check_rows(*state, "floater/real.npz", "dim=6,solver=euler,step=0.1,substeps=2000", positions, 1e-3);
}

static void adds_to_queries_keys_and_values(void **state)
{
	xt_attend_file(*state, "floater/attention.npz", "floater:dim=6,heads=2,preset=floater", false, 1e-13);
	pe_bundle *bundle = xt_golden_bundle(*state, "floater/attention.npz");
	pe_tensor want = xt_array(bundle, "bias");
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, want.shape[0], 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "floater", "dim=6,heads=2,preset=floater", domain, NULL, bundle, NULL);
	pe_tensor got = xt_computed(e, "projection_bias");
	assert_int_equal(got.ndim, 3);
	for (int64_t i = 0; i < pe_tensor_count(&want); i++)
		xt_close_f64(((double *)got.data)[i], ((double *)want.data)[i], 0, 1e-13);
	free(got.data);
	int64_t shape[] = {8, 6};
	xt_fails(*state, pe_encoding_apply_shape(e, 2, shape, shape), PE_ERR_UNSUPPORTED, "not on tokens");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
}

/* Order and repetition of positions change nothing; batches have their own. */
static void depends_on_the_position_alone(void **state)
{
	double at[] = {4, -1, 2.5, 0, 4, 1, 7, -1};
	pe_tensor positions = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){2, 4});
	pe_domain *domain, *one;
	assert_int_equal(pe_domain_positions(*state, &positions, 0, &domain), PE_OK);
	double *all = xt_first_array(*state, "floater", "dim=5", domain, NULL);
	for (int i = 0; i < 8; i++) {
		one = xt_positions(*state, at + i, 1);
		double *single = xt_first_array(*state, "floater", "dim=5", one, NULL);
		assert_memory_equal(single, all + i * 5, 5 * sizeof *single);
		free(single);
		pe_domain_destroy(&one);
	}
	free(all);
	pe_domain_destroy(&domain);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	double far = -5000;
	pe_domain *domain = xt_positions(ctx, &far, 1);
	xt_encode_refused(
		ctx, "floater", "", domain, PE_ERR_RANGE, "position -5000 is further from 0 than max_length");
	pe_domain_destroy(&domain);
	assert_int_equal(pe_domain_sequence(ctx, 2, 0, &domain), PE_OK);
	xt_encode_refused(ctx, "floater", "target=qkv,dim=6,heads=4", domain, PE_ERR_RANGE,
		"dim 6 is not a multiple of heads 4");
	pe_encoding *e = xt_encode(ctx, "floater", "target=qkv,dim=8,heads=4", domain, NULL, NULL, NULL);
	int64_t width;
	xt_fails(ctx, pe_encoding_rotate_width(e, PE_KEYS, 3, &width), PE_ERR_SHAPE,
		"a head is 3 wide, and dim / heads is 2");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_torchdiffeq_computes),
		cmocka_unit_test(goes_to_real_and_negative_positions),
		cmocka_unit_test(adds_to_queries_keys_and_values),
		cmocka_unit_test(depends_on_the_position_alone),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
