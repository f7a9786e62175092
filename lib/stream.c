/* SPDX-License-Identifier: BSD-2-Clause */
#include "stream.h"

#include "tensor.h"

static void release(pe_context *ctx, const pe_encoding *e, pe_tensor *outs)
{
	for (int64_t i = 0; i < e->array_count; i++)
		pe_free(ctx, outs[i].data);
}

static pe_status allocate(
	pe_context *ctx, const pe_array_info *info, int32_t dtype, int64_t rows, pe_tensor *out)
{
	*out = pe_tensor_dense(NULL, (pe_dtype)dtype, info->ndim, info->shape);
	if (info->ndim > 0)
		out->shape[0] = rows;
	int64_t bytes = pe_tensor_bytes(out);
	if (bytes < 0)
		return pe_fail(ctx, PE_ERR_NOMEM, "the array %s is larger than memory can hold", info->name);
	out->data = pe_alloc(ctx, bytes, 1);
	return out->data ? PE_OK : PE_ERR_NOMEM;
}

pe_status pe_stream_open(pe_context *ctx, const pe_encoding *e, const int64_t *rows, pe_tensor *outs)
{
	pe_status status = PE_OK;
	for (int64_t i = 0; i < e->array_count; i++)
		outs[i] = (pe_tensor){0};
	for (int64_t i = 0; i < e->array_count && status == PE_OK; i++)
		if (e->stream->dtypes[i] >= 0)
			status = allocate(ctx, &e->arrays[i], e->stream->dtypes[i], rows[i], &outs[i]);
	if (status != PE_OK)
		release(ctx, e, outs);
	return status;
}

pe_status pe_stream_close(
	pe_context *ctx, const pe_encoding *e, const int64_t *first, pe_tensor *outs, pe_status status)
{
	const struct pe_stream *stream = e->stream;
	for (int64_t i = 0; i < e->array_count && status == PE_OK; i++)
		if (outs[i].data)
			status = stream->take(ctx, stream->opaque, i, first[i], &outs[i]);
	release(ctx, e, outs);
	return status;
}
