/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <string.h>

#include "xt_rotation.h"

static pe_params *params_of(pe_context *ctx, const char *with, const pe_encoder **encoder)
{
	char name[64] = {0};
	size_t size = strcspn(with, ":");
	assert_true(size < sizeof name);
	memcpy(name, with, size);
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, name, &params), PE_OK);
	if (with[size])
		xt_set(params, with + size + 1);
	*encoder = pe_encoder_find(name);
	return params;
}

pe_encoding *xt_encoding(pe_context *ctx, const char *with, const pe_domain *domain, const pe_domain *queries,
	const pe_bundle *weights)
{
	const pe_encoder *encoder;
	pe_encoding *e;
	pe_params *params = params_of(ctx, with, &encoder);
	pe_encoding_options options = {.size = sizeof options, .queries = queries, .weights = weights};
	if (pe_encoding_create(ctx, encoder, params, domain, &options, &e) != PE_OK)
		fail_msg("%s: %s", with, pe_context_message(ctx));
	pe_params_destroy(&params);
	return e;
}

void xt_refuses_on(
	pe_context *ctx, const char *with, const pe_domain *domain, pe_status status, const char *text)
{
	const pe_encoder *encoder;
	pe_encoding *e;
	pe_params *params = params_of(ctx, with, &encoder);
	xt_fails(ctx, pe_encoding_create(ctx, encoder, params, domain, NULL, &e), status, text);
	pe_params_destroy(&params);
}

void xt_refuses_settings(pe_context *ctx, const char *with, pe_status status, const char *text)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	xt_refuses_on(ctx, with, domain, status, text);
	pe_domain_destroy(&domain);
}

struct xt_turns xt_turns_on(pe_context *ctx, const char *with, const pe_domain *domain)
{
	struct xt_turns r = {0};
	pe_tensor outs[PE_MAX_ARRAYS];
	pe_encoding *e = xt_encoding(ctx, with, domain, NULL, NULL);
	r.count = pe_encoding_array_count(e);
	for (int64_t i = 0; i < r.count; i++) {
		assert_int_equal(pe_encoding_array(e, i, &r.info[i]), PE_OK);
		outs[i] = pe_tensor_dense(NULL, PE_F64, r.info[i].ndim, r.info[i].shape);
		outs[i].data = r.arrays[i] = malloc((size_t)pe_tensor_bytes(&outs[i]) + 1);
	}
	r.size = pe_tensor_count(&outs[0]);
	assert_int_equal(pe_encoding_compute(e, outs, r.count), PE_OK);
	pe_encoding_destroy(&e);
	return r;
}

struct xt_turns xt_turns_from(pe_context *ctx, const char *with, int64_t length, double offset)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, length, offset, &domain), PE_OK);
	struct xt_turns r = xt_turns_on(ctx, with, domain);
	pe_domain_destroy(&domain);
	return r;
}

static pe_domain *domain_at(pe_context *ctx, const double *positions, int64_t n)
{
	double copy[64];
	pe_domain *domain;
	assert_true(n <= 64);
	memcpy(copy, positions, (size_t)n * sizeof *copy);
	pe_tensor t = pe_tensor_dense(copy, PE_F64, 1, &n);
	assert_int_equal(pe_domain_positions(ctx, &t, 0, &domain), PE_OK);
	return domain;
}

struct xt_turns xt_turns_at(pe_context *ctx, const char *with, const double *positions, int64_t n)
{
	pe_domain *domain = domain_at(ctx, positions, n);
	struct xt_turns r = xt_turns_on(ctx, with, domain);
	pe_domain_destroy(&domain);
	return r;
}

void xt_turns_free(struct xt_turns *turns)
{
	for (int64_t i = 0; i < turns->count; i++)
		free(turns->arrays[i]);
	*turns = (struct xt_turns){0};
}

void xt_scores(pe_context *ctx, const char *with, double i, double j, const double *q, const double *k,
	int64_t width, double scores[2])
{
	enum { WIDEST = 512 };
	double copies[2][2 * WIDEST], v[2] = {0}, out[2];
	assert_true(width <= WIDEST);
	memcpy(copies[0], q, (size_t)(2 * width) * sizeof *q);
	memcpy(copies[1], k, (size_t)(2 * width) * sizeof *k);
	pe_domain *queries = domain_at(ctx, &i, 1), *keys = domain_at(ctx, &j, 1);
	pe_encoding *e = xt_encoding(ctx, with, keys, queries, NULL);
	pe_tensor tq = pe_tensor_dense(copies[0], PE_F64, 4, (int64_t[]){1, 2, 1, width}), tk = tq;
	pe_tensor tv = pe_tensor_dense(v, PE_F64, 4, (int64_t[]){1, 2, 1, 1}), tout = tv;
	pe_tensor lse = pe_tensor_dense(scores, PE_F64, 3, (int64_t[]){1, 2, 1});
	tk.data = copies[1];
	tout.data = out;
	pe_attention_options options = {.size = sizeof options, .core = PE_CORE_REFERENCE};
	pe_attention_tensors t = {.size = sizeof t, .q = &tq, .k = &tk, .v = &tv, .out = &tout, .lse = &lse};
	if (pe_attend(ctx, &e, 1, &options, &t) != PE_OK)
		fail_msg("%s: %s", with, pe_context_message(ctx));
	pe_encoding_destroy(&e);
	pe_domain_destroy(&keys);
	pe_domain_destroy(&queries);
}

