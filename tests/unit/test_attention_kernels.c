/* SPDX-License-Identifier: BSD-2-Clause
 * The inner loops of tiled attention, with every instruction set of this machine,
 * against straight loops in double: all tails, odd addresses, and what lies behind the outputs. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "rng.h"
#include "tensor.h"
#include "xt_kernels.h"

#define CANARY 12345.0f
#define GUARD 32

static void for_each_set(void (*fn)(const struct pe_kernels *k))
{
	for (int i = 0; xt_kernels(i); i++)
		fn(xt_kernels(i));
}

/* n floats, 64-byte aligned, shifted by `shift` floats, with canaries on both sides. */
struct guarded {
	float *block, *data;
	int64_t n;
};

static struct guarded guarded(int64_t n, int64_t shift)
{
	struct guarded g = {NULL, NULL, n};
	size_t bytes = ((size_t)(n + shift + 2 * GUARD) * sizeof(float) + 63) / 64 * 64;
	g.block = aligned_alloc(64, bytes);
	assert_non_null(g.block);
	for (size_t i = 0; i < bytes / sizeof(float); i++)
		g.block[i] = CANARY;
	g.data = g.block + GUARD + shift;
	return g;
}

static struct guarded random_values(int64_t n, int64_t shift, uint64_t seed)
{
	struct guarded g = guarded(n, shift);
	for (int64_t i = 0; i < n; i++)
		g.data[i] = (float)(2.0 * pe_rng_uniform(seed, 0, (uint64_t)i) - 1.0);
	return g;
}

static void release(struct guarded *g)
{
	for (const float *p = g->block; p < g->data; p++)
		assert_true(*p == CANARY);
	for (int64_t i = 0; i < GUARD; i++)
		assert_true(g->data[g->n + i] == CANARY);
	free(g->block);
}

/* ---- scores ------------------------------------------------------------------------- */

struct shape {
	int64_t queries, keys, width, stride, step, shift, bias_step;
	int vecs;
};

static double dot(const float *a, const float *b, int64_t n, int64_t step)
{
	double sum = 0.0;
	for (int64_t i = 0; i < n; i++)
		sum += (double)a[i * step] * (double)b[i * step];
	return sum;
}

static void check_scores(const struct shape *s, int64_t lanes, const struct guarded *q,
	const struct guarded *k, const float *bias, const float *scores, const float *max)
{
	for (int64_t i = 0; i < lanes; i++) {
		float greatest = -INFINITY;
		for (int64_t j = 0; j < s->keys; j++) {
			float got = scores[j * lanes + i];
			double want = bias ? (double)bias[j * s->bias_step + i] : 0.0;
			if (i < s->queries)
				want += 0.5 * dot(q->data + i * s->stride, k->data + j * s->stride, s->width, s->step);
			xt_close_f64((double)got, want, 0.0, 1e-6 * (1.0 + (double)s->width));
			greatest = fmaxf(greatest, got);
		}
		assert_true(max[i] == greatest);
	}
}

