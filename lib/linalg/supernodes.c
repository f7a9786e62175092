/* SPDX-License-Identifier: BSD-2-Clause */
#include "supernodes.h"

#include <string.h>

void pe_supernodes_free(pe_context *ctx, struct pe_supernodes *f)
{
	pe_free(ctx, f->first);
	pe_free(ctx, f->parent);
	pe_free(ctx, f->below);
	pe_free(ctx, f->row);
	pe_free(ctx, f->seat);
	pe_free(ctx, f->value);
	pe_free(ctx, f->start);
	pe_free(ctx, f->down);
	pe_free(ctx, f->at);
	pe_free(ctx, f->entry);
	*f = (struct pe_supernodes){0};
}

/* Is a block worth its zeros? It spares the update that the merged one would have passed on. */
static bool may_merge(int32_t width, int64_t numbers, int64_t zeros)
{
	double share = (double)zeros / (double)numbers;
	return width <= 4 || (width <= 16 && share < 0.4) || (width <= 48 && share < 0.1) || share < 0.02;
}

/* Supernode top - 1 precedes supernode top: makes one of the two if it is its child and that pays. filled:
 * the numbers of L that each has without the zeros stored. */
static bool merge(const struct pe_elimination *e, int32_t *first, int64_t *filled, int32_t top, int32_t end)
{
	int32_t last = first[top] - 1, width = end - first[top - 1];
	if (e->parent[last] < 0 || e->parent[last] >= end)
		return false;
	int64_t below = e->count[end - 1] - 1, numbers = (int64_t)width * (width + 1) / 2 + width * below;
	if (!may_merge(width, numbers, numbers - filled[top - 1] - filled[top]))
		return false;
	filled[top - 1] += filled[top];
	return true;
}

/* Runs of columns, each the parent of the one before and of the same rows; then merged from the leaves up.
 * Leaves first and count. */
static void part(const struct pe_elimination *e, struct pe_supernodes *f, int64_t *filled)
{
	int32_t top = -1;
	for (int32_t j = 0, end; j < e->n; j = end) {
		f->first[++top] = j;
		filled[top] = e->count[j];
		for (end = j + 1; end < e->n && e->parent[end - 1] == end && e->count[end - 1] == e->count[end] + 1;
			 end++)
			filled[top] += e->count[end];
		while (top > 0 && merge(e, f->first, filled, top, end))
			top--;
	}
	f->count = top + 1;
	f->first[f->count] = e->n;
}

/* From first: parent, below and value. owner: the supernode of each column. */
static void measure(const struct pe_elimination *e, struct pe_supernodes *f, int32_t *owner)
{
	for (int32_t s = 0; s < f->count; s++)
		for (int32_t j = f->first[s]; j < f->first[s + 1]; j++)
			owner[j] = s;
	f->below[0] = f->value[0] = 0;
	for (int32_t s = 0; s < f->count; s++) {
		int32_t last = f->first[s + 1] - 1, width = pe_supernode_width(f, s), below = e->count[last] - 1;
		f->parent[s] = e->parent[last] < 0 ? -1 : owner[e->parent[last]];
		f->below[s + 1] = f->below[s] + below;
		f->value[s + 1] = f->value[s] + (int64_t)width * (width + below);
	}
}

/* Row k of L has numbers in the supernodes from those of the matrix's entries in it up the tree, to its own.
 * Taken by ascending k every list is ascending. `seen` and `used` are scratch, of count each. */
static void list_rows(const struct pe_sparse_matrix *m, const struct pe_elimination *e, const int32_t *owner,
	struct pe_supernodes *f, int32_t *seen, int32_t *used)
{
	int64_t entries = 0;
	memset(used, 0, (size_t)f->count * sizeof *used);
	memset(f->start, 0, ((size_t)f->n + 1) * sizeof *f->start);
	memset(seen, -1, (size_t)f->count * sizeof *seen);
	for (int32_t k = 0; k < f->n; k++) {
		seen[owner[k]] = k;
		for (int64_t i = m->row[e->order[k]]; i < m->row[e->order[k] + 1]; i++) {
			int32_t column = e->place[m->col[i]];
			if (column > k)
				continue;
			f->start[column + 1]++;
			for (int32_t s = owner[column]; seen[s] != k; s = f->parent[s]) {
				seen[s] = k;
				f->row[f->below[s] + used[s]++] = k;
			}
		}
	}
	for (int32_t j = 0; j < f->n; j++) {
		entries += f->start[j + 1];
		f->start[j + 1] = entries;
	}
}

