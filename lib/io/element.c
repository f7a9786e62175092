/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/element.h"

#include <string.h>

#include "tensor.h"

bool pe_is_big_endian(void)
{
	const uint16_t one = 1;
	unsigned char first;
	memcpy(&first, &one, 1);
	return first == 0;
}

/* The type in memory; false if there is none. */
static bool memory_type(const struct pe_stored_array *a, pe_dtype *out)
{
	int64_t w = a->width;
	switch (a->kind) {
	case PE_ELEMENT_FLOAT:
		*out = w == 8 ? PE_F64 : w == 4 ? PE_F32 : PE_F16;
		return w == 8 || w == 4 || w == 2;
	case PE_ELEMENT_BFLOAT:
		*out = PE_BF16;
		return w == 2;
	case PE_ELEMENT_INT:
		*out = w == 8 ? PE_I64 : PE_I32;
		return w == 8 || w == 4 || w == 2 || w == 1;
	case PE_ELEMENT_UINT:
		*out = w == 1 ? PE_U8 : w == 2 ? PE_I32 : PE_I64;
		return w == 8 || w == 4 || w == 2 || w == 1;
	case PE_ELEMENT_BOOL:
		*out = PE_BOOL;
		return w == 1;
	default:
		*out = PE_U8;
		return true;
	}
}

static bool is_text(const struct pe_stored_array *a)
{
	return a->kind == PE_ELEMENT_BYTES || a->kind == PE_ELEMENT_UNICODE;
}

/* Shape and strides in memory. Dimensions of 0 count as 1, so that no later product can overflow. */
static bool layout(const struct pe_stored_array *a, pe_tensor *t)
{
	int64_t stride = 1, length = a->kind == PE_ELEMENT_UNICODE ? a->width / 4 : a->width, bytes;
	t->ndim = a->ndim;
	if (is_text(a)) {
		if (a->ndim == PE_MAX_DIMS)
			return false;
		t->shape[t->ndim] = length;
		t->strides[t->ndim++] = 1;
		stride = pe_max(length, 1);
	}
	for (int32_t i = 0; i < a->ndim; i++) {
		int32_t d = a->fortran ? i : a->ndim - 1 - i;
		t->shape[d] = a->shape[d];
		t->strides[d] = stride;
		if (!pe_mul(stride, pe_max(a->shape[d], 1), &stride))
			return false;
	}
	return pe_mul(stride, 8, &bytes);
}

/* ---- conversion ---------------------------------------------------------------------- */

static uint64_t load(const unsigned char *p, int64_t width, bool big_endian)
{
	uint64_t value = 0;
	for (int64_t i = 0; i < width; i++)
		value |= (uint64_t)p[i] << 8 * (big_endian ? width - 1 - i : i);
	return value;
}

/* false if a value does not fit. */
static bool widen(const struct pe_stored_array *a, int64_t count, void *out, pe_dtype dtype)
{
	const unsigned char *p = (const unsigned char *)a->bytes;
	uint64_t sign = a->kind == PE_ELEMENT_INT ? (uint64_t)1 << (8 * a->width - 1) : 0;
	for (int64_t i = 0; i < count; i++, p += a->width) {
		uint64_t raw = load(p, a->width, a->big_endian);
		int64_t value = (int64_t)((raw ^ sign) - sign);
		if (a->kind == PE_ELEMENT_UINT && value < 0)
			return false;
		pe_store_i64((char *)out + i * (int64_t)pe_dtype_size(dtype), dtype, 1, &value, 1);
	}
	return true;
}

/* false if a character is not ASCII. */
static bool narrow_text(const struct pe_stored_array *a, int64_t count, unsigned char *out)
{
	const unsigned char *p = (const unsigned char *)a->bytes;
	for (int64_t i = 0; i < count; i++, p += 4) {
		uint64_t point = load(p, 4, a->big_endian);
		if (point > 0x7f)
			return false;
		out[i] = (unsigned char)point;
	}
	return true;
}

static void reverse_bytes(unsigned char *data, int64_t count, int64_t width)
{
	for (int64_t i = 0; i < count; i++, data += width)
		for (int64_t j = 0; j < width / 2; j++) {
			unsigned char byte = data[j];
			data[j] = data[width - 1 - j];
			data[width - 1 - j] = byte;
		}
}

static bool is_swapped(const struct pe_stored_array *a)
{
	return a->width > 1 && !is_text(a) && a->big_endian != pe_is_big_endian();
}