static void one_scores(const struct pe_kernels *k, const struct shape *s)
{
	int64_t lanes = s->vecs * k->tile_vec, reach = s->bias_step < 0 ? s->keys : 0;
	struct guarded q = random_values(s->queries * s->stride, s->shift, 1);
	struct guarded keys = random_values(s->keys * s->stride, s->shift, 2);
	struct guarded bias = random_values(2 * s->keys * lanes + lanes, s->shift, 3);
	struct guarded packed_q = guarded(lanes * s->width, 0), packed_k = guarded(s->keys * s->width, 0);
	struct guarded scores = guarded(s->keys * lanes, 0), max = guarded(lanes, 0), again = guarded(lanes, 0);
	const float *added = s->bias_step ? bias.data + reach : NULL;

	k->tile_queries(packed_q.data, s->vecs, q.data, s->queries, s->stride, s->step, s->width, 0.5f);
	k->tile_pack_keys(packed_k.data, keys.data, s->keys, s->stride, s->step, s->width);
	struct pe_tile_scores tile = {.vecs = s->vecs,
		.width = s->width,
		.q = packed_q.data,
		.k = packed_k.data,
		.keys = s->keys,
		.bias = added,
		.bias_step = s->bias_step,
		.scores = scores.data,
		.max = max.data};
	k->tile_scores(&tile);
	check_scores(s, lanes, &q, &keys, added, scores.data, max.data);
	k->tile_max(scores.data, s->keys, s->vecs, again.data);
	assert_memory_equal(again.data, max.data, (size_t)lanes * sizeof(float));

	/* Farther apart they are the same, with nothing between them. */
	struct guarded apart = guarded(2 * s->keys * lanes, 0);
	tile.scores = apart.data;
	tile.stride = 2 * lanes;
	k->tile_scores(&tile);
	for (int64_t j = 0; j < s->keys; j++) {
		const float *row = apart.data + 2 * j * lanes;
		assert_memory_equal(row, scores.data + j * lanes, (size_t)lanes * sizeof(float));
		assert_true(row[lanes] == CANARY && row[2 * lanes - 1] == CANARY);
	}

	struct guarded *all[] = {&q, &keys, &bias, &packed_q, &packed_k, &scores, &max, &again, &apart};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		release(all[i]);
}

static void scores_of_set(const struct pe_kernels *k)
{
	static const int64_t widths[] = {1, 2, 3, 4, 7, 16, 17, 64, 80};
	for (int vecs = 1; vecs <= 2; vecs++)
		for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
			for (int64_t keys = 0; keys <= PE_TILE_KEYS; keys += keys < 26 ? 1 : 47) {
				int64_t lanes = vecs * k->tile_vec;
				struct shape s = {.queries = keys % (lanes + 1),
					.keys = keys,
					.width = widths[w],
					.step = 1 + keys % 2,
					.shift = keys % 5,
					.vecs = vecs};
				s.stride = s.step * s.width + keys % 3;
				s.bias_step = keys % 3 == 0 ? 0 : keys % 3 == 1 ? -1 : lanes;
				one_scores(k, &s);
			}
}

static void test_scores(void **state)
{
	(void)state;
	for_each_set(scores_of_set);
}

static void round_of_set(const struct pe_kernels *k)
{
	static const double odd[] = {INFINITY, -INFINITY, 1e300, -0x1.8p125, 0x1p125, 0x1.0000000000001p125, 0.0};
	for (int64_t n = 0; n < 40; n++) {
		double x[40];
		struct guarded out = guarded(n, n % 5);
		for (int64_t i = 0; i < n; i++)
			x[i] =
				i % 3 == n % 3 ? odd[(i + n) % 7] : 1e3 * pe_rng_uniform(8, (uint64_t)n, (uint64_t)i) - 500;
		if (n > 0)
			x[n / 2] = NAN;
		double base = n % 2 ? 7.25 : 0, most = -INFINITY;
		k->tile_round(out.data, x, 1.5, base, n);
		for (int64_t i = 0; i < n; i++) {
			double bounded = isfinite(x[i]) ? fmax(-0x1p125, fmin(x[i], 0x1p125)) : x[i];
			assert_true(out.data[i] == (float)(1.5 * bounded - base) || (isnan(x[i]) && isnan(out.data[i])));
			most = fmax(most, x[i]);
		}
		assert_true(k->tile_most(x, n) == most);
		release(&out);
	}
}

static void test_round(void **state)
{
	(void)state;
	for_each_set(round_of_set);
}

/* ---- terms -------------------------------------------------------------------------- */

