/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt_attend.h"
#include "xt_rotation.h"

#define SINE "spe:heads=2,head_dim=5,realizations=7,sines=3"
#define CONV "spe:kind=conv,heads=2,head_dim=3,realizations=6,kernel=4,gated=0"

/* ---- golden values --------------------------------------------------------------------- */

static void compare(const pe_tensor *got, const pe_tensor *want)
{
	assert_int_equal(pe_tensor_count(got), pe_tensor_count(want));
	for (int64_t i = 0; i < pe_tensor_count(got); i++)
		xt_close_f64(((double *)got->data)[i], ((double *)want->data)[i], 1e-12, 1e-13);
}

/* Features of all keys and the last 6 queries, by parameters and noise given. */
static void check_features(pe_context *ctx, const char *name, const char *with)
{
	pe_bundle *golden = xt_golden_bundle(ctx, name);
	struct xt_layer layer;
	xt_layer_make(ctx, (const char *const[]){with, NULL}, golden, 6, 9, &layer);
	static const char *const names[][2] = {{"q", "features_q"}, {"k", "features_k"}};
	for (int side = PE_QUERIES; side <= PE_KEYS; side++) {
		pe_tensor x = xt_array(golden, names[side][0]), want = xt_array(golden, names[side][1]);
		pe_tensor y = pe_tensor_dense(NULL, PE_F64, 4, want.shape);
		y.data = malloc((size_t)pe_tensor_bytes(&y));
		assert_int_equal(pe_encoding_rotate(layer.list[0], (pe_side)side, &x, &y), PE_OK);
		compare(&y, &want);
		free(y.data);
	}
	xt_layer_free(&layer);
	pe_bundle_destroy(&golden);
}

static void follows_the_formula(void **state)
{
	check_features(*state, "spe/sine.npz", SINE);
	check_features(*state, "spe/conv.npz", CONV);
	check_features(*state, "spe/conv_swapped.npz", CONV ",preset=spe");
	check_features(*state, "spe/sine.npz", "spe"); /* sizes as the weights have them */
	check_features(*state, "spe/conv.npz", "spe:kind=conv,gated=0");
}

static void attend(pe_context *ctx, const char *name, const char *with, pe_core core, double tolerance)
{
	pe_bundle *golden = xt_golden_bundle(ctx, name);
	pe_attention_options options = {.size = sizeof options, .core = core, .causal = 1};
	xt_attend_golden(ctx, golden, (const char *const[]){with, NULL}, &options, tolerance);
	pe_bundle_destroy(&golden);
}

static void attends_in_every_core(void **state)
{
	attend(*state, "spe/sine.npz", SINE, PE_CORE_REFERENCE, 1e-13);
	attend(*state, "spe/conv.npz", CONV, PE_CORE_REFERENCE, 1e-13);
	attend(*state, "spe/sine_linear.npz", SINE, PE_CORE_LINEAR, 1e-13);
	attend(*state, "spe/conv_linear.npz", CONV, PE_CORE_LINEAR, 1e-13);
}

/* ---- what the noise must be ------------------------------------------------------------- */

enum { DIM = 2, HEADS = 2 };

static const double places[] = {0, 1, 5, -3, 2.5, 1000};
enum { PLACES = 6 };

