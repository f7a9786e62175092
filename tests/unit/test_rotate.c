/* SPDX-License-Identifier: BSD-2-Clause
 * Rotated rows against doubles and single-precision formulae: every set, both layouts, all tails,
 * alignments and steps, in place and not, with guards around what may be written. */
#include "xt.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "rng.h"
#include "xt_kernels.h"

enum { ROWS = 3, GUARD = 32, MOST = ROWS * 256 + 2 * GUARD };

struct shape {
	int64_t pairs, half, width, step, turn_step;
	int64_t shift; /* of the rows, in floats from an address that is a multiple of 64 */
	bool stream;
};

struct buffers {
	float x[MOST], y[MOST], expected[MOST], cosine[ROWS * 128], sine[ROWS * 128];
};

static float number(uint64_t stream, int64_t i)
{
	return (float)(4 * pe_rng_uniform(3, stream, (uint64_t)i) - 2);
}

/* expected ← the rotation of b->x; each value also within its roundings of the one in double. */
static void expect_row(struct buffers *b, const struct shape *s, int64_t row)
{
	const float *x = b->x + GUARD + s->shift + row * s->step;
	float *y = b->expected + GUARD + s->shift + row * s->step;
	memcpy(y, x, (size_t)s->width * sizeof *y);
	for (int64_t t = 0; t < s->pairs; t++) {
		int64_t first = s->half > 0 ? t : 2 * t, second = s->half > 0 ? s->half + t : 2 * t + 1;
		float c = b->cosine[row * s->turn_step + t], sn = b->sine[row * s->turn_step + t];
		float ac = x[first] * c, bs = x[second] * sn, bc = x[second] * c, as = x[first] * sn;
		y[first] = ac - bs;
		y[second] = bc + as;
		double a = x[first], p = x[second];
		xt_close_f64(y[first], a * c - p * sn, 0, FLT_EPSILON * (fabs(a * c) + fabs(p * sn)));
		xt_close_f64(y[second], a * sn + p * c, 0, FLT_EPSILON * (fabs(a * sn) + fabs(p * c)));
	}
}

static void prepare(struct buffers *b, const struct shape *s)
{
	for (int64_t i = 0; i < MOST; i++) {
		b->x[i] = number(0, i);
		b->expected[i] = number(1, i);
	}
	for (int64_t i = 0; i < ROWS * 128; i++) {
		b->cosine[i] = (float)cos((double)i);
		b->sine[i] = (float)sin((double)i);
	}
	memcpy(b->y, b->expected, sizeof b->y);
	for (int64_t row = 0; row < ROWS; row++)
		expect_row(b, s, row);
}

/* All of y, guards and gaps between rows too, out of place and in place. */
static void check_set(const struct pe_kernels *kernels, struct buffers *b, const struct shape *s)
{
	struct pe_rotate_block rows = {.x = b->x + GUARD + s->shift,
		.y = b->y + GUARD + s->shift,
		.x_token = s->step,
		.y_token = s->step,
		.heads = 1,
		.tokens = ROWS,
		.width = s->width,
		.cosine = b->cosine,
		.sine = b->sine,
		.turn_step = s->turn_step,
		.pairs = s->pairs,
		.half = s->half,
		.stream = s->stream};
	prepare(b, s);
	kernels->rotate(&rows);
	assert_memory_equal(b->y, b->expected, sizeof b->y);
	memcpy(b->expected, b->x, sizeof b->x);
	for (int64_t row = 0; row < ROWS; row++)
		expect_row(b, s, row);
	rows.y = b->x + GUARD + s->shift;
	kernels->rotate(&rows);
	assert_memory_equal(b->x, b->expected, sizeof b->x);
}

static void check(struct buffers *b, const struct shape *s)
{
	for (int k = 0; xt_kernels(k); k++)
		check_set(xt_kernels(k), b, s);
}

static struct buffers *new_buffers(void)
{
	void *memory;
	assert_int_equal(posix_memalign(&memory, 64, sizeof(struct buffers)), 0);
	return memory;
}