double *xt_rotated(
	pe_encoding *e, pe_dtype dtype, const double *x, int64_t heads, int64_t tokens, int64_t width)
{
	int64_t n = heads * tokens * width;
	double *out = malloc((size_t)(n + 1) * sizeof *out);
	float *singles = malloc((size_t)(n + 1) * sizeof *singles);
	for (int64_t i = 0; i < n; i++) {
		out[i] = x[i];
		singles[i] = (float)x[i];
	}
	void *data = dtype == PE_F32 ? (void *)singles : out;
	pe_tensor t = pe_tensor_dense(data, dtype, 4, (int64_t[]){1, heads, tokens, width});
	assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &t, &t), PE_OK);
	for (int64_t i = 0; dtype == PE_F32 && i < n; i++)
		out[i] = (double)singles[i];
	free(singles);
	return out;
}

void xt_numbers(double *out, int64_t n)
{
	uint64_t bits = 88172645463325252u;
	for (int64_t i = 0; i < n; i++) {
		bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
		out[i] = (double)(bits >> 11) * 0x1p-52 - 1;
	}
}

enum { QUERIES = 70, TOKENS = 150 };

static pe_tensor make_singles(int64_t heads, int64_t tokens, int64_t width)
{
	pe_tensor t = pe_tensor_dense(NULL, PE_F32, 4, (int64_t[]){1, heads, tokens, width});
	int64_t n = pe_tensor_count(&t);
	float *x = malloc((size_t)n * sizeof *x);
	double *wide = malloc((size_t)n * sizeof *wide);
	xt_numbers(wide, n);
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)wide[n - 1 - i];
	free(wide);
	t.data = x;
	return t;
}

/* Inputs of attention of f32, and room for its outputs by two ways. */
struct layer {
	pe_tensor q, k, v, out[2];
};

static struct layer make_layer(
	const pe_domain *keys, const pe_domain *queries, int64_t heads, int64_t key_heads, int64_t width)
{
	int64_t lq = pe_domain_tokens(queries), lk = pe_domain_tokens(keys);
	return (struct layer){make_singles(heads, lq, width), make_singles(key_heads, lk, width),
		make_singles(key_heads, lk, 5), {make_singles(heads, lq, 5), make_singles(heads, lq, 5)}};
}

static void attend(pe_context *ctx, pe_encoding *e, pe_core core, bool causal, struct layer *l, int which)
{
	pe_attention_options options = {.size = sizeof options, .core = core, .causal = causal};
	pe_attention_tensors t = {.size = sizeof t, .q = &l->q, .k = &l->k, .v = &l->v, .out = &l->out[which]};
	if (pe_attend(ctx, &e, e != NULL, &options, &t) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
}

static void compare_and_free(struct layer *l, double tolerance)
{
	for (int64_t i = 0; i < pe_tensor_count(&l->out[0]); i++)
		xt_close_f64(
			(double)((float *)l->out[1].data)[i], (double)((float *)l->out[0].data)[i], 0, tolerance);
	free(l->q.data), free(l->k.data), free(l->v.data), free(l->out[0].data), free(l->out[1].data);
}

void xt_tiles_agree_on(pe_context *ctx, const char *with, const pe_domain *keys, const pe_domain *queries,
	int64_t heads, int64_t key_heads, int64_t width, double tolerance)
{
	struct layer l = make_layer(keys, queries, heads, key_heads, width);
	pe_encoding *e = xt_encoding(ctx, with, keys, queries, NULL);
	attend(ctx, e, PE_CORE_REFERENCE, true, &l, 0);
	attend(ctx, e, PE_CORE_TILED, true, &l, 1);
	compare_and_free(&l, tolerance);
	pe_encoding_destroy(&e);
}

void xt_turned_before_agrees(pe_context *ctx, const char *with, const pe_domain *keys,
	const pe_domain *queries, int64_t heads, int64_t key_heads, int64_t width, double tolerance)
{
	struct layer l = make_layer(keys, queries, heads, key_heads, width);
	pe_encoding *e = xt_encoding(ctx, with, keys, queries, NULL);
	attend(ctx, e, PE_CORE_REFERENCE, false, &l, 0);
	assert_int_equal(pe_encoding_rotate(e, PE_QUERIES, &l.q, &l.q), PE_OK);
	assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &l.k, &l.k), PE_OK);
	attend(ctx, NULL, PE_CORE_REFERENCE, false, &l, 1);
	compare_and_free(&l, tolerance);
	pe_encoding_destroy(&e);
}

void xt_tiles_agree(pe_context *ctx, const char *with, int64_t width, double tolerance)
{
	pe_domain *keys, *queries;
	assert_int_equal(pe_domain_sequence(ctx, TOKENS, 0, &keys), PE_OK);
	assert_int_equal(pe_domain_tail(ctx, keys, QUERIES, &queries), PE_OK);
	xt_tiles_agree_on(ctx, with, keys, queries, 4, 2, width, tolerance);
	pe_domain_destroy(&queries);
	pe_domain_destroy(&keys);
}
