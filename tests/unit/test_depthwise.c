/* SPDX-License-Identifier: BSD-2-Clause
 * Depthwise convolutions against the formula, value by value: every set to the same bits. Rows with taps from
 * 1 to 7, strides, tails of channels and tokens, past the caches and not, with guards around y; strips inside
 * a grid and at its edges, in place and not. */
#include "xt.h"

#include <string.h>

#include "rng.h"
#include "xt_kernels.h"

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

/* Rows and y are `shift` floats from a multiple of 64 bytes. */
static void check(const struct pe_kernels *kernels, struct buffers *b, int64_t rows, int64_t taps,
	int64_t stride, int64_t count, int64_t channels, bool residual, bool stream, int64_t shift)
{
	const float *pointers[MOST_TAPS];
	for (int64_t r = 0; r < rows; r++)
		pointers[r] = b->rows[r] + shift;
	struct pe_depthwise_row d = {.rows = pointers,
		.row_count = rows,
		.taps = taps,
		.weight = b->weight,
		.bias = b->bias,
		.x = residual ? pointers[rows / 2] + taps / 2 * WIDTH : NULL,
		.width = WIDTH,
		.weight_step = WIDTH,
		.stride = stride,
		.count = count,
		.y = b->y + GUARD + shift,
		.y_step = WIDTH,
		.channels = channels,
		.stream = stream};
	fill(b->y, sizeof b->y / sizeof *b->y, 9);
	memcpy(b->expected, b->y, sizeof b->y);
	for (int64_t i = 0; i < count; i++)
		for (int64_t c = 0; c < channels; c++)
			b->expected[GUARD + shift + i * WIDTH + c] = expect(&d, i, c);
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
	for (int k = 0; xt_kernels(k); k++)
		for (int w = 0; w < 6; w++)
			for (int c = 0; c < 5; c++)
				for (int64_t i = 0; i < 3 * MOST_COUNT * 4; i++)
					check(xt_kernels(k), b, windows[w][0], windows[w][1], 1 + i % 3, 1 + i / 3 % MOST_COUNT,
						channels[c], i / 33 % 2 == 0, i / 66 == 0, (i + c) % 5);
	free(b);
}

/* Strips are inside a grid of ROWS + 2 by COLUMNS + 2 tokens, `STEP` floats apart. */
enum { ROWS = 5, COLUMNS = 9, STEP = WIDTH + 16, LINE = (COLUMNS + 2) * STEP };

struct strip_buffers {
	_Alignas(64) float x[(ROWS + 2) * LINE], y[(ROWS + 2) * LINE], expected[(ROWS + 2) * LINE];
	_Alignas(64) float weight[WIDTH / PE_DEPTHWISE_LANES * PE_STRIP_WEIGHTS], left[(ROWS + 2) * WIDTH];
	float left_expected[(ROWS + 2) * WIDTH];
};

struct strip_case {
	int64_t rows, columns, channels;
	bool top, bottom, first, last; /* whether zeros follow there */
	bool in_place, residual, stream;
};

/* What a strip finds in row r and column i of x, which is that of its grid's second. */
static float strip_x(
	const struct strip_buffers *b, const struct strip_case *s, int64_t r, int64_t i, int64_t c)
{
	bool outside = (r < 0 && s->top) || (r == s->rows && s->bottom) || (i < 0 && s->first) ||
		(i == s->columns && s->last);
	return outside ? 0 : b->x[(r + 1) * LINE + (i + 1) * STEP + c];
}

static float strip_y(
	const struct strip_buffers *b, const struct strip_case *s, int64_t r, int64_t i, int64_t c)
{
	const float *weight = b->weight + c / PE_DEPTHWISE_LANES * PE_STRIP_WEIGHTS + c % PE_DEPTHWISE_LANES;
	float sum = weight[9 * PE_DEPTHWISE_LANES];
	for (int64_t t = 0; t < 9; t++) {
		float product = weight[t * PE_DEPTHWISE_LANES] * strip_x(b, s, r + t / 3 - 1, i + t % 3 - 1, c);
		sum = sum + product;
	}
	return s->residual ? strip_x(b, s, r, i, c) + sum : sum;
}

static void expect_strip(struct strip_buffers *b, const struct strip_case *s)
{
	memcpy(b->expected, s->in_place ? b->x : b->y, sizeof b->y);
	for (int64_t r = 0; r < s->rows; r++)
		for (int64_t i = 0; i < s->columns; i++)
			for (int64_t c = 0; c < s->channels; c++)
				b->expected[(r + 1) * LINE + (i + 1) * STEP + c] = strip_y(b, s, r, i, c);
	for (int64_t r = -1; r <= s->rows; r++)
		for (int64_t c = 0; c < s->channels; c++) {
			int64_t at = (c / PE_DEPTHWISE_LANES * (s->rows + 2) + r + 1) * PE_DEPTHWISE_LANES +
				c % PE_DEPTHWISE_LANES;
			b->left[at] = strip_x(b, s, r, -1, c);
			b->left_expected[at] = strip_x(b, s, r, s->columns - 1, c);
		}
}

static void check_strip(const struct pe_kernels *kernels, struct strip_buffers *b, const struct strip_case *s)
{
	_Alignas(64) static const float zeros[PE_DEPTHWISE_LANES];
	fill(b->x, sizeof b->x / sizeof *b->x, 10);
	fill(b->y, sizeof b->y / sizeof *b->y, 11);
	expect_strip(b, s);
	float *y = s->in_place ? b->x : b->y;
	const float *x = b->x + LINE + STEP;
	kernels->depthwise_strip(&(struct pe_depthwise_strip){.weight = b->weight,
		.x = x,
		.y = y + LINE + STEP,
		.x_row = LINE,
		.x_step = STEP,
		.y_row = LINE,
		.y_step = STEP,
		.above = s->top ? zeros : x - LINE,
		.below = s->bottom ? zeros : x + s->rows * LINE,
		.above_step = s->top ? 0 : STEP,
		.below_step = s->bottom ? 0 : STEP,
		.left = b->left,
		.last = s->last,
		.residual = s->residual,
		.stream = s->stream,
		.rows = s->rows,
		.columns = s->columns,
		.channels = s->channels,
		.ahead = s->stream ? x : NULL,
		.ahead_row = LINE,
		.ahead_step = STEP});
	assert_memory_equal(y, b->expected, sizeof b->y);
	assert_memory_equal(b->left, b->left_expected, (size_t)((s->rows + 2) * s->channels) * sizeof *b->left);
}

static void strips_are_the_formula_in_every_set(void **state)
{
	(void)state;
	struct strip_buffers *b = aligned_alloc(64, sizeof *b);
	fill(b->weight, sizeof b->weight / sizeof *b->weight, 12);
	for (int k = 0; xt_kernels(k); k++)
		for (int64_t i = 0; i < ROWS * COLUMNS * 16; i++) {
			int64_t edges = i / ROWS / COLUMNS;
			struct strip_case s = {.rows = 1 + i % ROWS,
				.columns = 1 + i / ROWS % COLUMNS,
				.channels = i % 3 == 0 ? WIDTH : PE_DEPTHWISE_LANES,
				.top = edges & 1,
				.bottom = edges & 2,
				.first = edges & 4,
				.last = edges & 8,
				.in_place = i % 2,
				.residual = i % 7 > 2,
				.stream = i % 11 > 5};
			check_strip(xt_kernels(k), b, &s);
		}
	free(b);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_formula_in_every_set),
		cmocka_unit_test(strips_are_the_formula_in_every_set),
	};
	return xt_run(argc, argv, tests);
}
