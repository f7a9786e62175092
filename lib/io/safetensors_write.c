/* SPDX-License-Identifier: BSD-2-Clause
 * Writing safetensors. Wide types come first, and the data begin at a multiple of 64, so that every
 * tensor is aligned in a file that is mapped. Equal bundles give equal bytes. */
#include <stdio.h>
#include <string.h>

#include "io/element.h"
#include "io/formats.h"
#include "io/metadata.h"
#include "tensor.h"

#define WIDEST 8

static pe_status add_number(struct pe_text *text, const char *before, int64_t number)
{
	char digits[32];
	snprintf(digits, sizeof digits, "%lld", (long long)number);
	PE_TRY(pe_text_string(text, before));
	return pe_text_string(text, digits);
}

/* "name":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]} */
static pe_status add_tensor(struct pe_text *text, const char *name, const pe_tensor *t, int64_t *offset)
{
	static const char *const types[] = {[PE_F64] = "F64",
		[PE_F32] = "F32",
		[PE_F16] = "F16",
		[PE_BF16] = "BF16",
		[PE_I64] = "I64",
		[PE_I32] = "I32",
		[PE_U8] = "U8",
		[PE_BOOL] = "BOOL"};
	PE_TRY(pe_text_string(text, text->size > 1 ? "," : ""));
	PE_TRY(pe_text_json(text, name));
	PE_TRY(pe_text_string(text, ":{\"dtype\":\""));
	PE_TRY(pe_text_string(text, types[t->dtype]));
	PE_TRY(pe_text_string(text, "\",\"shape\":["));
	for (int32_t d = 0; d < t->ndim; d++)
		PE_TRY(add_number(text, d ? "," : "", t->shape[d]));
	PE_TRY(add_number(text, "],\"data_offsets\":[", *offset));
	if (!pe_add(*offset, pe_tensor_bytes(t), offset))
		return pe_fail(text->ctx, PE_ERR_NOMEM, "the arrays are more than a file can hold");
	PE_TRY(add_number(text, ",", *offset));
	return pe_text_string(text, "]}");
}

static pe_status add_padding(struct pe_text *text)
{
	while ((text->size + 8) % 64 != 0)
		PE_TRY(pe_text_string(text, " "));
	return PE_OK;
}

static pe_status make_header(const pe_bundle *b, struct pe_text *text)
{
	int64_t offset = 0;
	PE_TRY(pe_text_string(text, "{"));
	if (b->entry_count > 0) {
		PE_TRY(pe_text_string(text, "\"__metadata__\":"));
		PE_TRY(pe_metadata_write(b, text));
	}
	for (size_t width = WIDEST; width > 0; width /= 2)
		for (int64_t i = 0; i < b->count; i++)
			if (pe_dtype_size(b->arrays[i].tensor.dtype) == width)
				PE_TRY(add_tensor(text, b->arrays[i].name, &b->arrays[i].tensor, &offset));
	PE_TRY(pe_text_string(text, "}"));
	return add_padding(text);
}

static pe_status write_all(const pe_bundle *b, const struct pe_text *header, struct pe_sink *sink)
{
	unsigned char length[8];
	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)((uint64_t)header->size >> 8 * i);
	PE_TRY(pe_sink_write(sink, length, sizeof length));
	PE_TRY(pe_sink_write(sink, header->bytes, (size_t)header->size));
	for (size_t width = WIDEST; width > 0; width /= 2)
		for (int64_t i = 0; i < b->count; i++)
			if (pe_dtype_size(b->arrays[i].tensor.dtype) == width)
				PE_TRY(pe_sink_tensor(sink, &b->arrays[i].tensor));
	return PE_OK;
}

pe_status pe_safetensors_check(const pe_bundle *bundle)
{
	if (pe_is_big_endian())
		return pe_fail(bundle->ctx, PE_ERR_UNSUPPORTED, "safetensors are not written on this machine");
	if (pe_bundle_find(bundle, "__metadata__", NULL))
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT, "__metadata__ is no name for an array in safetensors");
	return PE_OK;
}

pe_status pe_safetensors_write(pe_bundle *bundle, struct pe_sink *sink)
{
	struct pe_text header = {.ctx = bundle->ctx};
	pe_status status = make_header(bundle, &header);
	if (status == PE_OK)
		status = write_all(bundle, &header, sink);
	pe_text_free(&header);
	return status;
}
