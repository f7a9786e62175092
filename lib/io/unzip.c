/* SPDX-License-Identifier: BSD-2-Clause
 * Sizes are taken from the central directory, so that members with data descriptors need no
 * special care. Every offset is checked against the file before it is followed. */
#include <libdeflate.h>
#include <string.h>

#include "io/file_source.h"
#include "io/formats.h"
#include "io/zip.h"

#define END_SIZE 22
#define END64_SIZE 56
#define LOCATOR_SIZE 20
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30
#define MAX_COMMENT 65535
#define MAX_RATIO 1032 /* of deflate */

static uint64_t get(const unsigned char *p, int bytes)
{
	uint64_t value = 0;
	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | p[i];
	return value;
}

static bool inside(uint64_t size, uint64_t at, uint64_t length)
{
	return at <= size && length <= size - at;
}

static bool has_mark(const struct pe_unzip *z, uint64_t at, uint64_t length, const char *mark)
{
	return inside(z->size, at, length) && memcmp(z->bytes + at, mark, 4) == 0;
}

bool pe_is_zip(const char *bytes, size_t size)
{
	return size >= END_SIZE && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0);
}

static pe_status damaged(const struct pe_unzip *z, const char *what)
{
	return pe_fail(z->ctx, PE_ERR_FORMAT, "%s: the archive is damaged or cut short: %s", z->source, what);
}

/* ---- the central directory ------------------------------------------------------------ */

static bool find_end(const struct pe_unzip *z, uint64_t *out)
{
	uint64_t lowest = z->size > END_SIZE + MAX_COMMENT ? z->size - END_SIZE - MAX_COMMENT : 0;
	for (uint64_t at = z->size - END_SIZE + 1; at-- > lowest;)
		if (has_mark(z, at, END_SIZE, "PK\5\6") && at + END_SIZE + get(z->bytes + at + 20, 2) == z->size) {
			*out = at;
			return true;
		}
	return false;
}

/* The zip64 end record is there if its locator stands right before the common one. */
static void read_end64(struct pe_unzip *z, uint64_t end, uint64_t *size)
{
	if (end < LOCATOR_SIZE || !has_mark(z, end - LOCATOR_SIZE, LOCATOR_SIZE, "PK\6\7"))
		return;
	uint64_t at = get(z->bytes + end - LOCATOR_SIZE + 8, 8);
	if (!has_mark(z, at, END64_SIZE, "PK\6\6"))
		return;
	z->left = get(z->bytes + at + 32, 8);
	*size = get(z->bytes + at + 40, 8);
	z->at = get(z->bytes + at + 48, 8);
}

pe_status pe_unzip_start(
	pe_context *ctx, const char *bytes, size_t size, const char *source, struct pe_unzip *out)
{
	struct pe_unzip *z = out;
	*z = (struct pe_unzip){.ctx = ctx, .source = source, .bytes = (const unsigned char *)bytes, .size = size};
	uint64_t end, length;
	if (size < END_SIZE || !find_end(z, &end))
		return damaged(z, "it has no directory at its end");
	z->left = get(z->bytes + end + 10, 2);
	length = get(z->bytes + end + 12, 4);
	z->at = get(z->bytes + end + 16, 4);
	if (z->left == 0xffff || length == 0xffffffff || z->at == 0xffffffff)
		read_end64(z, end, &length);
	if (!inside(end, z->at, length) || z->left > length / ENTRY_SIZE)
		return damaged(z, "its directory is not where it should be");
	z->end = z->at + length;
	return PE_OK;
}

/* Sizes and offset that did not fit into 32 bits stand in the extra field, in this order. */
static bool read_extra(const unsigned char *extra, uint64_t size, struct pe_zip_member *m)
{
	uint64_t *const wide[] = {&m->size, &m->packed, &m->offset};
	for (uint64_t at = 0; inside(size, at, 4);) {
		uint64_t id = get(extra + at, 2), length = get(extra + at + 2, 2), field = at + 4;
		at = field + length;
		if (!inside(size, field, length))
			return false;
		for (int i = 0; id == 1 && i < 3; i++) {
			if (*wide[i] != 0xffffffff)
				continue;
			if (!inside(at, field, 8))
				return false;
			*wide[i] = get(extra + field, 8);
			field += 8;
		}
	}
	return true;
}