/* q^.k^ / sqrt(R) for q = k = the unit vector of feature d, for all pairs of places. */
static void products(pe_context *ctx, const char *with, const pe_bundle *weights, int n, int d,
	double out[HEADS][PLACES][PLACES])
{
	pe_domain *domain;
	int64_t width;
	double x[HEADS * PLACES * DIM] = {0};
	for (int i = 0; i < HEADS * n; i++)
		x[i * DIM + d] = 1;
	pe_tensor at = pe_tensor_dense((void *)(uintptr_t)places, PE_F64, 1, (int64_t[]){n});
	assert_int_equal(pe_domain_positions(ctx, &at, 0, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, with, domain, NULL, weights);
	assert_int_equal(pe_encoding_rotate_width(e, PE_KEYS, DIM, &width), PE_OK);
	pe_tensor in = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, HEADS, n, DIM});
	pe_tensor y[2];
	for (int side = PE_QUERIES; side <= PE_KEYS; side++) {
		y[side] = pe_tensor_dense(NULL, PE_F64, 4, (int64_t[]){1, HEADS, n, width});
		y[side].data = malloc((size_t)pe_tensor_bytes(&y[side]));
		assert_int_equal(pe_encoding_rotate(e, (pe_side)side, &in, &y[side]), PE_OK);
	}
	for (int h = 0; h < HEADS; h++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++) {
				const double *q = (double *)y[0].data + (h * n + i) * width;
				const double *k = (double *)y[1].data + (h * n + j) * width;
				double sum = 0;
				for (int64_t r = 0; r < width; r++)
					sum += q[r] * k[r];
				out[h][i][j] = sum / sqrt((double)width);
			}
	free(y[0].data), free(y[1].data);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

struct parameters {
	double freqs[HEADS * DIM * 2], offsets[HEADS * DIM * 2], gains[HEADS * DIM * 2], gate[HEADS * DIM];
	double conv[2][HEADS * DIM * 3];
};

static double sine_kernel(const struct parameters *w, int h, int d, double x)
{
	double sum = 0;
	for (int k = 0; k < 2; k++) {
		int at = (h * DIM + d) * 2 + k;
		double g = log(1 + exp(w->gains[at]));
		sum += g * g / 4 * cos(2 * acos(-1) * sigmoid(w->freqs[at]) / 2 * x + w->offsets[at]);
	}
	return sum;
}

static double conv_kernel(const struct parameters *w, int h, int d, double x)
{
	double sum = 0;
	for (int j = 0; j < 3; j++)
		if (j + x >= 0 && j + x < 3)
			sum += w->conv[0][(h * DIM + d) * 3 + j] * w->conv[1][(h * DIM + d) * 3 + j + (int)x];
	return sum;
}

static pe_bundle *bundle_of(pe_context *ctx, const struct parameters *w)
{
	pe_bundle *bundle;
	const int64_t sines[] = {HEADS, DIM, 2}, filters[] = {HEADS, DIM, 3};
	struct {
		const char *name;
		const double *values;
		int32_t ndim;
		const int64_t *shape;
	} all[] = {{"freqs", w->freqs, 3, sines}, {"offsets", w->offsets, 3, sines},
		{"gains", w->gains, 3, sines}, {"gate", w->gate, 2, sines}, {"conv_q", w->conv[0], 3, filters},
		{"conv_k", w->conv[1], 3, filters}};
	assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
	for (int i = 0; i < 6; i++) {
		pe_tensor t = pe_tensor_dense((void *)(uintptr_t)all[i].values, PE_F64, all[i].ndim, all[i].shape);
		assert_int_equal(pe_bundle_add(bundle, all[i].name, &t), PE_OK);
	}
	return bundle;
}

/* Root mean square of product - kernel/sqrt(dim) over pairs, heads, features and draws. */
static double error_of(pe_context *ctx, const struct parameters *w, bool conv, bool gated, int realizations)
{
	pe_bundle *bundle = bundle_of(ctx, w);
	double sum = 0, got[HEADS][PLACES][PLACES];
	int n = conv ? 4 : PLACES, count = 0; /* the first 4 places are whole numbers */
	for (int draw = 0; draw < 6; draw++)
		for (int d = 0; d < DIM; d++) {
			char with[160];
			snprintf(with, sizeof with,
				"spe:kind=%s,heads=2,head_dim=2,sines=2,kernel=3,realizations=%d,gated=%d,seed=%d",
				conv ? "conv" : "sine", realizations, gated, draw);
			products(ctx, with, bundle, n, d, got);
			for (int h = 0; h < HEADS; h++)
				for (int i = 0; i < n; i++)
					for (int j = 0; j < n; j++, count++) {
						double x = places[i] - places[j], g = gated ? sigmoid(w->gate[h * DIM + d]) : 0;
						double p = conv ? conv_kernel(w, h, d, x) : sine_kernel(w, h, d, x);
						double error = got[h][i][j] - ((1 - g) * p + g) / sqrt(DIM);
						sum += error * error;
					}
		}
	pe_bundle_destroy(&bundle);
	return sqrt(sum / count);
}

