/* SPDX-License-Identifier: BSD-2-Clause
 * Attention by its definition, lib/attention/reference.c, against torch. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "tensor.h"
#include "xt_attend.h"

static const pe_attention_options plain = {.size = sizeof plain, .core = PE_CORE_REFERENCE};

static void matches(pe_context *ctx, const char *name, pe_attention_options options)
{
	char path[64] = "attention/";
	pe_bundle *bundle = xt_golden_bundle(ctx, strcat(strcat(path, name), ".npz"));
	xt_attend_golden(ctx, bundle, NULL, &options, 1e-13);
	pe_bundle_destroy(&bundle);
}

static void is_what_torch_computes(void **state)
{
	pe_attention_options scaled = plain;
	scaled.scale = 0.75;
	matches(*state, "plain", plain);
	matches(*state, "scale", scaled);
	matches(*state, "bool_mask", plain);
	matches(*state, "float_mask", plain);
	matches(*state, "grouped", plain);
	matches(*state, "lengths", plain);
}

static void masks_by_position(void **state)
{
	pe_attention_options causal = plain, window = plain;
	causal.causal = 1;
	window.windowed = 1;
	window.window_left = 2;
	window.window_right = 1;
	matches(*state, "causal_last", causal);
	matches(*state, "causal_first", causal);
	matches(*state, "causal_long", causal); /* rows that see nothing: 0, and -inf */
	matches(*state, "window", window);
}

static void caps_before_the_mask_and_sinks_once(void **state)
{
	pe_attention_options capped = plain;
	capped.softcap = 1.5;
	matches(*state, "softcap", capped);
	matches(*state, "sinks", plain);
}

/* ---- by hand ------------------------------------------------------------------------ */

/* q, k, v of a golden bundle, copied. */
struct inputs {
	pe_tensor q, k, v, out;
	double *memory[4];
};

static pe_tensor copy(const pe_bundle *bundle, const char *name, double **memory)
{
	pe_tensor t = xt_array(bundle, name);
	*memory = malloc((size_t)pe_tensor_bytes(&t));
	memcpy(*memory, t.data, (size_t)pe_tensor_bytes(&t));
	t.data = *memory;
	return t;
}

static struct inputs load(pe_context *ctx, const char *name)
{
	struct inputs in;
	pe_bundle *bundle = xt_golden_bundle(ctx, name);
	in.q = copy(bundle, "q", &in.memory[0]);
	in.k = copy(bundle, "k", &in.memory[1]);
	in.v = copy(bundle, "v", &in.memory[2]);
	in.out = copy(bundle, "out", &in.memory[3]);
	pe_bundle_destroy(&bundle);
	return in;
}

static void unload(struct inputs *in)
{
	for (int i = 0; i < 4; i++)
		free(in->memory[i]);
}

/* Keys from 1 on of batch 1 are masked, by length, and hold NaN: nothing of it comes out. */
static void never_touches_what_is_masked(void **state)
{
	struct inputs in = load(*state, "attention/lengths.npz");
	int64_t lengths[] = {4, 1}, count = pe_tensor_count(&in.out);
	pe_tensor length = pe_tensor_dense(lengths, PE_I64, 1, (int64_t[]){2}), out = in.out;
	double *got = malloc((size_t)count * sizeof *got);
	out.data = got;
	for (int64_t h = 0; h < 2; h++)
		for (int64_t j = 1; j < 4; j++) {
			for (int64_t d = 0; d < 6; d++)
				in.memory[1][((2 + h) * 4 + j) * 6 + d] = NAN;
			for (int64_t d = 0; d < 5; d++)
				in.memory[2][((2 + h) * 4 + j) * 5 + d] = d % 2 ? NAN : INFINITY;
		}
	pe_attention_tensors t = {
		.size = sizeof t, .q = &in.q, .k = &in.k, .v = &in.v, .out = &out, .key_lengths = &length};
	assert_int_equal(pe_attend(*state, NULL, 0, &plain, &t), PE_OK);
	for (int64_t i = 0; i < count; i++)
		xt_close_f64(got[i], in.memory[3][i], 0, 1e-13);
	free(got);
	unload(&in);
}

/* Rows without keys at all, and rows whose mask hides all of them. */
static void gives_nothing_where_nothing_is_seen(void **state)
{
	struct inputs in = load(*state, "attention/plain.npz");
	unsigned char none = 0;
	double out[2 * 4 * 5 * 5], lse[2 * 4 * 5];
	pe_tensor mask = pe_tensor_dense(&none, PE_BOOL, 1, (int64_t[]){1});
	pe_tensor o = pe_tensor_dense(out, PE_F64, 4, in.out.shape),
			  l = pe_tensor_dense(lse, PE_F64, 3, in.out.shape);
	pe_attention_tensors t = {
		.size = sizeof t, .q = &in.q, .k = &in.k, .v = &in.v, .out = &o, .lse = &l, .mask = &mask};
	for (int empty = 0; empty < 2; empty++) {
		memset(out, 0x5A, sizeof out);
		if (empty) {
			in.k.shape[2] = in.v.shape[2] = 0;
			t.mask = NULL;
		}
		assert_int_equal(pe_attend(*state, NULL, 0, &plain, &t), PE_OK);
		for (int i = 0; i < 200; i++)
			assert_true(out[i] == 0);
		for (int i = 0; i < 40; i++)
			assert_true(isinf(lse[i]) && lse[i] < 0);
	}
	unload(&in);
}

