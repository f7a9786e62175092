/* SPDX-License-Identifier: BSD-2-Clause
 * Random walks on one small undirected graph, all start vertices at once, one a SIMD lane.
 * (S^2m)_ii = ‖S^m e_i‖² and (S^(2m+1))_ii = ⟨S^m e_i, S^(m+1) e_i⟩ halve the steps; leaves are
 * neither start vertices nor rows (half_walk.h of the kernels, pe_walk_leaf). Rows are sorted by
 * shape, so that the inner loops have no branches: in molecules almost all have two or three
 * neighbours and no leaves, or leaves and at most two other neighbours. */
#include <string.h>

#include "kernels/kernels.h"
#include "walk.h"

_Static_assert(PE_WALK_SMALL == 64, "sets of nodes are 64 bits wide");

enum shape { TWO, THREE, LEAVES, OTHER, SHAPES };

struct pe_walk_small {
	int64_t steps;
	struct pe_walk_block block;
	struct pe_walk_run runs[PE_WALK_SMALL + OTHER];
	int32_t *reach;
	uint32_t *col; /* (PE_WALK_SMALL + 1)² */
	double *value;
	double pull[PE_WALK_SMALL + 1], inverse[PE_WALK_SMALL + PE_WALK_LANES];
	double reciprocal[PE_WALK_SMALL + 1]; /* 1 / d */
	int32_t rows;
	uint32_t nothing;                            /* the row behind the last · lanes */
	int32_t node[PE_WALK_SMALL + PE_WALK_LANES]; /* of each row, which is the start vertex of that lane too */
	int32_t lane[PE_WALK_SMALL];                 /* of each node; of a leaf, that of its neighbour */
	uint32_t at[PE_WALK_SMALL];                  /* row · lanes of each node; nothing for a leaf */
	int32_t leaves[PE_WALK_SMALL];               /* on each node */
	/* Sets of nodes. */
	uint64_t row, leaf, isolated;
	uint64_t shape[SHAPES];
};

static bool has(uint64_t set, int32_t i)
{
	return set >> i & 1;
}

pe_status pe_walk_small_create(pe_context *ctx, int64_t steps, struct pe_walk_small **out)
{
	const int64_t n = PE_WALK_SMALL, cells = (n + 1) * (n + 1), half = (steps + 1) / 2;
	*out = pe_alloc_zero(ctx, 1, sizeof **out);
	if (!*out)
		return PE_ERR_NOMEM;
	struct pe_walk_small *s = *out;
	s->steps = steps;
	s->reach = pe_alloc(ctx, half + 1, sizeof *s->reach);
	s->col = pe_alloc(ctx, cells, sizeof *s->col);
	s->value = pe_alloc(ctx, cells, sizeof *s->value);
	s->block.x[0] = pe_alloc(ctx, cells, sizeof(double));
	s->block.x[1] = pe_alloc(ctx, cells, sizeof(double));
	s->block.diagonal = pe_alloc(ctx, 2 * half * n, sizeof(double));
	s->block.first = 1;
	s->block.half = (int32_t)half;
	s->block.runs = s->runs;
	s->block.reach = s->reach;
	s->block.col = s->col;
	s->block.value = s->value;
	s->block.pull = s->pull;
	s->block.inverse = s->inverse;
	for (int32_t d = 1; d <= n; d++)
		s->reciprocal[d] = 1.0 / d;
	if (s->reach && s->col && s->value && s->block.x[0] && s->block.x[1] && s->block.diagonal)
		return PE_OK;
	pe_walk_small_destroy(ctx, out);
	return PE_ERR_NOMEM;
}

void pe_walk_small_destroy(pe_context *ctx, struct pe_walk_small **small)
{
	struct pe_walk_small *s = *small;
	*small = NULL;
	if (!s)
		return;
	pe_free(ctx, s->reach);
	pe_free(ctx, s->col);
	pe_free(ctx, s->value);
	pe_free(ctx, s->block.x[0]);
	pe_free(ctx, s->block.x[1]);
	pe_free(ctx, s->block.diagonal);
	pe_free(ctx, s);
}

/* Which nodes are leaves, which are rows, and how many leaves each has. Little is decided by branches
 * here and below: in graphs that differ, they would be foreseen wrongly half of the time. */
