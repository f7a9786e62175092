/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../seq/rope_scaling.h"
#include "xt_attend.h"
#include "xt_rotation.h"

/* ---- golden tables ------------------------------------------------------------------ */

/* The cases of golden/make_rope.py. */
static const struct {
	const char *name, *with;
} cases[] = {
	{"plain", "rope:head_dim=128,layout=halves"},
	{"neox", "rope:rotary_dim=16,layout=halves"},
	{"linear", "rope:scaling=linear,factor=3"},
	{"dynamic_short", "rope:head_dim=128,scaling=dynamic,factor=2,original_length=2048"},
	{"dynamic_long", "rope:head_dim=128,scaling=dynamic,factor=2,original_length=2048"},
	{"yarn", "rope:head_dim=128,scaling=yarn,factor=16,original_length=4096"},
	{"yarn_given", "rope:rotary_dim=32,scaling=yarn,factor=16,original_length=4096,attention_factor=1.25"},
	{"yarn_mscale", "rope:scaling=yarn,factor=40,original_length=4096,mscale=0.707,mscale_all_dim=1"},
	{"yarn_beyond", "rope:head_dim=16,scaling=yarn,factor=16,original_length=20000"},
	{"yarn_clamped", "rope:head_dim=16,scaling=yarn,factor=16,base=4,original_length=300"},
	{"gpt_oss", "rope:preset=gpt_oss"},
	{"longrope_short", "rope:head_dim=32,scaling=longrope,factor=32,original_length=4096"},
	{"longrope_long", "rope:head_dim=32,scaling=longrope,factor=32,original_length=4096"},
	{"llama3", "rope:preset=llama3"},
	{"proportional", "rope:rotary_dim=16,base=1000000,scaling=proportional,factor=8"},
};

static pe_tensor array_of(const pe_bundle *bundle, const char *name, const char *suffix)
{
	char full[64];
	snprintf(full, sizeof full, "%s.%s", name, suffix);
	return xt_array(bundle, full);
}

/* longrope's lists as an option. */
static void add_lists(const pe_bundle *golden, char *with, size_t size)
{
	static const char *const names[] = {"short_factor", "long_factor"};
	for (int k = 0; k < 2; k++) {
		pe_tensor list = array_of(golden, "longrope", names[k]);
		for (int64_t t = 0; t < list.shape[0]; t++) {
			size_t used = strlen(with);
			const char *before[] = {t ? "/" : ",", t ? "" : names[k], t ? "" : "="};
			snprintf(with + used, size - used, "%s%s%s%.17g", before[0], before[1], before[2],
				((double *)list.data)[t]);
		}
	}
}

/* The tables of one case at its last `count` positions, with more settings. */
static struct xt_turns tables(
	pe_context *ctx, const pe_bundle *golden, int which, const char *more, int64_t count)
{
	char with[1024];
	double positions[4];
	pe_tensor at = array_of(golden, cases[which].name, "positions");
	for (int64_t i = 0; i < count; i++)
		positions[i] = (double)((int64_t *)at.data)[at.shape[0] - count + i];
	snprintf(with, sizeof with, "%s%s", cases[which].with, more);
	if (strstr(with, "longrope"))
		add_lists(golden, with, sizeof with);
	return xt_turns_at(ctx, with, positions, count);
}

/* With angle=f32, what transformers computes: all but a few frequencies to the last bit (the powers of its
 * vectorised code are not always rounded to nearest), and so cosines and sines within a unit or two. */
static void matches_transformers_in_f32(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *golden = xt_golden_bundle(ctx, "rope/tables.npz");
	for (int c = 0; c < (int)(sizeof cases / sizeof *cases); c++) {
		struct xt_turns got = tables(ctx, golden, c, ",angle=f32", 3);
		pe_tensor want[2] = {
			array_of(golden, cases[c].name, "f32_cos"), array_of(golden, cases[c].name, "f32_sin")};
		const int64_t *positions = array_of(golden, cases[c].name, "positions").data;
		int64_t pairs = want[0].shape[1], off = 0;
		assert_int_equal(got.size, 3 * pairs);
		for (int k = 0; k < 2; k++)
			for (int64_t i = 0; i < 3 * pairs; i++) {
				double difference = fabs(got.arrays[k][i] - (double)((float *)want[k].data)[i]);
				off += difference > 2.5e-7;
				if (difference > 2.5e-7 + (double)positions[i / pairs] * 1.2e-7)
					fail_msg("%s: entry %lld is off by %g", cases[c].name, (long long)i, difference);
			}
		if (off > pairs / 4)
			fail_msg("%s: %lld of %lld are not as in transformers", cases[c].name, (long long)off,
				(long long)(6 * pairs));
		xt_turns_free(&got);
	}
	pe_bundle_destroy(&golden);
}

