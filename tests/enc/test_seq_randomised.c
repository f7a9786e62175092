/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_attend.h"
#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is drawn for the positions of a domain; returns how many. */
static int64_t draw(pe_context *ctx, const char *settings, const pe_domain *domain, double *out)
{
	pe_encoding *e = xt_encode(ctx, "randomised", settings, domain, NULL, NULL, NULL);
	pe_tensor got = xt_computed(e, "positions");
	int64_t count = pe_tensor_count(&got);
	memcpy(out, got.data, (size_t)count * sizeof *out);
	free(got.data);
	pe_encoding_destroy(&e);
	return count;
}

/* Each of the 20 sets of three of six as often as any other; a draw of all is all. */
static void draws_every_set_alike(void **state)
{
	enum { DRAWS = 4000 };
	pe_domain *domain;
	int seen[64] = {0};
	double p[6], chi = 0;
	assert_int_equal(pe_domain_sequence(*state, 3, 0, &domain), PE_OK);
	for (int k = 0; k < DRAWS; k++) {
		char settings[40];
		snprintf(settings, sizeof settings, "max=6,draw=%d", k);
		assert_int_equal(draw(*state, settings, domain, p), 3);
		assert_true(0 <= p[0] && p[0] < p[1] && p[1] < p[2] && p[2] <= 5);
		seen[1 << (int)p[0] | 1 << (int)p[1] | 1 << (int)p[2]]++;
	}
	for (int set = 0; set < 64; set++)
		if (seen[set] > 0)
			chi += pow(seen[set] - DRAWS / 20.0, 2) / (DRAWS / 20.0);
		else
			assert_int_not_equal(__builtin_popcount((unsigned)set), 3);
	assert_true(chi < 43.8); /* 19 degrees of freedom, 1 in 1000 */
	pe_domain_destroy(&domain);
	assert_int_equal(pe_domain_sequence(*state, 6, 0, &domain), PE_OK);
	draw(*state, "max=6", domain, p);
	for (int i = 0; i < 6; i++)
		assert_true(p[i] == i);
	pe_domain_destroy(&domain);
}

/* Equal positions stay equal, and order stays order; batches draw by themselves. */
static void keeps_order_and_equality(void **state)
{
	double at[] = {2.5, -7, 1e9, 2.5, 0, 3, 2, 1, 0, 3}, p[10];
	pe_tensor positions = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){2, 5});
	pe_domain *domain;
	assert_int_equal(pe_domain_positions(*state, &positions, 0, &domain), PE_OK);
	assert_int_equal(draw(*state, "max=1000", domain, p), 10);
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 5; j++) {
			assert_int_equal(at[i] < at[j], p[i] < p[j]);
			assert_int_equal(at[5 + i] < at[5 + j], p[5 + i] < p[5 + j]);
		}
	assert_true(p[1] != p[8]);
	pe_domain_destroy(&domain);
}

/* Its arrays are those of the other encoder at what was drawn, and so are the tokens. */
static void is_the_other_encoder_at_what_was_drawn(void **state)
{
	pe_context *ctx = *state;
	static const char *const others[][3] = {
		{"sinusoidal", "over=sinusoidal:dim=4:base=100", "dim=4,base=100"},
		{"alibi", "over=alibi:heads=3", "heads=3"},
		{"rope", "over=rope:head_dim=8:base=50", "head_dim=8,base=50"}, {"t5", "over=t5:heads=2", "heads=2"}};
	for (int k = 0; k < 4; k++) {
		double p[9], x[9 * 4], y[9 * 4], z[9 * 4];
		pe_domain *domain, *drawn;
		assert_int_equal(pe_domain_sequence(ctx, 9, 0, &domain), PE_OK);
		draw(ctx, others[k][1], domain, p);
		drawn = xt_positions(ctx, p, 9);
		pe_encoding *e = xt_encode(ctx, "randomised", others[k][1], domain, NULL, NULL, NULL);
		pe_encoding *other = xt_encode(ctx, others[k][0], others[k][2], drawn, NULL, NULL, NULL);
		for (int64_t i = 0; i < pe_encoding_array_count(other); i++) {
			pe_array_info info;
			assert_int_equal(pe_encoding_array(other, i, &info), PE_OK);
			pe_tensor a = xt_computed(e, info.name), b = xt_computed(other, info.name);
			assert_int_equal(pe_tensor_count(&a), pe_tensor_count(&b));
			assert_memory_equal(a.data, b.data, (size_t)pe_tensor_bytes(&a));
			free(a.data), free(b.data);
		}
		for (int i = 0; i < 9 * 4; i++)
			x[i] = i;
		pe_tensor tx = pe_tensor_dense(x, PE_F64, 2, (int64_t[]){9, 4}), ty = tx, tz = tx;
		ty.data = y, tz.data = z;
		if (k == 0) {
			assert_int_equal(pe_encoding_apply(e, &tx, &ty), PE_OK);
			assert_int_equal(pe_encoding_apply(other, &tx, &tz), PE_OK);
			assert_memory_equal(y, z, sizeof y);
		} else {
			xt_fails(ctx, pe_encoding_apply(e, &tx, &ty), PE_ERR_UNSUPPORTED, "does not act on tokens");
		}
		pe_encoding_destroy(&other);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&drawn);
		pe_domain_destroy(&domain);
	}
}

enum { H = 2, K = 9, Q = 4, W = 8 };

