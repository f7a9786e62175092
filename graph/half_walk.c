/* SPDX-License-Identifier: BSD-2-Clause
 * Random walks on one small undirected graph, all start vertices at once, one a SIMD lane.
 * (S^2m)_ii = ‖S^m e_i‖² and (S^(2m+1))_ii = ⟨S^m e_i, S^(m+1) e_i⟩ halve the steps; leaves are
 * neither start vertices nor rows (half_walk.h of the kernels, pe_walk_leaf). Rows are sorted by
 * their numbers of neighbours and leaves, so that the inner loops have no branches. */
#include <string.h>

#include "kernels/kernels.h"
#include "walk.h"

#define SHAPES 64 /* of rows: numbers of neighbours and leaves, each below 8; the last is for others */

struct pe_walk_small {
	int64_t steps;
	struct pe_walk_block block;
	struct pe_walk_run runs[PE_WALK_SMALL];
	int32_t *reach;
	uint32_t *col; /* PE_WALK_SMALL² */
	double *value;
	double pull[PE_WALK_SMALL];
	int32_t rows;
	int32_t node[PE_WALK_SMALL]; /* of each row, which is the start vertex of that lane too */
	uint32_t at[PE_WALK_SMALL];  /* row · lanes of each node; leaves: anything */
	bool row[PE_WALK_SMALL];     /* whether the node has one */
	int32_t leaves[PE_WALK_SMALL];
	uint64_t shape[SHAPES]; /* sets of nodes */
	uint64_t shapes;        /* which sets are not empty */
};

pe_status pe_walk_small_create(pe_context *ctx, int64_t steps, struct pe_walk_small **out)
{
	const int64_t n = PE_WALK_SMALL, half = (steps + 1) / 2;
	*out = pe_alloc_zero(ctx, 1, sizeof **out);
	if (!*out)
		return PE_ERR_NOMEM;
	struct pe_walk_small *s = *out;
	s->steps = steps;
	s->reach = pe_alloc(ctx, half + 1, sizeof *s->reach);
	s->col = pe_alloc(ctx, n * n, sizeof *s->col);
	s->value = pe_alloc(ctx, n * n, sizeof *s->value);
	s->block.x[0] = pe_alloc(ctx, n * n, sizeof(double));
	s->block.x[1] = pe_alloc(ctx, n * n, sizeof(double));
	s->block.diagonal = pe_alloc(ctx, 2 * half * n, sizeof(double));
	s->block.half = (int32_t)half;
	s->block.runs = s->runs;
	s->block.reach = s->reach;
	s->block.col = s->col;
	s->block.value = s->value;
	s->block.pull = s->pull;
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

/* Which nodes are rows, and how many leaves each has. */
static void find_leaves(struct pe_walk_small *s, const struct pe_walk *w)
{
	memset(s->leaves, 0, (size_t)w->n * sizeof *s->leaves);
	s->rows = 0;
	for (int32_t i = 0; i < w->n; i++) {
		int32_t p = pe_walk_leaf(w, i);
		s->row[i] = p < 0 && pe_walk_degree(w, i) > 0;
		s->rows += s->row[i];
		if (p >= 0)
			s->leaves[p]++;
	}
	s->block.lanes = (s->rows + PE_WALK_LANES - 1) / PE_WALK_LANES * PE_WALK_LANES;
}

static void sort_by_shape(struct pe_walk_small *s, const struct pe_walk *w)
{
	for (int32_t i = 0; i < w->n; i++) {
		int64_t leaves = s->leaves[i], degree = pe_walk_degree(w, i) - leaves;
		int64_t shape = leaves < 8 && degree < 8 ? 8 * leaves + degree : SHAPES - 1;
		if (s->row[i]) {
			s->shape[shape] |= (uint64_t)1 << i;
			s->shapes |= (uint64_t)1 << shape;
		}
	}
}

static void add_row(struct pe_walk_small *s, const struct pe_walk *w, int32_t i, int64_t *runs, bool alone)
{
	int32_t leaves = s->leaves[i], degree = (int32_t)pe_walk_degree(w, i) - leaves;
	if (alone)
		s->runs[(*runs)++] = (struct pe_walk_run){0, degree, leaves};
	s->runs[*runs - 1].rows++;
	s->node[s->rows] = i;
	s->at[i] = (uint32_t)(s->rows++ * s->block.lanes);
}

/* Numbers the rows, shape after shape. */
static void make_runs(struct pe_walk_small *s, const struct pe_walk *w)
{
	int64_t runs = 0;
	s->rows = 0;
	for (; s->shapes; s->shapes &= s->shapes - 1) {
		int shape = __builtin_ctzll(s->shapes);
		bool first = true;
		for (uint64_t set = s->shape[shape]; set; set &= set - 1) {
			add_row(s, w, __builtin_ctzll(set), &runs, first || shape == SHAPES - 1);
			first = false;
		}
		s->shape[shape] = 0;
	}
	for (int32_t m = 0; m <= s->block.half; m++)
		s->reach[m] = (int32_t)runs;
}

static void fill_columns(struct pe_walk_small *s, const struct pe_walk *w)
{
	int64_t count = 0;
	for (int32_t r = 0; r < s->rows; r++) {
		int32_t i = s->node[r];
		for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++) {
			int32_t j = w->col[e];
			s->col[count] = s->at[j];
			if (w->value)
				s->value[count] = w->value[e];
			count += s->row[j];
		}
	}
}