/* Strides: length before heads, elements two apart; storage: f32, f16 and bf16, in and out. */
static void takes_any_strides_and_types(void **state)
{
	static const pe_dtype types[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
	static const double tolerances[] = {1e-13, 1e-6, 5e-3, 4e-2};
	for (int n = 0; n < 4; n++) {
		struct inputs in = load(*state, "attention/plain.npz");
		pe_tensor *all[] = {&in.q, &in.k, &in.v, &in.out}, moved[4];
		char *memory[4];
		for (int s = 0; s < 4; s++) {
			int64_t *d = all[s]->shape, size = (int64_t)pe_dtype_size(types[n]);
			moved[s] = *all[s];
			moved[s].dtype = types[n];
			memory[s] = calloc((size_t)(2 * pe_tensor_count(all[s])), (size_t)size);
			moved[s].data = memory[s];
			int64_t strides[] = {2 * d[1] * d[2] * d[3], 2 * d[3], 2 * d[1] * d[3], 2};
			memcpy(moved[s].strides, strides, sizeof strides);
			for (int64_t r = 0; s < 3 && r < d[0] * d[1] * d[2]; r++) {
				int64_t b = r / d[2] / d[1], h = r / d[2] % d[1], i = r % d[2];
				pe_store_f64(memory[s] + (b * strides[0] + h * strides[1] + i * strides[2]) * size, types[n],
					2, in.memory[s] + r * d[3], 1, d[3]);
			}
		}
		pe_attention_tensors t = {
			.size = sizeof t, .q = &moved[0], .k = &moved[1], .v = &moved[2], .out = &moved[3]};
		assert_int_equal(pe_attend(*state, NULL, 0, &plain, &t), PE_OK);
		const int64_t *d = in.out.shape, *strides = moved[3].strides;
		for (int64_t r = 0; r < d[0] * d[1] * d[2]; r++) {
			double got[5];
			int64_t at = r / d[2] / d[1] * strides[0] + r / d[2] % d[1] * strides[1] + r % d[2] * strides[2];
			pe_load_f64(got, memory[3] + at * (int64_t)pe_dtype_size(types[n]), types[n], 2, 5);
			for (int c = 0; c < 5; c++)
				xt_close_f64(got[c], in.memory[3][r * 5 + c], 0, tolerances[n]);
		}
		for (int s = 0; s < 4; s++)
			free(memory[s]);
		unload(&in);
	}
}

static void refuses_what_is_no_encoding(void **state)
{
	pe_context *ctx = *state, *other = xt_context(1, NULL);
	struct inputs in = load(ctx, "attention/plain.npz");
	pe_attention_tensors t = {.size = sizeof t, .q = &in.q, .k = &in.k, .v = &in.v, .out = &in.out};
	pe_encoding *e = NULL;
	pe_domain *domain;
	xt_fails(ctx, pe_attend(ctx, &e, 1, &plain, &t), PE_ERR_ARGUMENT, "number 0 is NULL");
	assert_int_equal(pe_domain_sequence(other, 7, 0, &domain), PE_OK);
	assert_int_equal(pe_encoding_create(other, pe_encoder_find("none"), NULL, domain, NULL, &e), PE_OK);
	xt_fails(ctx, pe_attend(ctx, &e, 1, &plain, &t), PE_ERR_ARGUMENT, "another context");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_context_destroy(&other);
	in.q.shape[3] = in.k.shape[3] = (int64_t)1 << 40;
	in.q.strides[3] = in.k.strides[3] = 0;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_SHAPE, "channels are not possible");
	unload(&in);
}

static void refuses_wrong_shapes(void **state)
{
	pe_context *ctx = *state;
	struct inputs in = load(ctx, "attention/plain.npz");
	pe_attention_tensors t = {.size = sizeof t, .q = &in.q, .k = &in.k, .v = &in.v, .out = &in.out};
	in.k.shape[3] = 5;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_SHAPE, "q is 6 wide, and k 5");
	in.k.shape[3] = 6;
	in.v.shape[2] = 6;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_SHAPE, "k and v differ");
	in.v.shape[2] = 7;
	in.k.shape[1] = in.v.shape[1] = 3;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_SHAPE, "4 query heads cannot share 3");
	in.k.shape[1] = in.v.shape[1] = 4;
	in.out.shape[3] = 4;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_SHAPE, "out");
	in.out.shape[3] = 5;
	pe_tensor mask = pe_tensor_dense(in.memory[0], PE_F64, 2, (int64_t[]){5, 6});
	t.mask = &mask;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_SHAPE, "does not broadcast");
	t.mask = NULL;
	pe_tensor sinks = pe_tensor_dense(in.memory[0], PE_F64, 1, (int64_t[]){3});
	t.sinks = &sinks;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_SHAPE, "sinks");
	t.sinks = NULL;
	int64_t lengths[] = {7, 8};
	pe_tensor length = pe_tensor_dense(lengths, PE_I64, 1, (int64_t[]){2});
	t.key_lengths = &length;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_RANGE, "there are 7 keys");
	t.key_lengths = NULL;
	in.out.data = in.q.data;
	xt_fails(ctx, pe_attend(ctx, NULL, 0, &plain, &t), PE_ERR_ARGUMENT, "overlaps an input");
	unload(&in);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_torch_computes),
		cmocka_unit_test(masks_by_position),
		cmocka_unit_test(caps_before_the_mask_and_sinks_once),
		cmocka_unit_test(never_touches_what_is_masked),
		cmocka_unit_test(gives_nothing_where_nothing_is_seen),
		cmocka_unit_test(takes_any_strides_and_types),
		cmocka_unit_test(refuses_what_is_no_encoding),
		cmocka_unit_test(refuses_wrong_shapes),
	};
	return xt_run(argc, argv, tests);
}
