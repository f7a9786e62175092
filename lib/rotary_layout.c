/* SPDX-License-Identifier: BSD-2-Clause
 * The order of the channels that rotary encodings turn in pairs: pair t of r/2 is channels (2t, 2t + 1), or
 * (t, t + r/2). A model trained with one order runs with the other if the rows of its query and key
 * projections are reordered, head by head. */
#include <string.h>

#include "pool.h"
#include "tensor.h"

struct work {
	const pe_tensor *x, *y;
	pe_rotary_layout to;
	int64_t head, rotary; /* rows of a head, and those of them in pairs */
	int64_t run;          /* bytes of a row, dense */
};

/* Which row of a head the row i of the other layout is. */
static int64_t place_of(const struct work *w, int64_t i)
{
	int64_t half = w->rotary / 2;
	if (i >= w->rotary)
		return i;
	return w->to == PE_ROTARY_HALVES ? i % 2 * half + i / 2 : i % half * 2 + i / half;
}

static bool has_dense_rows(const pe_tensor *t)
{
	pe_tensor row = pe_tensor_dense(NULL, t->dtype, t->ndim - 1, t->shape + 1);
	memcpy(row.strides, t->strides + 1, (size_t)row.ndim * sizeof *row.strides);
	return pe_tensor_is_dense(&row);
}

static void copy(char *to, const char *from, int64_t bytes)
{
	memcpy(to, from, (size_t)bytes);
}

/* Row i of t, which may have any strides, to or from dense memory. */
static void copy_row(const pe_tensor *t, int64_t i, char *dense, int64_t run, bool load)
{
	int64_t size = (int64_t)pe_dtype_size(t->dtype), step = has_dense_rows(t) ? run : size;
	for (int64_t done = 0; done < run; done += step) {
		char *at = pe_tensor_place(t, t->ndim, (i * run + done) / size);
		if (load)
			copy(dense + done, at, step);
		else
			copy(at, dense + done, step);
	}
}

/* A head goes through memory of its own, so that y may be x. */
static pe_status convert_head(pe_context *worker, void *arg, int64_t head)
{
	const struct work *w = arg;
	int64_t first = head * w->head;
	char *rows = pe_alloc(worker, w->head, (size_t)w->run);
	if (!rows)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < w->head; i++)
		copy_row(w->x, first + i, rows + place_of(w, i) * w->run, w->run, true);
	for (int64_t i = 0; i < w->head; i++)
		copy_row(w->y, first + i, rows + i * w->run, w->run, false);
	pe_free(worker, rows);
	return PE_OK;
}

static bool is_layout(pe_rotary_layout layout)
{
	return layout == PE_ROTARY_HALVES || layout == PE_ROTARY_INTERLEAVED;
}

static pe_status check_numbers(
	pe_context *ctx, pe_rotary_layout from, pe_rotary_layout to, int64_t head_dim, int64_t rotary_dim)
{
	if (!is_layout(from) || !is_layout(to))
		return pe_fail(ctx, PE_ERR_ARGUMENT, "there is no such rotary layout");
	if (head_dim < 1 || rotary_dim < 0 || rotary_dim > head_dim)
		return pe_fail(ctx, PE_ERR_RANGE, "of a head of %lld channels, %lld cannot be rotated",
			(long long)head_dim, (long long)rotary_dim);
	if (rotary_dim % 2 != 0)
		return pe_fail(ctx, PE_ERR_RANGE, "%lld rotated channels do not make pairs", (long long)rotary_dim);
	return PE_OK;
}

static pe_status check_tensors(pe_context *ctx, int64_t head_dim, const pe_tensor *x, const pe_tensor *y)
{
	PE_TRY(pe_tensor_check_input(ctx, x, "the tensor"));
	if (x->ndim < 1 || x->shape[0] % head_dim != 0)
		return pe_fail(ctx, PE_ERR_SHAPE, "%lld rows are not heads of %lld",
			(long long)(x->ndim < 1 ? 1 : x->shape[0]), (long long)head_dim);
	if (x->dtype != y->dtype)
		return pe_fail(ctx, PE_ERR_SHAPE, "both layouts are of the same type, not %s and %s",
			pe_dtype_name(x->dtype), pe_dtype_name(y->dtype));
	pe_dtype held = x->dtype == PE_U8 ? PE_BOOL : x->dtype; /* which u8 can hold too */
	PE_TRY(pe_tensor_check_output(ctx, y, "the output", held, x->ndim, x->shape));
	if (pe_tensor_overlap(x, y) && !pe_tensor_same_view(x, y))
		return pe_fail(ctx, PE_ERR_ARGUMENT, "input and output overlap without being the same");
	return PE_OK;
}

pe_status pe_rotary_convert(pe_context *context, pe_rotary_layout from, pe_rotary_layout to, int64_t head_dim,
	int64_t rotary_dim, const pe_tensor *x, const pe_tensor *y)
{
	if (!context || !x || !y)
		return PE_ERR_ARGUMENT;
	if (rotary_dim == 0)
		rotary_dim = head_dim;
	PE_TRY(check_numbers(context, from, to, head_dim, rotary_dim));
	PE_TRY(check_tensors(context, head_dim, x, y));
	if (pe_tensor_count(x) == 0)
		return PE_OK;
	struct work w = {.x = x, .y = y, .to = to, .head = head_dim, .rotary = from == to ? 0 : rotary_dim};
	w.run = pe_tensor_bytes(x) / x->shape[0];
	return pe_parallel(context, x->shape[0] / head_dim, convert_head, &w, "rotary layout");
}
