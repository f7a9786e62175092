/* SPDX-License-Identifier: BSD-2-Clause */
#include "fronts.h"

#include <string.h>

#include "kernels/kernels.h"

/* Updates that no parent has taken yet. Supernodes come in postorder, so those for the next are on top. */
struct stack {
	double *numbers;
	int64_t *begin; /* depth + 1 */
	int32_t *owner; /* the supernode that left it */
	int32_t depth;
};

static int64_t update_size(const struct pe_supernodes *f, int32_t s)
{
	int64_t below = pe_supernode_below(f, s);
	return below * below;
}

/* The first update on the stack that is for supernode s. */
static int32_t first_for(const struct pe_supernodes *f, const struct stack *stack, int32_t s)
{
	int32_t first = stack->depth;
	while (first > 0 && f->parent[stack->owner[first - 1]] == s)
		first--;
	return first;
}

/* Replaces the updates from `first` on by that of s. */
static void push(const struct pe_supernodes *f, struct stack *stack, int32_t first, int32_t s)
{
	stack->owner[first] = s;
	stack->begin[first + 1] = stack->begin[first] + update_size(f, s);
	stack->depth = first + 1;
}

/* Numbers that the stack has at most. Leaves it empty. */
static int64_t peak(const struct pe_supernodes *f, struct stack *stack)
{
	int64_t most = 0;
	for (int32_t s = 0; s < f->count; s++) {
		most = pe_max(most, stack->begin[stack->depth] + update_size(f, s));
		push(f, stack, first_for(f, stack, s), s);
	}
	stack->depth = 0;
	return most;
}

static void assemble_matrix(
	const struct pe_supernodes *f, int32_t s, const double *diag, double shift, double *l)
{
	double *block = l + f->value[s];
	int64_t height = pe_supernode_width(f, s) + pe_supernode_below(f, s);
	memset(block, 0, (size_t)(f->value[s + 1] - f->value[s]) * sizeof *block);
	for (int32_t j = f->first[s]; j < f->first[s + 1]; j++, block += height + 1)
		*block = diag[j] - shift;
	for (int64_t e = f->start[f->first[s]]; e < f->start[f->first[s + 1]]; e++)
		l[f->at[e]] = f->entry[e];
}

/* Columns from … before-1 of a lower triangle are added where the parent has seats for them; those of `to`
 * begin at seat `skip`. */
static void add_columns(const double *update, int32_t size, const int32_t *seat, int32_t from, int32_t before,
	double *to, int64_t ld, int32_t skip)
{
	for (int32_t j = from; j < before; j++) {
		const double *restrict column = update + (int64_t)j * size;
		double *restrict target = to + (seat[j] - skip) * ld - skip;
		if (seat[size - 1] - seat[j] == size - 1 - j)
			for (int32_t i = j, shift = seat[j] - j; i < size; i++)
				target[shift + i] += column[i];
		else
			for (int32_t i = j; i < size; i++)
				target[seat[i]] += column[i];
	}
}

/* Adds the updates from `first` on: the part for the columns of s itself, or that for its update. */
static void assemble_updates(
	const struct pe_supernodes *f, const struct stack *stack, int32_t first, int32_t s, bool own, double *to)
{
	int32_t width = pe_supernode_width(f, s), below = pe_supernode_below(f, s);
	for (int32_t c = first; c < stack->depth; c++) {
		const int32_t *seat = f->seat + f->below[stack->owner[c]];
		int32_t size = pe_supernode_below(f, stack->owner[c]), split = 0;
		while (split < size && seat[split] < width)
			split++;
		const double *update = stack->numbers + stack->begin[c];
		if (own)
			add_columns(update, size, seat, 0, split, to, (int64_t)width + below, 0);
		else
			add_columns(update, size, seat, split, size, to, below, width);
	}
}

static bool factor_all(pe_context *ctx, const struct pe_supernodes *f, const double *diag, double shift,
	double *l, struct stack *stack, double *scratch)
{
	for (int32_t s = 0; s < f->count; s++) {
		int32_t first = first_for(f, stack, s), width = pe_supernode_width(f, s);
		int32_t height = width + pe_supernode_below(f, s);
		double *block = l + f->value[s], *update = stack->numbers + stack->begin[stack->depth];
		assemble_matrix(f, s, diag, shift, l);
		assemble_updates(f, stack, first, s, true, block);
		if (!ctx->kernels->front_factor(height, width, block, scratch))
			return false;
		ctx->kernels->front_update(height, width, block, update, scratch);
		assemble_updates(f, stack, first, s, false, update);
		if (first < stack->depth)
			memmove(stack->numbers + stack->begin[first], update, (size_t)update_size(f, s) * sizeof *update);
		push(f, stack, first, s);
	}
	return true;
}

pe_status pe_fronts_factor(
	pe_context *ctx, const struct pe_supernodes *f, const double *diag, double shift, double *l, bool *exists)
{
	struct stack stack = {0};
	pe_status status = PE_ERR_NOMEM;
	double *scratch = pe_alloc(ctx, PE_FRONT_SCRATCH, sizeof *scratch);
	stack.begin = pe_alloc_zero(ctx, (int64_t)f->count + 1, sizeof *stack.begin);
	stack.owner = pe_alloc(ctx, f->count, sizeof *stack.owner);
	if (!scratch || !stack.begin || !stack.owner)
		goto done;
	stack.numbers = pe_alloc(ctx, peak(f, &stack) + PE_FRONT_SLACK, sizeof *stack.numbers);
	if (!stack.numbers)
		goto done;
	*exists = factor_all(ctx, f, diag, shift, l, &stack, scratch);
	status = PE_OK;
done:
	pe_free(ctx, scratch);
	pe_free(ctx, stack.begin);
	pe_free(ctx, stack.owner);
	pe_free(ctx, stack.numbers);
	return status;
}
