/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "rng.h"
#include "xt_attend.h"

#define XL "transformer_xl:heads=2,head_dim=4"

static void is_what_transformer_xl_computes(void **state)
{
	xt_attend_file(*state, "transformer_xl/square.npz", XL, true, 1e-13);
	xt_attend_file(*state, "transformer_xl/memory.npz", XL, true, 1e-13);
	xt_attend_file(*state, "transformer_xl/clamped.npz", XL ",clamp_len=3", true, 1e-13);
}

static void is_what_xlnet_computes_without_a_mask(void **state)
{
	xt_attend_file(*state, "transformer_xl/xlnet.npz", XL ",preset=xlnet", false, 1e-13);
	xt_attend_file(*state, "transformer_xl/xlnet_memory.npz", XL ",preset=xlnet", false, 1e-13);
	xt_attend_file(*state, "transformer_xl/xlnet_clamped.npz", XL ",preset=xlnet,clamp_len=2", false, 1e-13);
}

/* A copy of the bundle with positions in it; its arrays are by reference. */
static pe_bundle *with_positions(
	pe_context *ctx, const pe_bundle *from, const double *positions, int64_t queries, int64_t keys)
{
	pe_bundle *to;
	const char *name;
	pe_tensor tensor;
	assert_int_equal(pe_bundle_create(ctx, &to), PE_OK);
	for (int64_t i = 0; i < pe_bundle_count(from); i++) {
		assert_int_equal(pe_bundle_at(from, i, &name, &tensor), PE_OK);
		assert_int_equal(pe_bundle_add(to, name, &tensor), PE_OK);
	}
	double *all = (double *)(uintptr_t)positions;
	pe_tensor k = pe_tensor_dense(all, PE_F64, 1, &keys);
	pe_tensor q = pe_tensor_dense(all + keys - queries, PE_F64, 1, &queries);
	assert_int_equal(pe_bundle_add(to, "k_positions", &k), PE_OK);
	assert_int_equal(pe_bundle_add(to, "q_positions", &q), PE_OK);
	return to;
}

/* The same numbers by arrays of positions, wherever they begin: only distances count. */
static void takes_any_positions(void **state)
{
	static const double shifts[] = {0, -1000, 0.25};
	pe_attention_options causal = {.size = sizeof causal, .core = PE_CORE_REFERENCE, .causal = 1};
	pe_bundle *bundle = xt_golden_bundle(*state, "transformer_xl/memory.npz");
	for (int n = 0; n < 3; n++) {
		double positions[9];
		for (int j = 0; j < 9; j++)
			positions[j] = j + shifts[n];
		pe_bundle *moved = with_positions(*state, bundle, positions, 4, 9);
		xt_attend_golden(*state, moved, (const char *const[]){XL, NULL}, &causal, 1e-12);
		pe_bundle_destroy(&moved);
	}
	pe_bundle_destroy(&bundle);
}

/* One query and one key 2.5 apart: q·k + u·k + (q + v)·(W_r [sin 2.5, cos 2.5]) by hand. */
static void follows_its_formula_at_real_distances(void **state)
{
	pe_context *ctx = *state;
	double u[] = {0.5, -1}, v[] = {2, 0.25}, r[] = {1, 2, 3, 4}, k_at[] = {-1.5}, q_at[] = {1};
	double q[] = {1.5, -0.5}, k[] = {2, 1}, value[] = {0, 0}, out[2], lse;
	int64_t one = 1, shape[] = {1, 1, 1, 2};
	pe_bundle *bundle;
	pe_domain *keys, *queries;
	pe_params *params;
	pe_encoding *e;
	pe_tensor tu = pe_tensor_dense(u, PE_F64, 2, (int64_t[]){1, 2}),
			  tv = pe_tensor_dense(v, PE_F64, 2, (int64_t[]){1, 2}),
			  tr = pe_tensor_dense(r, PE_F64, 2, (int64_t[]){2, 2});
	pe_tensor at_k = pe_tensor_dense(k_at, PE_F64, 1, &one), at_q = pe_tensor_dense(q_at, PE_F64, 1, &one);
	assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
	assert_int_equal(pe_bundle_add(bundle, "r_w_bias", &tu), PE_OK);
	assert_int_equal(pe_bundle_add(bundle, "r_r_bias", &tv), PE_OK);
	assert_int_equal(pe_bundle_add(bundle, "r_net.weight", &tr), PE_OK);
	assert_int_equal(pe_domain_positions(ctx, &at_k, 0, &keys), PE_OK);
	assert_int_equal(pe_domain_positions(ctx, &at_q, 0, &queries), PE_OK);
	assert_int_equal(pe_params_create(ctx, "transformer_xl", &params), PE_OK);
	xt_set(params, "heads=1,head_dim=2");
	pe_encoding_options options = {.size = sizeof options, .queries = queries, .weights = bundle};
	assert_int_equal(
		pe_encoding_create(ctx, pe_encoder_find("transformer_xl"), params, keys, &options, &e), PE_OK);
	pe_tensor a = pe_tensor_dense(q, PE_F64, 4, shape), b = pe_tensor_dense(k, PE_F64, 4, shape);
	pe_tensor c = pe_tensor_dense(value, PE_F64, 4, shape), o = pe_tensor_dense(out, PE_F64, 4, shape);
	pe_tensor l = pe_tensor_dense(&lse, PE_F64, 3, shape);
	pe_attention_tensors t = {.size = sizeof t, .q = &a, .k = &b, .v = &c, .out = &o, .lse = &l};
	pe_attention_options plain = {.size = sizeof plain, .core = PE_CORE_REFERENCE};
	assert_int_equal(pe_attend(ctx, &e, 1, &plain, &t), PE_OK);
	double row[] = {sin(2.5) + 2 * cos(2.5), 3 * sin(2.5) + 4 * cos(2.5)};
	double want = (1.5 + 0.5) * 2 + (-0.5 - 1) * 1 + (1.5 + 2) * row[0] + (-0.5 + 0.25) * row[1];
	xt_close_f64(lse, want / sqrt(2), 1e-14, 0);
	pe_encoding_destroy(&e);
	pe_params_destroy(&params);
	pe_domain_destroy(&queries);
	pe_domain_destroy(&keys);
	pe_bundle_destroy(&bundle);
}