/* What ggml's own code gives on a CPU, all but the last bits of the cosine. */
static void matches_ggml(void **state)
{
	pe_context *ctx = *state;
	static const struct {
		const char *name, *with;
	} made[] = {
		{"plain", "rope:head_dim=128,angle=ggml"},
		{"linear", "rope:scaling=linear,factor=3,angle=ggml"},
		{"yarn", "rope:head_dim=128,base=1000000,scaling=yarn,factor=4,original_length=32768,angle=ggml"},
		{"longrope",
			"rope:head_dim=32,scaling=longrope,angle=ggml,original_length=4096,attention_factor=1.190238,"
			"long_factor=1/1.5/2/2.5/3/3.5/4/4.5/5/5.5/6/6.5/7/7.5/8/8.5"},
	};
	static const double positions[] = {1, 77, 4097, 131072};
	pe_bundle *golden = xt_golden_bundle(ctx, "rope/ggml.npz");
	for (int c = 0; c < 4; c++) {
		struct xt_turns got = xt_turns_at(ctx, made[c].with, positions, 4);
		pe_tensor want[2] = {array_of(golden, made[c].name, "cos"), array_of(golden, made[c].name, "sin")};
		assert_int_equal(got.size, pe_tensor_count(&want[0]));
		for (int k = 0; k < 2; k++)
			for (int64_t i = 0; i < got.size; i++)
				xt_close_f64(got.arrays[k][i], (double)((float *)want[k].data)[i], 0, 2e-7);
		xt_turns_free(&got);
	}
	pe_bundle_destroy(&golden);
}

/* At position 1 rounding does no harm, so that all angles are the same, of all scalings. */
static void angles_agree_where_they_are_small(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *golden = xt_golden_bundle(ctx, "rope/tables.npz");
	for (int c = 0; c < (int)(sizeof cases / sizeof *cases); c++) {
		struct xt_turns exact = tables(ctx, golden, c, ",angle=exact", 3);
		struct xt_turns ggml = tables(ctx, golden, c, ",angle=ggml", 3);
		for (int64_t t = 0; t < exact.size / 3; t++)
			for (int k = 0; k < 2; k++)
				xt_close_f64(ggml.arrays[k][t], exact.arrays[k][t], 0, 4e-6);
		xt_turns_free(&exact);
		xt_turns_free(&ggml);
	}
	pe_bundle_destroy(&golden);
}

static void close_to(const double *got, const pe_tensor *want, double tolerance, const char *name)
{
	for (int64_t i = 0; i < pe_tensor_count(want); i++)
		if (fabs(got[i] - ((double *)want->data)[i]) > tolerance)
			fail_msg(
				"%s: entry %lld is off by %g", name, (long long)i, fabs(got[i] - ((double *)want->data)[i]));
}

/* The formulas of the papers in 50 digits. */
static void is_exact(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *golden = xt_golden_bundle(ctx, "rope/tables.npz");
	for (int c = 0; c < (int)(sizeof cases / sizeof *cases); c++) {
		struct xt_turns got = tables(ctx, golden, c, ",angle=exact", 2);
		pe_tensor cosine = array_of(golden, cases[c].name, "cos"),
				  sine = array_of(golden, cases[c].name, "sin");
		assert_int_equal(got.size, pe_tensor_count(&cosine));
		double tolerance = strcmp(cases[c].name, "plain") == 0 ? 1e-11 : 1e-13;
		close_to(got.arrays[0], &cosine, tolerance, cases[c].name);
		close_to(got.arrays[1], &sine, tolerance, cases[c].name);
		xt_turns_free(&got);
	}
	pe_tensor cosine = array_of(golden, "ntk", "cos"), sine = array_of(golden, "ntk", "sin");
	struct xt_turns got = xt_turns_at(ctx, "rope:scaling=ntk,factor=4", (const double[]){4097, 131071}, 2);
	close_to(got.arrays[0], &cosine, 1e-13, "ntk");
	close_to(got.arrays[1], &sine, 1e-13, "ntk");
	xt_turns_free(&got);
	pe_bundle_destroy(&golden);
}

