/* SPDX-License-Identifier: BSD-2-Clause
 * Arrays in a .npz file: a zip archive of .npy members. The metadata are an array of bytes named
 * "metadata" that holds JSON, so that numpy.load can read every member. */
#include <libdeflate.h>
#include <string.h>

#include "io/formats.h"
#include "io/metadata.h"
#include "io/npy.h"
#include "io/zip.h"
#include "tensor.h"

#define METADATA "metadata"

/* ---- reading ------------------------------------------------------------------------- */

/* Cuts ".npy" off; false if it is not there. */
static bool cut_suffix(char *name)
{
	size_t length = strlen(name);
	if (length < 4 || strcmp(name + length - 4, ".npy") != 0)
		return false;
	name[length - 4] = '\0';
	return true;
}

static bool is_metadata(const struct pe_stored_array *a)
{
	return strcmp(a->name, METADATA) == 0 && a->kind == PE_ELEMENT_UINT && a->width == 1 && a->ndim == 1 &&
		(uint64_t)a->shape[0] == a->size;
}

/* The bytes are the file's, or `owned`, which goes to the bundle's array or is released. */
static pe_status read_array(
	pe_bundle *b, const char *name, const char *bytes, size_t size, void *owned, const char *source)
{
	struct pe_stored_array stored = {.name = name};
	bool done = false;
	pe_status status = pe_npy_parse(b->ctx, bytes, size, source, &stored);
	if (status == PE_OK && is_metadata(&stored))
		status = pe_metadata_read(b, stored.bytes, stored.size, &done);
	if (status == PE_OK && !done) {
		status = pe_import_array(b, source, &stored);
		struct pe_bundle_array *array = status == PE_OK ? &b->arrays[b->count - 1] : NULL;
		if (array && !array->owned) { /* a view: it needs the bytes */
			array->owned = owned;
			owned = NULL;
		}
	}
	pe_free(b->ctx, owned);
	return status;
}

static pe_status read_member(pe_bundle *b, struct pe_unzip *zip, struct pe_zip_member *member)
{
	const char *data;
	void *owned;
	if (!cut_suffix(member->name)) {
		pe_log(b->ctx, PE_LOG_INFO, "%s: %s is no .npy array and is left out", zip->source, member->name);
		return PE_OK;
	}
	PE_TRY(pe_unzip_data(zip, member, &data, &owned));
	return read_array(b, member->name, data, member->size, owned, zip->source);
}

pe_status pe_npz_read(pe_bundle *bundle, const char *bytes, size_t size, const char *source)
{
	struct pe_unzip zip;
	struct pe_zip_member member;
	bool torch = false, any = false;
	PE_TRY(pe_unzip_start(bundle->ctx, bytes, size, source, &zip));
	while (zip.left > 0) {
		PE_TRY(pe_unzip_next(&zip, &member));
		any = true;
		torch |= strstr(member.name, "data.pkl") != NULL;
		PE_TRY(read_member(bundle, &zip, &member));
	}
	if (any && bundle->count == 0 && bundle->entry_count == 0)
		return pe_fail(bundle->ctx, PE_ERR_FORMAT, "%s: this archive holds no .npy arrays%s", source,
			torch ? "; it was written by torch.save: write its tensors with numpy.savez or safetensors" : "");
	return PE_OK;
}

/* ---- writing ------------------------------------------------------------------------- */

static pe_status add_crc(void *arg, const void *bytes, size_t size)
{
	uint32_t *crc = arg;
	*crc = libdeflate_crc32(*crc, bytes, size);
	return PE_OK;
}

pe_status pe_npz_member(
	struct pe_zip *zip, const char *name, const char *header, size_t size, int64_t bytes, uint32_t crc)
{
	char member[256 + 4];
	memcpy(member, name, strlen(name) + 1);
	strcat(member, ".npy");
	PE_TRY(pe_zip_member(zip, member, size + (uint64_t)bytes, crc));
	return pe_sink_write(zip->sink, header, size);
}

static pe_status write_array(struct pe_zip *zip, const char *name, const pe_tensor *t)
{
	char header[PE_NPY_HEADER];
	size_t size = pe_npy_header(header, t->dtype, t->ndim, t->shape);
	uint32_t crc = libdeflate_crc32(0, header, size);
	PE_TRY(pe_tensor_blocks(zip->sink->ctx, t, add_crc, &crc));
	PE_TRY(pe_npz_member(zip, name, header, size, pe_tensor_bytes(t), crc));
	return pe_sink_tensor(zip->sink, t);
}

static pe_status write_metadata(const pe_bundle *b, struct pe_zip *zip)
{
	if (b->entry_count == 0)
		return PE_OK;
	struct pe_text text = {.ctx = b->ctx};
	pe_status status = pe_metadata_write(b, &text);
	pe_tensor t = pe_tensor_dense(text.bytes, PE_U8, 1, &text.size);
	if (status == PE_OK)
		status = write_array(zip, METADATA, &t);
	pe_text_free(&text);
	return status;
}

pe_status pe_npz_finish(const pe_bundle *bundle, struct pe_zip *zip)
{
	const pe_bundle *b = bundle;
	for (int64_t i = 0; i < b->count; i++)
		if (!b->arrays[i].awaited)
			PE_TRY(write_array(zip, b->arrays[i].name, &b->arrays[i].tensor));
	PE_TRY(write_metadata(b, zip));
	return pe_zip_finish(zip);
}

pe_status pe_npz_check(const pe_bundle *bundle)
{
	PE_TRY(pe_npy_check_types(bundle));
	if (bundle->entry_count > 0 && pe_bundle_find(bundle, METADATA, NULL))
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT,
			"an array named " METADATA " leaves no place for the bundle's metadata");
	return PE_OK;
}

pe_status pe_npz_write(pe_bundle *bundle, struct pe_sink *sink)
{
	struct pe_zip zip = pe_zip_start(sink);
	pe_status status = pe_npz_finish(bundle, &zip);
	pe_zip_free(&zip);
	return status;
}