/* NaN is no maximum, wherever it stands: what follows of it is in the weights. */
static void max_of_set(const struct pe_kernels *k)
{
	for (int64_t at = 0; at < 3; at++) {
		struct guarded scores = random_values(3 * k->tile_vec, 0, 9), max = guarded(k->tile_vec, 0);
		for (int64_t l = 0; l < k->tile_vec; l++)
			scores.data[at * k->tile_vec + l] = NAN;
		k->tile_max(scores.data, 3, 1, max.data);
		for (int64_t l = 0; l < k->tile_vec; l++) {
			float first = scores.data[(at == 0) * k->tile_vec + l];
			assert_true(max.data[l] == fmaxf(first, scores.data[(at == 2 ? 1 : 2) * k->tile_vec + l]));
		}
		release(&scores);
		release(&max);
	}
}

static void test_max_of_nan(void **state)
{
	(void)state;
	for_each_set(max_of_set);
}

/* Rows below 0 and above the last one are among the indices. */
static void one_gather(const struct pe_kernels *k, int vecs, int64_t keys, bool by_key)
{
	enum { FIRST = 5, COUNT = 7 };
	int64_t lanes = vecs * k->tile_vec, n = keys * lanes;
	int32_t *index = malloc((size_t)(keys + lanes) * sizeof *index);
	assert_non_null(index);
	for (int64_t i = 0; i < keys + lanes; i++)
		index[i] = (int32_t)(i * 7 % (COUNT + 6)) + FIRST - 3 - (i % 11 == 0 ? 100 : 0);
	struct guarded products = random_values(COUNT * (by_key ? keys : lanes), 0, 1);
	struct guarded scores = random_values(n, 0, 2), before = random_values(n, 0, 2);
	struct guarded scale = random_values(lanes, 0, 3), max = guarded(lanes, 0);
	struct pe_tile_gather t = {vecs, by_key, keys, index + keys, FIRST, COUNT, products.data,
		by_key ? scale.data : NULL, scores.data, max.data};
	k->tile_gather(&t);
	for (int64_t l = 0; l < lanes; l++) {
		float greatest = -INFINITY;
		for (int64_t j = 0; j < keys; j++) {
			int64_t row = index[keys + l - j] - FIRST;
			double x = row < 0 || row >= COUNT ? 0
				: by_key                       ? (double)products.data[j * COUNT + row]
											   : (double)products.data[row * lanes + l];
			double want = (double)before.data[j * lanes + l] + (by_key ? (double)scale.data[l] : 1) * x;
			xt_close_f64((double)scores.data[j * lanes + l], want, 0.0, 2e-7);
			greatest = fmaxf(greatest, scores.data[j * lanes + l]);
		}
		assert_true(max.data[l] == greatest);
	}
	struct guarded *all[] = {&products, &scores, &before, &scale, &max};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		release(all[i]);
	free(index);
}

static void gather_of_set(const struct pe_kernels *k)
{
	for (int vecs = 1; vecs <= 2; vecs++)
		for (int64_t keys = 0; keys <= PE_TILE_KEYS; keys += keys < 5 ? 1 : 23) {
			one_gather(k, vecs, keys, false);
			one_gather(k, vecs, keys, true);
		}
}

static void test_gather(void **state)
{
	(void)state;
	for_each_set(gather_of_set);
}

/* By query a row of products is one of lanes; by key, one of `stride` floats, from the first lane's on. */
static void one_slant(const struct pe_kernels *k, int vecs, int64_t keys, bool by_key)
{
	int64_t lanes = vecs * k->tile_vec, n = keys * lanes, before_0 = keys > 0 ? keys - 1 : 0;
	int64_t stride = before_0 + lanes + 3;
	struct guarded products = random_values(by_key ? keys * stride : (before_0 + lanes) * lanes, by_key, 1);
	struct guarded scores = random_values(n, 0, 2), before = random_values(n, 0, 2);
	struct guarded scale = random_values(lanes, 0, 3), max = guarded(lanes, 0);
	struct pe_tile_slant t = {vecs, by_key, keys, products.data + before_0 * (by_key ? 1 : lanes), stride,
		scale.data, scores.data, max.data};
	k->tile_slant(&t);
	for (int64_t l = 0; l < lanes; l++) {
		float greatest = -INFINITY;
		for (int64_t j = 0; j < keys; j++) {
			int64_t row = before_0 + l - j;
			double x = by_key ? (double)scale.data[l] * (double)products.data[j * stride + row]
							  : (double)products.data[row * lanes + l];
			xt_close_f64(
				(double)scores.data[j * lanes + l], (double)before.data[j * lanes + l] + x, 0.0, 2e-7);
			greatest = fmaxf(greatest, scores.data[j * lanes + l]);
		}
		assert_true(max.data[l] == greatest);
	}
	struct guarded *all[] = {&products, &scores, &before, &scale, &max};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		release(all[i]);
}

