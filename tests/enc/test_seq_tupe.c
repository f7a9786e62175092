/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The steps of the authors' encoder in torch, f64. */
static void equals_the_authors_encoder(void **state)
{
	static const char *const cases[][2] = {
		{"absolute", "heads=3,dim=12"},
		{"relative", "heads=2,dim=8,relative=1,max_distance=20"},
		{"whole", "heads=2,dim=8,max_length=20,relative=1,buckets=16,max_distance=20,cls=0"},
		{"packed", "heads=2,dim=8,max_length=40,relative=1,buckets=8,max_distance=20"},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
		xt_golden_case(*state, "tupe", "tupe/tupe.npz", cases[k][0], cases[k][1], 1e-12, 1e-13);
}

/* The golden weights with the projection apart: each side's is half of pos_proj. */
static pe_bundle *apart(pe_context *ctx, const pe_bundle *golden, const char *prefix)
{
	static const char *const names[] = {"pos.weight", "pos_ln.weight", "pos_ln.bias"};
	static const char *const kinds[] = {"weight", "bias"};
	char name[80];
	pe_bundle *out;
	pe_tensor tensor;
	assert_int_equal(pe_bundle_create(ctx, &out), PE_OK);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "%s.%s", prefix, names[i]);
		assert_true(pe_bundle_find(golden, name, &tensor));
		assert_int_equal(pe_bundle_add(out, names[i], &tensor), PE_OK);
	}
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "%s.pos_proj.%s", prefix, kinds[i % 2]);
		assert_true(pe_bundle_find(golden, name, &tensor));
		tensor.shape[0] /= 2;
		tensor.data = (char *)tensor.data +
			(i / 2) * tensor.shape[0] * tensor.strides[0] * (int64_t)pe_dtype_size(tensor.dtype);
		snprintf(name, sizeof name, "pos_%c_linear.%s", "qk"[i / 2], kinds[i % 2]);
		assert_int_equal(pe_bundle_add(out, name, &tensor), PE_OK);
	}
	return out;
}

static void takes_projections_apart(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *golden = NULL;
	pe_domain *domain;
	assert_int_equal(pe_bundle_from_file(ctx, xt_source("tests/golden/tupe/tupe.npz"), NULL, &golden), PE_OK);
	pe_bundle *weights = apart(ctx, golden, "absolute");
	assert_int_equal(pe_domain_sequence(ctx, 9, 0, &domain), PE_OK);
	pe_encoding *a = xt_encode(ctx, "tupe", "heads=3,dim=12", domain, NULL, golden, "absolute");
	pe_encoding *b = xt_encode(ctx, "tupe", "heads=3,dim=12", domain, NULL, weights, NULL);
	pe_tensor x = xt_computed(a, "bias"), y = xt_computed(b, "bias");
	assert_memory_equal(x.data, y.data, (size_t)pe_tensor_bytes(&x));
	free(x.data);
	free(y.data);
	pe_encoding_destroy(&a);
	pe_encoding_destroy(&b);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&weights);
	pe_bundle_destroy(&golden);
}