static void find_leaves(struct pe_walk_small *s, const struct pe_walk *w)
{
	uint64_t some = 0, one = 0;
	memset(s->leaves, 0, (size_t)w->n * sizeof *s->leaves);
	for (int32_t i = 0; i < w->n; i++) {
		some |= (uint64_t)(pe_walk_degree(w, i) > 0) << i;
		one |= (uint64_t)(pe_walk_degree(w, i) == 1) << i;
	}
	s->leaf = 0;
	for (; one; one &= one - 1) {
		int32_t i = __builtin_ctzll(one), p = pe_walk_leaf(w, i);
		if (p < 0)
			continue;
		s->leaf |= (uint64_t)1 << i;
		s->leaves[p]++;
	}
	s->row = some & ~s->leaf;
	s->isolated = ~some & ~(uint64_t)0 >> (PE_WALK_SMALL - w->n);
	s->block.lanes = (__builtin_popcountll(s->row) + PE_WALK_LANES - 1) / PE_WALK_LANES * PE_WALK_LANES;
	s->nothing = (uint32_t)(__builtin_popcountll(s->row) * s->block.lanes);
}

static void find_shapes(struct pe_walk_small *s, const struct pe_walk *w)
{
	uint64_t leaves = 0, few = 0, two = 0, three = 0;
	for (int32_t i = 0; i < w->n; i++) {
		int64_t degree = pe_walk_degree(w, i) - s->leaves[i];
		leaves |= (uint64_t)(s->leaves[i] > 0) << i;
		few |= (uint64_t)(degree <= 2) << i;
		two |= (uint64_t)(degree == 2) << i;
		three |= (uint64_t)(degree == 3) << i;
	}
	s->shape[TWO] = s->row & two & ~leaves;
	s->shape[THREE] = s->row & three & ~leaves;
	s->shape[LEAVES] = s->row & leaves & few;
	s->shape[OTHER] = s->row & ~(s->shape[TWO] | s->shape[THREE] | s->shape[LEAVES]);
}

static inline void add_row(struct pe_walk_small *s, const struct pe_walk *w, int32_t i, double **pull)
{
	s->node[s->rows] = i;
	s->lane[i] = s->rows;
	s->at[i] = (uint32_t)(s->rows * s->block.lanes);
	s->inverse[s->rows++] = s->reciprocal[pe_walk_degree(w, i)];
	**pull = s->leaves[i];
	*pull += s->leaves[i] > 0;
}

/* Numbers the rows, shape after shape. There are always runs of the first shapes, maybe of no rows:
 * what is always the same is foreseen by the processor. */
static void number_rows(struct pe_walk_small *s, const struct pe_walk *w)
{
	static const struct pe_walk_run shapes[] = {{0, 2, 0}, {0, 3, 0}, {0, 2, 1}};
	int32_t runs = 0;
	double *pull = s->pull;
	s->rows = 0;
	for (; runs < OTHER; runs++) {
		int32_t first = s->rows;
		for (uint64_t set = s->shape[runs]; set; set &= set - 1)
			add_row(s, w, __builtin_ctzll(set), &pull);
		s->runs[runs] = shapes[runs];
		s->runs[runs].rows = s->rows - first;
	}
	for (uint64_t set = s->shape[OTHER]; set; set &= set - 1) {
		int32_t i = __builtin_ctzll(set), leaves = s->leaves[i];
		s->runs[runs++] = (struct pe_walk_run){1, (int32_t)pe_walk_degree(w, i) - leaves, leaves > 0};
		add_row(s, w, i, &pull);
	}
	for (int64_t lane = s->rows; lane < s->block.lanes; lane++)
		s->node[lane] = w->n;
	for (int32_t m = 0; m <= s->block.half; m++)
		s->reach[m] = runs;
}

static void place_leaves(struct pe_walk_small *s, const struct pe_walk *w)
{
	for (uint64_t set = s->leaf; set; set &= set - 1) {
		int32_t i = __builtin_ctzll(set);
		s->at[i] = s->nothing;
		s->lane[i] = s->lane[w->col[pe_walk_begin(w, i)]];
	}
}

/* Neighbours of rows. They make the first step, too: where walks are after it, and how many of them
 * are back after one step and two. A row of two or three rows as neighbours: */
static inline void fill_plain_row(
	struct pe_walk_small *s, const struct pe_walk *w, int32_t r, int64_t at, const int degree)
{
	int32_t i = s->node[r];
	const int32_t *neighbour = w->col + pe_walk_begin(w, i);
	double *step = s->block.x[1] + r * s->block.lanes, twice = 0;
	double loop = 0;
#pragma GCC unroll 3
	for (int d = 0; d < degree; d++) {
		int32_t j = neighbour[d];
		step[s->lane[j]] = s->inverse[r];
		twice += s->reciprocal[pe_walk_degree(w, j)];
		loop += j == i;
		s->col[at + d] = s->at[j];
	}
	s->block.diagonal[r] = loop;
	s->block.diagonal[s->block.lanes + r] = twice;
}

