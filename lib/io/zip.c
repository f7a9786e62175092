/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/zip.h"

#include <string.h>

#define LOCAL_SIZE 30
#define ENTRY_SIZE 46
#define LOCAL_CRC 14 /* where the checksum stands in each */
#define ENTRY_CRC 16
#define MAX_EXTRA 128
#define EPOCH_DATE 0x0021   /* 1980-01-01, the earliest: equal arrays give equal files */
#define PADDING_ID 0xd935   /* the extra field that zipalign pads with */
#define UNIX_FILE 0x81a4    /* a regular file, rw-r--r-- */
#define FLAG_UTF8 (1 << 11) /* names are UTF-8 */

static unsigned char *put(unsigned char *p, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		*p++ = (unsigned char)(value >> 8 * i);
	return p;
}

struct pe_zip pe_zip_start(struct pe_sink *sink)
{
	return (struct pe_zip){
		.sink = sink, .directory = {.ctx = sink->ctx}, .size_limit = 0xffffffff, .member_limit = 0xffff};
}

void pe_zip_free(struct pe_zip *zip)
{
	pe_text_free(&zip->directory);
}

static uint64_t narrow(const struct pe_zip *zip, uint64_t value)
{
	return value >= zip->size_limit ? 0xffffffff : value;
}

/* The fields that local header and directory entry share, from "version needed" on. */
static unsigned char *common(unsigned char *p, const struct pe_zip *zip, const char *name, uint64_t size,
	uint32_t crc, bool wide, size_t extra)
{
	p = put(p, wide ? 45 : 20, 2);
	p = put(p, FLAG_UTF8, 2);
	p = put(p, 0, 2); /* stored */
	p = put(p, 0, 2); /* time */
	p = put(p, EPOCH_DATE, 2);
	p = put(p, crc, 4);
	p = put(p, narrow(zip, size), 4);
	p = put(p, narrow(zip, size), 4);
	p = put(p, strlen(name), 2);
	return put(p, extra, 2);
}

/* Padding so that header, name and extra field together end at a multiple of 64. */
static unsigned char *pad(unsigned char *p, uint64_t end)
{
	size_t gap = (size_t)(-end % 64);
	if (gap == 0)
		return p;
	size_t field = gap < 6 ? gap + 64 : gap;
	p = put(p, PADDING_ID, 2);
	p = put(p, field - 4, 2);
	p = put(p, 64, 2);
	memset(p, 0, field - 6);
	return p + field - 6;
}

static pe_status local_header(
	struct pe_zip *zip, const char *name, uint64_t offset, uint64_t size, uint32_t crc)
{
	unsigned char header[LOCAL_SIZE], extra[MAX_EXTRA], *e = extra;
	size_t length = strlen(name);
	bool wide = size >= zip->size_limit;
	if (wide) {
		e = put(e, 1, 2);
		e = put(e, 16, 2);
		e = put(e, size, 8);
		e = put(e, size, 8);
	}
	e = pad(e, offset + LOCAL_SIZE + length + (uint64_t)(e - extra));
	memcpy(header, "PK\3\4", 4);
	common(header + 4, zip, name, size, crc, wide, (size_t)(e - extra));
	PE_TRY(pe_sink_write(zip->sink, header, sizeof header));
	PE_TRY(pe_sink_write(zip->sink, name, length));
	return pe_sink_write(zip->sink, extra, (size_t)(e - extra));
}

static pe_status directory_entry(
	struct pe_zip *zip, const char *name, uint64_t offset, uint64_t size, uint32_t crc)
{
	unsigned char entry[ENTRY_SIZE + 32], *p = entry, *extra = entry + ENTRY_SIZE, *e = extra + 4;
	if (size >= zip->size_limit) {
		e = put(e, size, 8);
		e = put(e, size, 8);
	}
	if (offset >= zip->size_limit)
		e = put(e, offset, 8);
	bool wide = e > extra + 4;
	size_t extra_size = wide ? (size_t)(e - extra) : 0;
	put(put(extra, 1, 2), (uint64_t)(e - extra - 4), 2);
	memcpy(p, "PK\1\2", 4);
	p = put(p + 4, 3 << 8 | 45, 2); /* made by a Unix program */
	p = common(p, zip, name, size, crc, wide, extra_size);
	p = put(p, 0, 2 + 2 + 2); /* comment, disk, internal attributes */
	p = put(p, (uint64_t)UNIX_FILE << 16, 4);
	put(p, narrow(zip, offset), 4);
	PE_TRY(pe_text_add(&zip->directory, entry, ENTRY_SIZE));
	PE_TRY(pe_text_string(&zip->directory, name));
	return pe_text_add(&zip->directory, extra, extra_size);
}

pe_status pe_zip_member(struct pe_zip *zip, const char *name, uint64_t size, uint32_t crc)
{
	uint64_t offset = (uint64_t)zip->sink->written;
	PE_TRY(directory_entry(zip, name, offset, size, crc));
	zip->members++;
	return local_header(zip, name, offset, size, crc);
}

struct pe_zip_place pe_zip_next_place(const struct pe_zip *zip)
{
	return (struct pe_zip_place){zip->sink->written, zip->directory.size};
}

pe_status pe_zip_set_crc(struct pe_zip *zip, const struct pe_zip_place *place, uint32_t crc)
{
	unsigned char bytes[4];
	put(bytes, crc, sizeof bytes);
	memcpy(zip->directory.bytes + place->entry + ENTRY_CRC, bytes, sizeof bytes);
	return pe_sink_write_at(zip->sink, zip->sink->ctx, place->header + LOCAL_CRC, bytes, sizeof bytes);
}

/* The zip64 end record and its locator. */
static pe_status end64(struct pe_zip *zip, uint64_t start, uint64_t size)
{
	unsigned char record[56 + 20], *p = record;
	memcpy(p, "PK\6\6", 4);
	p = put(p + 4, 56 - 12, 8);
	p = put(p, 3 << 8 | 45, 2);
	p = put(p, 45, 2);
	p = put(p, 0, 8); /* disks */
	p = put(p, zip->members, 8);
	p = put(p, zip->members, 8);
	p = put(p, size, 8);
	p = put(p, start, 8);
	memcpy(p, "PK\6\7", 4);
	p = put(p + 4, 0, 4);
	p = put(p, start + size, 8);
	put(p, 1, 4); /* disks in all */
	return pe_sink_write(zip->sink, record, sizeof record);
}

pe_status pe_zip_finish(struct pe_zip *zip)
{
	unsigned char end[22], *p = end;
	uint64_t start = (uint64_t)zip->sink->written, size = (uint64_t)zip->directory.size;
	bool many = zip->members >= zip->member_limit;
	PE_TRY(pe_sink_write(zip->sink, zip->directory.bytes, (size_t)size));
	if (many || start >= zip->size_limit || size >= zip->size_limit)
		PE_TRY(end64(zip, start, size));
	uint64_t members = many ? 0xffff : zip->members;
	memcpy(p, "PK\5\6", 4);
	p = put(p + 4, 0, 4); /* disks */
	p = put(p, members, 2);
	p = put(p, members, 2);
	p = put(p, narrow(zip, size), 4);
	p = put(p, narrow(zip, start), 4);
	put(p, 0, 2); /* comment */
	return pe_sink_write(zip->sink, end, sizeof end);
}
