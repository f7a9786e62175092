/* SPDX-License-Identifier: BSD-2-Clause
 * Learned parameters: found by name, checked, or begun from the seed. */
#include "encoder.h"
#include "xt.h"

#include <math.h>
#include <string.h>

/* An encoder that does nothing but ask for four weights. */
enum { ROWS = 4, COLUMNS = 600 };

static pe_status bind(pe_encoding *e)
{
	double *ignored;
	struct pe_initial extra = pe_initial_constant(7), twin = pe_initial_uniform(-2, 3);
	extra.optional = twin.optional = true;
	PE_TRY(
		pe_encoding_weight(e, "table", 2, (int64_t[]){ROWS, COLUMNS}, pe_initial_normal(1, 0.5), &ignored));
	PE_TRY(
		pe_encoding_weight(e, "other", 2, (int64_t[]){ROWS, COLUMNS}, pe_initial_uniform(-2, 3), &ignored));
	PE_TRY(pe_encoding_weight(e, "extra", 0, NULL, extra, &ignored));
	PE_TRY(pe_encoding_weight(e, "twin", 2, (int64_t[]){ROWS, COLUMNS}, twin, &ignored));
	return pe_declare_weights(e);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	pe_compute_weights(e, outs, 0);
	return PE_OK;
}

static const pe_weight_info infos[] = {{"table", "(4, 600)", "N(1, 0.5)", "a table"},
	{"other", "(4, 600)", "U(-2, 3)", "another"}, {"extra", "()", "7", "optional"},
	{"twin", "(4, 600)", "U(-2, 3)", "optional"}};

static const struct pe_encoder encoder = {.table = PE_TABLE_EMPTY("fake"),
	.family = PE_SEQ,
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(infos),
	.bind = bind,
	.compute = compute};

static float values[2][ROWS * COLUMNS];

static void fill_values(void)
{
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < ROWS * COLUMNS; k++)
			values[i][k] = (float)(k + 1) * (i ? -1 : 1);
}

static pe_status bind_to(
	pe_context *ctx, const pe_bundle *weights, const char *prefix, pe_domain **domain, pe_encoding **out)
{
	*out = NULL;
	*domain = NULL;
	PE_TRY(pe_domain_sequence(ctx, 2, 0, domain));
	pe_encoding_options options = {sizeof options, .weights = weights, .prefix = prefix};
	return pe_encoding_create(ctx, &encoder, NULL, *domain, &options, out);
}

struct bound {
	pe_domain *domain;
	pe_encoding *e;
};

static struct bound bound_to(pe_context *ctx, const pe_bundle *weights, const char *prefix)
{
	struct bound b;
	assert_int_equal(bind_to(ctx, weights, prefix, &b.domain, &b.e), PE_OK);
	return b;
}

static void leave(struct bound *b)
{
	pe_encoding_destroy(&b->e);
	pe_domain_destroy(&b->domain);
}

static const double *weight(const struct bound *b, int64_t index)
{
	const char *name;
	pe_tensor view;
	assert_int_equal(pe_encoding_weight_at(b->e, index, &name, &view), PE_OK);
	assert_string_equal(name, infos[index].name);
	assert_int_equal(view.dtype, PE_F64);
	return view.data;
}

static void refuses(pe_context *ctx, const pe_bundle *weights, pe_status status, const char *text)
{
	struct bound b;
	xt_fails(ctx, bind_to(ctx, weights, NULL, &b.domain, &b.e), status, text);
	assert_null(b.e);
	pe_domain_destroy(&b.domain);
}

static pe_bundle *bundle_of(pe_context *ctx, const char *first, const char *second)
{
	pe_bundle *out;
	pe_tensor t[2];
	fill_values();
	assert_int_equal(pe_bundle_create(ctx, &out), PE_OK);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? second : first;
		t[i] = pe_tensor_dense(values[i], PE_F32, 2, (int64_t[]){ROWS, COLUMNS});
		if (name)
			assert_int_equal(pe_bundle_add(out, name, &t[i]), PE_OK);
	}
	return out;
}

static void finds_by_name_and_by_prefix(void **state)
{
	static const struct {
		const char *first, *second, *prefix;
	} cases[] = {{"table", "other", NULL}, {"fake.table", "fake.other", NULL}, {"a.table", "a.other", "a"},
		{"table", "fake.other", "fake"}, {"table.weight", "fake.other.weight", NULL}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		pe_bundle *weights = bundle_of(*state, cases[i].first, cases[i].second);
		struct bound b = bound_to(*state, weights, cases[i].prefix);
		assert_int_equal(pe_encoding_weight_count(b.e), 4);
		for (int k = 0; k < ROWS * COLUMNS; k++) {
			xt_close_f64(weight(&b, 0)[k], values[0][k], 0, 0);
			xt_close_f64(weight(&b, 1)[k], values[1][k], 0, 0);
		}
		leave(&b);
		pe_bundle_destroy(&weights);
	}
}

