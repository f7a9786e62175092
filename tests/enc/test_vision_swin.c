/* SPDX-License-Identifier: BSD-2-Clause
 * Swin's bias against timm's, and what holds of its index. */
#include "xt.h"

#include "xt_scores.h"

#include <string.h>

static void is_what_timm_computes(void **state)
{
	static const char *const cases[] = {"square", "rectangle", "row", "column", "one"};
	static const char *const heads[] = {"heads=2", "heads=3", "heads=2", "heads=1", "heads=2"};
	for (int i = 0; i < 5; i++)
		xt_golden_case(*state, "swin", "swin/swin.npz", cases[i], heads[i], 0, 0);
	xt_golden_case(*state, "swin", "swin/swin.npz", "part", "heads=2,window=4/5", 0, 0);
}

static void resamples_as_the_authors_do(void **state)
{
	xt_golden_case(*state, "swin", "swin/swin.npz", "grown", "heads=2", 1e-12, 1e-12);
	xt_golden_case(*state, "swin", "swin/swin.npz", "grown", "heads=2,pretrained_window=3", 1e-12, 1e-12);
	xt_golden_case(*state, "swin", "swin/swin.npz", "shrunk", "heads=2", 1e-12, 1e-12);
}

static pe_domain *grid(pe_context *ctx, int64_t height, int64_t width, int64_t prefix)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_grid(ctx, 1, height, width, prefix, &domain), PE_OK);
	return domain;
}

/* index(i, j) + index(j, i) is twice the centre, and the offsets are those of the places. */
static void its_index_is_antisymmetric(void **state)
{
	enum { H = 4, W = 3, N = H * W };
	pe_domain *domain = grid(*state, H, W, 0);
	pe_encoding *e = xt_encode(*state, "swin", "", domain, NULL, NULL, NULL);
	pe_tensor index = xt_computed(e, "relative_position_index");
	const double *x = index.data;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			assert_true(x[i * N + j] + x[j * N + i] == (2 * H - 1) * (2 * W - 1) - 1);
			assert_true(x[i * N + j] == (i / W - j / W + H - 1) * (2 * W - 1) + i % W - j % W + W - 1);
		}
	free(index.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* The grid transposed, and the table with it: the same biases between the same places. */
static void transposes_with_its_table(void **state)
{
	enum { H = 3, W = 5, N = H * W, ROWS = (2 * H - 1) * (2 * W - 1) };
	pe_context *ctx = *state;
	double table[ROWS], turned[ROWS];
	for (int r = 0; r < ROWS; r++) {
		table[r] = r * r % 17 - 0.25 * r;
		turned[r % (2 * W - 1) * (2 * H - 1) + r / (2 * W - 1)] = table[r];
	}
	pe_tensor out[2];
	for (int k = 0; k < 2; k++) {
		pe_domain *domain = k ? grid(ctx, W, H, 0) : grid(ctx, H, W, 0);
		pe_bundle *bundle;
		pe_tensor view = pe_tensor_dense(k ? turned : table, PE_F64, 2, (int64_t[]){ROWS, 1});
		assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
		assert_int_equal(pe_bundle_add(bundle, "relative_position_bias_table", &view), PE_OK);
		pe_encoding *e = xt_encode(ctx, "swin", "heads=1", domain, NULL, bundle, NULL);
		out[k] = xt_computed(e, "bias");
		pe_encoding_destroy(&e);
		pe_bundle_destroy(&bundle);
		pe_domain_destroy(&domain);
	}
	const double *a = out[0].data, *b = out[1].data;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			int ti = i % W * H + i / W, tj = j % W * H + j / W;
			assert_true(a[i * N + j] == b[ti * N + tj]);
		}
	free(out[0].data);
	free(out[1].data);
}

/* Prefix tokens have no bias; the others have what they have without them; the last queries have the last
 * rows. */
static void leaves_prefix_tokens_alone(void **state)
{
	enum { N = 12, P = 2, LAST = 5 };
	pe_context *ctx = *state;
	pe_domain *plain = grid(ctx, 3, 4, 0), *with = grid(ctx, 3, 4, P), *last;
	assert_int_equal(pe_domain_tail(ctx, with, LAST, &last), PE_OK);
	pe_encoding *e[] = {xt_encode(ctx, "swin", "heads=2", plain, NULL, NULL, NULL),
		xt_encode(ctx, "swin", "heads=2", with, NULL, NULL, NULL),
		xt_encode(ctx, "swin", "heads=2", with, last, NULL, NULL)};
	pe_tensor t[] = {xt_computed(e[0], "bias"), xt_computed(e[1], "bias"), xt_computed(e[2], "bias")};
	const double *a = t[0].data, *b = t[1].data, *c = t[2].data;
	int all = N + P, nonzero = 0;
	for (int h = 0; h < 2; h++)
		for (int i = 0; i < all; i++)
			for (int j = 0; j < all; j++) {
				double x = b[(h * all + i) * all + j];
				assert_true(x == (i < P || j < P ? 0 : a[(h * N + i - P) * N + j - P]));
				nonzero += x < 0 || x > 0;
				if (i >= all - LAST)
					assert_true(x == c[(h * LAST + i - (all - LAST)) * all + j]);
			}
	assert_int_equal(nonzero, 2 * N * N);
	for (int k = 0; k < 3; k++) {
		free(t[k].data);
		pe_encoding_destroy(&e[k]);
	}
	pe_domain_destroy(&last);
	pe_domain_destroy(&with);
	pe_domain_destroy(&plain);
}

static void refuses_what_it_cannot_place(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain = grid(ctx, 7, 8, 0), *frames;
	assert_int_equal(pe_domain_grid(ctx, 2, 7, 8, 0, &frames), PE_OK);
	xt_encode_refused(
		ctx, "swin", "window=7", domain, PE_ERR_RANGE, "a grid of 7 x 8 is larger than the window");
	xt_encode_refused(ctx, "swin", "window=7/8/9", domain, PE_ERR_RANGE, "a height and a width");
	xt_encode_refused(ctx, "swin", "window=8.5", domain, PE_ERR_RANGE, "not a whole number");
	xt_encode_refused(ctx, "swin", "", frames, PE_ERR_UNSUPPORTED, "2 frames");
	double table[6] = {0};
	pe_bundle *bundle;
	pe_encoding *e;
	pe_tensor view = pe_tensor_dense(table, PE_F64, 2, (int64_t[]){6, 1});
	assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
	assert_int_equal(pe_bundle_add(bundle, "relative_position_bias_table", &view), PE_OK);
	pe_encoding_options options = {sizeof options, .weights = bundle};
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("swin"), NULL, domain, &options, &e), PE_ERR_SHAPE,
		"6 rows, which no square window has");
	pe_bundle_destroy(&bundle);
	pe_domain_destroy(&frames);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_timm_computes),
		cmocka_unit_test(resamples_as_the_authors_do),
		cmocka_unit_test(its_index_is_antisymmetric),
		cmocka_unit_test(transposes_with_its_table),
		cmocka_unit_test(leaves_prefix_tokens_alone),
		cmocka_unit_test(refuses_what_it_cannot_place),
	};
	return xt_run(argc, argv, tests);
}