/* The error is Monte Carlo's: c/sqrt(R), the same c, about the kernel's own size, at R = 64 and 4096. */
static void products_approach_the_kernel(void **state)
{
	struct parameters w;
	xt_numbers((double *)&w, sizeof w / sizeof(double));
	for (int i = 0; i < HEADS * DIM * 2; i++) {
		w.offsets[i] *= 3;
		w.gains[i] += 0.5;
		w.freqs[i] -= 1;
	}
	for (int conv = 0; conv < 2; conv++)
		for (int gated = 0; gated < 2; gated++) {
			double few = error_of(*state, &w, conv, gated, 64) * 8;
			double many = error_of(*state, &w, conv, gated, 4096) * 64;
			assert_true(few > 0.2 && few < 2.5);
			assert_true(many > 0.5 * few && many < 2 * few);
		}
}

static double mean_product(const double *a, const double *b, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i] / (double)n;
	return sum;
}

/* Codes of two features, of two heads, and of two gates have nothing in common: a mean product of variables
 * of variance v is N(0, v²/R). */
static void features_and_heads_are_independent(void **state)
{
	enum { R = 16384 };
	pe_context *ctx = *state;
	static const char *const kinds[] = {"sine,gated=0", "conv,kernel=4,gated=0", "sine,gated=1"};
	double x[2 * 2 * 2] = {1, 0, 0, 1, 1, 0, 0, 1}, *y = malloc(4 * R * sizeof *y);
	for (int c = 0; c < 3; c++) {
		char with[120];
		pe_domain *domain;
		double same = 0, other = 0;
		double zeros[2] = {0, 0}; /* both tokens at 0, one with either feature */
		pe_tensor at = pe_tensor_dense(zeros, PE_F64, 1, (int64_t[]){2});
		assert_int_equal(pe_domain_positions(ctx, &at, 0, &domain), PE_OK);
		snprintf(with, sizeof with, "spe:heads=2,head_dim=2,realizations=%d,kind=%s", R, kinds[c]);
		pe_encoding *e = xt_encoding(ctx, with, domain, NULL, NULL);
		pe_tensor in = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 2, 2, 2});
		pe_tensor out = pe_tensor_dense(y, PE_F64, 4, (int64_t[]){1, 2, 2, R});
		assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &in, &out), PE_OK);
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				double scale =
					sqrt(mean_product(y + i * R, y + i * R, R) * mean_product(y + j * R, y + j * R, R));
				double correlation = fabs(mean_product(y + i * R, y + j * R, R)) / scale;
				if (i == j)
					same = fmax(same, correlation);
				else
					other = fmax(other, correlation);
			}
		xt_close_f64(same, 1, 1e-12, 0);
		assert_true(other < 4 / sqrt(R));
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
	}
	free(y);
}

/* ---- noise: the same wherever it is needed ---------------------------------------------- */