static void prefers_the_prefixed_name(void **state)
{
	pe_bundle *weights = bundle_of(*state, "table", "a.table");
	pe_tensor other = pe_tensor_dense(values[0], PE_F32, 2, (int64_t[]){ROWS, COLUMNS});
	assert_int_equal(pe_bundle_add(weights, "other", &other), PE_OK);
	struct bound b = bound_to(*state, weights, "a");
	xt_close_f64(weight(&b, 0)[0], -1, 0, 0);
	leave(&b);
	b = bound_to(*state, weights, NULL);
	xt_close_f64(weight(&b, 0)[0], 1, 0, 0);
	leave(&b);
	pe_bundle_destroy(&weights);
}

/* A transposed view, and an integer type. */
static void reads_any_strides_and_refuses_integers(void **state)
{
	pe_bundle *weights;
	fill_values();
	pe_tensor turned = pe_tensor_dense(values[0], PE_F32, 2, (int64_t[]){ROWS, COLUMNS});
	pe_tensor other = turned;
	turned.strides[0] = 1;
	turned.strides[1] = ROWS;
	assert_int_equal(pe_bundle_create(*state, &weights), PE_OK);
	assert_int_equal(pe_bundle_add(weights, "table", &turned), PE_OK);
	assert_int_equal(pe_bundle_add(weights, "other", &other), PE_OK);
	struct bound b = bound_to(*state, weights, NULL);
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLUMNS; c++)
			xt_close_f64(weight(&b, 0)[r * COLUMNS + c], values[0][c * ROWS + r], 0, 0);
	leave(&b);
	pe_bundle_destroy(&weights);
	weights = bundle_of(*state, "table", NULL);
	other.dtype = PE_I32;
	assert_int_equal(pe_bundle_add(weights, "other", &other), PE_OK);
	refuses(*state, weights, PE_ERR_SHAPE, "the weight other is of type i32");
	pe_bundle_destroy(&weights);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_bundle *weights = bundle_of(*state, "table", "others");
	refuses(*state, weights, PE_ERR_ARGUMENT, "fake: the weights lack other (posenc help fake");
	pe_bundle_destroy(&weights);
	weights = bundle_of(*state, "blocks.0/attn.table.weight", "blocks.0/attn.other");
	refuses(*state, weights, PE_ERR_ARGUMENT,
		"lack table, but hold blocks.0/attn.table.weight: the prefix as=blocks.0/attn would take it");
	pe_bundle_destroy(&weights);
	assert_int_equal(pe_bundle_create(*state, &weights), PE_OK); /* one of its shape before others */
	pe_tensor alike[] = {pe_tensor_dense(values[0], PE_F32, 1, (int64_t[]){COLUMNS}),
		pe_tensor_dense(values[0], PE_F32, 2, (int64_t[]){ROWS, 2}),
		pe_tensor_dense(values[0], PE_F32, 2, (int64_t[]){ROWS, COLUMNS})};
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"a.table", "b.table", "c.table"},
								 *const said[] = {"lack table (",
									 "of another shape: the prefix as=b means it", "as=c would take it"};
		assert_int_equal(pe_bundle_add(weights, names[i], &alike[i]), PE_OK);
		refuses(*state, weights, PE_ERR_ARGUMENT, said[i]);
	}
	pe_bundle_destroy(&weights);
	weights = bundle_of(*state, "table", NULL);
	pe_tensor wrong = pe_tensor_dense(values[1], PE_F32, 2, (int64_t[]){COLUMNS, ROWS});
	assert_int_equal(pe_bundle_add(weights, "other", &wrong), PE_OK);
	refuses(*state, weights, PE_ERR_SHAPE, "other must be (4, 600), and is (600, 4)");
	pe_bundle_destroy(&weights);
	weights = bundle_of(*state, "table", NULL);
	wrong.ndim = 1;
	assert_int_equal(pe_bundle_add(weights, "other", &wrong), PE_OK);
	refuses(*state, weights, PE_ERR_SHAPE, "other must be (4, 600), and is (600)");
	pe_bundle_destroy(&weights);
}

static void takes_or_leaves_an_optional_one(void **state)
{
	pe_bundle *weights = bundle_of(*state, "table", "other");
	struct bound b = bound_to(*state, weights, NULL);
	assert_false(pe_encoding_weight_is_given(b.e, "extra"));
	xt_close_f64(weight(&b, 2)[0], 7, 0, 0);
	leave(&b);
	pe_tensor extra = pe_tensor_dense(values[1], PE_F32, 0, NULL);
	assert_int_equal(pe_bundle_add(weights, "fake.extra", &extra), PE_OK);
	b = bound_to(*state, weights, NULL);
	xt_close_f64(weight(&b, 2)[0], -1, 0, 0);
	leave(&b);
	pe_bundle_destroy(&weights);
}