/* Entries by columns, rows ascending. next: scratch, of n. */
static void list_entries(
	const struct pe_sparse_matrix *m, const struct pe_elimination *e, struct pe_supernodes *f, int64_t *next)
{
	memcpy(next, f->start, (size_t)f->n * sizeof *next);
	for (int32_t k = 0; k < f->n; k++)
		for (int64_t i = m->row[e->order[k]]; i < m->row[e->order[k] + 1]; i++) {
			int32_t column = e->place[m->col[i]];
			if (column > k)
				continue;
			f->down[next[column]] = k;
			f->entry[next[column]++] = m->val[i];
		}
}

/* Where the entries of supernode s lie in L; seat_of[row] is that of a row in its block. */
static void find_places(struct pe_supernodes *f, int32_t s, const int32_t *seat_of)
{
	int64_t height = pe_supernode_width(f, s) + pe_supernode_below(f, s);
	for (int32_t j = f->first[s]; j < f->first[s + 1]; j++)
		for (int64_t i = f->start[j]; i < f->start[j + 1]; i++)
			f->at[i] = f->value[s] + (j - f->first[s]) * height + seat_of[f->down[i]];
}

/* Fills seat and at, block by block. Scratch: seat_of, of n; and lists of children, of count each. */
static void find_seats(struct pe_supernodes *f, int32_t *seat_of, int32_t *child, int32_t *sibling)
{
	memset(child, -1, (size_t)f->count * sizeof *child);
	for (int32_t s = 0; s < f->count; s++)
		if (f->parent[s] >= 0) {
			sibling[s] = child[f->parent[s]];
			child[f->parent[s]] = s;
		}
	for (int32_t s = 0; s < f->count; s++) {
		int32_t width = pe_supernode_width(f, s), below = pe_supernode_below(f, s);
		for (int32_t i = 0; i < width; i++)
			seat_of[f->first[s] + i] = i;
		for (int32_t i = 0; i < below; i++)
			seat_of[f->row[f->below[s] + i]] = width + i;
		find_places(f, s, seat_of);
		for (int32_t c = child[s]; c >= 0; c = sibling[c])
			for (int64_t i = f->below[c]; i < f->below[c + 1]; i++)
				f->seat[i] = seat_of[f->row[i]];
	}
}

static pe_status allocate(pe_context *ctx, struct pe_supernodes *f)
{
	f->first = pe_alloc(ctx, (int64_t)f->n + 1, sizeof *f->first);
	f->parent = pe_alloc(ctx, f->n, sizeof *f->parent);
	f->below = pe_alloc(ctx, (int64_t)f->n + 1, sizeof *f->below);
	f->value = pe_alloc(ctx, (int64_t)f->n + 1, sizeof *f->value);
	f->start = pe_alloc(ctx, (int64_t)f->n + 1, sizeof *f->start);
	return f->first && f->parent && f->below && f->value && f->start ? PE_OK : PE_ERR_NOMEM;
}

/* What is as large as the rows and entries are many. */
static pe_status fill(pe_context *ctx, const struct pe_sparse_matrix *m, const struct pe_elimination *e,
	int32_t *owner, int32_t *scratch, int64_t *next, struct pe_supernodes *f)
{
	f->row = pe_alloc(ctx, f->below[f->count], sizeof *f->row);
	f->seat = pe_alloc(ctx, f->below[f->count], sizeof *f->seat);
	if (!f->row || !f->seat)
		return PE_ERR_NOMEM;
	list_rows(m, e, owner, f, scratch, scratch + f->n);
	f->down = pe_alloc(ctx, f->start[f->n], sizeof *f->down);
	f->at = pe_alloc(ctx, f->start[f->n], sizeof *f->at);
	f->entry = pe_alloc(ctx, f->start[f->n], sizeof *f->entry);
	if (!f->down || !f->at || !f->entry)
		return PE_ERR_NOMEM;
	list_entries(m, e, f, next);
	find_seats(f, owner, scratch, scratch + f->n);
	return PE_OK;
}

pe_status pe_supernodes_create(pe_context *ctx, const struct pe_sparse_matrix *m,
	const struct pe_elimination *e, struct pe_supernodes *out)
{
	*out = (struct pe_supernodes){.n = m->n};
	pe_status status = PE_ERR_NOMEM;
	int32_t *owner = pe_alloc(ctx, m->n, 3 * sizeof *owner);
	int64_t *next = pe_alloc(ctx, m->n, sizeof *next);
	if (!owner || !next)
		goto done;
	status = allocate(ctx, out);
	if (status != PE_OK)
		goto done;
	part(e, out, next);
	measure(e, out, owner);
	status = fill(ctx, m, e, owner, owner + m->n, next, out);
done:
	pe_free(ctx, owner);
	pe_free(ctx, next);
	if (status != PE_OK)
		pe_supernodes_free(ctx, out);
	return status;
}