static void neighbours(void **state)
{
	(void)state;
	struct buffers *b = new_buffers();
	for (int64_t pairs = 0; pairs <= 40; pairs++)
		for (int64_t extra = 0; extra < 4; extra += 3)
			for (int64_t shift = 0; shift < 4; shift += 3) {
				int64_t width = 2 * pairs + extra;
				check(b, &(struct shape){pairs, 0, width, width, pairs, shift, false});
				check(b, &(struct shape){pairs, 0, width, width + 2, 0, shift, true});
			}
	free(b);
}

static void halves(void **state)
{
	(void)state;
	struct buffers *b = new_buffers();
	for (int64_t pairs = 1; pairs <= 40; pairs++)
		for (int64_t gap = 0; gap < 6; gap += 5)
			for (int64_t shift = 0; shift < 4; shift += 3) {
				int64_t half = pairs + gap, width = half + pairs + gap;
				check(b, &(struct shape){pairs, half, width, width, pairs, shift, false});
				check(b, &(struct shape){pairs, half, width, width + 7, 0, shift, true});
			}
	free(b);
}

/* Shapes that are stored past the caches, some with tails. */
static void streams(void **state)
{
	(void)state;
	struct buffers *b = new_buffers();
	for (int64_t pairs = 1; pairs <= 64; pairs++) {
		check(b, &(struct shape){pairs, 0, 2 * pairs, 128, pairs, 0, true});
		check(b, &(struct shape){pairs, 64, 128, 128, pairs, 0, true});
		check(b, &(struct shape){pairs, 64, 128, 160, 0, 16, true});
	}
	free(b);
}

enum { HEADS = 3, TOKENS = 5, WIDTH = 5 };

/* Heads of tokens and tokens of heads, steps of x and y that differ, one channel more than is turned. */
static void check_steps(
	const struct pe_kernels *kernels, int64_t x_head, int64_t x_token, int64_t y_head, int64_t y_token)
{
	float x[160], y[200], cosine[2 * TOKENS], sine[2 * TOKENS];
	int written = 0;
	for (int i = 0; i < 160; i++)
		x[i] = number(2, i);
	for (int i = 0; i < 2 * TOKENS; i++) {
		cosine[i] = number(3, i);
		sine[i] = number(4, i);
	}
	for (int i = 0; i < 200; i++)
		y[i] = 77;
	kernels->rotate(&(struct pe_rotate_block){.x = x,
		.y = y,
		.x_head = x_head,
		.x_token = x_token,
		.y_head = y_head,
		.y_token = y_token,
		.heads = HEADS,
		.tokens = TOKENS,
		.width = WIDTH,
		.cosine = cosine,
		.sine = sine,
		.turn_step = 2,
		.pairs = 2,
		.half = 2});
	for (int h = 0; h < HEADS; h++)
		for (int i = 0; i < TOKENS; i++) {
			const float *from = x + h * x_head + i * x_token, *to = y + h * y_head + i * y_token;
			for (int t = 0; t < 2; t++) {
				float c = cosine[2 * i + t], s = sine[2 * i + t];
				assert_true(to[t] == from[t] * c - from[t + 2] * s);
				assert_true(to[t + 2] == from[t + 2] * c + from[t] * s);
			}
			assert_true(to[4] == from[4]);
		}
	for (int i = 0; i < 200; i++)
		written += y[i] != 77;
	assert_int_equal(written, HEADS * TOKENS * WIDTH);
}

static void heads_and_tokens_in_any_order(void **state)
{
	(void)state;
	for (int k = 0; xt_kernels(k); k++) {
		const struct pe_kernels *kernels = xt_kernels(k);
		check_steps(kernels, 30, 6, 40, 7);
		check_steps(kernels, 6, 18, 5, 15);
		check_steps(kernels, 25, 5, 6, 20);
		check_steps(kernels, 0, 5, 25, 5); /* one head's rows for all */
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours),
		cmocka_unit_test(halves),
		cmocka_unit_test(streams),
		cmocka_unit_test(heads_and_tokens_in_any_order),
	};
	return xt_run(argc, argv, tests);
}
