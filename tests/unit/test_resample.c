/* SPDX-License-Identifier: BSD-2-Clause
 * Resampling against torch.nn.functional.interpolate, and what holds of every rule. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "context.h"
#include "resample.h"

static pe_tensor array(const pe_bundle *b, const char *name)
{
	pe_tensor t;
	if (!pe_bundle_find(b, name, &t))
		fail_msg("there is no array %s", name);
	return t;
}

static void test_golden(void **state)
{
	pe_bundle *b;
	double in[14 * 14 * 2], largest = 0;
	assert_int_equal(
		pe_bundle_from_file(*state, xt_source("tests/golden/resample/resample.npz"), NULL, &b), PE_OK);
	pe_tensor cases = array(b, "cases"), pool = array(b, "pool"), outs = array(b, "out");
	const float *wanted = outs.data;
	for (int64_t i = 0; i < pe_tensor_count(&pool); i++)
		in[i] = ((const float *)pool.data)[i];
	for (int64_t i = 0; i < cases.shape[0]; i++) {
		const double *c = (const double *)cases.data + 10 * i;
		int64_t s[5];
		for (int k = 0; k < 5; k++)
			s[k] = (int64_t)c[k];
		struct pe_resample_rule y = {c[5] > 0 ? PE_BICUBIC : PE_BILINEAR, c[6] > 0, c[7] > 0, c[8]}, x = y;
		x.scale = c[9];
		int64_t count = s[2] * s[3] * s[4];
		double *out = malloc((size_t)count * sizeof *out);
		assert_non_null(out);
		assert_int_equal(pe_resample_grid(*state, &y, &x, in, s[0], s[1], s[4], s[2], s[3], out), PE_OK);
		for (int64_t k = 0; k < count; k++, wanted++) {
			double difference = fabs(out[k] - *wanted);
			if (!(difference <= 5e-6))
				fail_msg("case %d (%d x %d to %d x %d): number %d is %g, not %g", (int)i, (int)s[0],
					(int)s[1], (int)s[2], (int)s[3], (int)k, out[k], *wanted);
			largest = fmax(largest, difference);
		}
		free(out);
	}
	assert_int_equal(wanted - (const float *)outs.data, pe_tensor_count(&outs));
	assert_true(cases.shape[0] > 100 && largest < 1e-6); /* both are computed in double, the file is single */
	pe_bundle_destroy(&b);
}

/* For every rule and many sizes: weights add up to one, spans hold, a size to itself is the identity. */
static void check_rule(pe_context *ctx, const struct pe_resample_rule *rule, int64_t in, int64_t out)
{
	struct pe_resample r;
	int64_t low, high;
	assert_int_equal(pe_resample_make(ctx, rule, in, out, &r), PE_OK);
	pe_resample_span(&r, 0, out, &low, &high);
	assert_true(low >= 0 && high <= in);
	for (int64_t i = 0; i < out; i++) {
		double total = 0;
		assert_true(r.count[i] >= 1 && r.count[i] <= r.taps);
		assert_true(r.first[i] >= low && r.first[i] + r.count[i] <= high);
		for (int64_t k = 0; k < r.count[i]; k++) {
			double weight = r.weights[i * r.taps + k];
			total += weight;
			if (in == out && rule->scale <= 0)
				xt_close_f64(weight, r.first[i] + k == i ? 1 : 0, 0, 1e-12);
		}
		xt_close_f64(total, 1, 0, 1e-12);
	}
	pe_resample_free(ctx, &r);
}

static void test_every_rule(void **state)
{
	static const int64_t sizes[] = {1, 2, 3, 5, 14, 37, 224, 1000};
	for (int kind = 0; kind < 6; kind++) {
		struct pe_resample_rule rule = {kind % 2 ? PE_BICUBIC : PE_BILINEAR, kind / 2 == 1, kind / 2 == 2, 0};
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
				check_rule(*state, &rule, sizes[i], sizes[k]);
		rule.scale = 1e9; /* places far beyond the end stay inside */
		check_rule(*state, &rule, 5, 7);
		rule.scale = 1e-9;
		check_rule(*state, &rule, 5, 7);
	}
}

/* By parts: the same numbers as the whole. */
static void test_parts(void **state)
{
	struct pe_resample_rule rule = {PE_BICUBIC, true, false, 0};
	struct pe_resample r;
	double in[60], whole[34], part[34];
	for (int i = 0; i < 60; i++)
		in[i] = sin(i * 1.7);
	assert_int_equal(pe_resample_make(*state, &rule, 30, 17, &r), PE_OK);
	pe_resample_apply(&r, 0, 17, in, 0, 2, whole);
	for (int64_t from = 0; from < 17; from += 5) {
		int64_t low, high, to = pe_min(from + 5, 17);
		pe_resample_span(&r, from, to, &low, &high);
		double *exact = malloc((size_t)(high - low) * 2 * sizeof *exact); /* a sanitizer sees a step beyond */
		assert_non_null(exact);
		memcpy(exact, in + 2 * low, (size_t)(high - low) * 2 * sizeof *exact);
		pe_resample_apply(&r, from, to, exact, low, 2, part + 2 * from);
		free(exact);
	}
	assert_memory_equal(whole, part, sizeof whole);
	pe_resample_free(*state, &r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_every_rule),
		cmocka_unit_test(test_parts),
	};
	return xt_run(argc, argv, tests);
}
