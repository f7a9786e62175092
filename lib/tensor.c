/* SPDX-License-Identifier: BSD-2-Clause */
#include "tensor.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	size_t size;
	bool is_float;
} types[] = {
	[PE_F64] = {"f64", 8, true},
	[PE_F32] = {"f32", 4, true},
	[PE_F16] = {"f16", 2, true},
	[PE_BF16] = {"bf16", 2, true},
	[PE_I64] = {"i64", 8, false},
	[PE_I32] = {"i32", 4, false},
	[PE_U8] = {"u8", 1, false},
	[PE_BOOL] = {"bool", 1, false},
};

static bool is_known(pe_dtype dtype)
{
	return (unsigned)dtype < PE_COUNT(types);
}

size_t pe_dtype_size(pe_dtype dtype)
{
	return is_known(dtype) ? types[dtype].size : 0;
}

const char *pe_dtype_name(pe_dtype dtype)
{
	return is_known(dtype) ? types[dtype].name : "?";
}

bool pe_dtype_is_float(pe_dtype dtype)
{
	return is_known(dtype) && types[dtype].is_float;
}

bool pe_dtype_is_integer(pe_dtype dtype)
{
	return is_known(dtype) && !types[dtype].is_float;
}

/* Wraps where the product overflows: such a tensor has no elements, or is refused by its count. */
static int64_t wrapping_mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

pe_tensor pe_tensor_dense(void *data, pe_dtype dtype, int32_t ndim, const int64_t *shape)
{
	pe_tensor t = {.data = data, .dtype = dtype, .ndim = ndim};
	int64_t stride = 1;
	for (int32_t d = ndim - 1; d >= 0; d--) {
		t.shape[d] = shape[d];
		t.strides[d] = stride;
		stride = wrapping_mul(stride, shape[d]);
	}
	return t;
}

int64_t pe_tensor_count(const pe_tensor *tensor)
{
	if (!tensor || tensor->ndim < 0 || tensor->ndim > PE_MAX_DIMS)
		return -1;
	bool empty = false;
	for (int32_t d = 0; d < tensor->ndim; d++) {
		if (tensor->shape[d] < 0)
			return -1;
		empty |= tensor->shape[d] == 0;
	}
	int64_t count = !empty;
	for (int32_t d = 0; d < tensor->ndim && !empty; d++)
		if (!pe_mul(count, tensor->shape[d], &count))
			return -1;
	return count;
}

int64_t pe_tensor_bytes(const pe_tensor *tensor)
{
	int64_t count = pe_tensor_count(tensor), bytes;
	if (count < 0 || !is_known(tensor->dtype))
		return -1;
	return pe_mul(count, (int64_t)types[tensor->dtype].size, &bytes) ? bytes : -1;
}

bool pe_tensor_is_dense(const pe_tensor *tensor)
{
	int64_t stride = 1, count = pe_tensor_count(tensor);
	if (count <= 0)
		return count == 0;
	for (int32_t d = tensor->ndim - 1; d >= 0; d--) {
		if (tensor->shape[d] != 1 && tensor->strides[d] != stride)
			return false;
		stride *= tensor->shape[d];
	}
	return true;
}

void pe_tensor_extent(const pe_tensor *tensor, const char **first, const char **last)
{
	int64_t low = 0, high = 1, size = (int64_t)pe_dtype_size(tensor->dtype);
	if (pe_tensor_count(tensor) <= 0)
		high = 0;
	for (int32_t d = 0; d < tensor->ndim && high > 0; d++) {
		int64_t reach = (tensor->shape[d] - 1) * tensor->strides[d];
		low += reach < 0 ? reach : 0;
		high += reach > 0 ? reach : 0;
	}
	*first = (const char *)tensor->data + low * size;
	*last = (const char *)tensor->data + high * size;
}

bool pe_tensor_overlap(const pe_tensor *a, const pe_tensor *b)
{
	const char *a0, *a1, *b0, *b1;
	if (!a->data || !b->data || pe_tensor_count(a) == 0 || pe_tensor_count(b) == 0)
		return false;
	pe_tensor_extent(a, &a0, &a1);
	pe_tensor_extent(b, &b0, &b1);
	return (uintptr_t)a0 < (uintptr_t)b1 && (uintptr_t)b0 < (uintptr_t)a1;
}

bool pe_tensor_same_view(const pe_tensor *a, const pe_tensor *b)
{
	for (int32_t d = 0; d < a->ndim; d++)
		if (a->shape[d] != 1 && a->strides[d] != b->strides[d])
			return false;
	return a->data == b->data;
}

pe_tensor pe_tensor_one_batch(const pe_tensor *tensor)
{
	return (pe_tensor){.data = tensor->data,
		.dtype = tensor->dtype,
		.ndim = 3,
		.shape = {1, tensor->shape[0], tensor->shape[1]},
		.strides = {0, tensor->strides[0], tensor->strides[1]}};
}

char *pe_tensor_place(const pe_tensor *tensor, int32_t ndim, int64_t index)
{
	int64_t offset = 0;
	for (int32_t d = ndim - 1; d >= 0; d--) {
		offset += index % tensor->shape[d] * tensor->strides[d];
		index /= tensor->shape[d];
	}
	return (char *)tensor->data + offset * (int64_t)pe_dtype_size(tensor->dtype);
}

