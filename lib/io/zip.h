/* SPDX-License-Identifier: BSD-2-Clause
 * ZIP archives as .npz files use them (PKWARE APPNOTE 6.3): stored and deflated members, zip64. */
#ifndef PE_ZIP_H
#define PE_ZIP_H

#include "context.h"
#include "io/file_sink.h"
#include "io/text.h"

/* ---- reading ------------------------------------------------------------------------- */

struct pe_unzip {
	pe_context *ctx;
	const char *source; /* for messages */
	const unsigned char *bytes;
	uint64_t size;
	uint64_t at, end;  /* of the central directory */
	uint64_t left;     /* members still to come */
	uint64_t packed;   /* bytes of the members so far: more than the file has is a fraud */
	uint64_t unpacked; /* bytes inflated so far */
};

struct pe_zip_member {
	char name[512]; /* longer names are refused */
	uint32_t flags, method, crc;
	uint64_t packed, size, offset;
};

/* Finds the central directory of an archive in memory. */
pe_status pe_unzip_start(
	pe_context *ctx, const char *bytes, size_t size, const char *source, struct pe_unzip *out) PE_NODISCARD;
/* The next member; call while zip->left > 0. */
pe_status pe_unzip_next(struct pe_unzip *zip, struct pe_zip_member *out) PE_NODISCARD;
/* The member's data, checked by CRC: where they are stored, or inflated into *owned, which is
 * released by pe_free; it is NULL for stored ones. */
pe_status pe_unzip_data(
	struct pe_unzip *zip, const struct pe_zip_member *member, const char **data, void **owned) PE_NODISCARD;

/* ---- writing ------------------------------------------------------------------------- */

struct pe_zip {
	struct pe_sink *sink;
	struct pe_text directory;
	uint64_t members;
	uint64_t size_limit;   /* sizes and offsets from here on are written as zip64: 0xffffffff */
	uint64_t member_limit; /* so many members or more need zip64: 0xffff */
};

/* Starts an archive at the sink's place, which counts as offset 0. */
struct pe_zip pe_zip_start(struct pe_sink *sink);
/* Writes the header of a stored member, padded so that its data, which the caller then writes,
 * start at a multiple of 64. crc is that of the data. The time is always 1980-01-01. */
pe_status pe_zip_member(struct pe_zip *zip, const char *name, uint64_t size, uint32_t crc) PE_NODISCARD;
/* Where a member's checksum stands. */
struct pe_zip_place {
	int64_t header, entry;
};
/* That of the member that pe_zip_member will write next. */
struct pe_zip_place pe_zip_next_place(const struct pe_zip *zip);
/* Sets the checksum of a member that was written with another, in an archive that is a file's only content.
 */
pe_status pe_zip_set_crc(struct pe_zip *zip, const struct pe_zip_place *place, uint32_t crc) PE_NODISCARD;
/* Writes the central directory. */
pe_status pe_zip_finish(struct pe_zip *zip) PE_NODISCARD;
/* Releases what the archive holds in memory, finished or not. */
void pe_zip_free(struct pe_zip *zip);

#endif