/* Where f32 angles are 3e-3 off, or have no digit left; before 0 and between whole numbers. */
static void is_exact_at_far_positions(void **state)
{
	pe_context *ctx = *state;
	static const double positions[] = {131072, 16777217, -16777217, 1000.1875};
	static const double tolerances[] = {1e-13, 1e-11, 1e-11, 1e-15};
	pe_bundle *golden = xt_golden_bundle(ctx, "rope/tables.npz");
	pe_tensor want[] = {array_of(golden, "far", "cos"), array_of(golden, "far", "sin")};
	struct xt_turns got = xt_turns_at(ctx, "rope:head_dim=128", positions, 4);
	struct xt_turns f32 = xt_turns_at(ctx, "rope:head_dim=128,angle=f32", positions, 4);
	double off = 0;
	for (int i = 0; i < 4; i++)
		for (int t = 0; t < 64; t++)
			for (int k = 0; k < 2; k++) {
				int at = i * 64 + t;
				xt_close_f64(got.arrays[k][at], ((double *)want[k].data)[at], 0, tolerances[i]);
				off = fmax(off, fabs(f32.arrays[k][at] - got.arrays[k][at]));
			}
	assert_true(off > 0.5);
	xt_turns_free(&got);
	xt_turns_free(&f32);
	pe_bundle_destroy(&golden);
}

/* ---- published numbers -------------------------------------------------------------- */

static void has_the_published_ranges_of_yarn(void **state)
{
	(void)state;
	static const struct {
		int64_t rotary_dim;
		double base, length, low, high;
	} ranges[] = {{128, 1e4, 4096, 20.944, 45.027}, {128, 1e6, 32768, 23.596, 39.651},
		{64, 1.5e5, 4096, 8.093, 17.398}};
	for (int i = 0; i < 3; i++) {
		struct pe_rope_scaling s = {.kind = PE_ROPE_YARN,
			.rotary_dim = ranges[i].rotary_dim,
			.base = ranges[i].base,
			.original_length = ranges[i].length,
			.beta_fast = 32,
			.beta_slow = 1};
		long double low, high;
		pe_rope_yarn_range(&s, &low, &high);
		xt_close_f64((double)low, ranges[i].low, 0, 6e-4);
		xt_close_f64((double)high, ranges[i].high, 0, 6e-4);
		s.truncate = true;
		pe_rope_yarn_range(&s, &low, &high);
		assert_true(low == floor(ranges[i].low) && high == ceil(ranges[i].high));
	}
	struct pe_rope_scaling tiny = {.kind = PE_ROPE_YARN, .rotary_dim = 8, .base = 1e4, .original_length = 2};
	tiny.beta_fast = tiny.beta_slow = 1;
	long double low, high;
	pe_rope_yarn_range(&tiny, &low, &high);
	assert_true(high > low && low == 0);
}

static void has_the_published_bases_of_dynamic(void **state)
{
	(void)state;
	static const double lengths[] = {100, 2048, 2049, 4096, 8192},
						bases[] = {1e4, 1e4, 10009.92, 30527.74, 72195.86};
	for (int i = 0; i < 5; i++) {
		struct pe_rope_scaling s = {.kind = PE_ROPE_DYNAMIC,
			.rotary_dim = 128,
			.base = 1e4,
			.factor = 2,
			.original_length = 2048,
			.length = lengths[i]};
		xt_close_f64((double)pe_rope_base(&s), bases[i], 0, 6e-3);
	}
}

/* 29 frequencies stay, 6 are between, 29 are divided. */
static void splits_llama3_as_published(void **state)
{
	(void)state;
	struct pe_rope_scaling s = {
		.head_dim = 128, .rotary_dim = 128, .base = 5e5, .factor = 8, .original_length = 8192};
	s.low_factor = 1;
	s.high_factor = 4;
	long double plain[64], scaled[64];
	int kept = 0, divided = 0, between = 0;
	pe_rope_frequencies(&s, plain);
	s.kind = PE_ROPE_LLAMA3;
	pe_rope_frequencies(&s, scaled);
	for (int t = 0; t < 64; t++) {
		kept += scaled[t] == plain[t];
		divided += scaled[t] == plain[t] / 8;
		between += scaled[t] < plain[t] && scaled[t] > plain[t] / 8;
	}
	assert_int_equal(kept, 29);
	assert_int_equal(between, 6);
	assert_int_equal(divided, 29);
}

static void has_the_published_amplitudes(void **state)
{
	(void)state;
	static const double factors[] = {1, 2, 4, 8, 16, 32, 40, 64},
						amplitudes[] = {1, 1.06931, 1.13863, 1.20794, 1.27726, 1.34657, 1.36889, 1.41589};
	struct pe_rope_scaling s = {.kind = PE_ROPE_YARN};
	double turned, scores;
	for (int i = 0; i < 8; i++) {
		s.factor = factors[i];
		pe_rope_amplitudes(&s, &turned, &scores);
		xt_close_f64(turned, amplitudes[i], 0, 5e-6);
		assert_true(scores == 1);
	}
	s = (struct pe_rope_scaling){.kind = PE_ROPE_LONGROPE, .factor = 32, .original_length = 4096};
	pe_rope_amplitudes(&s, &turned, &scores);
	xt_close_f64(turned, 1.190238, 0, 5e-7);
	s.attention_factor = 0.75;
	pe_rope_amplitudes(&s, &turned, &scores);
	assert_true(turned == 0.75 && scores == 1);
}