static void refuses_an_odd_sinusoid(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_params *params;
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	assert_int_equal(pe_params_create(ctx, "transformer_xl", &params), PE_OK);
	xt_set(params, "heads=1,head_dim=7");
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("transformer_xl"), params, domain, NULL, &e),
		PE_ERR_RANGE, "7 is odd");
	pe_params_destroy(&params);
	pe_domain_destroy(&domain);
}

/* out (BATCH, HEADS, QUERIES, WIDTH) of noise. */
enum { BATCH = 2, HEADS = 4, QUERIES = 8, KEYS = 9000, WIDTH = 64 };

static float *attend(pe_context *ctx, int64_t key_heads, pe_core core)
{
	int64_t shape[] = {BATCH, HEADS, QUERIES, WIDTH}, key_shape[] = {BATCH, key_heads, KEYS, WIDTH};
	int64_t few = BATCH * HEADS * QUERIES * WIDTH, many = BATCH * key_heads * KEYS * WIDTH;
	float *x = malloc((size_t)(few + 2 * many) * sizeof *x), *y = malloc((size_t)few * sizeof *y);
	assert_true(x && y);
	for (int64_t i = 0; i < few + 2 * many; i++)
		x[i] = (float)(2 * pe_rng_uniform(7, 0, (uint64_t)i) - 1);
	pe_tensor q = pe_tensor_dense(x, PE_F32, 4, shape), k = pe_tensor_dense(x + few, PE_F32, 4, key_shape);
	pe_tensor v = pe_tensor_dense(x + few + many, PE_F32, 4, key_shape);
	pe_tensor out = pe_tensor_dense(y, PE_F32, 4, shape);
	struct xt_layer layer;
	xt_layer_make(
		ctx, (const char *const[]){"transformer_xl:heads=4,head_dim=64", NULL}, NULL, QUERIES, KEYS, &layer);
	pe_attention_options options = {.size = sizeof options, .core = core};
	pe_attention_tensors tensors = {.size = sizeof tensors, .q = &q, .k = &k, .v = &v, .out = &out};
	assert_int_equal(pe_attend(ctx, layer.list, layer.count, &options, &tensors), PE_OK);
	xt_layer_free(&layer);
	free(x);
	return y;
}

/* Tables of all heads are more than the tiled core holds at a time. */
static void is_tiled_some_heads_at_a_time(void **state)
{
	for (int64_t key_heads = 2; key_heads <= 4; key_heads += 2) {
		float *want = attend(*state, key_heads, PE_CORE_REFERENCE),
			  *got = attend(*state, key_heads, PE_CORE_TILED);
		for (int64_t row = 0; row < BATCH * HEADS * QUERIES; row++) {
			const float *w = want + row * WIDTH, *g = got + row * WIDTH;
			float most = 0;
			for (int64_t c = 0; c < WIDTH; c++)
				most = fmaxf(most, fabsf(w[c]));
			for (int64_t c = 0; c < WIDTH; c++)
				xt_close_f64((double)g[c], (double)w[c], 0, 2e-5 * (double)most);
		}
		free(want);
		free(got);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_transformer_xl_computes),
		cmocka_unit_test(is_what_xlnet_computes_without_a_mask),
		cmocka_unit_test(takes_any_positions),
		cmocka_unit_test(follows_its_formula_at_real_distances),
		cmocka_unit_test(refuses_an_odd_sinusoid),
		cmocka_unit_test(is_tiled_some_heads_at_a_time),
	};
	return xt_run(argc, argv, tests);
}
