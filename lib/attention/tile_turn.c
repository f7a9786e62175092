/* SPDX-License-Identifier: BSD-2-Clause
 * The site rotate for the tiled core: in double, rounded once. A query is turned when its task takes it. A
 * key is wanted by every block of queries, so keys and values are turned beforehand, of as many heads at a
 * time as a bounded memory holds. */
#include "pool.h"
#include "tile.h"

#define MEMORY ((int64_t)8 << 20) /* bytes, unless one head needs more */
#define ROWS PE_ROTATED_ROWS      /* vectors a piece of work */

/* Of vectors of this side, after it. */
static int64_t width_of(const struct pe_plan *p, pe_side side)
{
	return p->rotated[side][p->rotate.count];
}

void pe_tile_turn_rows(
	const struct pe_plan *p, const struct pe_place *first, int64_t n, double *rows, float *out)
{
	pe_plan_rotate_rows(p, first, n, rows, rows + n * p->widest);
	pe_store_f64(out, PE_F32, 1, rows, 1, n * width_of(p, first->side));
}

int64_t pe_tiles_turned_heads(const struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	int64_t all = p->batch * p->key_heads, unit = p->map_heads ? p->key_heads : 1;
	int64_t width = (p->turns[PE_KEYS] ? p->dot_width : 0) + (p->turns[PE_VALUES] ? p->sum_width : 0);
	int64_t bytes = unit * p->keys * width * (int64_t)sizeof(float);
	if (bytes == 0)
		return all;
	return pe_min(all, unit * pe_max(1, MEMORY / bytes));
}

pe_status pe_tiles_make_turned(struct pe_tiles *t, int64_t heads)
{
	const struct pe_plan *p = t->plan;
	for (pe_side side = PE_KEYS; side <= PE_VALUES; side++) {
		if (!p->turns[side])
			continue;
		t->turned[side] = pe_alloc(p->ctx, heads * p->keys, (size_t)width_of(p, side) * sizeof(float));
		if (!t->turned[side])
			return PE_ERR_NOMEM;
	}
	return PE_OK;
}

/* Some vectors of one head, as keys and as values. */
static pe_status turn_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct pe_tiles *t = arg;
	const struct pe_plan *p = t->plan;
	int64_t pieces = (p->keys + ROWS - 1) / ROWS, head = chunk / pieces, first = chunk % pieces * ROWS;
	int64_t pair = t->turned_first + head, n = pe_min(ROWS, p->keys - first);
	double *rows = pe_alloc(worker, 2 * n, (size_t)p->widest * sizeof *rows);
	if (!rows)
		return PE_ERR_NOMEM;
	for (pe_side side = PE_KEYS; side <= PE_VALUES; side++) {
		struct pe_place at = {side, pair / p->key_heads, pair % p->key_heads, first};
		if (t->turned[side])
			pe_tile_turn_rows(
				p, &at, n, rows, t->turned[side] + (head * p->keys + first) * width_of(p, side));
	}
	pe_free(worker, rows);
	return PE_OK;
}

pe_status pe_tiles_turn(struct pe_tiles *t, int64_t first, int64_t count)
{
	t->turned_first = first;
	if (t->plan->rotate.count == 0)
		return PE_OK;
	return pe_parallel(t->plan->ctx, count * ((t->plan->keys + ROWS - 1) / ROWS), turn_chunk, t, NULL);
}