/* ---- turned vectors ----------------------------------------------------------------- */

static void turns_as_the_packages_do(void **state)
{
	pe_context *ctx = *state;
	static const struct {
		const char *name, *with;
		double offset;
	} turned[] = {
		{"llama", "rope:preset=hf,head_dim=16", 0},
		{"neox", "rope:preset=neox,head_dim=24,rotary_dim=8", 0},
		{"neox", "rope:preset=neox,head_dim=24,rotary_fraction=0.334", 0},
		{"gptj", "rope:preset=gptj,head_dim=24,rotary_dim=8", 0},
		{"gptj", "rope:preset=gptj,head_dim=24,rotary_fraction=0.334", 0},
		{"rotary_embedding_torch", "rope:preset=lucidrains,head_dim=16", 5},
		{"rescaled", "rope:preset=lucidrains,head_dim=16,scaling=ntk,factor=4", 0},
		{"x_transformers", "rope:head_dim=24,rotary_dim=8,scaling=linear,factor=2", 0},
		{"attention_smithy", "rope:head_dim=16", 0},
	};
	pe_bundle *golden = xt_golden_bundle(ctx, "rope/turned.npz");
	for (int c = 0; c < (int)(sizeof turned / sizeof *turned); c++) {
		pe_tensor want = xt_array(golden, turned[c].name), y = want;
		pe_tensor x = xt_array(golden, want.shape[3] == 16 ? "x16" : "x24");
		pe_domain *domain;
		assert_int_equal(pe_domain_sequence(ctx, want.shape[2], turned[c].offset, &domain), PE_OK);
		pe_encoding *e = xt_encoding(ctx, turned[c].with, domain, NULL, NULL);
		float *data = malloc((size_t)pe_tensor_bytes(&want));
		y.data = data;
		for (int side = PE_QUERIES; side <= PE_KEYS; side++) {
			assert_int_equal(pe_encoding_rotate(e, (pe_side)side, &x, &y), PE_OK);
			for (int64_t i = 0; i < pe_tensor_count(&want); i++)
				xt_close_f64((double)data[i], (double)((float *)want.data)[i], 0, 1e-6);
		}
		assert_int_equal(pe_encoding_rotate(e, PE_VALUES, &x, &y), PE_OK);
		assert_memory_equal(data, x.data, pe_tensor_bytes(&x));
		free(data);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
	pe_bundle_destroy(&golden);
}

/* ---- properties --------------------------------------------------------------------- */

static void turn(
	pe_context *ctx, const char *with, double position, const double *x, double *y, int64_t width)
{
	pe_domain *domain;
	double copy[256];
	memcpy(copy, x, (size_t)width * sizeof *x);
	assert_int_equal(pe_domain_sequence(ctx, 1, position, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, with, domain, NULL, NULL);
	pe_tensor in = pe_tensor_dense(copy, PE_F64, 4, (int64_t[]){1, 1, 1, width}), out = in;
	out.data = y;
	assert_int_equal(pe_encoding_rotate(e, PE_QUERIES, &in, &out), PE_OK);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static double norm(const double *x, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sqrt(sum);
}

static void keeps_norms(void **state)
{
	double x[64], y[64];
	xt_numbers(x, 64);
	static const double positions[] = {0, 1, -7, 0.375, 131072, 16777217};
	for (int i = 0; i < 6; i++) {
		turn(*state, "rope", positions[i], x, y, 64);
		xt_close_f64(norm(y, 64), norm(x, 64), 1e-15, 0);
		turn(*state, "rope:layout=halves,rotary_dim=24", positions[i], x, y, 64);
		xt_close_f64(norm(y, 24), norm(x, 24), 1e-15, 0);
		assert_memory_equal(y + 24, x + 24, 40 * sizeof *x);
	}
	turn(*state, "rope:scaling=yarn,factor=8,original_length=64", 3, x, y, 64);
	xt_close_f64(norm(y, 64), norm(x, 64) * (1 + 0.1 * log(8)), 1e-15, 0);
}

static void leaves_what_is_beyond_proportional_pairs(void **state)
{
	double x[64], y[64];
	xt_numbers(x, 64);
	turn(*state, "rope:layout=halves,rotary_dim=16,scaling=proportional", 5, x, y, 64);
	for (int t = 0; t < 32; t++) {
		double w = 5 * pow(1e4, -t / 32.0), c = t < 8 ? cos(w) : 1, s = t < 8 ? sin(w) : 0;
		xt_close_f64(y[t], x[t] * c - x[t + 32] * s, 0, 1e-15);
		xt_close_f64(y[t + 32], x[t] * s + x[t + 32] * c, 0, 1e-15);
	}
}

/* What is turned may stand anywhere in the head: in double, in f32, in and out of place. */
static void turns_from_a_channel_on(void **state)
{
	pe_context *ctx = *state;
	double x[24], y[24], part[16];
	float in[24], out[24];
	xt_numbers(x, 24);
	static const char *const with[][2] = {
		{"rope:head_dim=24,rotary_dim=16,rotary_start=5", "rope:head_dim=16"},
		{"rope:head_dim=24,rotary_dim=16,rotary_start=5,layout=halves", "rope:head_dim=16,layout=halves"}};
	for (int c = 0; c < 2; c++) {
		turn(ctx, with[c][0], 7, x, y, 24);
		turn(ctx, with[c][1], 7, x + 5, part, 16);
		assert_memory_equal(y, x, 5 * sizeof *x);
		assert_memory_equal(y + 5, part, sizeof part);
		assert_memory_equal(y + 21, x + 21, 3 * sizeof *x);
		pe_domain *domain;
		assert_int_equal(pe_domain_sequence(ctx, 1, 7, &domain), PE_OK);
		pe_encoding *e = xt_encoding(ctx, with[c][0], domain, NULL, NULL);
		pe_tensor from = pe_tensor_dense(in, PE_F32, 4, (int64_t[]){1, 1, 1, 24}), to = from;
		to.data = out;
		for (int i = 0; i < 24; i++)
			in[i] = (float)x[i];
		assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &from, &to), PE_OK);
		assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &from, &from), PE_OK);
		for (int i = 0; i < 24; i++)
			xt_close_f64((double)out[i], y[i], 0, 3e-7);
		assert_memory_equal(in, out, sizeof in);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
}