static void slant_of_set(const struct pe_kernels *k)
{
	for (int vecs = 1; vecs <= 2; vecs++)
		for (int64_t keys = 0; keys <= PE_TILE_KEYS; keys += keys < 18 ? 1 : 17) {
			one_slant(k, vecs, keys, false);
			one_slant(k, vecs, keys, true);
		}
}

static void test_slant(void **state)
{
	(void)state;
	for_each_set(slant_of_set);
}

static void shift_of_set(const struct pe_kernels *k)
{
	for (int vecs = 1; vecs <= 2; vecs++)
		for (int64_t width = 0; width < 20; width++) {
			int64_t lanes = vecs * k->tile_vec;
			struct guarded q = random_values(width * lanes, 0, 1), out = guarded(width * lanes, 0);
			struct guarded scale = random_values(lanes, 0, 2), row = random_values(width, width % 3, 3);
			k->tile_shift(out.data, q.data, vecs, scale.data, row.data, width);
			for (int64_t i = 0; i < width * lanes; i++)
				xt_close_f64((double)out.data[i],
					(double)q.data[i] + (double)scale.data[i % lanes] * (double)row.data[i / lanes], 0.0,
					2e-7);
			struct guarded *all[] = {&q, &out, &scale, &row};
			for (size_t i = 0; i < sizeof all / sizeof *all; i++)
				release(all[i]);
		}
}

static void test_shift(void **state)
{
	(void)state;
	for_each_set(shift_of_set);
}

/* Runs of all lengths, going down, up and standing still from key to key. */
static void copy_of_set(const struct pe_kernels *k)
{
	for (int vecs = 1; vecs <= 2; vecs++)
		for (int length = 1; length <= 17; length++) {
			enum { KEYS = 9, ROOM = 200 };
			int32_t lanes = vecs * k->tile_vec;
			struct guarded from = random_values(ROOM, length % 4, 1), out = guarded((KEYS + 1) * lanes, 0);
			struct pe_tile_copy t = {.vecs = vecs, .keys = KEYS, .out = out.data};
			for (; t.start[t.runs] < lanes - 1; t.runs++) {
				int32_t end = t.start[t.runs] + length;
				t.start[t.runs + 1] = end < lanes ? end : lanes - 1;
				t.from[t.runs] = from.data + 20 + 5 * t.runs % 90;
				t.step[t.runs] = t.runs % 3 - 1;
			}
			k->tile_copy(&t);
			for (int64_t j = 0; j < KEYS; j++)
				for (int r = 0; r < t.runs; r++)
					for (int32_t lane = t.start[r]; lane < t.start[r + 1]; lane++)
						assert_true(
							out.data[j * lanes + lane] == t.from[r][lane - t.start[r] - j * t.step[r]]);
			release(&from);
			release(&out);
		}
}

static void test_copy(void **state)
{
	(void)state;
	for_each_set(copy_of_set);
}

/* ---- softmax ------------------------------------------------------------------------ */

static void start(struct pe_tile_state *state, int64_t lanes)
{
	for (int64_t i = 0; i < lanes; i++) {
		state->max[i] = -INFINITY;
		state->sum[i] = 0.0f;
	}
}

