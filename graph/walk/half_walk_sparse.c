/* SPDX-License-Identifier: BSD-2-Clause
 * Random walks from a block of start vertices of a graph of any size. Half walks of k steps stay
 * within k/2 edges of the block: only that ball has rows, breadth first, so that step m touches the
 * first rows alone. Memory is the ball's, never n². Within a distance, rows are sorted by their
 * numbers of neighbours, for the same reason as in half_walk.c. */
#include <string.h>

#include "kernels/kernels.h"
#include "walk.h"

#define SHAPES 17 /* of rows: 0 to 7 neighbours without and with leaves; the last is for others */

struct pe_walk_scratch {
	const struct pe_walk_plan *plan;
	struct pe_walk_block block;
	int32_t *row;      /* n: place in ball + 1, 0 if not there, -1 for a leaf */
	int32_t *ball;     /* n: nodes by distance, then by shape */
	int32_t *sorted;   /* n */
	int64_t *distance; /* half + 2: nodes at distance m are ball[distance[m]] … */
	struct pe_walk_run *runs;
	int32_t *reach;
	uint32_t *col;
	double *value, *back, *pull, *inverse;
	double *slab;  /* x and y */
	int32_t *node; /* per_block: 0, 1, … */
	double *scale; /* per_block */
	int64_t run_capacity, col_capacity, value_capacity, back_capacity, pull_capacity, inverse_capacity,
		slab_capacity;
};

pe_status pe_walk_scratch_create(
	pe_context *ctx, const struct pe_walk_plan *plan, struct pe_walk_scratch **out)
{
	int64_t n = plan->walk->n, half = (plan->steps + 1) / 2;
	*out = pe_alloc_zero(ctx, 1, sizeof **out);
	if (!*out)
		return PE_ERR_NOMEM;
	struct pe_walk_scratch *s = *out;
	s->plan = plan;
	s->block.half = (int32_t)half;
	s->row = pe_alloc(ctx, n, sizeof *s->row);
	s->ball = pe_alloc(ctx, n, sizeof *s->ball);
	s->sorted = pe_alloc(ctx, n, sizeof *s->sorted);
	s->distance = pe_alloc(ctx, half + 2, sizeof *s->distance);
	s->reach = pe_alloc(ctx, half + 1, sizeof *s->reach);
	s->block.diagonal = pe_alloc(ctx, 2 * half * plan->per_block, sizeof(double));
	s->node = pe_alloc(ctx, plan->per_block, sizeof *s->node);
	s->scale = pe_alloc_zero(ctx, plan->per_block, sizeof *s->scale);
	if (!s->row || !s->ball || !s->sorted || !s->distance || !s->reach || !s->block.diagonal || !s->node ||
		!s->scale) {
		pe_walk_scratch_destroy(ctx, out);
		return PE_ERR_NOMEM;
	}
	for (int32_t i = 0; i < n; i++)
		s->row[i] = plan->core[i] < 0 ? -1 : 0;
	for (int32_t lane = 0; lane < plan->per_block; lane++)
		s->node[lane] = lane;
	return PE_OK;
}

void pe_walk_scratch_destroy(pe_context *ctx, struct pe_walk_scratch **scratch)
{
	struct pe_walk_scratch *s = *scratch;
	*scratch = NULL;
	if (!s)
		return;
	void *const all[] = {s->row, s->ball, s->sorted, s->distance, s->reach, s->block.diagonal, s->runs,
		s->col, s->value, s->back, s->pull, s->inverse, s->slab, s->node, s->scale};
	for (int64_t i = 0; i < PE_COUNT(all); i++)
		pe_free(ctx, all[i]);
	pe_free(ctx, s);
}

static void add_to_ball(struct pe_walk_scratch *s, int32_t i, int64_t *count)
{
	s->ball[(*count)++] = i;
	s->row[i] = (int32_t)*count;
}

