/* SPDX-License-Identifier: BSD-2-Clause
 * Rows of depthwise convolutions against the formula, value by value: every set to the same bits, taps from
 * 1 to 7, strides, tails of channels and tokens, past the caches and not, with guards around y. */
#include "xt.h"

#include <string.h>

#include "kernels/kernels.h"
#include "rng.h"

static const char *const sets[] = {"scalar", "avx2", "avx512"};

enum { MOST_COUNT = 11, MOST_TAPS = 7, WIDTH = 48, SPAN = 3 * MOST_COUNT + MOST_TAPS, GUARD = 16 };

struct buffers {
	_Alignas(64) float rows[MOST_TAPS][SPAN * WIDTH], weight[MOST_TAPS * MOST_TAPS * WIDTH], bias[WIDTH];
	_Alignas(64) float y[MOST_COUNT * WIDTH + 2 * GUARD], expected[MOST_COUNT * WIDTH + 2 * GUARD];
};

static void fill(float *out, size_t count, uint64_t stream)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (float)(2 * pe_rng_uniform(5, stream, i) - 1);
}

/* Rounded after every product and every sum. */
static float expect(const struct pe_depthwise_row *d, int64_t i, int64_t c)
{
	float sum = d->bias[c];
	for (int64_t r = 0; r < d->row_count; r++)
		for (int64_t t = 0; t < d->taps; t++) {
			float product =
				d->weight[(r * d->taps + t) * d->width + c] * d->rows[r][(i * d->stride + t) * d->width + c];
			sum = sum + product;
		}
	return d->x ? d->x[i * d->stride * d->width + c] + sum : sum;
}

static void check(const struct pe_kernels *kernels, struct buffers *b, int64_t rows, int64_t taps,
	int64_t stride, int64_t count, int64_t channels, bool residual, bool stream)
{
	const float *pointers[MOST_TAPS];
	for (int64_t r = 0; r < rows; r++)
		pointers[r] = b->rows[r];
	struct pe_depthwise_row d = {.rows = pointers,
		.row_count = rows,
		.taps = taps,
		.weight = b->weight,
		.bias = b->bias,
		.x = residual ? b->rows[rows / 2] + taps / 2 * WIDTH : NULL,
		.width = WIDTH,
		.weight_step = WIDTH,
		.stride = stride,
		.count = count,
		.y = b->y + GUARD,
		.y_step = WIDTH,
		.channels = channels,
		.stream = stream};
	fill(b->y, sizeof b->y / sizeof *b->y, 9);
	memcpy(b->expected, b->y, sizeof b->y);
	for (int64_t i = 0; i < count; i++)
		for (int64_t c = 0; c < channels; c++)
			b->expected[GUARD + i * WIDTH + c] = expect(&d, i, c);
	kernels->depthwise(&d);
	assert_memory_equal(b->y, b->expected, sizeof b->y);
}

static void is_the_formula_in_every_set(void **state)
{
	static const int64_t windows[][2] = {{1, 1}, {3, 3}, {5, 5}, {7, 7}, {3, 5}, {6, 3}};
	static const int64_t channels[] = {1, 7, 16, 33, 48};
	(void)state;
	struct buffers *b = aligned_alloc(64, sizeof *b);
	for (int r = 0; r < MOST_TAPS; r++)
		fill(b->rows[r], sizeof b->rows[r] / sizeof(float), (uint64_t)r);
	fill(b->weight, sizeof b->weight / sizeof(float), 7);
	fill(b->bias, WIDTH, 8);
	for (int k = 0; k < 3; k++)
		for (int w = 0; w < 6 && pe_kernels_select(sets[k]); w++)
			for (int c = 0; c < 5; c++)
				for (int64_t i = 0; i < 3 * MOST_COUNT * 4; i++)
					check(pe_kernels_select(sets[k]), b, windows[w][0], windows[w][1], 1 + i % 3,
						1 + i / 3 % MOST_COUNT, channels[c], i / 33 % 2 == 0, i / 66 == 0);
	free(b);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_formula_in_every_set)};
	return xt_run(argc, argv, tests);
}