/* Weights of -x in steps through all exponents, where the maximum is 0. */
static void powers_of_set(const struct pe_kernels *k)
{
	int64_t lanes = k->tile_vec, keys = 97;
	struct guarded tile = guarded(keys * lanes, 0);
	struct pe_tile_state state;
	float zero[PE_TILE_MAX_LANES] __attribute__((aligned(64))) = {0};
	for (int turn = 0; turn < 200; turn++) {
		struct guarded x = guarded(keys * lanes, 0);
		for (int64_t i = 0; i < keys * lanes; i++)
			x.data[i] = tile.data[i] = (float)(-125.9 * pe_rng_uniform(7, (uint64_t)turn, (uint64_t)i));
		start(&state, lanes);
		k->tile_softmax(tile.data, keys, 1, zero, &state);
		for (int64_t i = 0; i < keys * lanes; i++) {
			double want = exp2((double)x.data[i]);
			double ulp = (double)nextafterf((float)want, INFINITY) - (double)(float)want;
			if (fabs((double)tile.data[i] - want) > 2.0 * ulp)
				fail_msg("%s: 2^%a is %a", k->name, (double)x.data[i], (double)tile.data[i]);
		}
		release(&x);
	}
	release(&tile);
}

static void test_powers(void **state)
{
	(void)state;
	for_each_set(powers_of_set);
}

/* Two steps of one lane each: scores that are far apart, infinite, NaN. */
static void steps_of_set(const struct pe_kernels *k)
{
	static const float cases[][4] = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY},
		{-INFINITY, -INFINITY, 3, 2}, {3, 2, -INFINITY, -INFINITY}, {-1000, -1001, 1000, 999},
		{1000, 999, -1000, -1001}, {-1e30f, 0, 1, -1e38f}, {-3e38f, -3e38f, 3e38f, -3e38f},
		{0, -127, -140, -150}, {NAN, 0, 1, 2}, {0, 1, 2, NAN}, {5, -INFINITY, 5, -1e9f},
		{-1e5f, -1e6f, -1e7f, -INFINITY}};
	int64_t lanes = 2 * k->tile_vec;
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		int64_t lane = (int64_t)c % lanes;
		struct pe_tile_state state;
		struct guarded tile = guarded(2 * lanes, 0), max = guarded(lanes, 0);
		double sum = 0.0, greatest = -INFINITY;
		start(&state, lanes);
		for (int step = 0; step < 2; step++) {
			for (int64_t i = 0; i < 2 * lanes; i++)
				tile.data[i] = 1.0f;
			for (int64_t j = 0; j < 2; j++)
				tile.data[j * lanes + lane] = cases[c][2 * step + j];
			k->tile_max(tile.data, 2, 2, max.data);
			k->tile_softmax(tile.data, 2, 2, max.data, &state);
		}
		bool odd = false;
		for (int j = 0; j < 4; j++) {
			odd = odd || isnan(cases[c][j]);
			greatest = fmax(greatest, (double)cases[c][j]);
		}
		for (int j = 0; j < 4 && greatest > -INFINITY; j++)
			sum += exp2((double)cases[c][j] - greatest);
		xt_close_f64((double)state.sum[lane], odd ? (double)NAN : sum, 1e-6, 0.0);
		if (!odd)
			assert_true((double)state.max[lane] == greatest);
		assert_true(state.sum[(lane + 1) % lanes] == 4.0f);
		release(&tile);
		release(&max);
	}
}

static void test_steps(void **state)
{
	(void)state;
	for_each_set(steps_of_set);
}

/* ---- values ------------------------------------------------------------------------- */