/* Rows of queries number first … of a sequence, all at once or one by one. */
static void turn(pe_context *ctx, const char *with, double offset, int64_t first, int64_t n, double *out)
{
	enum { LENGTH = 600, WIDTH = 3, R = 300 };
	double *x = malloc(2 * LENGTH * WIDTH * sizeof *x);
	pe_domain *domain;
	xt_numbers(x, 2 * LENGTH * WIDTH);
	assert_true(first + n <= LENGTH);
	assert_int_equal(pe_domain_sequence(ctx, n, offset + (double)first, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, with, domain, NULL, NULL);
	pe_tensor in = pe_tensor_dense(x + first * WIDTH, PE_F64, 4, (int64_t[]){2, 2, n, WIDTH});
	in.strides[0] = 0; /* the same in both batches */
	in.strides[1] = LENGTH * WIDTH;
	pe_tensor y = pe_tensor_dense(out, PE_F64, 4, (int64_t[]){2, 2, n, R});
	assert_int_equal(pe_encoding_rotate(e, PE_QUERIES, &in, &y), PE_OK);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	free(x);
}

/* More tokens, and more realizations, than are done at once; alone, from a number on, and in any batch. */
static void one_token_is_as_among_all(void **state)
{
	enum { R = 300, N = 600 };
	static const char *const with[] = {"spe:heads=2,head_dim=3,realizations=300,sines=2",
		"spe:kind=conv,kernel=5,heads=2,head_dim=3,realizations=300"};
	double *all = malloc(4 * N * R * sizeof *all), *one = malloc(4 * R * sizeof *one);
	for (int c = 0; c < 2; c++) {
		turn(*state, with[c], -20, 0, N, all);
		assert_memory_equal(all, all + 2 * N * R, 2 * N * R * sizeof *all);
		for (int64_t i = 0; i < N; i += 85) {
			turn(*state, with[c], -20, i, 1, one);
			for (int h = 0; h < 2; h++)
				assert_memory_equal(one + h * R, all + (h * N + i) * R, R * sizeof *one);
		}
		assert_true(fabs(all[0] - all[N * R]) > 1e-9);
	}
	free(all);
	free(one);
}

/* One sine, whose noise is kept, and one of a thousand that are silent but for it, whose noise is too much.
 */
static void noise_is_the_same_kept_or_drawn(void **state)
{
	enum { MANY = 1000, R = 1100 };
	pe_context *ctx = *state;
	double *w = malloc((MANY + 2 * R) * sizeof *w), *y[2] = {w + MANY, w + MANY + R}, x = 1;
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(ctx, 1, 7, &domain), PE_OK);
	for (int c = 0; c < 2; c++) {
		int64_t sines = c ? MANY : 1, shape[] = {1, 1, sines};
		char with[120];
		pe_bundle *bundle;
		double gain = sqrt((double)sines) * 3;
		snprintf(with, sizeof with, "spe:heads=1,head_dim=1,realizations=%d,sines=%d,gated=0", R, (int)sines);
		pe_tensor t = pe_tensor_dense(w, PE_F64, 3, shape), in, out;
		assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
		memset(w, 0, MANY * sizeof *w);
		assert_int_equal(pe_bundle_add(bundle, "freqs", &t), PE_OK);
		assert_int_equal(pe_bundle_add(bundle, "offsets", &t), PE_OK);
		double *gains = malloc(MANY * sizeof *gains);
		for (int i = 0; i < MANY; i++)
			gains[i] = i ? -1e4 : log(expm1(gain));
		t.data = gains;
		assert_int_equal(pe_bundle_add(bundle, "gains", &t), PE_OK);
		pe_encoding *e = xt_encoding(ctx, with, domain, NULL, bundle);
		in = pe_tensor_dense(&x, PE_F64, 4, (int64_t[]){1, 1, 1, 1});
		out = pe_tensor_dense(y[c], PE_F64, 4, (int64_t[]){1, 1, 1, R});
		assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &in, &out), PE_OK);
		pe_encoding_destroy(&e);
		pe_bundle_destroy(&bundle);
		free(gains);
	}
	for (int r = 0; r < R; r++)
		xt_close_f64(y[0][r], y[1][r], 1e-12, 1e-15);
	pe_domain_destroy(&domain);
	free(w);
}

