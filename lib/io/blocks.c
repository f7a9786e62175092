/* SPDX-License-Identifier: BSD-2-Clause
 * The elements of a view in row-major order. */
#include <string.h>

#include "io/file_sink.h"
#include "tensor.h"

#define PIECE ((size_t)64 * 1024)

struct gather {
	pe_status (*take)(void *arg, const void *bytes, size_t size);
	void *arg;
	char *piece;
	size_t used, size; /* size of an element */
};

static pe_status add(struct gather *g, const char *from)
{
	memcpy(g->piece + g->used, from, g->size);
	g->used += g->size;
	if (g->used < PIECE)
		return PE_OK;
	g->used = 0;
	return g->take(g->arg, g->piece, PIECE);
}

/* The elements of the last dimension. */
static pe_status add_row(struct gather *g, const char *from, int64_t count, int64_t stride)
{
	for (int64_t i = 0; i < count; i++)
		PE_TRY(add(g, from + i * stride * (int64_t)g->size));
	return PE_OK;
}

/* Steps to the next row; false after the last. */
static bool next_row(const pe_tensor *t, int64_t index[PE_MAX_DIMS])
{
	for (int32_t d = t->ndim - 2; d >= 0; d--) {
		if (++index[d] < t->shape[d])
			return true;
		index[d] = 0;
	}
	return false;
}

static pe_status gather(struct gather *g, const pe_tensor *t)
{
	int64_t index[PE_MAX_DIMS] = {0};
	do {
		int64_t offset = 0;
		for (int32_t d = 0; d + 1 < t->ndim; d++)
			offset += index[d] * t->strides[d];
		PE_TRY(add_row(g, (const char *)t->data + offset * (int64_t)g->size, t->shape[t->ndim - 1],
			t->strides[t->ndim - 1]));
	} while (next_row(t, index));
	return g->used > 0 ? g->take(g->arg, g->piece, g->used) : PE_OK;
}

pe_status pe_tensor_blocks(pe_context *ctx, const pe_tensor *tensor,
	pe_status (*take)(void *arg, const void *bytes, size_t size), void *arg)
{
	int64_t bytes = pe_tensor_bytes(tensor);
	if (bytes == 0)
		return PE_OK;
	if (pe_tensor_is_dense(tensor))
		return take(arg, tensor->data, (size_t)bytes);
	struct gather g = {.take = take, .arg = arg, .size = pe_dtype_size(tensor->dtype)};
	g.piece = pe_alloc(ctx, (int64_t)PIECE, 1);
	if (!g.piece)
		return PE_ERR_NOMEM;
	pe_status status = gather(&g, tensor);
	pe_free(ctx, g.piece);
	return status;
}