static void one_sum(const struct pe_kernels *k, int64_t keys, int64_t width, int vecs)
{
	int64_t lanes = vecs * k->tile_vec, stride = width + keys % 3;
	struct guarded weights = random_values(keys * lanes, 0, 1),
				   values = random_values(keys * stride, keys % 7, 2);
	struct guarded rescale = random_values(lanes, 0, 3), out = random_values(width * lanes, 0, 4);
	struct guarded before = random_values(width * lanes, 0, 4), rows = guarded(lanes * (width + 1), 1);
	bool scaled = (keys + width) % 2 != 0;
	struct pe_tile_sum tile = {
		vecs, keys, width, stride, weights.data, values.data, scaled ? rescale.data : NULL, out.data};
	k->tile_sum(&tile);
	for (int64_t c = 0; c < width; c++)
		for (int64_t i = 0; i < lanes; i++) {
			double want = (double)before.data[c * lanes + i] * (scaled ? (double)rescale.data[i] : 1.0);
			for (int64_t j = 0; j < keys; j++)
				want += (double)values.data[j * stride + c] * (double)weights.data[j * lanes + i];
			xt_close_f64((double)out.data[c * lanes + i], want, 0.0, 1e-6 * (1.0 + (double)keys));
		}
	int64_t n = lanes - keys % lanes;
	k->tile_finish(rows.data, width + 1, out.data, vecs, n, width, rescale.data);
	for (int64_t i = 0; i < lanes; i++)
		for (int64_t c = 0; c <= width; c++)
			assert_true(rows.data[i * (width + 1) + c] ==
				(i < n && c < width ? out.data[c * lanes + i] * rescale.data[i] : CANARY));
	struct guarded *all[] = {&weights, &values, &rescale, &out, &before, &rows};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		release(all[i]);
}

static void sums_of_set(const struct pe_kernels *k)
{
	for (int vecs = 1; vecs <= 2; vecs++)
		for (int64_t width = 1; width <= 97; width += width < 38 ? 1 : 14)
			for (int64_t keys = 0; keys <= PE_TILE_KEYS; keys += keys < 5 ? 1 : 23)
				one_sum(k, keys, width, vecs);
}

static void test_sums(void **state)
{
	(void)state;
	for_each_set(sums_of_set);
}

static void pack_of_set(const struct pe_kernels *k)
{
	static const float odd[] = {NAN, INFINITY, -INFINITY};
	for (int64_t width = 1; width < 40; width++)
		for (int64_t step = 1; step <= 2; step++) {
			int64_t n = 3, stride = width * step + 1;
			struct guarded in = random_values(n * stride, width % 4, 1), out = guarded(n * width, 0);
			in.data[step * width] = NAN; /* between the rows: not looked at */
			assert_true(k->tile_pack_values(out.data, in.data, n, stride, step, width));
			for (int64_t i = 0; i < n * width; i++)
				assert_true(out.data[i] == in.data[i / width * stride + i % width * step]);
			in.data[1 * stride + width % 7 % width * step] = odd[width % 3];
			assert_false(k->tile_pack_values(out.data, in.data, n, stride, step, width));
			release(&in);
			release(&out);
		}
}

static void test_pack_values(void **state)
{
	(void)state;
	for_each_set(pack_of_set);
}

static void halves_of_set(const struct pe_kernels *k)
{
	uint16_t *all = malloc(65536 * 2 * sizeof *all);
	float *out = malloc(65536 * sizeof *out);
	assert_non_null(all);
	assert_non_null(out);
	for (int64_t step = 1; step <= 2; step++) {
		for (int64_t i = 0; i < 65536; i++)
			all[i * step] = (uint16_t)i;
		k->tile_from_f16(out, all, step, 65536);
		for (int64_t i = 0; i < 65536; i++) {
			float want = pe_f16_to_f32((uint16_t)i);
			assert_true(isnan(want) ? isnan(out[i]) : memcmp(&want, out + i, sizeof want) == 0);
		}
		k->tile_from_bf16(out, all, step, 65536);
		for (int64_t i = 0; i < 65536; i++) {
			uint32_t bits = (uint32_t)i << 16;
			assert_memory_equal(out + i, &bits, sizeof bits);
		}
	}
	free(all);
	free(out);
}

static void test_halves(void **state)
{
	(void)state;
	for_each_set(halves_of_set);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_powers),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_pack_values),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_max_of_nan),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_slant),
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_copy),
	};
	return xt_run(argc, argv, tests) != 0;
}