static void layouts_are_permutations_of_each_other(void **state)
{
	double x[48], permuted[48], a[48], b[48];
	xt_numbers(x, 48);
	memcpy(permuted, x, sizeof x);
	for (int t = 0; t < 16; t++) {
		permuted[t] = x[2 * t];
		permuted[t + 16] = x[2 * t + 1];
	}
	turn(*state, "rope:head_dim=48,rotary_dim=32", 11.5, x, a, 48);
	turn(*state, "rope:head_dim=48,rotary_dim=32,layout=halves", 11.5, permuted, b, 48);
	for (int t = 0; t < 16; t++)
		assert_true(a[2 * t] == b[t] && a[2 * t + 1] == b[t + 16]);
	assert_memory_equal(a + 32, b + 32, 16 * sizeof *a);
}

/* Scores depend on the difference alone, and differ between differences. */
static void scores_do_not_change_with_a_common_shift(void **state)
{
	double q[128], k[256], here[2], there[2], other[2];
	xt_numbers(k, 256);
	memcpy(q, k + 128, sizeof q);
	static const char *const with[] = {"rope", "rope:layout=halves,rotary_dim=32",
		"rope:preset=llama3,head_dim=64,angle=exact", "rope:scaling=yarn,factor=4,original_length=128",
		"rope:scaling=proportional,rotary_dim=32"};
	static const double shifts[] = {1, -100, 0.625, 131072, 16777217};
	for (int c = 0; c < 5; c++)
		for (int s = 0; s < 5; s++) {
			xt_scores(*state, with[c], 5, 2, q, k, 64, here);
			xt_scores(*state, with[c], 5 + shifts[s], 2 + shifts[s], q, k, 64, there);
			xt_scores(*state, with[c], 5, 3, q, k, 64, other);
			for (int h = 0; h < 2; h++) {
				xt_close_f64(there[h], here[h], 0, 1e-11);
				assert_true(fabs(other[h] - here[h]) > 1e-3);
			}
		}
}

