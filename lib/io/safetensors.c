/* SPDX-License-Identifier: BSD-2-Clause
 * Reading safetensors (github.com/huggingface/safetensors, "Format"): the header's length in eight
 * bytes, a JSON object, and then the data of all tensors, without holes and without overlap. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "io/element.h"
#include "io/formats.h"
#include "io/metadata.h"

#define MAX_HEADER ((uint64_t)100 << 20) /* as in the reference implementation */

static uint64_t header_length(const char *bytes)
{
	uint64_t length = 0;
	for (int i = 7; i >= 0; i--)
		length = length << 8 | (unsigned char)bytes[i];
	return length;
}

bool pe_is_safetensors(const char *bytes, size_t size)
{
	return size >= 10 && header_length(bytes) <= size - 8 && header_length(bytes) >= 2 && bytes[8] == '{';
}

struct slice {
	const char *name;
	json_int_t begin, end;
};

struct reader {
	pe_bundle *bundle;
	const char *source;
	const char *data; /* what follows the header */
	size_t size;
	struct slice *slices;
	int64_t count;
};

static pe_status malformed(const struct reader *r, const char *name, const char *what)
{
	return pe_fail(r->bundle->ctx, PE_ERR_FORMAT, "%s: tensor \"%.255s\" %s", r->source, name, what);
}

static bool element_type(const char *dtype, struct pe_stored_array *a)
{
	static const struct {
		const char *name;
		enum pe_element_kind kind;
		int64_t width;
	} types[] = {{"F64", PE_ELEMENT_FLOAT, 8}, {"F32", PE_ELEMENT_FLOAT, 4}, {"F16", PE_ELEMENT_FLOAT, 2},
		{"BF16", PE_ELEMENT_BFLOAT, 2}, {"I64", PE_ELEMENT_INT, 8}, {"I32", PE_ELEMENT_INT, 4},
		{"I16", PE_ELEMENT_INT, 2}, {"I8", PE_ELEMENT_INT, 1}, {"U64", PE_ELEMENT_UINT, 8},
		{"U32", PE_ELEMENT_UINT, 4}, {"U16", PE_ELEMENT_UINT, 2}, {"U8", PE_ELEMENT_UINT, 1},
		{"BOOL", PE_ELEMENT_BOOL, 1}};
	for (int64_t i = 0; i < PE_COUNT(types); i++)
		if (strcmp(types[i].name, dtype) == 0) {
			a->kind = types[i].kind;
			a->width = types[i].width;
			return true;
		}
	return false;
}

static pe_status read_shape(const struct reader *r, const json_t *shape, struct pe_stored_array *a)
{
	if (!json_is_array(shape))
		return malformed(r, a->name, "has no shape");
	if (json_array_size(shape) > PE_MAX_DIMS)
		return pe_fail(r->bundle->ctx, PE_ERR_UNSUPPORTED,
			"%s: tensor \"%.255s\" has more than %d dimensions", r->source, a->name, PE_MAX_DIMS);
	a->ndim = (int32_t)json_array_size(shape);
	for (int32_t d = 0; d < a->ndim; d++) {
		const json_t *dimension = json_array_get(shape, (size_t)d);
		if (!json_is_integer(dimension) || json_integer_value(dimension) < 0)
			return malformed(r, a->name, "has a shape that is not of whole numbers from 0 on");
		a->shape[d] = json_integer_value(dimension);
	}
	return PE_OK;
}

static pe_status read_slice(struct reader *r, const json_t *offsets, struct pe_stored_array *a)
{
	const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
	if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
		return malformed(r, a->name, "has no data_offsets");
	struct slice s = {a->name, json_integer_value(begin), json_integer_value(end)};
	if (s.begin < 0 || s.end < s.begin || (uint64_t)s.end > r->size)
		return malformed(r, a->name, "has data_offsets outside of the file");
	r->slices[r->count++] = s;
	a->bytes = r->data + s.begin;
	a->size = (size_t)(s.end - s.begin);
	return PE_OK;
}

static pe_status read_tensor(struct reader *r, const char *name, const json_t *entry)
{
	struct pe_stored_array a = {.name = name};
	const char *dtype = json_string_value(json_object_get(entry, "dtype"));
	if (!dtype)
		return malformed(r, name, "has no dtype");
	if (!element_type(dtype, &a))
		return pe_fail(r->bundle->ctx, PE_ERR_UNSUPPORTED,
			"%s: tensor \"%.255s\" is of type %.32s, which is not "
			"supported",
			r->source, name, dtype);
	PE_TRY(read_shape(r, json_object_get(entry, "shape"), &a));
	PE_TRY(read_slice(r, json_object_get(entry, "data_offsets"), &a));
	return pe_import_array(r->bundle, r->source, &a);
}

static pe_status read_metadata(struct reader *r, const json_t *metadata)
{
	bool is;
	char *text = json_dumps(metadata, JSON_COMPACT);
	if (!text)
		return malformed(r, "__metadata__", "is not an object");
	pe_status status = pe_metadata_read(r->bundle, text, strlen(text), &is);
	free(text);
	return status == PE_OK && !is ? malformed(r, "__metadata__", "is not an object") : status;
}

static int by_begin(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* The slices must cover the data exactly. */
static pe_status check_cover(struct reader *r)
{
	json_int_t at = 0;
	if (r->count > 0)
		qsort(r->slices, (size_t)r->count, sizeof *r->slices, by_begin);
	for (int64_t i = 0; i < r->count; i++) {
		if (r->slices[i].begin != at)
			return malformed(r, r->slices[i].name,
				r->slices[i].begin < at ? "overlaps another" : "leaves a hole before its data");
		at = r->slices[i].end;
	}
	if ((uint64_t)at != r->size)
		return pe_fail(r->bundle->ctx, PE_ERR_FORMAT, "%s: %lld bytes follow the last tensor", r->source,
			(long long)((int64_t)r->size - at));
	return PE_OK;
}

static pe_status read_entries(struct reader *r, json_t *header)
{
	const char *name;
	json_t *entry;
	json_object_foreach(header, name, entry)
		PE_TRY(strcmp(name, "__metadata__") == 0 ? read_metadata(r, entry) : read_tensor(r, name, entry));
	return check_cover(r);
}

pe_status pe_safetensors_read(pe_bundle *bundle, const char *bytes, size_t size, const char *source)
{
	pe_context *ctx = bundle->ctx;
	uint64_t length = size >= 8 ? header_length(bytes) : 0;
	if (size < 8 || length > size - 8)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: not a safetensors file, or one that is cut short", source);
	if (length > MAX_HEADER)
		return pe_fail(
			ctx, PE_ERR_FORMAT, "%s: a header of %llu bytes is too long", source, (unsigned long long)length);
	json_error_t error;
	json_t *header = json_loadb(bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(header)) {
		json_decref(header);
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: the header is not a JSON object: %s", source,
			header ? "it is something else" : error.text);
	}
	struct reader r = {
		.bundle = bundle, .source = source, .data = bytes + 8 + length, .size = size - 8 - (size_t)length};
	r.slices = pe_alloc(ctx, (int64_t)json_object_size(header), sizeof *r.slices);
	pe_status status = r.slices ? read_entries(&r, header) : PE_ERR_NOMEM;
	pe_free(ctx, r.slices);
	json_decref(header);
	return status;
}