/* The class token has one number for its row, its corner in it, and another for its column. */
static void treats_the_class_token_apart(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 9, 0, &domain), PE_OK);
	pe_encoding *e = xt_encode(*state, "tupe", "heads=2", domain, NULL, NULL, NULL);
	pe_tensor bias = xt_computed(e, "bias");
	for (int h = 0; h < 2; h++) {
		const double *b = (double *)bias.data + h * 81;
		for (int k = 1; k < 9; k++) {
			xt_close_f64(b[k], b[0], 0, 0);
			xt_close_f64(b[k * 9], b[9], 0, 0);
		}
		assert_true(fabs(b[0] - b[9]) > 1e-6 && fabs(b[10] - b[9]) > 1e-6 && fabs(b[11] - b[19]) > 1e-6);
	}
	assert_false(xt_has_array(e, "bias_table"));
	free(bias.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* Rows by position: later queries alone, and tokens in another order. */
static void goes_by_positions(void **state)
{
	static const double order[] = {3, 0, 2, 1};
	xt_last_queries_give_last_rows(*state, "tupe", "relative=1", "bias");
	pe_domain *sequence, *shuffled = xt_positions(*state, order, 4);
	assert_int_equal(pe_domain_sequence(*state, 4, 0, &sequence), PE_OK);
	pe_encoding *a = xt_encode(*state, "tupe", "heads=1,relative=1", sequence, NULL, NULL, NULL);
	pe_encoding *b = xt_encode(*state, "tupe", "heads=1,relative=1", shuffled, NULL, NULL, NULL);
	pe_tensor x = xt_computed(a, "bias"), y = xt_computed(b, "bias");
	for (int n = 0; n < 16; n++)
		xt_close_f64(
			((double *)y.data)[n], ((double *)x.data)[(int)order[n / 4] * 4 + (int)order[n % 4]], 0, 0);
	free(x.data);
	free(y.data);
	pe_encoding_destroy(&a);
	pe_encoding_destroy(&b);
	pe_domain_destroy(&sequence);
	pe_domain_destroy(&shuffled);
}

/* Scores of tokens are q·k / sqrt(2 width), also where width is not dim/heads. */
static void attends_with_half_the_scale(void **state)
{
	double q[] = {1, 2}, k[] = {3, 1, -1, 2}, v[] = {1, 0, 0, 1}, out[2];
	pe_domain *keys, *query;
	assert_int_equal(pe_domain_sequence(*state, 2, 0, &keys), PE_OK);
	assert_int_equal(pe_domain_tail(*state, keys, 1, &query), PE_OK);
	pe_encoding *e = xt_encode(*state, "tupe", "heads=1", keys, query, NULL, NULL);
	pe_tensor bias = xt_computed(e, "bias");
	const double *b = bias.data;
	xt_attend_plain(*state, e, false, 1, 1, 2, 2, q, k, v, out);
	double first = 5. / 2 + b[0], second = 3. / 2 + b[1];
	xt_close_f64(out[0], 1 / (1 + exp(second - first)), 1e-14, 0);
	free(bias.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&query);
	pe_domain_destroy(&keys);
}

static void refuses_what_has_no_row(void **state)
{
	static const double half[] = {0, 1.5}, negative[] = {-1}, far[] = {512};
	pe_domain *domains[] = {xt_positions(*state, half, 2), xt_positions(*state, negative, 1),
		xt_positions(*state, far, 1), xt_positions(*state, half, 1)};
	xt_encode_refused(*state, "tupe", "", domains[0], PE_ERR_RANGE,
		"tupe: position 1.5 has no row: positions must be whole numbers from 0 to max_length-1 = 511");
	xt_encode_refused(*state, "tupe", "", domains[1], PE_ERR_RANGE,
		"tupe: position -1 has no row: positions must be whole numbers from 0 to max_length-1 = 511");
	xt_encode_refused(*state, "tupe", "", domains[2], PE_ERR_RANGE,
		"tupe: position 512 has no row: positions must be whole numbers from 0 to max_length-1 = 511");
	xt_encode_refused(
		*state, "tupe", "heads=7", domains[3], PE_ERR_RANGE, "tupe: dim 64 cannot be split between 7 heads");
	xt_encode_refused(*state, "tupe", "buckets=16", domains[3], PE_ERR_RANGE, "no effect with relative=0");
	xt_encode_refused(
		*state, "tupe", "max_distance=9", domains[3], PE_ERR_RANGE, "no effect with relative=0");
	xt_encode_refused(*state, "tupe", "relative=1,buckets=7", domains[3], PE_ERR_RANGE,
		"tupe: 7 buckets cannot be halved between keys before and after the query: give an even number");
	for (int k = 0; k < 4; k++)
		pe_domain_destroy(&domains[k]);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_authors_encoder),
		cmocka_unit_test(takes_projections_apart),
		cmocka_unit_test(treats_the_class_token_apart),
		cmocka_unit_test(goes_by_positions),
		cmocka_unit_test(attends_with_half_the_scale),
		cmocka_unit_test(refuses_what_has_no_row),
	};
	return xt_run(argc, argv, tests);
}