/* mscale_in=scale: the scale of scores takes the square, and scores are the same where all is turned. */
static void puts_the_attention_factor_where_it_is_told(void **state)
{
	double q[128], k[256], plain[2], inside[2], moved[2], deepseek[2];
	xt_numbers(k, 256);
	memcpy(q, k + 128, sizeof q);
#define YARN "rope:scaling=yarn,factor=40,original_length=4096"
	xt_scores(*state, YARN ",attention_factor=1", 90, 2, q, k, 64, plain);
	xt_scores(*state, YARN, 90, 2, q, k, 64, inside);
	xt_scores(*state, YARN ",mscale_in=scale", 90, 2, q, k, 64, moved);
	xt_scores(*state, YARN ",mscale_in=scale,mscale=1,mscale_all_dim=1", 90, 2, q, k, 64, deepseek);
	double square = pow(0.1 * log(40) + 1, 2);
	for (int h = 0; h < 2; h++) {
		xt_close_f64(inside[h], square * plain[h], 1e-14, 0);
		xt_close_f64(moved[h], square * plain[h], 1e-14, 0);
		xt_close_f64(deepseek[h], square * plain[h], 1e-14, 0);
	}
	xt_scores(*state, YARN ",mscale_in=scale,mscale=0.707,mscale_all_dim=1", 90, 2, q, k, 64, deepseek);
	for (int h = 0; h < 2; h++)
		xt_close_f64(deepseek[h], pow(0.0707 * log(40) + 1, 2) * plain[h], 1e-14, 0);
	xt_scores(*state, YARN ",rotary_dim=32", 90, 2, q, k, 64, inside);
	xt_scores(*state, YARN ",rotary_dim=32,mscale_in=scale", 90, 2, q, k, 64, moved);
	assert_true(fabs(inside[0] - moved[0]) > 1e-3);
#undef YARN
}

/* Heads that end in the rotary part, and the square of the attention factor in the scale. */
static void scores_as_deepseek(void **state)
{
	pe_context *ctx = *state;
	static const char *const with[][2] = {{"deepseek_scores", "rope:preset=deepseek"},
		{"deepseek_v2_scores", "rope:preset=deepseek,mscale=0.707"}};
	pe_bundle *golden = xt_golden_bundle(ctx, "rope/turned.npz");
	double q[384], k[384], scores[2];
	for (int i = 0; i < 384; i++) {
		q[i] = (double)((float *)xt_array(golden, "deepseek_q").data)[i];
		k[i] = (double)((float *)xt_array(golden, "deepseek_k").data)[i];
	}
	for (int c = 0; c < 2; c++) {
		xt_scores(ctx, with[c][1], 90, 2, q, k, 192, scores);
		for (int h = 0; h < 2; h++)
			xt_close_f64(scores[h], (double)((float *)xt_array(golden, with[c][0]).data)[h], 1e-6, 1e-6);
	}
	pe_bundle_destroy(&golden);
}

/* Only what sets the scale takes that site. */
static void shares_attention_with_an_encoder_that_sets_the_scale(void **state)
{
	pe_context *ctx = *state;
	double x[2] = {1, 2}, out[1];
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 1, 0, &domain), PE_OK);
	pe_encoding *list[] = {xt_encoding(ctx, "rope:head_dim=2,mscale_in=scale", domain, NULL, NULL),
		xt_encoding(ctx, "rope:head_dim=2", domain, NULL, NULL),
		xt_encoding(ctx, "rope:head_dim=2,mscale_in=scale", domain, NULL, NULL)};
	pe_tensor q = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 1, 1, 2}), k = q;
	pe_tensor v = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 1, 1, 1}), y = v;
	y.data = out;
	pe_attention_tensors t = {.size = sizeof t, .q = &q, .k = &k, .v = &v, .out = &y};
	pe_attention_options options = {.size = sizeof options, .core = PE_CORE_REFERENCE};
	assert_int_equal(pe_attend(ctx, list, 2, &options, &t), PE_OK);
	xt_fails(ctx, pe_attend(ctx, list, 3, &options, &t), PE_ERR_UNSUPPORTED, "cannot be combined");
	for (int i = 0; i < 3; i++)
		pe_encoding_destroy(&list[i]);
	pe_domain_destroy(&domain);
}

static void tiles_agree(void **state)
{
	xt_tiles_agree(*state, "rope:head_dim=24,rotary_dim=10", 24, 1e-5);
	xt_tiles_agree(*state, "rope:head_dim=24,rotary_dim=10,rotary_start=3,layout=halves", 24, 1e-5);
	xt_tiles_agree(
		*state, "rope:head_dim=24,scaling=yarn,factor=8,original_length=4096,mscale_in=scale", 24, 1e-5);
}