/* Places out of order and twice give what a run in order gives. */
static void takes_places_in_any_order(void **state)
{
	static const double order[] = {4, 5, 6, 0, 6, -3, -2, 6};
	pe_context *ctx = *state;
	const char *with = "spe:kind=conv,kernel=3,heads=1,head_dim=1,realizations=4";
	double x[10], all[40], some[32];
	pe_domain *sequence, *jumps;
	for (int i = 0; i < 10; i++)
		x[i] = 1;
	pe_tensor at = pe_tensor_dense((void *)(uintptr_t)order, PE_F64, 1, (int64_t[]){8});
	assert_int_equal(pe_domain_sequence(ctx, 10, -3, &sequence), PE_OK);
	assert_int_equal(pe_domain_positions(ctx, &at, 0, &jumps), PE_OK);
	pe_encoding *a = xt_encoding(ctx, with, sequence, NULL, NULL);
	pe_encoding *b = xt_encoding(ctx, with, jumps, NULL, NULL);
	pe_tensor xa = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 1, 10, 1});
	pe_tensor xb = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 1, 8, 1});
	pe_tensor ya = pe_tensor_dense(all, PE_F64, 4, (int64_t[]){1, 1, 10, 4});
	pe_tensor yb = pe_tensor_dense(some, PE_F64, 4, (int64_t[]){1, 1, 8, 4});
	assert_int_equal(pe_encoding_rotate(a, PE_KEYS, &xa, &ya), PE_OK);
	assert_int_equal(pe_encoding_rotate(b, PE_KEYS, &xb, &yb), PE_OK);
	for (int i = 0; i < 8; i++)
		assert_memory_equal(some + 4 * i, all + 4 * ((int)order[i] + 3), 4 * sizeof *some);
	pe_encoding_destroy(&a);
	pe_encoding_destroy(&b);
	pe_domain_destroy(&sequence);
	pe_domain_destroy(&jumps);
}

/* Another option seed, or another seed of the context, is another draw. */
static void draws_by_the_seeds(void **state)
{
	pe_context *ctx = *state, *other;
	pe_context_options options = {.size = sizeof options, .seed = 5};
	double a[1200], b[1200];
	turn(ctx, "spe:heads=2,head_dim=3,realizations=300,gated=0", 0, 3, 1, a);
	turn(ctx, "spe:heads=2,head_dim=3,realizations=300,gated=0,seed=1", 0, 3, 1, b);
	assert_true(fabs(a[0] - b[0]) > 1e-9);
	assert_int_equal(pe_context_create(&options, &other), PE_OK);
	turn(other, "spe:heads=2,head_dim=3,realizations=300,gated=0", 0, 3, 1, b);
	assert_true(fabs(a[0] - b[0]) > 1e-9);
	pe_context_destroy(&other);
}

/* ---- beginnings, refusals --------------------------------------------------------------- */

static double norm_of(const double *x, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sqrt(sum);
}

/* The authors': frequencies near 0.009, gains of norm 2 sqrt(norm), filters in [0, sqrt(2/kernel)). */
static void begins_as_the_authors_do(void **state)
{
	struct xt_turns sine = xt_turns_from(*state, "spe:sines=3", 4, 0);
	struct xt_turns conv = xt_turns_from(*state, "spe:kind=conv,gated=0,kernel=50", 4, 0);
	assert_int_equal(sine.count, 4);
	assert_int_equal(conv.count, 2);
	static const char *const names[] = {"freqs", "offsets", "gains", "gate"};
	for (int i = 0; i < 4; i++)
		assert_string_equal(sine.info[i].name, names[i]);
	double mean = 0, norms = 0, most = 0;
	for (int i = 0; i < 8 * 64 * 3; i++)
		mean += sine.arrays[0][i] / (8 * 64 * 3);
	for (int i = 0; i < 8 * 64; i++)
		norms += pow(norm_of(sine.arrays[2] + 3 * i, 3) / 2, 2) / (8 * 64);
	for (int i = 0; i < 8 * 64 * 50; i++) {
		assert_true(conv.arrays[0][i] >= 0 && conv.arrays[0][i] < 0.2);
		most = fmax(most, conv.arrays[1][i]);
	}
	xt_close_f64(mean, -4, 0, 0.15);
	xt_close_f64(norms, sqrt(8 / acos(-1)), 0, 0.15); /* the mean length of a normal vector of 3 */
	assert_true(most > 0.19);
	xt_turns_free(&sine);
	xt_turns_free(&conv);
}