static bool has_other_bools(const struct pe_stored_array *a)
{
	unsigned char all = 0;
	for (size_t i = 0; i < a->size && a->kind == PE_ELEMENT_BOOL; i++)
		all |= (unsigned char)a->bytes[i];
	return all > 1;
}

static bool same_in_memory(const struct pe_stored_array *a, pe_dtype dtype)
{
	if (a->kind == PE_ELEMENT_BYTES)
		return true;
	return a->kind != PE_ELEMENT_UNICODE && a->width == (int64_t)pe_dtype_size(dtype);
}

static bool convert(const struct pe_stored_array *a, int64_t count, unsigned char *out, pe_dtype dtype)
{
	if (a->kind == PE_ELEMENT_UNICODE)
		return narrow_text(a, count, out);
	if (!same_in_memory(a, dtype) || (a->kind == PE_ELEMENT_UINT && a->width == 8))
		return widen(a, count, out, dtype);
	if (a->size > 0)
		memcpy(out, a->bytes, a->size);
	if (is_swapped(a))
		reverse_bytes(out, count, a->width);
	for (int64_t i = 0; i < count && a->kind == PE_ELEMENT_BOOL; i++)
		out[i] = out[i] != 0;
	return true;
}

/* ---- import -------------------------------------------------------------------------- */

static bool can_stay(const struct pe_stored_array *a, pe_dtype dtype)
{
	bool unsigned64 = a->kind == PE_ELEMENT_UINT && a->width == 8;
	return same_in_memory(a, dtype) && !unsigned64 && !is_swapped(a) && !has_other_bools(a) &&
		(uintptr_t)a->bytes % pe_dtype_size(dtype) == 0;
}

static pe_status check(const pe_bundle *b, const char *source, const struct pe_stored_array *a, pe_tensor *t)
{
	pe_context *ctx = b->ctx;
	int64_t bytes = 0;
	const char *fault = pe_bundle_name_fault(b, a->name);
	if (fault)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: array \"%.255s\" %s", source, a->name, fault);
	if (!memory_type(a, &t->dtype))
		return pe_fail(ctx, PE_ERR_UNSUPPORTED, "%s: %s has elements of %lld bytes, a type that is not known",
			source, a->name, (long long)a->width);
	if (!layout(a, t))
		return pe_fail(
			ctx, PE_ERR_UNSUPPORTED, "%s: %s has too many dimensions or elements", source, a->name);
	pe_tensor stored = pe_tensor_dense(NULL, PE_U8, a->ndim, a->shape);
	if (!pe_mul(pe_tensor_count(&stored), a->width, &bytes) || (uint64_t)bytes != a->size)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: %s has %zu bytes of data; its shape asks for %lld", source,
			a->name, a->size, (long long)bytes);
	return PE_OK;
}

static pe_status import_converted(
	pe_bundle *b, const char *source, const struct pe_stored_array *a, pe_tensor *t)
{
	int64_t count = pe_tensor_count(t);
	t->data = pe_alloc(b->ctx, count, pe_dtype_size(t->dtype));
	if (!t->data)
		return PE_ERR_NOMEM;
	pe_status status;
	if (!convert(a, count, t->data, t->dtype))
		status = pe_fail(b->ctx, PE_ERR_UNSUPPORTED,
			a->kind == PE_ELEMENT_UNICODE ? "%s: %s holds text that is not ASCII"
										  : "%s: %s holds a number above 2^63 - 1",
			source, a->name);
	else
		status = pe_bundle_adopt(b, a->name, t, t->data);
	if (status != PE_OK)
		pe_free(b->ctx, t->data);
	return status;
}

static bool is_widened(const struct pe_stored_array *a, pe_dtype dtype)
{
	return is_text(a) || !same_in_memory(a, dtype) || (a->kind == PE_ELEMENT_UINT && a->width == 8);
}

pe_status pe_import_array(pe_bundle *bundle, const char *source, const struct pe_stored_array *array)
{
	pe_tensor t = {0};
	PE_TRY(check(bundle, source, array, &t));
	if (can_stay(array, t.dtype)) {
		const char *bytes = array->bytes; /* the bundle's own memory, so it may be written to */
		memcpy(&t.data, &bytes, sizeof bytes);
		PE_TRY(pe_bundle_adopt(bundle, array->name, &t, NULL));
	} else {
		PE_TRY(import_converted(bundle, source, array, &t));
	}
	bundle->arrays[bundle->count - 1].widened = is_widened(array, t.dtype);
	return PE_OK;
}
