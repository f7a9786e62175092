/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void check_golden(pe_context *ctx, const char *name, const char *settings)
{
	char file[64];
	snprintf(file, sizeof file, "conv/%s.npz", name);
	pe_bundle *bundle = xt_golden_bundle(ctx, file);
	pe_tensor x = xt_array(bundle, "x"), want = xt_array(bundle, "y"), got = want;
	pe_domain *domain;
	int64_t shape[PE_MAX_DIMS];
	assert_int_equal(pe_domain_sequence(ctx, x.shape[1], 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(ctx, "conv", settings, domain, NULL, bundle, NULL);
	assert_int_equal(pe_encoding_apply_shape(e, 3, x.shape, shape), PE_OK);
	assert_memory_equal(shape, want.shape, 3 * sizeof *shape);
	got.data = malloc((size_t)pe_tensor_bytes(&got));
	assert_int_equal(pe_encoding_apply(e, &x, &got), PE_OK);
	for (int64_t i = 0; i < pe_tensor_count(&got); i++)
		xt_close_f64(((double *)got.data)[i], ((double *)want.data)[i], 1e-13, 1e-13);
	free(got.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
}

/* By each name that checkpoints use; sizes from the weights alone. */
static void is_what_wav2vec2_computes(void **state)
{
	check_golden(*state, "even", "");
	check_golden(*state, "odd", "");
	check_golden(*state, "longer", "");
}

static void is_what_torch_computes_with_other_padding(void **state)
{
	check_golden(*state, "none", "padding=none");
	check_golden(*state, "reflect", "padding=reflect");
	check_golden(*state, "circular", "padding=circular");
}

enum { L = 24, D = 4 };

/* y of x moved on by `shift` tokens, round the end; returns the number of tokens of y. */
static int64_t run(pe_context *ctx, const char *settings, const double *x, int shift, double *y)
{
	double moved[L * D];
	for (int i = 0; i < L * D; i++)
		moved[i] = x[(i + shift * D) % (L * D)];
	pe_domain *domain;
	int64_t shape[] = {L, D}, out[2];
	assert_int_equal(pe_domain_sequence(ctx, L, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(ctx, "conv", settings, domain, NULL, NULL, NULL);
	assert_int_equal(pe_encoding_apply_shape(e, 2, shape, out), PE_OK);
	pe_tensor tx = pe_tensor_dense(moved, PE_F64, 2, shape), ty = pe_tensor_dense(y, PE_F64, 2, out);
	assert_int_equal(pe_encoding_apply(e, &tx, &ty), PE_OK);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	return out[0];
}

static double largest_difference(const double *a, const double *b, int64_t n)
{
	double most = 0;
	for (int64_t i = 0; i < n; i++)
		most = fmax(most, fabs(a[i] - b[i]));
	return most;
}

/* A token's output moves with its input: exactly without padding and round a circle, never with zeros. */
static void has_position_from_zeros_alone(void **state)
{
	double x[L * D], a[L * D], b[L * D];
	for (int i = 0; i < L * D; i++)
		x[i] = sin(i * i * 0.37);
	assert_int_equal(run(*state, "dim=4,groups=2,kernel=7,padding=circular", x, 0, a), L);
	run(*state, "dim=4,groups=2,kernel=7,padding=circular", x, 5, b);
	assert_true(largest_difference(a + 5 * D, b, (L - 5) * D) == 0);
	assert_true(largest_difference(a, b + (L - 5) * D, 5 * D) == 0);
	assert_int_equal(run(*state, "dim=4,groups=2,kernel=7,padding=none", x, 0, a), L - 6);
	run(*state, "dim=4,groups=2,kernel=7,padding=none", x, 5, b);
	assert_true(largest_difference(a + 5 * D, b, (L - 6 - 5) * D) == 0);
	run(*state, "dim=4,groups=2,kernel=7", x, 0, a);
	run(*state, "dim=4,groups=2,kernel=7", x, 5, b);
	assert_true(largest_difference(a + 5 * D, b, (L - 5) * D) > 0.01);
}

/* Equal tokens stay equal with every padding but zeros, with which no two stay so near the ends. */
static void leaves_equal_tokens_equal_without_zeros(void **state)
{
	static const char *const paddings[] = {"zero", "none", "reflect", "circular"};
	double x[L * D], y[L * D];
	for (int i = 0; i < L * D; i++)
		x[i] = 1 + i % D;
	for (int p = 0; p < 4; p++) {
		char settings[64];
		snprintf(settings, sizeof settings, "dim=4,groups=1,kernel=9,padding=%s", paddings[p]);
		int64_t tokens = run(*state, settings, x, 0, y);
		for (int64_t i = 1; i < tokens; i++)
			if (p > 0)
				xt_close_f64(largest_difference(y, y + i * D, D), 0, 0, 1e-12);
			else if (i < 5)
				assert_true(largest_difference(y + i * D, y + (i - 1) * D, D) > 1e-3);
	}
}

static void begins_as_the_authors_do(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 1, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "conv", "dim=32,groups=4,kernel=16", domain, NULL, NULL, NULL);
	pe_tensor g = xt_computed(e, "weight_g"), v = xt_computed(e, "weight_v"), bias = xt_computed(e, "bias");
	const double *vs = v.data, *gs = g.data;
	double square = 0;
	for (int64_t i = 0; i < pe_tensor_count(&v); i++)
		square += vs[i] * vs[i];
	xt_close_f64(square / (double)pe_tensor_count(&v), 4.0 / (16 * 32), 0.1, 0);
	for (int t = 0; t < 16; t++)
		square -= gs[t] * gs[t];
	xt_close_f64(square, 0, 0, 1e-12);
	assert_true(((double *)bias.data)[31] == 0);
	free(g.data), free(v.data), free(bias.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	xt_encode_refused(
		ctx, "conv", "dim=6,groups=4", domain, PE_ERR_RANGE, "dim 6 is not a multiple of groups 4");
	static const char *const cases[][2] = {{"dim=4,groups=2", "features are 8 wide, and dim is 4"},
		{"dim=8,groups=2,kernel=4,padding=none", "3 tokens are too few for kernel 4"},
		{"dim=8,groups=2,kernel=6,padding=reflect", "3 tokens are too few to reflect"}};
	for (int k = 0; k < 3; k++) {
		int64_t shape[] = {3, 8};
		pe_encoding *e = xt_encode(ctx, "conv", cases[k][0], domain, NULL, NULL, NULL);
		xt_fails(ctx, pe_encoding_apply_shape(e, 2, shape, shape), PE_ERR_SHAPE, cases[k][1]);
		pe_encoding_destroy(&e);
	}
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_wav2vec2_computes),
		cmocka_unit_test(is_what_torch_computes_with_other_padding),
		cmocka_unit_test(has_position_from_zeros_alone),
		cmocka_unit_test(leaves_equal_tokens_equal_without_zeros),
		cmocka_unit_test(begins_as_the_authors_do),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