static void takes_positions_that_differ_between_batches(void **state)
{
	pe_context *ctx = *state;
	double at[] = {0, 1, 2, -4.5, 1e4, 3}, cosine[6 * 2];
	pe_tensor positions = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){2, 3});
	pe_domain *domain;
	assert_int_equal(pe_domain_positions(ctx, &positions, 0, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, "rope:head_dim=4", domain, NULL, NULL);
	pe_array_info info;
	assert_int_equal(pe_encoding_array(e, 0, &info), PE_OK);
	assert_int_equal(info.ndim, 3);
	pe_tensor outs[2] = {pe_tensor_dense(cosine, PE_F64, 3, info.shape)};
	assert_int_equal(pe_encoding_compute(e, outs, 2), PE_OK);
	double x[2 * 3 * 4], y[2 * 3 * 4];
	xt_numbers(x, 24);
	pe_tensor in = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){2, 1, 3, 4}), out = in;
	out.data = y;
	assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &in, &out), PE_OK);
	for (int i = 0; i < 6; i++)
		for (int t = 0; t < 2; t++) {
			double w = at[i] * (t ? 0.01 : 1), *a = &x[i * 4 + 2 * t], *b = &y[i * 4 + 2 * t];
			xt_close_f64(cosine[i * 2 + t], cos(w), 0, 1e-15);
			xt_close_f64(b[0], a[0] * cos(w) - a[1] * sin(w), 0, 1e-15);
			xt_close_f64(b[1], a[0] * sin(w) + a[1] * cos(w), 0, 1e-15);
		}
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* ---- options ------------------------------------------------------------------------ */

/* dynamic and longrope follow the last position of queries and keys, unless told. */
static void follows_the_length(void **state)
{
	pe_context *ctx = *state;
#define DYNAMIC "rope:head_dim=128,scaling=dynamic,factor=2,original_length=2048"
	static const double near_end[] = {1, 8191}, near[] = {1};
	struct xt_turns own = xt_turns_at(ctx, DYNAMIC, near_end, 2);
	struct xt_turns told = xt_turns_at(ctx, DYNAMIC ",length=8192", near, 1);
	struct xt_turns before = xt_turns_at(ctx, DYNAMIC, near, 1),
					plain = xt_turns_at(ctx, "rope:head_dim=128", near, 1);
#undef DYNAMIC
	for (int t = 0; t < 64; t++)
		assert_true(own.arrays[1][t] == told.arrays[1][t] && before.arrays[1][t] == plain.arrays[1][t]);
	assert_true(own.arrays[1][1] != plain.arrays[1][1]);
	xt_turns_free(&own);
	xt_turns_free(&told);
	xt_turns_free(&before);
	xt_turns_free(&plain);
}

/* A list as a weight is the list as an option. */
static void takes_lists_from_weights(void **state)
{
	pe_context *ctx = *state;
	double list[] = {1, 2, 4.5, 8}, cosine[2][3 * 4];
	int64_t four = 4;
	pe_bundle *weights;
	pe_domain *domain;
	assert_int_equal(pe_bundle_create(ctx, &weights), PE_OK);
	pe_tensor t = pe_tensor_dense(list, PE_F64, 1, &four);
	assert_int_equal(pe_bundle_add(weights, "rope.long_factor", &t), PE_OK);
	assert_int_equal(pe_domain_sequence(ctx, 3, 100, &domain), PE_OK);
#define LONGROPE "rope:head_dim=8,scaling=longrope,factor=4,original_length=64"
	pe_encoding *e[] = {xt_encoding(ctx, LONGROPE, domain, NULL, weights),
		xt_encoding(ctx, LONGROPE ",long_factor=1/2/4.5/8", domain, NULL, NULL)};
	for (int k = 0; k < 2; k++) {
		pe_tensor outs[2] = {pe_tensor_dense(cosine[k], PE_F64, 2, (int64_t[]){3, 4})};
		assert_int_equal(pe_encoding_compute(e[k], outs, 2), PE_OK);
		pe_encoding_destroy(&e[k]);
	}
	assert_memory_equal(cosine[0], cosine[1], sizeof cosine[0]);
	xt_refuses_settings(ctx, LONGROPE, PE_ERR_RANGE, "needs short_factor");
	xt_refuses_settings(
		ctx, LONGROPE ",length=65,long_factor=1/2/4", PE_ERR_RANGE, "has 3 numbers, and there are 4 pairs");
#undef LONGROPE
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&weights);
}

