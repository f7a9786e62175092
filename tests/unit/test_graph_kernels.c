/* SPDX-License-Identifier: BSD-2-Clause
 * The inner loops of random walks and of the sparse product, in every set of this machine, against straight
 * loops: every number of lanes and steps, rows of every shape, and what lies around the outputs. */
#include "xt.h"

#include <string.h>

#include "rng.h"
#include "xt_kernels.h"

enum { ROWS = 15, MOST_LANES = 36, MOST_DEGREE = 4, MOST_HALF = 4, RUNS = 10 };

static double number(uint64_t stream, int64_t i)
{
	return 2 * pe_rng_uniform(11, stream, (uint64_t)i) - 1;
}

/* ---- walks -------------------------------------------------------------------------- */

enum kind { UNIT, WEIGHTED, DIRECTED };

struct walk {
	enum kind kind;
	struct pe_walk_block block;
	struct pe_walk_run runs[RUNS];
	int32_t reach[MOST_HALF + 1];
	uint32_t col[ROWS * MOST_DEGREE];
	double value[ROWS * MOST_DEGREE], back[ROWS * MOST_DEGREE], pull[ROWS], inverse[ROWS];
	int64_t size, diagonals;
};

/* Runs of one row and of two, of degrees 0 to 4, without leaves and with; the walk is at all rows, or it
 * comes to the last run at the last step only. Row ROWS is the zero that padding reads. */
static void make_walk(struct walk *w, enum kind kind, int64_t lanes, int32_t first, int32_t half, bool all)
{
	int64_t n = 0, pulls = 0;
	*w = (struct walk){.kind = kind, .size = (ROWS + 1) * lanes, .diagonals = 2 * half * lanes};
	w->block = (struct pe_walk_block){lanes, first, half, w->runs, w->reach, w->col, w->value,
		kind == DIRECTED ? w->back : NULL, w->pull, w->inverse, {NULL, NULL}, {NULL, NULL}, NULL};
	for (int32_t r = 0; r < RUNS; r++) {
		w->runs[r] = (struct pe_walk_run){1 + r % 2, r / 2, kind != DIRECTED && r % 3 == 1};
		n += w->runs[r].rows * w->runs[r].degree;
		pulls += w->runs[r].leaves ? w->runs[r].rows : 0;
	}
	for (int32_t m = 0; m <= half; m++)
		w->reach[m] = all || m == half ? RUNS : RUNS - 1;
	for (int64_t e = 0; e < n; e++) {
		w->col[e] = (uint32_t)((e * 7 % (ROWS + 1)) * lanes);
		w->value[e] = number(0, e);
		w->back[e] = number(1, e);
	}
	for (int64_t i = 0; i < pulls; i++)
		w->pull[i] = 1 + (double)(i % 3);
	for (int64_t i = 0; i < ROWS; i++)
		w->inverse[i] = 0.5 + 0.1 * (double)i;
	for (int i = 0; i < 2; i++) {
		w->block.x[i] = xt_guarded(w->size);
		w->block.y[i] = xt_guarded(w->size);
	}
	w->block.diagonal = xt_guarded(w->diagonals);
}

/* The same start for every set: rows that the walk has not reached are zero. */
static void start_walk(struct walk *w)
{
	int64_t lanes = w->block.lanes, last = w->runs[RUNS - 1].rows;
	int64_t reached = (w->reach[w->block.first] == RUNS ? ROWS : ROWS - last) * lanes;
	for (int64_t i = 0; i < w->size; i++)
		for (int s = 0; s < 2; s++) {
			w->block.x[s][i] = i < reached ? number((uint64_t)(2 + s), i) : 0;
			w->block.y[s][i] = i < reached ? number((uint64_t)(4 + s), i) : 0;
		}
	for (int64_t i = 0; i < w->diagonals; i++)
		w->block.diagonal[i] = XT_CANARY;
}

