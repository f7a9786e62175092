/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <string.h>

/* Of tests/golden/learned/NAME.npz: rows from its weight against what the others compute. */
static void check_rows(pe_context *ctx, const char *file, const char *settings, double tolerance)
{
	pe_bundle *bundle = xt_golden_bundle(ctx, file);
	pe_tensor want = xt_array(bundle, "out");
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, want.shape[0], 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(ctx, "learned", settings, domain, NULL, bundle, NULL);
	pe_tensor got = xt_computed(e, "position_encoding");
	assert_int_equal(pe_tensor_count(&got), pe_tensor_count(&want));
	for (int64_t i = 0; i < pe_tensor_count(&got); i++)
		xt_close_f64(((double *)got.data)[i], ((double *)want.data)[i], 0, tolerance);
	free(got.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&bundle);
}

static void is_what_models_add(void **state)
{
	check_rows(*state, "learned/bert.npz", "preset=bert", 0);
	check_rows(*state, "learned/roberta.npz", "preset=roberta", 0);
	check_rows(*state, "learned/bart.npz", "preset=bart", 0);
	check_rows(*state, "learned/x_transformers.npz", "preset=x_transformers", 1e-15);
	check_rows(*state, "learned/hierarchical.npz", "hierarchical=0.4", 1e-14);
}

static pe_encoding *with_rows(pe_context *ctx, const char *settings, const pe_domain *domain, double *rows,
	int64_t count, pe_bundle **bundle)
{
	pe_tensor weight = pe_tensor_dense(rows, PE_F64, 2, (int64_t[]){count, 1});
	assert_int_equal(pe_bundle_create(ctx, bundle), PE_OK);
	assert_int_equal(pe_bundle_add(*bundle, "weight", &weight), PE_OK);
	return xt_encode(ctx, "learned", settings, domain, NULL, *bundle, NULL);
}

/* Published values; and the trained rows bit by bit. */
static void decomposes_positions(void **state)
{
	pe_context *ctx = *state;
	double rows[] = {1, 2, -1, 3};
	static const double want[] = {1, 2, -1, 3, 1.666667, 2.666667, -0.333333, 3.666667};
	pe_domain *domain;
	pe_bundle *bundle;
	assert_int_equal(pe_domain_sequence(ctx, 8, 0, &domain), PE_OK);
	pe_encoding *e = with_rows(ctx, "hierarchical=0.4", domain, rows, 4, &bundle);
	pe_tensor got = xt_computed(e, "position_encoding");
	const double *p = got.data;
	for (int i = 0; i < 8; i++)
		xt_close_f64(p[i], want[i], 0, 1e-6);
	assert_memory_equal(p, rows, sizeof rows);
	free(got.data);
	pe_encoding_destroy(&e);
	pe_bundle_destroy(&bundle);
	pe_domain_destroy(&domain);
}

static void refused_at(pe_context *ctx, const char *settings, double position, const char *text)
{
	pe_domain *domain = xt_positions(ctx, &position, 1);
	xt_encode_refused(ctx, "learned", settings, domain, PE_ERR_RANGE, text);
	pe_domain_destroy(&domain);
}

static void refuses_positions_without_a_row(void **state)
{
	pe_context *ctx = *state;
	refused_at(
		ctx, "max_length=8", 8, "position 8 is not a whole number from 0 to 7: the table has rows for 8");
	refused_at(ctx, "max_length=8", -1, "position -1 is not");
	refused_at(ctx, "max_length=8", 1.5, "position 1.5 is not");
	refused_at(ctx, "max_length=8,hierarchical=0.3", 64, "from 0 to 63: 8 trained rows reach no further");
	refused_at(ctx, "hierarchical=0.5", 0, "the same row");
	pe_domain *domain, *queries;
	assert_int_equal(pe_domain_sequence(ctx, 513, 0, &domain), PE_OK);
	xt_encode_refused(ctx, "learned", "", domain, PE_ERR_RANGE, "position 512 is not");
	pe_domain_destroy(&domain);
	assert_int_equal(pe_domain_sequence(ctx, 512, 0, &domain), PE_OK);
	assert_int_equal(pe_domain_sequence(ctx, 2, 0.5, &queries), PE_OK);
	pe_encoding_options options = {sizeof options, .queries = queries};
	pe_encoding *e;
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("learned"), NULL, domain, &options, &e),
		PE_ERR_RANGE, "position 0.5 is not");
	pe_domain_destroy(&queries);
	pe_domain_destroy(&domain);
}