/* The preset's quarter is one of any head; rotary_dim wins. */
static void turns_a_fraction_of_the_head(void **state)
{
	static const struct {
		const char *with;
		int64_t pairs;
	} fractions[] = {{"rope:preset=neox", 8}, {"rope:preset=neox,head_dim=128", 16},
		{"rope:preset=neox,head_dim=128,rotary_dim=64", 32}, {"rope:rotary_fraction=0.5,rotary_dim=8", 4},
		{"rope:head_dim=80,rotary_fraction=0.4", 16}};
	for (int i = 0; i < (int)(sizeof fractions / sizeof *fractions); i++) {
		pe_domain *domain;
		pe_array_info info;
		assert_int_equal(pe_domain_sequence(*state, 3, 0, &domain), PE_OK);
		pe_encoding *e = xt_encoding(*state, fractions[i].with, domain, NULL, NULL);
		assert_int_equal(pe_encoding_array(e, 0, &info), PE_OK);
		assert_int_equal(info.shape[1], fractions[i].pairs);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
}

static void refuses_what_it_cannot_take(void **state)
{
	static const struct {
		const char *with, *text;
	} wrong[] = {
		{"rope:head_dim=7", "head dimension 7 is odd; rope needs an even one"},
		{"rope:rotary_dim=5", "rotary_dim 5 is odd"},
		{"rope:rotary_dim=66", "66 channels from number 0 on are to be turned, but heads are 64 wide"},
		{"rope:rotary_dim=16,rotary_start=49", "16 channels from number 49 on"},
		{"rope:rotary_dim=16,rotary_start=2,scaling=proportional", "64 channels from number 2 on"},
		{"rope:head_dim=9,rotary_dim=4,scaling=proportional", "head dimension 9 is odd"},
		{"rope:scaling=linear", "scaling=linear needs factor"},
		{"rope:scaling=linear,factor=0.5", "factor must be 1 or more"},
		{"rope:scaling=ntk,factor=2,head_dim=2", "rotary_dim r is 2"},
		{"rope:scaling=dynamic,factor=2", "scaling=dynamic needs original_length"},
		{"rope:scaling=yarn,factor=2,original_length=64,base=1", "needs a base above 1"},
		{"rope:scaling=yarn,factor=2,original_length=64,beta_fast=0.5", "beta_fast not below beta_slow"},
		{"rope:factor=8", "factor has no effect with scaling=none"},
		{"rope:original_length=64", "original_length has no effect with scaling=none"},
		{"rope:length=64", "length has no effect with scaling=none"},
		{"rope:beta_fast=16", "beta_fast has no effect with scaling=none"},
		{"rope:beta_slow=2", "beta_slow has no effect with scaling=none"},
		{"rope:low_factor=2", "low_factor has no effect with scaling=none"},
		{"rope:high_factor=2", "high_factor has no effect with scaling=none"},
		{"rope:short_factor=1/2", "short_factor has no effect with scaling=none"},
		{"rope:long_factor=1/2", "long_factor has no effect with scaling=none"},
		{"rope:mscale=1", "mscale has no effect with scaling=none"},
		{"rope:mscale_all_dim=1", "mscale_all_dim has no effect with scaling=none"},
		{"rope:truncate=0", "truncate has no effect with scaling=none"},
		{"rope:scaling=linear,factor=2,beta_fast=8", "beta_fast has no effect with scaling=linear"},
		{"rope:head_dim=64,rotary_fraction=0.05", "rotary_dim 3 is odd"},
		{"rope:scaling=llama3,high_factor=1", "needs a high_factor above low_factor"},
	};
	for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); i++)
		xt_refuses_settings(*state, wrong[i].with, PE_ERR_RANGE, wrong[i].text);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_transformers_in_f32),
		cmocka_unit_test(matches_ggml),
		cmocka_unit_test(angles_agree_where_they_are_small),
		cmocka_unit_test(is_exact),
		cmocka_unit_test(is_exact_at_far_positions),
		cmocka_unit_test(has_the_published_ranges_of_yarn),
		cmocka_unit_test(has_the_published_bases_of_dynamic),
		cmocka_unit_test(splits_llama3_as_published),
		cmocka_unit_test(has_the_published_amplitudes),
		cmocka_unit_test(turns_as_the_packages_do),
		cmocka_unit_test(keeps_norms),
		cmocka_unit_test(leaves_what_is_beyond_proportional_pairs),
		cmocka_unit_test(turns_from_a_channel_on),
		cmocka_unit_test(layouts_are_permutations_of_each_other),
		cmocka_unit_test(scores_do_not_change_with_a_common_shift),
		cmocka_unit_test(puts_the_attention_factor_where_it_is_told),
		cmocka_unit_test(scores_as_deepseek),
		cmocka_unit_test(shares_attention_with_an_encoder_that_sets_the_scale),
		cmocka_unit_test(tiles_agree),
		cmocka_unit_test(takes_positions_that_differ_between_batches),
		cmocka_unit_test(follows_the_length),
		cmocka_unit_test(takes_lists_from_weights),
		cmocka_unit_test(turns_a_fraction_of_the_head),
		cmocka_unit_test(refuses_what_it_cannot_take),
	};
	return xt_run(argc, argv, tests);
}
