/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of half_walk.h, once an instruction set. Before this is included are defined:
 *   vec           a vector of VEC_LANES doubles that takes + and *
 *   vec_all       vec_all(a): a in every lane
 *   vec_fused     vec_fused(a, b, c) = a b + c
 *   vec_transpose the VEC_LANES vectors of an array as a square matrix, transposed in place
 *   MAX_VECS      vectors that are worked on at once, 2 to 6: as registers allow */
#include <stddef.h>
#include <string.h>

#include "half_walk.h"

#define INLINE static inline __attribute__((always_inline))
#define EACH(v) _Pragma("GCC unroll 12") for (int v = 0; v < vecs; v++)

/* What one pass over the rows carries along. */
struct pass {
	vec even[MAX_VECS], odd[MAX_VECS];
	const double *from, *from_y; /* step m, at the first lane of the group and the next row */
	double *to, *to_y;           /* step m + 1, which holds step m - 1 until written */
	const double *cur, *cur_y;   /* step m, at row 0 */
	const uint32_t *col;
	const double *value, *back, *pull, *inverse;
	int64_t lanes;
};

INLINE vec at(const double *p)
{
	return *(const vec *)p;
}

INLINE void put(double *p, vec a)
{
	*(vec *)p = a;
}

INLINE void next_row(struct pass *p, int degree)
{
	p->col += degree;
	p->from += p->lanes;
	p->to += p->lanes;
}

/* y = Σ of the neighbours, x = y / d. */
INLINE void unit_row(struct pass *p, const int vecs, const int degree, const bool has_leaves)
{
	vec y[MAX_VECS], inverse = vec_all(*p->inverse++), leaves = vec_all(has_leaves ? *p->pull++ : 0);
	if (degree > 0)
		EACH(v) y[v] = at(p->cur + p->col[0] + v * VEC_LANES);
	else
		EACH(v) y[v] = vec_all(0);
	for (int d = 1; d < degree; d++)
		EACH(v) y[v] += at(p->cur + p->col[d] + v * VEC_LANES);
	EACH(v)
	{
		vec old = at(p->from + v * VEC_LANES);
		if (has_leaves) {
			vec pulled = leaves * at(p->to + v * VEC_LANES);
			y[v] += pulled;
			p->odd[v] = vec_fused(old, pulled, p->odd[v]);
			p->even[v] = vec_fused(old, leaves * old, p->even[v]);
		}
		vec x = y[v] * inverse;
		p->odd[v] = vec_fused(old, y[v], p->odd[v]);
		p->even[v] = vec_fused(x, y[v], p->even[v]);
		put(p->to + v * VEC_LANES, x);
	}
	next_row(p, degree);
}

/* The shapes that are common in molecules have loops of their own, the others a loop in a loop. */
INLINE void unit_rows(struct pass *p, const int vecs, const struct pe_walk_run *run)
{
	int32_t rows = run->rows;
	if (run->leaves && run->degree == 2)
		for (int32_t r = 0; r < rows; r++)
			unit_row(p, vecs, 2, true);
	else if (run->leaves)
		for (int32_t r = 0; r < rows; r++)
			unit_row(p, vecs, run->degree, true);
	else if (run->degree == 2)
		for (int32_t r = 0; r < rows; r++)
			unit_row(p, vecs, 2, false);
	else if (run->degree == 3)
		for (int32_t r = 0; r < rows; r++)
			unit_row(p, vecs, 3, false);
	else
		for (int32_t r = 0; r < rows; r++)
			unit_row(p, vecs, run->degree, false);
}

INLINE void weighted_row(struct pass *p, const int vecs, int degree, const bool has_leaves)
{
	vec x[MAX_VECS];
	EACH(v) x[v] = vec_all(0);
	for (int d = 0; d < degree; d++) {
		vec s = vec_all(p->value[d]);
		EACH(v) x[v] = vec_fused(s, at(p->cur + p->col[d] + v * VEC_LANES), x[v]);
	}
	vec pull = has_leaves ? vec_all(*p->pull++) : vec_all(0);
	EACH(v)
	{
		vec old = at(p->from + v * VEC_LANES);
		if (has_leaves) {
			vec pulled = pull * at(p->to + v * VEC_LANES);
			x[v] += pulled;
			p->odd[v] = vec_fused(old, pulled, p->odd[v]);
			p->even[v] = vec_fused(old, pull * old, p->even[v]);
		}
		p->odd[v] = vec_fused(old, x[v], p->odd[v]);
		p->even[v] = vec_fused(x[v], x[v], p->even[v]);
		put(p->to + v * VEC_LANES, x[v]);
	}
	p->value += degree;
	next_row(p, degree);
}

INLINE void weighted_rows(struct pass *p, const int vecs, const struct pe_walk_run *run)
{
	if (run->leaves)
		for (int32_t r = 0; r < run->rows; r++)
			weighted_row(p, vecs, run->degree, true);
	else
		for (int32_t r = 0; r < run->rows; r++)
			weighted_row(p, vecs, run->degree, false);
}

