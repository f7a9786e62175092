/* SPDX-License-Identifier: BSD-2-Clause
 * The site rotate for the tiled core: in double, rounded once. A query is turned when its task takes it. A
 * key is wanted by every block of queries, so keys and values are turned beforehand, of as many heads at a
 * time as a bounded memory holds. */
#include "pool.h"
#include "tile.h"

#define MEMORY ((int64_t)8 << 20) /* bytes, unless one head needs more */
#define ROWS 256                  /* vectors a piece of work */

static const char *vector_at(const pe_tensor *t, int64_t batch, int64_t head, int64_t i)
{
	int64_t offset = batch * t->strides[0] + head * t->strides[1] + i * t->strides[2];
	return (const char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype);
}

void pe_tile_turn_rows(const struct pe_plan *p, const pe_tensor *from, const struct pe_place *first,
	int64_t n, double *vector, float *out)
{
	int64_t width = p->rotated[first->side][p->rotate.count];
	struct pe_place at = *first;
	for (int64_t i = 0; i < n; i++, at.token++, out += width) {
		pe_load_f64(vector, vector_at(from, at.batch, at.head, at.token), from->dtype, from->strides[3],
			from->shape[3]);
		pe_plan_rotate(p, &at, vector, vector + p->widest);
		pe_store_f64(out, PE_F32, 1, vector, 1, width);
	}
}

int64_t pe_tiles_turned_heads(const struct pe_tiles *t)
{
	const struct pe_plan *p = t->plan;
	int64_t all = p->batch * p->key_heads, unit = p->map_heads ? p->key_heads : 1;
	int64_t bytes = unit * p->keys * (p->dot_width + p->sum_width) * (int64_t)sizeof(float);
	if (p->rotate.count == 0 || bytes == 0)
		return all;
	return pe_min(all, unit * pe_max(1, MEMORY / bytes));
}

pe_status pe_tiles_make_turned(struct pe_tiles *t, int64_t heads)
{
	const struct pe_plan *p = t->plan;
	if (p->rotate.count == 0)
		return PE_OK;
	t->turned[PE_KEYS] = pe_alloc(p->ctx, heads * p->keys, (size_t)p->dot_width * sizeof(float));
	t->turned[PE_VALUES] = pe_alloc(p->ctx, heads * p->keys, (size_t)p->sum_width * sizeof(float));
	return t->turned[PE_KEYS] && t->turned[PE_VALUES] ? PE_OK : PE_ERR_NOMEM;
}

/* Some vectors of one head, as keys and as values. */
static pe_status turn_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct pe_tiles *t = arg;
	const struct pe_plan *p = t->plan;
	int64_t pieces = (p->keys + ROWS - 1) / ROWS, head = chunk / pieces, first = chunk % pieces * ROWS;
	int64_t pair = t->turned_first + head, n = pe_min(ROWS, p->keys - first);
	double *vector = pe_alloc(worker, 2 * p->widest, sizeof *vector);
	if (!vector)
		return PE_ERR_NOMEM;
	struct pe_place at = {PE_KEYS, pair / p->key_heads, pair % p->key_heads, first};
	pe_tile_turn_rows(p, &p->k, &at, n, vector, t->turned[PE_KEYS] + (head * p->keys + first) * p->dot_width);
	at.side = PE_VALUES;
	pe_tile_turn_rows(
		p, &p->v, &at, n, vector, t->turned[PE_VALUES] + (head * p->keys + first) * p->sum_width);
	pe_free(worker, vector);
	return PE_OK;
}

pe_status pe_tiles_turn(struct pe_tiles *t, int64_t first, int64_t count)
{
	t->turned_first = first;
	if (t->plan->rotate.count == 0)
		return PE_OK;
	return pe_parallel(t->plan->ctx, count * ((t->plan->keys + ROWS - 1) / ROWS), turn_chunk, t, NULL);
}