pe_status pe_unzip_next(struct pe_unzip *zip, struct pe_zip_member *out)
{
	struct pe_unzip *z = zip;
	const unsigned char *p = z->bytes + z->at;
	if (!inside(z->end, z->at, ENTRY_SIZE) || memcmp(p, "PK\1\2", 4) != 0)
		return damaged(z, "its directory is malformed");
	uint64_t name = get(p + 28, 2), extra = get(p + 30, 2), comment = get(p + 32, 2);
	if (!inside(z->end, z->at, ENTRY_SIZE + name + extra + comment))
		return damaged(z, "its directory is malformed");
	*out = (struct pe_zip_member){.flags = (uint32_t)get(p + 8, 2),
		.method = (uint32_t)get(p + 10, 2),
		.crc = (uint32_t)get(p + 16, 4),
		.packed = get(p + 20, 4),
		.size = get(p + 24, 4),
		.offset = get(p + 42, 4)};
	if (name >= sizeof out->name || memchr(p + ENTRY_SIZE, '\0', name))
		return damaged(z, "the name of a member is too long or not text");
	memcpy(out->name, p + ENTRY_SIZE, name);
	if (!read_extra(p + ENTRY_SIZE + name, extra, out))
		return damaged(z, "its directory is malformed");
	z->at += ENTRY_SIZE + name + extra + comment;
	z->left--;
	return PE_OK;
}

/* ---- members -------------------------------------------------------------------------- */

static pe_status find_data(struct pe_unzip *z, const struct pe_zip_member *m, const unsigned char **out)
{
	if (!has_mark(z, m->offset, LOCAL_SIZE, "PK\3\4"))
		return damaged(z, "a member is not where the directory says");
	const unsigned char *p = z->bytes + m->offset;
	uint64_t start = m->offset + LOCAL_SIZE + get(p + 26, 2) + get(p + 28, 2);
	if (!inside(z->size, start, m->packed))
		return damaged(z, "a member reaches beyond the end");
	z->packed += m->packed;
	if (z->packed > z->size)
		return damaged(z, "members overlap");
	*out = z->bytes + start;
	return PE_OK;
}

static pe_status inflate(
	struct pe_unzip *z, const struct pe_zip_member *m, const unsigned char *in, void *out)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	if (!d)
		return pe_fail(z->ctx, PE_ERR_NOMEM, "out of memory");
	enum libdeflate_result result = libdeflate_deflate_decompress(d, in, m->packed, out, m->size, NULL);
	libdeflate_free_decompressor(d);
	if (result != LIBDEFLATE_SUCCESS)
		return pe_fail(
			z->ctx, PE_ERR_FORMAT, "%s: the compressed data of %s are damaged", z->source, m->name);
	return PE_OK;
}

static pe_status inflated(struct pe_unzip *z, const struct pe_zip_member *m, const unsigned char *in,
	const char **data, void **owned)
{
	if (m->size / MAX_RATIO > m->packed)
		return damaged(z, "a member's size is not possible");
	z->unpacked += m->size;
	if (z->unpacked > (uint64_t)pe_unpack_limit((int64_t)z->size))
		return pe_fail(z->ctx, PE_ERR_FORMAT,
			"%s: its members unpack to more than %lld bytes; store them uncompressed if that is right",
			z->source, (long long)pe_unpack_limit((int64_t)z->size));
	*owned = pe_alloc(z->ctx, (int64_t)m->size, 1);
	if (!*owned)
		return PE_ERR_NOMEM;
	*data = *owned;
	return inflate(z, m, in, *owned);
}

static pe_status check_crc(struct pe_unzip *z, const struct pe_zip_member *m, const char *data)
{
	if (libdeflate_crc32(0, data, m->size) != m->crc)
		return pe_fail(z->ctx, PE_ERR_FORMAT, "%s: %s is damaged: its checksum is wrong", z->source, m->name);
	return PE_OK;
}

pe_status pe_unzip_data(
	struct pe_unzip *zip, const struct pe_zip_member *member, const char **data, void **owned)
{
	const unsigned char *in = NULL;
	*owned = NULL;
	if (member->flags & 1)
		return pe_fail(zip->ctx, PE_ERR_UNSUPPORTED, "%s: %s is encrypted", zip->source, member->name);
	if (member->method != 0 && member->method != 8)
		return pe_fail(zip->ctx, PE_ERR_UNSUPPORTED, "%s: %s is compressed by method %u; deflate is known",
			zip->source, member->name, member->method);
	PE_TRY(find_data(zip, member, &in));
	if (member->method == 0 && member->size != member->packed)
		return damaged(zip, "a member's two sizes differ");
	*data = (const char *)in;
	pe_status status = member->method == 8 ? inflated(zip, member, in, data, owned) : PE_OK;
	if (status == PE_OK)
		status = check_crc(zip, member, *data);
	if (status != PE_OK) {
		pe_free(zip->ctx, *owned);
		*owned = NULL;
	}
	return status;
}