static void free_walk(struct walk *w)
{
	for (int i = 0; i < 2; i++) {
		xt_release_guarded(w->block.x[i], w->size);
		xt_release_guarded(w->block.y[i], w->size);
	}
	xt_release_guarded(w->block.diagonal, w->diagonals);
}

/* One lane of one row: its next value, and what it adds to the two diagonals. */
static void expect_cell(const struct walk *w, int32_t m, int64_t row, int64_t edge, int32_t degree,
	const double *pull, int64_t lane, double *odd, double *even)
{
	const struct pe_walk_block *b = &w->block;
	const double *now = b->x[m & 1] + lane, *now_y = b->y[m & 1] + lane;
	int64_t cell = row * b->lanes + lane;
	double *next = &b->x[~m & 1][cell], sum = 0, sum_y = 0, pulled = pull ? *pull * *next : 0;
	for (int64_t e = edge; e < edge + degree; e++) {
		sum += (w->kind == UNIT ? 1 : w->value[e]) * now[w->col[e]];
		sum_y += w->back[e] * now_y[w->col[e]];
	}
	double old = b->x[m & 1][cell], full = sum + pulled;
	*next = w->kind == UNIT ? full * w->inverse[row] : full;
	if (w->kind == DIRECTED) {
		b->y[~m & 1][cell] = sum_y;
		*odd += b->y[m & 1][cell] * full;
		*even += sum_y * full;
		return;
	}
	*odd += old * pulled + old * full;
	*even += (pull ? *pull * old * old : 0) + *next * full;
}

static void expect_walk(struct walk *w)
{
	struct pe_walk_block *b = &w->block;
	for (int32_t m = b->first; m < b->half; m++)
		for (int64_t lane = 0; lane < b->lanes; lane++) {
			int64_t row = 0, edge = 0;
			const double *pull = w->pull;
			double odd = 0, even = 0;
			for (const struct pe_walk_run *run = w->runs; run < w->runs + w->reach[m + 1]; run++)
				for (int32_t r = 0; r < run->rows; r++, edge += run->degree)
					expect_cell(
						w, m, row++, edge, run->degree, run->leaves ? pull++ : NULL, lane, &odd, &even);
			b->diagonal[2 * m * b->lanes + lane] = odd;
			b->diagonal[(2 * m + 1) * b->lanes + lane] = even;
		}
}

static void close_all(const double *got, const double *want, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		xt_close_f64(got[i], want[i], 1e-12, 1e-12);
}

static pe_half_walk_fn *loop_of(const struct pe_kernels *k, enum kind kind)
{
	return kind == UNIT    ? k->half_walk_unit
		: kind == WEIGHTED ? k->half_walk_weighted
						   : k->half_walk_directed;
}

static void check_walk(enum kind kind, int64_t lanes, int32_t first, int32_t half, bool all)
{
	static struct walk got, want;
	make_walk(&want, kind, lanes, first, half, all);
	make_walk(&got, kind, lanes, first, half, all);
	start_walk(&want);
	expect_walk(&want);
	for (int k = 0; xt_kernels(k); k++) {
		start_walk(&got);
		loop_of(xt_kernels(k), kind)(&got.block);
		for (int i = 0; i < 2; i++) {
			close_all(got.block.x[i], want.block.x[i], want.size);
			close_all(got.block.y[i], want.block.y[i], want.size);
		}
		close_all(got.block.diagonal, want.block.diagonal, want.diagonals);
	}
	free_walk(&got);
	free_walk(&want);
}

static void walks(void **state)
{
	(void)state;
	for (int kind = UNIT; kind <= DIRECTED; kind++)
		for (int64_t lanes = PE_WALK_LANES; lanes <= MOST_LANES; lanes += PE_WALK_LANES)
			for (int32_t half = 0; half <= MOST_HALF; half++)
				for (int32_t first = 0; first <= (half > 0); first++) {
					check_walk((enum kind)kind, lanes, first, half, true);
					check_walk((enum kind)kind, lanes, first, half, false);
				}
}