static void refuses_what_it_cannot_place(void **state)
{
	pe_context *ctx = *state;
	pe_domain *half, *domain;
	pe_encoding *e;
	pe_params *params;
	assert_int_equal(pe_domain_sequence(ctx, 3, 0.5, &half), PE_OK);
	assert_int_equal(pe_params_create(ctx, "spe", &params), PE_OK);
	xt_set(params, "kind=conv");
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("spe"), params, half, NULL, &e), PE_ERR_RANGE,
		"kind=conv takes whole numbers as positions, up to 2^40, and one is 0.5; kind=sine takes any");
	pe_params_destroy(&params);
	pe_domain_destroy(&half);

	pe_bundle *golden = xt_golden_bundle(ctx, "spe/conv.npz");
	pe_encoding_options options = {.size = sizeof options, .weights = golden};
	assert_int_equal(pe_domain_sequence(ctx, 10, 0, &domain), PE_OK);
	assert_int_equal(pe_params_create(ctx, "spe", &params), PE_OK);
	xt_set(params, "kind=conv,heads=2,head_dim=3,realizations=6,kernel=4,gated=0");
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("spe"), params, domain, &options, &e), PE_ERR_RANGE,
		"with 12 rows of noise and a kernel of 4, positions are 0 to 8, and one is 9");
	pe_params_destroy(&params);
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&golden);
}

static void refuses_other_widths_and_shared_heads(void **state)
{
	pe_context *ctx = *state;
	double x[2 * 2 * 4] = {0}, y[4 * 4];
	pe_domain *domain;
	int64_t width;
	assert_int_equal(pe_domain_sequence(ctx, 2, 0, &domain), PE_OK);
	pe_encoding *e = xt_encoding(ctx, "spe:heads=2,head_dim=4,realizations=9", domain, NULL, NULL);
	xt_fails(ctx, pe_encoding_rotate_width(e, PE_KEYS, 5, &width), PE_ERR_SHAPE,
		"heads are 5 wide, and head_dim is 4");
	pe_tensor q = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 2, 2, 4});
	pe_tensor k = pe_tensor_dense(x, PE_F64, 4, (int64_t[]){1, 1, 2, 4});
	pe_tensor out = pe_tensor_dense(y, PE_F64, 4, (int64_t[]){1, 2, 2, 4});
	pe_attention_options options = {.size = sizeof options, .core = PE_CORE_LINEAR};
	pe_attention_tensors t = {.size = sizeof t, .q = &q, .k = &k, .v = &k, .out = &out};
	xt_fails(
		ctx, pe_attend(ctx, &e, 1, &options, &t), PE_ERR_SHAPE, "it has 2 heads of keys, and attention 1");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_formula),
		cmocka_unit_test(attends_in_every_core),
		cmocka_unit_test(products_approach_the_kernel),
		cmocka_unit_test(features_and_heads_are_independent),
		cmocka_unit_test(one_token_is_as_among_all),
		cmocka_unit_test(noise_is_the_same_kept_or_drawn),
		cmocka_unit_test(takes_places_in_any_order),
		cmocka_unit_test(draws_by_the_seeds),
		cmocka_unit_test(begins_as_the_authors_do),
		cmocka_unit_test(refuses_what_it_cannot_place),
		cmocka_unit_test(refuses_other_widths_and_shared_heads),
	};
	return xt_run(argc, argv, tests);
}
