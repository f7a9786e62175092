/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "xt.h"

/* The table of an encoder in double precision; the caller frees it. */
static double *table(pe_context *ctx, const char *settings, int64_t length, double offset, int64_t *dim)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, length, offset, &domain), PE_OK);
	double *out = xt_first_array(ctx, "sinusoidal", settings, domain, dim);
	pe_domain_destroy(&domain);
	return out;
}

static void matches_the_formula(void **state)
{
	pe_context *ctx = *state;
	int64_t dim;
	double *p = table(ctx, "dim=8", 50, 0, &dim);
	assert_int_equal(dim, 8);
	for (int64_t i = 0; i < 50; i++)
		for (int64_t t = 0; t < 4; t++) {
			double angle = (double)i / pow(10000, (double)t / 4);
			xt_close_f64(p[i * 8 + 2 * t], sin(angle), 0, 1e-14);
			xt_close_f64(p[i * 8 + 2 * t + 1], cos(angle), 0, 1e-14);
		}
	free(p);
}

/* Published frequencies of the two time scales at dim 8. */
static void knows_both_time_scales(void **state)
{
	pe_context *ctx = *state;
	static const double paper[] = {1, 0.1, 0.01, 0.001}, tensor2tensor[] = {1, 0.0464159, 0.00215443, 0.0001};
	int64_t dim;
	double *a = table(ctx, "dim=8,layout=halves", 2, 0, &dim);
	double *b = table(ctx, "dim=8,preset=tensor2tensor", 2, 0, &dim);
	for (int64_t t = 0; t < 4; t++) {
		xt_close_f64(a[8 + t], sin(paper[t]), 0, 1e-7);
		xt_close_f64(b[8 + t], sin(tensor2tensor[t]), 0, 1e-7);
		xt_close_f64(b[12 + t], cos(tensor2tensor[t]), 0, 1e-7);
	}
	free(a);
	free(b);
}

static void layouts_hold_the_same_columns(void **state)
{
	pe_context *ctx = *state;
	int64_t dim;
	double *a = table(ctx, "dim=10,layout=interleaved", 20, -7.5, &dim);
	double *b = table(ctx, "dim=10,layout=halves", 20, -7.5, &dim);
	for (int64_t i = 0; i < 20; i++)
		for (int64_t t = 0; t < 5; t++) {
			assert_true(a[i * 10 + 2 * t] == b[i * 10 + t]);
			assert_true(a[i * 10 + 2 * t + 1] == b[i * 10 + 5 + t]);
		}
	free(a);
	free(b);
}

static void takes_odd_widths(void **state)
{
	pe_context *ctx = *state;
	int64_t dim;
	double *a = table(ctx, "dim=5", 4, 0, &dim), *b = table(ctx, "dim=5,preset=tensor2tensor", 4, 0, &dim);
	double *one = table(ctx, "dim=1", 4, 0, &dim),
		   *three = table(ctx, "dim=3,preset=tensor2tensor", 4, 0, &dim);
	for (int64_t i = 0; i < 4; i++) {
		xt_close_f64(a[i * 5 + 4], sin((double)i * pow(10000, -0.8)), 0, 1e-15);
		assert_true(b[i * 5 + 4] == 0);
		xt_close_f64(one[i], sin((double)i), 0, 1e-15);
		xt_close_f64(three[i * 3], sin((double)i), 0, 1e-15);
	}
	free(a);
	free(b);
	free(one);
	free(three);
}

static void takes_real_positions(void **state)
{
	pe_context *ctx = *state;
	double at[] = {-3.25, 0, 1e6, 0.5};
	pe_tensor positions = pe_tensor_dense(at, PE_F64, 1, (int64_t[]){4});
	pe_domain *domain;
	assert_int_equal(pe_domain_positions(ctx, &positions, 0, &domain), PE_OK);
	int64_t dim;
	double *p = xt_first_array(ctx, "sinusoidal", "dim=4", domain, &dim);
	for (int64_t i = 0; i < 4; i++) {
		assert_true(p[i * 4] == sin(at[i]));
		xt_close_f64(p[i * 4 + 3], cos(at[i] / 100), 0, 1e-12);
	}
	free(p);
	pe_domain_destroy(&domain);
}

