/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { L = 100 };

static void is_what_the_authors_compute_at_inference(void **state)
{
	xt_golden_case(*state, "cape_augmented", "cape_augmented/cape.npz", "plain",
		"dim=10,max_global_shift=5,max_local_shift=1,max_global_scaling=2", 0, 1e-13);
	xt_golden_case(
		*state, "cape_augmented", "cape_augmented/cape.npz", "audio", "dim=10,preset=audio", 0, 1e-13);
}

/* The augmented positions of 0 … L-1, as given, in training. */
static void draw(pe_context *ctx, const char *settings, int number, double *out)
{
	char full[200];
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, L, 0, &domain), PE_OK);
	snprintf(full, sizeof full, "training=1,draw=%d,%s", number, settings);
	pe_encoding *e = xt_encode(ctx, "cape_augmented", full, domain, NULL, NULL, NULL);
	pe_tensor got = xt_computed(e, "positions");
	memcpy(out, got.data, L * sizeof *out);
	free(got.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

enum { DRAWS = 400 };

/* Each alone is what the formula says, in its range, and fills it. */
static void moves_whole_sequences(void **state)
{
	double p[L], least = 0, most = 0;
	for (int k = 0; k < DRAWS; k++) {
		draw(*state, "max_global_shift=5", k, p);
		for (int i = 1; i < L; i++)
			xt_close_f64(p[i] - p[0], i, 0, 1e-13);
		least = fmin(least, p[0]), most = fmax(most, p[0]);
	}
	assert_true(least >= -5 && least < -4.9 && most <= 5 && most > 4.9);
}

static void moves_each_position(void **state)
{
	double p[L], least = 0, most = 0, sum = 0, square = 0;
	for (int k = 0; k < 20; k++) {
		draw(*state, "max_local_shift=1,pos_scale=0.5", k, p);
		for (int i = 0; i < L; i++) {
			double d = p[i] - 0.5 * i;
			least = fmin(least, d), most = fmax(most, d), sum += d, square += d * d;
			assert_true(i == 0 || p[i] > p[i - 1]);
		}
	}
	assert_true(least >= -0.25 && least < -0.245 && most <= 0.25 && most > 0.245);
	xt_close_f64(sum / (20 * L), 0, 0, 0.01);
	xt_close_f64(square / (20 * L), 0.25 / 12, 0.06, 0);
}

static void stretches_whole_sequences(void **state)
{
	double p[L], least = 0, most = 0;
	for (int k = 0; k < DRAWS; k++) {
		draw(*state, "max_global_scaling=2", k, p);
		double stretch = p[L - 1] / (L - 1);
		for (int i = 0; i < L; i++)
			xt_close_f64(p[i], i * stretch, 1e-13, 0);
		least = fmin(least, log(stretch)), most = fmax(most, log(stretch));
	}
	assert_true(least >= -log(2) && least < -0.98 * log(2) && most <= log(2) && most > 0.98 * log(2));
}

/* The mean goes before, the stretch comes last, and the rows are those of the positions. */
static void augments_in_the_authors_order(void **state)
{
	pe_context *ctx = *state;
	double p[L], shift[L], both[L];
	draw(ctx, "max_global_shift=5,normalize=1", 3, shift);
	draw(ctx, "max_global_scaling=2,normalize=1", 3, p);
	draw(ctx, "max_global_shift=5,max_global_scaling=2,normalize=1", 3, both);
	double stretch = (p[L - 1] - p[0]) / (L - 1), mean = 0;
	for (int i = 0; i < L; i++) {
		mean += p[i] / L;
		xt_close_f64(both[i], shift[i] * stretch, 0, 1e-12);
	}
	xt_close_f64(mean, 0, 0, 1e-12);
	pe_domain *domain, *moved = xt_positions(ctx, both, L);
	assert_int_equal(pe_domain_sequence(ctx, L, 0, &domain), PE_OK);
	double *a = xt_first_array(ctx, "cape_augmented",
		"dim=7,training=1,draw=3,max_global_shift=5,max_global_scaling=2,normalize=1", domain, NULL);
	double *b = xt_first_array(ctx, "sinusoidal", "dim=7", moved, NULL);
	for (int i = 0; i < L * 7; i++)
		xt_close_f64(a[i], b[i], 0, 1e-15);
	free(a), free(b);
	pe_domain_destroy(&moved);
	pe_domain_destroy(&domain);
}

/* Without training nothing depends on seed or draw; with it, both count, and batches differ. */
static void is_random_in_training_alone(void **state)
{
	double a[L], b[L];
	draw(*state, "max_local_shift=1", 0, a);
	draw(*state, "max_local_shift=1", 0, b);
	assert_memory_equal(a, b, sizeof a);
	draw(*state, "max_local_shift=1", 1, b);
	assert_true(memcmp(a, b, sizeof a) != 0);
	draw(*state, "max_local_shift=1,training=0", 1, b);
	for (int i = 0; i < L; i++)
		assert_true(b[i] == i);
	double at[6] = {0, 1, 2, 0, 1, 2};
	pe_tensor positions = pe_tensor_dense(at, PE_F64, 2, (int64_t[]){2, 3});
	pe_domain *domain;
	assert_int_equal(pe_domain_positions(*state, &positions, 0, &domain), PE_OK);
	pe_encoding *e =
		xt_encode(*state, "cape_augmented", "training=1,max_global_shift=5", domain, NULL, NULL, NULL);
	pe_tensor got = xt_computed(e, "positions");
	assert_int_equal(got.ndim, 2);
	assert_true(((double *)got.data)[0] != ((double *)got.data)[3]);
	free(got.data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_the_authors_compute_at_inference),
		cmocka_unit_test(moves_whole_sequences),
		cmocka_unit_test(moves_each_position),
		cmocka_unit_test(stretches_whole_sequences),
		cmocka_unit_test(augments_in_the_authors_order),
		cmocka_unit_test(is_random_in_training_alone),
	};
	return xt_run(argc, argv, tests);
}
