/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt_attend.h"
#include "xt_rotation.h"

#define GOLDEN "xpos:head_dim=8,scale_base=4"

/* z of a head of 8, and a row of the three arrays. */
static void has_the_published_scales(void **state)
{
	static const double z[] = {.285714, .464286, .642857, .821429};
	struct xt_turns r = xt_turns_from(*state, "xpos:head_dim=8", 3, 511);
	struct xt_turns rope = xt_turns_from(*state, "rope:head_dim=8", 3, 511);
	assert_int_equal(r.count, 3);
	assert_string_equal(r.info[2].name, "scale");
	for (int t = 0; t < 4; t++)
		xt_close_f64(r.arrays[2][4 + t], z[t], 0, 5e-7);
	assert_memory_equal(r.arrays[0], rope.arrays[0], 12 * sizeof(double));
	assert_memory_equal(r.arrays[1], rope.arrays[1], 12 * sizeof(double));
	xt_turns_free(&r);
	xt_turns_free(&rope);
}

static void turns_as_the_packages_do(void **state)
{
	pe_context *ctx = *state;
	static const char *const packages[] = {"x_transformers", "rotary_embedding_torch"};
	pe_bundle *golden = xt_golden_bundle(ctx, "xpos/turned.npz");
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 13, 0, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, GOLDEN ",centre=6", domain, NULL, NULL);
	double data[2 * 13 * 8];
	for (int p = 0; p < 2; p++)
		for (int side = PE_QUERIES; side <= PE_KEYS; side++) {
			char name[64];
			snprintf(name, sizeof name, "%s_%s", packages[p], side == PE_QUERIES ? "q" : "k");
			pe_tensor x = xt_array(golden, side == PE_QUERIES ? "q" : "k"), y = x,
					  want = xt_array(golden, name);
			y.data = data;
			assert_int_equal(pe_encoding_rotate(e, (pe_side)side, &x, &y), PE_OK);
			for (int i = 0; i < 2 * 13 * 8; i++)
				xt_close_f64(data[i], (double)((float *)want.data)[i], 2e-6, 2e-6);
		}
	pe_tensor x = xt_array(golden, "q"), y = x, scale = xt_array(golden, "scale");
	y.data = data;
	assert_int_equal(pe_encoding_rotate(e, PE_VALUES, &x, &y), PE_OK);
	assert_memory_equal(data, x.data, sizeof data);
	pe_tensor outs[3] = {{0}, {0}, pe_tensor_dense(data, PE_F64, 2, (int64_t[]){13, 4})};
	assert_int_equal(pe_encoding_compute(e, outs, 3), PE_OK);
	for (int i = 0; i < 13 * 4; i++)
		xt_close_f64(data[i], (double)((float *)scale.data)[i], 1e-6, 0);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&golden);
}

/* Whatever the centre. */
static void attends_as_x_transformers(void **state)
{
	xt_attend_file(*state, "xpos/causal.npz", GOLDEN, true, 2e-6);
	xt_attend_file(*state, "xpos/causal.npz", GOLDEN ",centre=6", true, 2e-6);
	xt_attend_file(*state, "xpos/causal.npz", GOLDEN ",centre=-40.5", true, 2e-6);
}

/* The formula itself, for any real positions. */
static void scores_decay_with_the_distance(void **state)
{
	double q[16], k[16], scores[2];
	xt_numbers(q, 16);
	xt_numbers(k, 16);
	static const double at[][2] = {{5, 2}, {-3.5, -1000}, {20000, 19000.25}, {2, 5}};
	for (int c = 0; c < 4; c++) {
		xt_scores(*state, "xpos:head_dim=8,layout=halves", at[c][0], at[c][1], q, k, 8, scores);
		for (int h = 0; h < 2; h++) {
			double sum = 0, distance = at[c][0] - at[c][1], *a = q + 8 * h, *b = k + 8 * h;
			for (int t = 0; t < 4; t++) {
				double w = distance * pow(1e4, -t / 4.0), z = (2 * t + 3.2) / 11.2;
				double even = a[t] * b[t] + a[t + 4] * b[t + 4], odd = a[t] * b[t + 4] - a[t + 4] * b[t];
				sum += pow(z, distance / 512) * (even * cos(w) + odd * sin(w));
			}
			xt_close_f64(scores[h], sum / sqrt(8), 0, 1e-11);
		}
	}
}

/* Positions whose scale f32 cannot hold, unless the centre is near. */
static void refuses_positions_too_far_from_the_centre(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	int64_t width;
	assert_int_equal(pe_domain_sequence(ctx, 10, 32690, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, "xpos", domain, NULL, NULL);
	xt_fails(
		ctx, pe_encoding_rotate_width(e, PE_KEYS, 64, &width), PE_ERR_RANGE, "positions reach 32699 from");
	assert_int_equal(pe_encoding_rotate_width(e, PE_VALUES, 64, &width), PE_OK);
	pe_encoding_destroy(&e);
	e = xt_encoding(ctx, "xpos:centre=32000", domain, NULL, NULL);
	assert_int_equal(pe_encoding_rotate_width(e, PE_KEYS, 64, &width), PE_OK);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	assert_int_equal(pe_domain_sequence(ctx, 10, 1e300, &domain), PE_OK);
	e = xt_encoding(ctx, "xpos", domain, NULL, NULL);
	xt_fails(ctx, pe_encoding_rotate_width(e, PE_KEYS, 64, &width), PE_ERR_RANGE, "reach 1e+300 from");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	xt_refuses_settings(
		ctx, "xpos:head_dim=7", PE_ERR_RANGE, "head dimension 7 is odd; xpos needs an even one");
}

static void tiles_agree(void **state)
{
	xt_tiles_agree(*state, "xpos:head_dim=24", 24, 1e-5);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_published_scales),
		cmocka_unit_test(turns_as_the_packages_do),
		cmocka_unit_test(attends_as_x_transformers),
		cmocka_unit_test(scores_decay_with_the_distance),
		cmocka_unit_test(refuses_positions_too_far_from_the_centre),
		cmocka_unit_test(tiles_agree),
	};
	return xt_run(argc, argv, tests);
}
