/* SPDX-License-Identifier: BSD-2-Clause */
#include "eigen_merge.h"

#include <math.h>
#include <stdlib.h>

/* Equal values that need no allocation. */
#define FEW 16

/* ---- order and groups --------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct pe_pair *a = left, *b = right;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->zero != b->zero)
		return a->zero ? -1 : 1;
	return (a->component > b->component) - (a->component < b->component);
}

static bool sorted(const struct pe_pair *pairs, int64_t count)
{
	for (int64_t i = 1; i < count; i++)
		if (compare(&pairs[i - 1], &pairs[i]) > 0)
			return false;
	return true;
}

static double gap_of(const struct pe_pair *pair)
{
	return pair->norm1 * pe_eigen_group_gap(pair->residual);
}

static bool same_group(const struct pe_pair *a, const struct pe_pair *b)
{
	if (a->zero || b->zero)
		return a->zero && b->zero;
	return b->value - a->value <= fmax(gap_of(a), gap_of(b));
}

void pe_pairs_sort(struct pe_pair *pairs, int64_t count)
{
	if (!sorted(pairs, count))
		qsort(pairs, (size_t)count, sizeof *pairs, compare);
	for (int64_t i = 0; i < count; i++)
		pairs[i].group = i == 0 ? 0 : pairs[i - 1].group + !same_group(&pairs[i - 1], &pairs[i]);
}

/* ---- choice ------------------------------------------------------------------------- */

struct pe_pair_range pe_pairs_choose(
	const struct pe_pair *pairs, int64_t count, int64_t skip, int64_t k, bool whole)
{
	struct pe_pair_range range = {.first = pe_min(skip, count)};
	range.end = pe_min(range.first + k, count);
	if (range.end == range.first)
		return range;
	int32_t last = pairs[range.end - 1].group;
	range.split = range.end < count && pairs[range.end].group == last;
	for (int64_t i = range.end - 1; i >= 0 && pairs[i].group == last; i--)
		range.split |= pairs[i].open;
	if (!range.split || !whole)
		return range;
	while (range.end > range.first && pairs[range.end - 1].group == last)
		range.end--;
	range.split = false;
	return range;
}

/* ---- vectors ------------------------------------------------------------------------ */

static void write_alone(
	const struct pe_laplacian *l, const struct pe_pair *pair, double *column, int64_t stride)
{
	const int32_t *nodes = l->order + l->start[pair->component];
	int32_t n = pe_laplacian_size(l, pair->component);
	for (int32_t p = 0; p < n; p++)
		column[nodes[p] * stride] = pair->vector[p * pair->step];
}

/* By component; there vectors first, then class by class. */
static int compare_component(const void *left, const void *right)
{
	const struct pe_pair *const *a = left, *const *b = right;
	if ((*a)->component != (*b)->component)
		return (*a)->component < (*b)->component ? -1 : 1;
	uintptr_t first = (uintptr_t)(*a)->twins.member, second = (uintptr_t)(*b)->twins.member;
	if (first != second)
		return first < second ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

/* The pairs component by component, and the parts that these are; count of each. */
struct parts {
	const struct pe_pair **order;
	const double **vectors;
	struct pe_canonical_class *classes;
	struct pe_canonical_part *parts;
};

#define PARTS_BYTES \
	(2 * sizeof(void *) + sizeof(struct pe_canonical_class) + sizeof(struct pe_canonical_part))

static struct parts lay_out_parts(void *memory, int64_t count)
{
	struct pe_canonical_part *parts = memory;
	struct pe_canonical_class *classes = (struct pe_canonical_class *)(parts + count);
	const double **vectors = (const double **)(classes + count);
	return (struct parts){(const struct pe_pair **)(vectors + count), vectors, classes, parts};
}

/* Returns how many parts there are. */
static int64_t find_parts(
	const struct pe_laplacian *l, const struct pe_pair *pairs, int64_t count, const struct parts *p)
{
	int64_t used = 0;
	for (int64_t j = 0; j < count; j++)
		p->order[j] = &pairs[j];
	qsort(p->order, (size_t)count, sizeof *p->order, compare_component);
	for (int64_t j = 0; j < count; j++) {
		const struct pe_pair *pair = p->order[j], *before = j > 0 ? p->order[j - 1] : NULL;
		int32_t c = pair->component;
		p->vectors[j] = pair->vector;
		p->classes[j] = (struct pe_canonical_class){0};
		if (!before || c != before->component)
			p->parts[used++] = (struct pe_canonical_part){.nodes = l->order + l->start[c],
				.n = pe_laplacian_size(l, c),
				.vectors = p->vectors + j,
				.classes = p->classes + j,
				.step = pair->step};
		struct pe_canonical_part *part = &p->parts[used - 1];
		if (pair->vector)
			part->dimension++;
		else if (!before || before->twins.member != pair->twins.member)
			p->classes[part->classes - p->classes + part->class_count++] = pair->twins;
	}
	return used;
}

/* The canonical basis of pairs[0 … count-1], columns skip … end-1. */
static pe_status write_basis(pe_context *ctx, const struct pe_laplacian *l, const struct pe_pair *pairs,
	int64_t count, int64_t skip, int64_t end, double *rows, int64_t stride)
{
	void *few[FEW * PARTS_BYTES / sizeof(void *)];
	void *memory = count <= FEW ? few : pe_alloc(ctx, count, PARTS_BYTES);
	if (!memory)
		return PE_ERR_NOMEM;
	struct parts p = lay_out_parts(memory, count);
	int64_t used = find_parts(l, pairs, count, &p);
	pe_status status = pe_canonical_basis(ctx, p.parts, used, skip, end, rows, stride);
	if (memory != few)
		pe_free(ctx, memory);
	return status;
}

/* One past the last pair that equals pair number i: so close that vectors rotated among them keep their
 * residual. A group may hold several such values. */
static int64_t end_of_equals(const struct pe_pair *pairs, int64_t count, int64_t i)
{
	double norm1 = pairs[i].norm1;
	int64_t j = i + 1;
	for (; j < count && pairs[j].group == pairs[i].group; j++) {
		norm1 = fmax(norm1, pairs[j].norm1);
		if (pairs[i].zero || pairs[j].value - pairs[i].value > PE_EQUAL_GAP * norm1)
			break;
	}
	return j;
}

pe_status pe_pairs_write(pe_context *ctx, const struct pe_laplacian *l, const struct pe_pair *pairs,
	int64_t count, struct pe_pair_range range, double *rows, int64_t stride)
{
	int64_t columns = range.end - range.first;
	if (l->components > 1)
		for (int64_t i = 0; i < l->n; i++)
			for (int64_t j = 0; j < columns; j++)
				rows[i * stride + j] = 0;
	for (int64_t i = 0, next; i < range.end; i = next) {
		next = end_of_equals(pairs, count, i);
		int64_t begin = pe_max(i, range.first), end = pe_min(next, range.end);
		if (end <= begin)
			continue;
		double *out = rows + (begin - range.first);
		if (next - i == 1 && pairs[i].vector)
			write_alone(l, &pairs[i], out, stride);
		else
			PE_TRY(write_basis(ctx, l, pairs + i, next - i, begin - i, end - i, out, stride));
	}
	return PE_OK;
}