/* The nodes within half edges of the block, by distance; leaves have no row. */
static void find_ball(struct pe_walk_scratch *s, const int32_t *start, int64_t starts)
{
	const struct pe_walk *w = s->plan->walk;
	int64_t count = 0;
	for (int64_t k = 0; k < starts; k++)
		add_to_ball(s, start[k], &count);
	s->distance[0] = 0;
	s->distance[1] = count;
	for (int32_t m = 0; m < s->block.half; m++) {
		for (int64_t k = s->distance[m]; k < s->distance[m + 1]; k++) {
			int32_t i = s->ball[k];
			for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++) {
				int32_t j = w->col[e];
				if (s->row[j] == 0)
					add_to_ball(s, j, &count);
			}
		}
		s->distance[m + 2] = count;
	}
}

static int shape_of(const struct pe_walk_plan *plan, int32_t i)
{
	int32_t core = plan->core[i];
	return core >= 8 ? SHAPES - 1 : 2 * core + (core < pe_walk_degree(plan->walk, i));
}

/* Sorts the nodes at one distance by shape. */
static void sort_distance(struct pe_walk_scratch *s, int64_t from, int64_t to)
{
	int64_t place[SHAPES + 1] = {0};
	for (int64_t k = from; k < to; k++)
		place[shape_of(s->plan, s->ball[k]) + 1]++;
	for (int shape = 0; shape < SHAPES; shape++)
		place[shape + 1] += place[shape];
	for (int64_t k = from; k < to; k++)
		s->sorted[from + place[shape_of(s->plan, s->ball[k])]++] = s->ball[k];
	for (int64_t k = from; k < to; k++)
		s->row[s->sorted[k]] = (int32_t)k + 1;
}

/* Rows of equal shape that follow each other are one run. */
static void make_runs(struct pe_walk_scratch *s)
{
	const struct pe_walk_plan *plan = s->plan;
	int32_t runs = 0;
	for (int32_t m = 0; m <= s->block.half; m++) {
		int32_t first = runs;
		for (int64_t k = s->distance[m]; k < s->distance[m + 1]; k++) {
			int32_t i = s->sorted[k], core = plan->core[i];
			bool leaves = core < pe_walk_degree(plan->walk, i);
			struct pe_walk_run *run = &s->runs[runs > first ? runs - 1 : first];
			if (runs > first && run->degree == core && run->leaves == leaves)
				run->rows++;
			else
				s->runs[runs++] = (struct pe_walk_run){1, core, leaves};
		}
		s->reach[m] = runs;
	}
}

static void fill_unit(struct pe_walk_scratch *s, int64_t rows)
{
	const struct pe_walk *w = s->plan->walk;
	uint32_t lanes = (uint32_t)s->block.lanes, *col = s->col;
	double *pull = s->pull;
	for (int64_t r = 0; r < rows; r++) {
		int32_t i = s->sorted[r], core = s->plan->core[i];
		int64_t degree = pe_walk_degree(w, i);
		s->inverse[r] = 1.0 / (double)degree;
		if (core < degree)
			*pull++ = (double)(degree - core);
		for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++) {
			int32_t row = s->row[w->col[e]];
			if (row >= 0)
				*col++ = lanes * (uint32_t)(row > 0 ? row - 1 : rows);
		}
	}
}

static void fill_weighted(struct pe_walk_scratch *s, int64_t rows)
{
	const struct pe_walk *w = s->plan->walk;
	int64_t count = 0, pulls = 0;
	for (int64_t r = 0; r < rows; r++) {
		int32_t i = s->sorted[r];
		double pull = 0;
		for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++) {
			int32_t row = s->row[w->col[e]];
			if (row < 0) {
				pull += w->value[e] * w->value[e];
				continue;
			}
			s->col[count] = (uint32_t)(s->block.lanes * (row > 0 ? row - 1 : rows));
			s->value[count] = w->value[e];
			if (w->back)
				s->back[count] = w->back[e];
			count++;
		}
		if (s->plan->core[i] < pe_walk_degree(w, i))
			s->pull[pulls++] = pull;
	}
}

