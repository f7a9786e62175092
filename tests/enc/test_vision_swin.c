/* SPDX-License-Identifier: BSD-2-Clause
 * Swin's bias against timm's, and what holds of its index. */
#include "xt.h"

#include "xt_scores.h"
#include "xt_window.h"

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

/* index(i, j) + index(j, i) is twice the centre, and the offsets are those of the places. */
static void its_index_is_antisymmetric(void **state)
{
	enum { H = 4, W = 3, N = H * W };
	pe_domain *domain = xt_grid(*state, H, W, 0);
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
		pe_domain *domain = k ? xt_grid(ctx, W, H, 0) : xt_grid(ctx, H, W, 0);
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

static void leaves_prefix_tokens_alone(void **state)
{
	xt_window_leaves_prefix_alone(*state, "swin", "heads=2");
}

static void refuses_what_it_cannot_place(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain = xt_grid(ctx, 7, 8, 0);
	xt_window_refuses(ctx, "swin");
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
	pe_domain_destroy(&domain);
}

/* timm computes in f32. */
static void resamples_as_timm_does(void **state)
{
	static const char *const cases[] = {"geometric_grown", "geometric_shrunk", "geometric_from_one"};
	for (int i = 0; i < 3; i++)
		xt_golden_case(*state, "swin", "swin/swin.npz", cases[i], "heads=2,preset=timm", 0, 3e-6);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(resamples_as_timm_does),
		cmocka_unit_test(is_what_timm_computes),
		cmocka_unit_test(resamples_as_the_authors_do),
		cmocka_unit_test(its_index_is_antisymmetric),
		cmocka_unit_test(transposes_with_its_table),
		cmocka_unit_test(leaves_prefix_tokens_alone),
		cmocka_unit_test(refuses_what_it_cannot_place),
	};
	return xt_run(argc, argv, tests);
}