/* An option that is said holds against the weight; a table with no row after the offset is refused. */
static void refuses_tables_that_do_not_fit(void **state)
{
	pe_context *ctx = *state;
	double rows[4] = {0};
	pe_tensor weight = pe_tensor_dense(rows, PE_F64, 2, (int64_t[]){2, 2});
	static const char *const cases[][2] = {{"dim=4", "the weight weight must be (2, 4), and is (2, 2)"},
		{"max_length=3", "must be (3, 2), and is (2, 2)"}, {"preset=roberta", "no row after the first 2"}};
	pe_domain *domain;
	pe_bundle *bundle;
	assert_int_equal(pe_domain_sequence(ctx, 1, 0, &domain), PE_OK);
	assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
	assert_int_equal(pe_bundle_add(bundle, "weight", &weight), PE_OK);
	for (int k = 0; k < 3; k++) {
		pe_params *params;
		pe_encoding *e;
		pe_encoding_options options = {sizeof options, .weights = bundle};
		assert_int_equal(pe_params_create(ctx, "learned", &params), PE_OK);
		xt_set(params, cases[k][0]);
		xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("learned"), params, domain, &options, &e),
			PE_ERR_SHAPE, cases[k][1]);
		pe_params_destroy(&params);
	}
	pe_bundle_destroy(&bundle);
	pe_domain_destroy(&domain);
}

/* Gather at positions in any order, in batches of their own. */
static void gathers_rows(void **state)
{
	pe_context *ctx = *state;
	double at[] = {3, 0, 0, 1, 2, 3}, rows[] = {10, 11, 12, 13};
	pe_tensor positions = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){2, 3});
	pe_domain *domain;
	pe_bundle *bundle;
	assert_int_equal(pe_domain_positions(ctx, &positions, 0, &domain), PE_OK);
	pe_encoding *e = with_rows(ctx, "merge=one_plus", domain, rows, 4, &bundle);
	double x[] = {1, 1, 2, 1, 1, 0.5};
	pe_tensor features = pe_tensor_dense(x, PE_F64, 3, (int64_t[]){2, 3, 1});
	assert_int_equal(pe_encoding_apply(e, &features, &features), PE_OK);
	static const double want[] = {14, 11, 22, 12, 13, 7};
	assert_memory_equal(x, want, sizeof x);
	pe_encoding_destroy(&e);
	pe_bundle_destroy(&bundle);
	pe_domain_destroy(&domain);
}

static void begins_normal(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 512, 0, &domain), PE_OK);
	double *p = xt_first_array(*state, "learned", "", domain, NULL), mean = 0, square = 0;
	for (int i = 0; i < 512 * 64; i++)
		mean += p[i] / (512 * 64), square += p[i] * p[i] / (512 * 64);
	xt_close_f64(mean, 0, 0, 5e-4);
	xt_close_f64(sqrt(square), 0.02, 0.02, 0);
	free(p);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_models_add),
		cmocka_unit_test(decomposes_positions),
		cmocka_unit_test(refuses_positions_without_a_row),
		cmocka_unit_test(refuses_tables_that_do_not_fit),
		cmocka_unit_test(gathers_rows),
		cmocka_unit_test(begins_normal),
	};
	return xt_run(argc, argv, tests);
}