/* Lanes behind the last node share a row of their own. */
static void check_rows(const struct pe_kernels *k, int64_t lanes, int64_t steps, int64_t nodes, bool scaled)
{
	enum { MOST_STEPS = 2 * MOST_HALF };
	double diagonal[MOST_STEPS * MOST_LANES] __attribute__((aligned(64))), scale[MOST_LANES];
	int32_t node[MOST_LANES];
	int64_t n = (nodes + 1) * steps;
	double *out = xt_guarded(n + 1) + 1, *want = xt_guarded(n + 1) + 1; /* no multiple of a vector */
	for (int64_t i = 0; i < MOST_STEPS * MOST_LANES; i++)
		diagonal[i] = number(6, i);
	for (int64_t l = 0; l < lanes; l++) {
		node[l] = (int32_t)(l < nodes ? nodes - 1 - l : nodes);
		scale[l] = number(7, l);
		for (int64_t s = 0; s < steps; s++)
			want[node[l] * steps + s] = (scaled ? scale[l] : 1) * diagonal[s * lanes + l];
	}
	struct pe_walk_block block = {.lanes = lanes, .half = MOST_HALF, .diagonal = diagonal};
	k->half_walk_rows(&block, node, scaled ? scale : NULL, steps, out);
	assert_memory_equal(out, want, (size_t)n * sizeof *out);
	assert_true(out[-1] == XT_CANARY);
	xt_release_guarded(out - 1, n + 1);
	xt_release_guarded(want - 1, n + 1);
}

static void rows_of_walks(void **state)
{
	(void)state;
	for (int k = 0; xt_kernels(k); k++)
		for (int64_t lanes = PE_WALK_LANES; lanes <= MOST_LANES; lanes += PE_WALK_LANES)
			for (int64_t steps = 1; steps <= 2 * MOST_HALF; steps++)
				for (int64_t spare = 0; spare < PE_WALK_LANES; spare++) {
					check_rows(xt_kernels(k), lanes, steps, lanes - spare, true);
					check_rows(xt_kernels(k), lanes, steps, lanes - spare, false);
				}
}

/* ---- sparse product ----------------------------------------------------------------- */

enum { MOST_N = 12, LANES = PE_PRODUCT_LANES };

/* Rows of 0 to 6 entries, in an order that differs with n. */
static void check_product(const struct pe_kernels *k, int32_t n)
{
	const double centre = 0.7, scale = 1.3;
	int64_t row[MOST_N + 1] = {0};
	int32_t col[MOST_N * 7];
	double val[MOST_N * 7], diag[MOST_N + 1];
	double *x = xt_guarded(n * LANES), *out = xt_guarded(n * LANES), want[MOST_N * LANES];
	for (int32_t i = 0; i < n; i++) {
		row[i + 1] = row[i] + (i + n) % 7;
		diag[i] = number(8, i);
		for (int64_t e = row[i]; e < row[i + 1]; e++) {
			col[e] = (int32_t)(e * 5 % n);
			val[e] = number(9, e);
		}
	}
	for (int64_t c = 0; c < n * LANES; c++) {
		x[c] = number(10, c);
		out[c] = number(11, c);
	}
	for (int64_t c = 0; c < n * LANES; c++) {
		int64_t i = c / LANES;
		double sum = (centre - diag[i]) * x[c];
		for (int64_t e = row[i]; e < row[i + 1]; e++)
			sum -= val[e] * x[col[e] * LANES + c % LANES];
		want[c] = scale * sum - out[c];
	}
	k->sparse_product(&(struct pe_product_matrix){n, row, col, val, diag}, centre, scale, x, out);
	close_all(out, want, n * LANES);
	xt_release_guarded(x, n * LANES);
	xt_release_guarded(out, n * LANES);
}

static void products(void **state)
{
	(void)state;
	for (int k = 0; xt_kernels(k); k++)
		for (int32_t n = 0; n <= MOST_N; n++)
			check_product(xt_kernels(k), n);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks),
		cmocka_unit_test(rows_of_walks),
		cmocka_unit_test(products),
	};
	return xt_run(argc, argv, tests);
}