static pe_status reserve(pe_context *ctx, struct pe_walk_scratch *s, int64_t rows)
{
	const struct pe_walk_plan *plan = s->plan;
	int64_t entries = 1, cells; /* one more, so that there is memory even for none */
	for (int64_t r = 0; r < rows; r++)
		entries += plan->core[s->ball[r]];
	if (!pe_mul(rows + 1, s->block.lanes, &cells) || cells > UINT32_MAX)
		return pe_fail(
			ctx, PE_ERR_NOMEM, "the graph has too many nodes within %d edges of one", s->block.half);
	PE_TRY(pe_grow(ctx, &s->runs, &s->run_capacity, 0, rows, sizeof *s->runs));
	PE_TRY(pe_grow(ctx, &s->col, &s->col_capacity, 0, entries, sizeof *s->col));
	PE_TRY(pe_grow(ctx, &s->pull, &s->pull_capacity, 0, rows, sizeof *s->pull));
	if (plan->walk->value)
		PE_TRY(pe_grow(ctx, &s->value, &s->value_capacity, 0, entries, sizeof *s->value));
	else
		PE_TRY(pe_grow(ctx, &s->inverse, &s->inverse_capacity, 0, rows, sizeof *s->inverse));
	if (plan->walk->back)
		PE_TRY(pe_grow(ctx, &s->back, &s->back_capacity, 0, entries, sizeof *s->back));
	return pe_grow(ctx, &s->slab, &s->slab_capacity, 0, cells * (plan->walk->back ? 4 : 2), sizeof *s->slab);
}

static void set_starts(struct pe_walk_scratch *s, const int32_t *start, int64_t starts, int64_t rows)
{
	struct pe_walk_block *b = &s->block;
	int64_t cells = (rows + 1) * b->lanes;
	bool directed = s->plan->walk->back;
	memset(s->slab, 0, (size_t)(cells * (directed ? 4 : 2)) * sizeof *s->slab);
	for (int side = 0; side < 2; side++) {
		b->x[side] = s->slab + side * cells;
		b->y[side] = directed ? s->slab + (2 + side) * cells : NULL;
	}
	for (int64_t lane = 0; lane < starts; lane++) {
		int64_t cell = (s->row[start[lane]] - 1) * b->lanes + lane;
		b->x[0][cell] = 1;
		if (directed)
			b->y[0][cell] = 1;
	}
	b->runs = s->runs;
	b->reach = s->reach;
	b->col = s->col;
	b->value = s->value;
	b->back = s->back;
	b->pull = s->pull;
	b->inverse = s->inverse;
}

static void walk(pe_context *ctx, const struct pe_walk *w, const struct pe_walk_block *block)
{
	if (w->back)
		ctx->kernels->half_walk_directed(block);
	else if (w->value)
		ctx->kernels->half_walk_weighted(block);
	else
		ctx->kernels->half_walk_unit(block);
}

static void write_rows(
	pe_context *ctx, struct pe_walk_scratch *s, const int32_t *start, int64_t starts, double *rows)
{
	const struct pe_walk *w = s->plan->walk;
	for (int64_t lane = 0; lane < starts && !w->value; lane++)
		s->scale[lane] = 1.0 / (double)pe_walk_degree(w, start[lane]);
	ctx->kernels->half_walk_rows(&s->block, s->node, w->value ? NULL : s->scale, s->plan->steps, rows);
}

pe_status pe_walk_block_rows(
	pe_context *ctx, struct pe_walk_scratch *s, int64_t block, double *rows, int64_t *count)
{
	const struct pe_walk_plan *plan = s->plan;
	const int32_t *start = plan->start + block * plan->per_block;
	int64_t starts = pe_min(plan->per_block, plan->starts - block * plan->per_block);
	s->block.lanes = (starts + PE_WALK_LANES - 1) / PE_WALK_LANES * PE_WALK_LANES;
	find_ball(s, start, starts);
	int64_t ball = s->distance[s->block.half + 1];
	pe_status status = reserve(ctx, s, ball);
	if (status == PE_OK) {
		for (int32_t m = 0; m <= s->block.half; m++)
			sort_distance(s, s->distance[m], s->distance[m + 1]);
		make_runs(s);
		if (plan->walk->value)
			fill_weighted(s, ball);
		else
			fill_unit(s, ball);
		set_starts(s, start, starts, ball);
		walk(ctx, plan->walk, &s->block);
		write_rows(ctx, s, start, starts, rows);
		*count = starts;
	}
	for (int64_t k = 0; k < ball; k++)
		s->row[s->ball[k]] = 0;
	return status;
}