/* x merged with p, each way, in and out of place. */
static void merges_into_features(void **state)
{
	pe_context *ctx = *state;
	static const char *const merges[] = {"add", "multiply", "one_plus", "concat"};
	enum { B = 2, L = 5, D = 6 };
	int64_t dim;
	double *p = table(ctx, "dim=6", L, 0, &dim);
	for (int m = 0; m < 4; m++) {
		pe_params *params;
		pe_domain *domain;
		pe_encoding *e;
		assert_int_equal(pe_params_create(ctx, "sinusoidal", &params), PE_OK);
		assert_int_equal(pe_params_set(params, "dim", "6"), PE_OK);
		assert_int_equal(pe_params_set(params, "merge", merges[m]), PE_OK);
		assert_int_equal(pe_domain_sequence(ctx, L, 0, &domain), PE_OK);
		assert_int_equal(
			pe_encoding_create(ctx, pe_encoder_find("sinusoidal"), params, domain, NULL, &e), PE_OK);
		double x[B * L * D], y[B * L * 2 * D];
		for (int i = 0; i < B * L * D; i++)
			x[i] = i * 0.25 - 3;
		int64_t shape[] = {B, L, D}, out[3];
		assert_int_equal(pe_encoding_apply_shape(e, 3, shape, out), PE_OK);
		assert_int_equal(out[2], m == 3 ? 2 * D : D);
		pe_tensor tx = pe_tensor_dense(x, PE_F64, 3, shape), ty = pe_tensor_dense(y, PE_F64, 3, out);
		assert_int_equal(pe_encoding_apply(e, &tx, &ty), PE_OK);
		for (int b = 0; b < B; b++)
			for (int i = 0; i < L; i++)
				for (int c = 0; c < D; c++) {
					double xv = x[(b * L + i) * D + c], pv = p[i * D + c], yv = y[(b * L + i) * out[2] + c];
					double want = m == 0 ? xv + pv : m == 1 ? xv * pv : m == 2 ? xv * (1 + pv) : xv;
					assert_true(yv == want);
					if (m == 3)
						assert_true(y[(b * L + i) * 2 * D + D + c] == pv);
				}
		if (m < 3) {
			assert_int_equal(pe_encoding_apply(e, &tx, &tx), PE_OK);
			assert_memory_equal(x, y, sizeof x);
		} else {
			assert_int_equal(pe_encoding_apply(e, &tx, &tx), PE_ERR_SHAPE);
		}
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
		pe_params_destroy(&params);
	}
	free(p);
}

/* The stride of a dimension of length 1 says nothing. */
static void works_in_place_on_views_that_are_spelled_differently(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_encoding *e;
	float x[3 * 64] = {0};
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("sinusoidal"), NULL, domain, NULL, &e), PE_OK);
	pe_tensor a = pe_tensor_dense(x, PE_F32, 3, (int64_t[]){1, 3, 64}), b = a;
	b.strides[0] = 1000;
	assert_int_equal(pe_encoding_apply(e, &a, &b), PE_OK);
	assert_true(x[1] == 1 && x[64] == (float)sin(1));
	b.strides[1] = 65;
	assert_int_equal(pe_encoding_apply(e, &a, &b), PE_ERR_ARGUMENT);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void refuses_a_wrong_width(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("sinusoidal"), NULL, domain, NULL, &e), PE_OK);
	int64_t shape[] = {3, 63};
	assert_int_equal(pe_encoding_apply_shape(e, 2, shape, shape), PE_ERR_SHAPE);
	assert_string_equal(pe_context_message(ctx), "sinusoidal: features are 63 wide, and its rows 64");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_formula),
		cmocka_unit_test(knows_both_time_scales),
		cmocka_unit_test(layouts_hold_the_same_columns),
		cmocka_unit_test(takes_odd_widths),
		cmocka_unit_test(takes_real_positions),
		cmocka_unit_test(merges_into_features),
		cmocka_unit_test(works_in_place_on_views_that_are_spelled_differently),
		cmocka_unit_test(refuses_a_wrong_width),
	};
	return xt_run(argc, argv, tests);
}