INLINE void directed_row(struct pass *p, const int vecs, int degree)
{
	vec x[MAX_VECS], y[MAX_VECS];
	EACH(v) x[v] = y[v] = vec_all(0);
	for (int d = 0; d < degree; d++) {
		vec s = vec_all(p->value[d]), t = vec_all(p->back[d]);
		EACH(v)
		{
			x[v] = vec_fused(s, at(p->cur + p->col[d] + v * VEC_LANES), x[v]);
			y[v] = vec_fused(t, at(p->cur_y + p->col[d] + v * VEC_LANES), y[v]);
		}
	}
	EACH(v)
	{
		p->odd[v] = vec_fused(at(p->from_y + v * VEC_LANES), x[v], p->odd[v]);
		p->even[v] = vec_fused(y[v], x[v], p->even[v]);
		put(p->to + v * VEC_LANES, x[v]);
		put(p->to_y + v * VEC_LANES, y[v]);
	}
	p->value += degree;
	p->back += degree;
	p->from_y += p->lanes;
	p->to_y += p->lanes;
	next_row(p, degree);
}

INLINE void directed_rows(struct pass *p, const int vecs, const struct pe_walk_run *run)
{
	for (int32_t r = 0; r < run->rows; r++)
		directed_row(p, vecs, run->degree);
}

INLINE void begin(struct pass *p, const struct pe_walk_block *b, int32_t m, int64_t lane, const int vecs)
{
	p->cur = p->from = b->x[m & 1] + lane;
	p->to = b->x[~m & 1] + lane;
	p->cur_y = p->from_y = b->back ? b->y[m & 1] + lane : NULL;
	p->to_y = b->back ? b->y[~m & 1] + lane : NULL;
	p->col = b->col;
	p->value = b->value;
	p->back = b->back;
	p->pull = b->pull;
	p->inverse = b->inverse;
	p->lanes = b->lanes;
	EACH(v) p->even[v] = p->odd[v] = vec_all(0);
}

typedef void rows_fn(struct pass *p, const int vecs, const struct pe_walk_run *run);

/* All steps of the lanes from `lane` on, in so many vectors. */
INLINE void walk_lanes(const struct pe_walk_block *b, int64_t lane, const int vecs, rows_fn *rows)
{
	for (int32_t m = b->first; m < b->half; m++) {
		struct pass p;
		begin(&p, b, m, lane, vecs);
		for (int32_t r = 0; r < b->reach[m + 1]; r++)
			rows(&p, vecs, &b->runs[r]);
		double *out = b->diagonal + 2 * m * b->lanes + lane;
		EACH(v) put(out + v * VEC_LANES, p.odd[v]);
		EACH(v) put(out + b->lanes + v * VEC_LANES, p.even[v]);
	}
}

/* As many lanes at once as registers allow, in passes of about equal width. */
INLINE void walk(const struct pe_walk_block *b, rows_fn *rows)
{
	int64_t vecs = b->lanes / VEC_LANES, passes = (vecs + MAX_VECS - 1) / MAX_VECS, lane = 0;
	for (; passes > 0; passes--) {
		int64_t width = (vecs + passes - 1) / passes;
		switch (width) {
		case 1:
			walk_lanes(b, lane, 1, rows);
			break;
		case 2:
			walk_lanes(b, lane, 2, rows);
			break;
		case 3:
			walk_lanes(b, lane, MAX_VECS < 3 ? MAX_VECS : 3, rows);
			break;
		case 4:
			walk_lanes(b, lane, MAX_VECS < 4 ? MAX_VECS : 4, rows);
			break;
		case 5:
			walk_lanes(b, lane, MAX_VECS < 5 ? MAX_VECS : 5, rows);
			break;
		default:
			walk_lanes(b, lane, MAX_VECS, rows);
		}
		vecs -= width;
		lane += width * VEC_LANES;
	}
}

static void half_walk_unit(const struct pe_walk_block *block)
{
	walk(block, unit_rows);
}

static void half_walk_weighted(const struct pe_walk_block *block)
{
	walk(block, weighted_rows);
}

static void half_walk_directed(const struct pe_walk_block *block)
{
	walk(block, directed_rows);
}

/* VEC_LANES lanes, from step k on: a square, or at the end what is left of one. */
INLINE void rows_square(const struct pe_walk_block *b, const int32_t *node, vec scale, int64_t lane,
	int64_t k, int64_t steps, double *out)
{
	vec square[VEC_LANES];
#pragma GCC unroll 4
	for (int v = 0; v < VEC_LANES; v++)
		square[v] = scale * at(b->diagonal + (k + v < steps ? k + v : k) * b->lanes + lane);
	vec_transpose(square);
	if (k + VEC_LANES <= steps) {
#pragma GCC unroll 4
		for (int v = 0; v < VEC_LANES; v++)
			memcpy(out + node[v] * steps + k, &square[v], sizeof square[v]);
	} else {
		for (int v = 0; v < VEC_LANES; v++)
			for (int64_t rest = 0; rest < steps - k; rest++)
				out[node[v] * steps + k + rest] = square[v][rest];
	}
}

static void half_walk_rows(
	const struct pe_walk_block *b, const int32_t *node, const double *scale, int64_t steps, double *out)
{
	for (int64_t lane = 0; lane < b->lanes; lane += VEC_LANES) {
		vec factor = vec_all(1);
		if (scale)
			memcpy(&factor, scale + lane, sizeof factor);
		for (int64_t k = 0; k < steps; k += VEC_LANES)
			rows_square(b, node + lane, factor, lane, k, steps, out);
	}
}

static void fill_half_walk(struct pe_kernels *kernels)
{
	kernels->half_walk_unit = half_walk_unit;
	kernels->half_walk_weighted = half_walk_weighted;
	kernels->half_walk_directed = half_walk_directed;
	kernels->half_walk_rows = half_walk_rows;
}

#undef INLINE
#undef EACH