/* out of attention over keys, with an encoding or without. */
static void attend(pe_context *ctx, pe_encoding *e, pe_core core, float *out)
{
	float q[H * Q * W], k[H * K * W], v[H * K * W];
	for (int i = 0; i < H * K * W; i++)
		k[i] = sinf((float)i), v[i] = cosf((float)(i * i));
	for (int i = 0; i < H * Q * W; i++)
		q[i] = 2 * cosf((float)(3 * i));
	pe_tensor tq = pe_tensor_dense(q, PE_F32, 4, (int64_t[]){1, H, Q, W});
	pe_tensor tk = pe_tensor_dense(k, PE_F32, 4, (int64_t[]){1, H, K, W}), tv = tk, to = tq;
	tv.data = v, to.data = out;
	pe_attention_options options = {sizeof options, .core = core, .causal = 1};
	pe_attention_tensors tensors = {sizeof tensors, .q = &tq, .k = &tk, .v = &tv, .out = &to};
	if (pe_attend(ctx, &e, 1, &options, &tensors) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
}

/* In attention, the last queries stand where their keys do, and every site acts. */
static void acts_in_attention_as_the_other(void **state)
{
	pe_context *ctx = *state;
	static const char *const others[][3] = {{"alibi", "over=alibi:heads=2", "heads=2"},
		{"rope", "over=rope:head_dim=8", "head_dim=8"}, {"shaw", "over=shaw:head_dim=8", "head_dim=8"},
		{"t5", "over=t5:heads=2", "heads=2"}};
	for (int k = 0; k < 4; k++) {
		double p[K];
		pe_domain *domain, *last, *drawn, *drawn_last;
		assert_int_equal(pe_domain_sequence(ctx, K, 0, &domain), PE_OK);
		assert_int_equal(pe_domain_tail(ctx, domain, Q, &last), PE_OK);
		draw(ctx, others[k][1], domain, p);
		drawn = xt_positions(ctx, p, K);
		assert_int_equal(pe_domain_tail(ctx, drawn, Q, &drawn_last), PE_OK);
		pe_encoding *e = xt_encode(ctx, "randomised", others[k][1], domain, last, NULL, NULL);
		pe_encoding *other = xt_encode(ctx, others[k][0], others[k][2], drawn, drawn_last, NULL, NULL);
		pe_encoding *plain = xt_encode(ctx, others[k][0], others[k][2], domain, last, NULL, NULL);
		for (int core = PE_CORE_TILED; core <= PE_CORE_REFERENCE; core++) {
			float a[H * Q * W], b[H * Q * W], c[H * Q * W];
			attend(ctx, e, (pe_core)core, a);
			attend(ctx, other, (pe_core)core, b);
			attend(ctx, plain, (pe_core)core, c);
			assert_memory_equal(a, b, sizeof a);
			assert_memory_not_equal(a, c, sizeof a);
		}
		pe_encoding_destroy(&plain);
		pe_encoding_destroy(&other);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&drawn_last);
		pe_domain_destroy(&drawn);
		pe_domain_destroy(&last);
		pe_domain_destroy(&domain);
	}
}

/* Weights of the other encoder are its own, by its name, and come back. */
static void takes_the_weights_of_the_other(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_bundle *bundle;
	double slopes[] = {1, 2, 3};
	static const char *const names[] = {"alibi.slopes", "randomised.alibi.slopes"};
	assert_int_equal(pe_domain_sequence(ctx, 3, 0, &domain), PE_OK);
	for (int k = 0; k < 2; k++) {
		pe_tensor weight = pe_tensor_dense(slopes, PE_F64, 1, (int64_t[]){3});
		assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
		assert_int_equal(pe_bundle_add(bundle, names[k], &weight), PE_OK);
		pe_encoding *e = xt_encode(ctx, "randomised", "over=alibi:heads=3", domain, NULL, bundle, NULL);
		const char *name;
		assert_int_equal(pe_encoding_weight_count(e), 1);
		assert_int_equal(pe_encoding_weight_at(e, 0, &name, &weight), PE_OK);
		assert_string_equal(name, "alibi.slopes");
		assert_memory_equal(weight.data, slopes, sizeof slopes);
		pe_tensor got = xt_computed(e, "slopes");
		assert_memory_equal(got.data, slopes, sizeof slopes);
		free(got.data);
		pe_encoding_destroy(&e);
		pe_bundle_destroy(&bundle);
	}
	pe_domain_destroy(&domain);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 5, 0, &domain), PE_OK);
	xt_encode_refused(
		ctx, "randomised", "max=4", domain, PE_ERR_RANGE, "there are 5 positions, and only 4 to draw");
	xt_encode_refused(ctx, "randomised", "over=nothing", domain, PE_ERR_ARGUMENT, "no encoder \"nothing\"");
	xt_encode_refused(ctx, "randomised", "over=randomised", domain, PE_ERR_ARGUMENT, "itself over another");
	xt_encode_refused(ctx, "randomised", "over=lap", domain, PE_ERR_ARGUMENT, "not an encoder of sequences");
	xt_encode_refused(ctx, "randomised", "over=rope:heads=2", domain, PE_ERR_ARGUMENT, "rope has no option");
	xt_encode_refused(
		ctx, "randomised", "over=learned:max_length=2,max=5", domain, PE_ERR_RANGE, "the table has rows for");
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_every_set_alike),
		cmocka_unit_test(keeps_order_and_equality),
		cmocka_unit_test(is_the_other_encoder_at_what_was_drawn),
		cmocka_unit_test(acts_in_attention_as_the_other),
		cmocka_unit_test(takes_the_weights_of_the_other),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
