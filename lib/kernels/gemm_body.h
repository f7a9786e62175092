/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of gemm.h, once an instruction set; float_SET.h comes before. */
#include "float_lanes.h"
#include "gemm.h"

#define DEPTH 256 /* p at once */
#define HEIGHT 96 /* rows of A at once */
#define LANES (2 * VEC_LANES)

/* A register tile of C. */
struct gemm_tile {
	const struct pe_gemm *gemm;
	const float *a, *b; /* packed: depth × rows, depth × LANES */
	int64_t depth, row, column;
	bool add;
};

INLINE void gemm_store(const struct gemm_tile *t, vec acc[ROWS][2], const int rows)
{
	const struct pe_gemm *g = t->gemm;
	_Alignas(64) float line[LANES];
	int64_t n = g->n - t->column < LANES ? g->n - t->column : LANES;
	for (int r = 0; r < rows; r++) {
		float *out = g->c + (t->row + r) * g->c_stride + t->column * g->c_step;
		for (int v = 0; v < 2; v++)
			put(line + v * VEC_LANES, vec_all(g->alpha) * acc[r][v]);
		if (t->add)
			for (int64_t j = 0; j < n; j++)
				line[j] += out[j * g->c_step];
		for (int64_t j = 0; j < n; j++)
			out[j * g->c_step] = line[j];
	}
}

INLINE void gemm_store_whole(const struct gemm_tile *t, vec acc[ROWS][2], const int rows)
{
	const struct pe_gemm *g = t->gemm;
	float *out = g->c + t->row * g->c_stride + t->column;
	vec alpha = vec_all(g->alpha);
	for (int r = 0; r < rows; r++, out += g->c_stride)
		for (int v = 0; v < 2; v++) {
			loose_vec *to = (loose_vec *)(out + v * VEC_LANES);
			*to = t->add ? alpha * acc[r][v] + *to : alpha * acc[r][v];
		}
}

INLINE void gemm_tile(const struct gemm_tile *t, const int rows, const int vecs)
{
	vec acc[ROWS][2];
	EACH_ROW(r) EACH(v) acc[r][v] = vec_all(0.0f);
	tile_multiply(acc, rows, vecs, t->depth, t->a, rows, t->b);
	if (t->gemm->c_step == 1 && t->column + LANES <= t->gemm->n)
		gemm_store_whole(t, acc, rows);
	else
		gemm_store(t, acc, rows);
}

/* Rows of A from `row` on, p from `from` on. */
static void gemm_block(const struct pe_gemm *g, int64_t row, int64_t height, int64_t from, int64_t depth)
{
	float *a = g->work, *b = g->work + HEIGHT * DEPTH;
	for (int64_t r = 0; r < height; r += ROWS) {
		int64_t rows = height - r < ROWS ? height - r : ROWS;
		transpose(a + r * depth, rows, g->a + (row + r) * g->a_stride + from * g->a_step, g->a_stride,
			g->a_step, rows, depth, 1.0f);
	}
	for (int64_t j = 0; j < g->n; j += LANES) {
		int64_t n = g->n - j < LANES ? g->n - j : LANES;
		if (n < LANES)
			memset(b, 0, (size_t)(depth * LANES) * sizeof *b);
		transpose(
			b, LANES, g->b + j * g->b_stride + from * g->b_step, g->b_stride, g->b_step, n, depth, 1.0f);
		for (int64_t r = 0; r < height; r += ROWS) {
			int rows = (int)(height - r < ROWS ? height - r : ROWS);
			struct gemm_tile tile = {g, a + r * depth, b, depth, row + r, j, g->add || from > 0};
			WITH_ROWS(gemm_tile, &tile, rows, 2);
		}
	}
}

static void gemm(const struct pe_gemm *g)
{
	int64_t from = 0;
	do {
		int64_t depth = g->k - from < DEPTH ? g->k - from : DEPTH;
		for (int64_t row = 0; row < g->m; row += HEIGHT)
			gemm_block(g, row, g->m - row < HEIGHT ? g->m - row : HEIGHT, from, depth);
		from += DEPTH;
	} while (from < g->k);
}