/* Σ S² over the leaves of each row that has any. */
static void fill_pulls(struct pe_walk_small *s, const struct pe_walk *w)
{
	int64_t count = 0;
	for (int32_t r = 0; r < s->rows; r++) {
		int32_t i = s->node[r];
		if (!s->leaves[i])
			continue;
		double pull = 0;
		for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++)
			if (!s->row[w->col[e]])
				pull += w->value[e] * w->value[e];
		s->pull[count++] = pull;
	}
}

static void set_starts(struct pe_walk_small *s)
{
	size_t bytes = (size_t)(s->rows * s->block.lanes) * sizeof(double);
	memset(s->block.x[0], 0, bytes);
	memset(s->block.x[1], 0, bytes);
	for (int32_t r = 0; r < s->rows; r++)
		s->block.x[0][r * s->block.lanes + r] = 1;
}

static void write_rows(const struct pe_walk_small *s, const struct pe_walk *w, double *rows)
{
	int64_t steps = s->steps, lanes = s->block.lanes;
	for (int32_t r = 0; r < s->rows; r++) {
		int32_t i = s->node[r];
		double scale = w->value ? 1 : 1.0 / (double)pe_walk_degree(w, i);
		for (int64_t k = 0; k < steps; k++)
			rows[i * steps + k] = scale * s->block.diagonal[k * lanes + r];
	}
	for (int32_t i = 0; i < w->n; i++) {
		int32_t p = pe_walk_leaf(w, i);
		if (pe_walk_end(w, i) != PE_WALK_GOES_ON)
			memset(rows + i * steps, 0, (size_t)steps * sizeof *rows);
		else if (p >= 0)
			pe_walk_leaf_row(pe_walk_leaf_share(w, i, p), rows + p * steps, steps, rows + i * steps);
	}
}

void pe_walk_small(pe_context *ctx, struct pe_walk_small *s, const struct pe_walk *w, double *rows)
{
	find_leaves(s, w);
	sort_by_shape(s, w);
	make_runs(s, w);
	fill_columns(s, w);
	set_starts(s);
	if (w->value) {
		fill_pulls(s, w);
		ctx->kernels->half_walk_weighted(&s->block);
	} else {
		ctx->kernels->half_walk_unit(&s->block);
	}
	write_rows(s, w, rows);
}