void *pe_tensor_row(const pe_tensor *tensor, int64_t i)
{
	return (char *)tensor->data + i * tensor->strides[0] * (int64_t)pe_dtype_size(tensor->dtype);
}

void pe_shape_text(char *out, size_t size, int32_t ndim, const int64_t *shape)
{
	size_t at = 0;
	out[0] = '\0';
	for (int32_t d = 0; d < ndim && at < size; d++)
		at += (size_t)snprintf(
			out + at, size - at, "%s%lld%s", d ? ", " : "(", (long long)shape[d], d + 1 < ndim ? "" : ")");
	if (ndim == 0)
		snprintf(out, size, "()");
}

/* Every element has an address of its own if each dimension, by rising stride, steps over all that
 * the smaller ones reach. Views that interleave otherwise are refused too: nobody makes them. */
static bool is_injective(const pe_tensor *t)
{
	int64_t reach = 1;
	bool used[PE_MAX_DIMS] = {false};
	for (int32_t round = 0; round < t->ndim; round++) {
		int32_t next = -1;
		for (int32_t d = 0; d < t->ndim; d++)
			if (!used[d] && t->shape[d] > 1 && (next < 0 || t->strides[d] < t->strides[next]))
				next = d;
		if (next < 0)
			break;
		used[next] = true;
		int64_t step;
		if (t->strides[next] < reach || !pe_mul(t->shape[next] - 1, t->strides[next], &step) ||
			!pe_add(reach, step, &reach))
			return false;
	}
	int64_t bytes;
	return pe_mul(reach, (int64_t)pe_dtype_size(t->dtype), &bytes);
}

bool pe_dtype_holds(pe_dtype as, pe_dtype dtype)
{
	return pe_dtype_is_float(dtype) ? pe_dtype_is_float(as)
		: dtype == PE_BOOL          ? as == PE_BOOL || as == PE_U8
									: as == PE_I64 || as == PE_I32;
}

pe_status pe_tensor_check_output(pe_context *ctx, const pe_tensor *tensor, const char *name, pe_dtype dtype,
	int32_t ndim, const int64_t *shape)
{
	if (!pe_dtype_holds(tensor->dtype, dtype))
		return pe_fail(ctx, PE_ERR_SHAPE, "%s is %s: it cannot be stored as %s", name, pe_dtype_name(dtype),
			pe_dtype_name(tensor->dtype));
	if (tensor->ndim != ndim || memcmp(tensor->shape, shape, (size_t)ndim * sizeof *shape) != 0) {
		char is[160], must[160];
		pe_shape_text(
			is, sizeof is, tensor->ndim < 0 ? 0 : (int32_t)pe_min(tensor->ndim, PE_MAX_DIMS), tensor->shape);
		pe_shape_text(must, sizeof must, ndim, shape);
		return pe_fail(ctx, PE_ERR_SHAPE, "%s has shape %s, not %s", name, must, is);
	}
	int64_t bytes = pe_tensor_bytes(tensor);
	if (bytes < 0)
		return pe_fail(ctx, PE_ERR_NOMEM, "%s is larger than memory can hold", name);
	if (bytes > 0 && !tensor->data)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "%s has no memory to be written to", name);
	if ((uintptr_t)tensor->data % pe_dtype_size(tensor->dtype) != 0)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "%s is not aligned for %s", name, pe_dtype_name(tensor->dtype));
	if (bytes > 0 && !is_injective(tensor))
		return pe_fail(ctx, PE_ERR_SHAPE, "%s has strides by which its elements overlap", name);
	return PE_OK;
}

/* Whether every element's distance from the first fits into an int64_t of bytes. */
static bool reach_fits(const pe_tensor *t)
{
	int64_t reach = 1;
	for (int32_t d = 0; d < t->ndim; d++) {
		int64_t stride = t->strides[d], step;
		if (t->shape[d] <= 1)
			continue;
		if (stride == INT64_MIN || !pe_mul(t->shape[d] - 1, stride < 0 ? -stride : stride, &step) ||
			!pe_add(reach, step, &reach))
			return false;
	}
	return pe_mul(reach, (int64_t)pe_dtype_size(t->dtype), &reach);
}

pe_status pe_tensor_check_input(pe_context *ctx, const pe_tensor *tensor, const char *name)
{
	int64_t bytes = pe_tensor_bytes(tensor);
	if (!is_known(tensor->dtype))
		return pe_fail(ctx, PE_ERR_SHAPE, "%s: there is no type %d", name, (int)tensor->dtype);
	if (bytes < 0)
		return pe_fail(ctx, PE_ERR_SHAPE, "%s: this shape is not possible", name);
	if (bytes == 0)
		return PE_OK;
	if (!tensor->data)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "%s: there is no memory to be read from", name);
	if ((uintptr_t)tensor->data % pe_dtype_size(tensor->dtype) != 0)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "%s: not aligned for %s", name, pe_dtype_name(tensor->dtype));
	if (!reach_fits(tensor))
		return pe_fail(ctx, PE_ERR_SHAPE, "%s: the strides reach further than memory can", name);
	return PE_OK;
}