/* Any row. What leaves write into their neighbour's own lane is corrected at the end. */
static void fill_unit_row(struct pe_walk_small *s, const struct pe_walk *w, int32_t r, int64_t at, int degree)
{
	int32_t i = s->node[r], loop = 0;
	double *step = s->block.x[1] + r * s->block.lanes, twice = 0;
	for (int d = 0; d < degree; d++)
		s->col[at + d] = s->nothing;
	int64_t place = at;
	for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++) {
		int32_t j = w->col[e];
		step[s->lane[j]] = s->inverse[r];
		twice += s->reciprocal[pe_walk_degree(w, j)];
		loop += j == i;
		s->col[place] = s->at[j];
		place += has(s->row, j);
	}
	step[r] = loop * s->inverse[r];
	s->block.diagonal[r] = loop;
	s->block.diagonal[s->block.lanes + r] = twice;
}

static void fill_weighted_row(
	struct pe_walk_small *s, const struct pe_walk *w, int32_t r, int64_t at, int degree, double **pull)
{
	int32_t i = s->node[r];
	double *step = s->block.x[1] + r * s->block.lanes, loop = 0, twice = 0, leaves = 0;
	int64_t place = at;
	for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++) {
		int32_t j = w->col[e];
		double value = w->value[e];
		step[s->lane[j]] = value;
		twice += value * value;
		loop += j == i ? value : 0;
		leaves += has(s->row, j) ? 0 : value * value;
		s->col[place] = s->at[j];
		s->value[place] = value;
		place += has(s->row, j);
	}
	for (; place < at + degree; place++) {
		s->col[place] = s->nothing;
		s->value[place] = 0;
	}
	step[r] = loop;
	s->block.diagonal[r] = loop;
	s->block.diagonal[s->block.lanes + r] = twice;
	if (s->leaves[i] > 0)
		*(*pull)++ = leaves;
}

static void fill_unit(struct pe_walk_small *s, const struct pe_walk *w)
{
	int64_t at = 0;
	int32_t r = 0, two = s->runs[TWO].rows, plain = two + s->runs[THREE].rows;
	for (; r < two; r++, at += 2)
		fill_plain_row(s, w, r, at, 2);
	for (; r < plain; r++, at += 3)
		fill_plain_row(s, w, r, at, 3);
	for (const struct pe_walk_run *run = s->runs + LEAVES; r < s->rows; run++)
		for (int32_t last = r + run->rows; r < last; r++, at += run->degree)
			fill_unit_row(s, w, r, at, run->degree);
}

static void fill_weighted(struct pe_walk_small *s, const struct pe_walk *w)
{
	int64_t at = 0;
	int32_t r = 0;
	double *pull = s->pull;
	for (const struct pe_walk_run *run = s->runs; r < s->rows; run++)
		for (int32_t last = r + run->rows; r < last; r++, at += run->degree)
			fill_weighted_row(s, w, r, at, run->degree, &pull);
}

/* Rows without leaves never look at the step before the first. */
static void set_starts(struct pe_walk_small *s)
{
	int64_t lanes = s->block.lanes, rows = s->rows + 1, plain = s->runs[TWO].rows + s->runs[THREE].rows;
	memset(s->block.x[1], 0, (size_t)(rows * lanes) * sizeof(double));
	memset(s->block.x[0] + plain * lanes, 0, (size_t)((rows - plain) * lanes) * sizeof(double));
	for (int64_t r = plain; r < s->rows; r++)
		s->block.x[0][r * lanes + r] = 1;
}

static void write_rows(pe_context *ctx, const struct pe_walk_small *s, const struct pe_walk *w, double *rows)
{
	int64_t steps = s->steps;
	ctx->kernels->half_walk_rows(&s->block, s->node, w->value ? NULL : s->inverse, steps, rows);
	for (uint64_t set = s->leaf; set; set &= set - 1) {
		int32_t i = __builtin_ctzll(set), p = w->col[pe_walk_begin(w, i)];
		pe_walk_leaf_row(pe_walk_leaf_share(w, i, p), rows + p * steps, steps, rows + i * steps);
	}
	for (uint64_t set = s->isolated; set; set &= set - 1)
		memset(rows + __builtin_ctzll(set) * steps, 0, (size_t)steps * sizeof *rows);
}

void pe_walk_small(pe_context *ctx, struct pe_walk_small *s, const struct pe_walk *w, double *rows)
{
	find_leaves(s, w);
	find_shapes(s, w);
	number_rows(s, w);
	place_leaves(s, w);
	set_starts(s);
	if (w->value) {
		fill_weighted(s, w);
		ctx->kernels->half_walk_weighted(&s->block);
	} else {
		fill_unit(s, w);
		ctx->kernels->half_walk_unit(&s->block);
	}
	write_rows(ctx, s, w, rows);
}