/* The same seed gives the same numbers, another seed or prefix others, and two weights differ; the moments
 * are those asked for, within five standard errors. */
static void begins_from_the_seed(void **state)
{
	enum { N = ROWS * COLUMNS };
	double sum = 0, squares = 0, uniform = 0, low = 9, high = -9;
	pe_context *contexts[2];
	for (uint64_t seed = 0; seed < 2; seed++)
		assert_int_equal(
			pe_context_create(
				&(pe_context_options){.size = sizeof(pe_context_options), .seed = seed}, &contexts[seed]),
			PE_OK);
	(void)state;
	struct bound a = bound_to(contexts[0], NULL, NULL), b = bound_to(contexts[0], NULL, NULL),
				 c = bound_to(contexts[1], NULL, NULL), layer = bound_to(contexts[0], NULL, "layer1");
	assert_memory_equal(weight(&a, 0), weight(&b, 0), N * sizeof(double));
	assert_memory_equal(weight(&a, 1), weight(&b, 1), N * sizeof(double));
	assert_memory_not_equal(weight(&a, 0), weight(&layer, 0), N * sizeof(double));
	assert_memory_not_equal(weight(&a, 0), weight(&c, 0), N * sizeof(double));
	assert_memory_not_equal(weight(&a, 1), weight(&c, 1), N * sizeof(double));
	assert_memory_not_equal(weight(&a, 1), weight(&a, 3), N * sizeof(double));
	for (int k = 0; k < N; k++) {
		double x = weight(&a, 0)[k] - 1, u = weight(&a, 1)[k];
		sum += x;
		squares += x * x;
		uniform += u;
		low = fmin(low, u);
		high = fmax(high, u);
	}
	assert_true(fabs(sum / N) < 5 * 0.5 / sqrt(N));
	assert_true(fabs(squares / N - 0.25) < 5 * 0.25 * sqrt(2.0 / N));
	assert_true(fabs(uniform / N - 0.5) < 5 * 5 / sqrt(12.0 * N));
	assert_true(low >= -2 && low < -1.9 && high < 3 && high > 2.9);
	leave(&a);
	leave(&b);
	leave(&c);
	leave(&layer);
	pe_context_destroy(&contexts[0]);
	pe_context_destroy(&contexts[1]);
}

/* The declared arrays hold the weights, at the strides that the caller has. */
static void yields_them_as_arrays(void **state)
{
	pe_bundle *weights = bundle_of(*state, "table", "other");
	struct bound b = bound_to(*state, weights, NULL);
	float turned[COLUMNS * ROWS], extra = 0;
	pe_tensor outs[4] = {pe_tensor_dense(turned, PE_F32, 2, (int64_t[]){ROWS, COLUMNS}), {.data = NULL},
		pe_tensor_dense(&extra, PE_F32, 0, NULL)};
	outs[0].strides[0] = 1;
	outs[0].strides[1] = ROWS;
	assert_int_equal(pe_encoding_array_count(b.e), 4);
	assert_int_equal(pe_encoding_compute(b.e, outs, 4), PE_OK);
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLUMNS; c++)
			xt_close_f64(turned[c * ROWS + r], values[0][r * COLUMNS + c], 0, 0);
	xt_close_f64(extra, 7, 0, 0);
	pe_tensor view;
	const char *name;
	xt_fails(*state, pe_encoding_weight_at(b.e, 4, &name, &view), PE_ERR_ARGUMENT, "4 weights");
	leave(&b);
	pe_bundle_destroy(&weights);
}

static void survives_lack_of_memory(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *weights = bundle_of(ctx, "table", "other");
	for (int given = 0; given < 2; given++) {
		struct xt_shortage s = {0};
		while (xt_shortage_next(&s)) {
			struct bound b;
			xt_shortage_begin(&s);
			xt_shortage_end(&s, bind_to(ctx, given ? weights : NULL, NULL, &b.domain, &b.e));
			assert_true(s.over == (b.e != NULL));
			leave(&b);
		}
		assert_true(s.failed > 4);
	}
	pe_bundle_destroy(&weights);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_by_name_and_by_prefix),
		cmocka_unit_test(prefers_the_prefixed_name),
		cmocka_unit_test(reads_any_strides_and_refuses_integers),
		cmocka_unit_test(refuses_what_does_not_fit),
		cmocka_unit_test(takes_or_leaves_an_optional_one),
		cmocka_unit_test(begins_from_the_seed),
		cmocka_unit_test(yields_them_as_arrays),
		cmocka_unit_test(survives_lack_of_memory),
	};
	return xt_run(argc, argv, tests);
}
