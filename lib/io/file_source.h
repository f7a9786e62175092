/* SPDX-License-Identifier: BSD-2-Clause
 * Whole files in memory. */
#ifndef PE_FILE_SOURCE_H
#define PE_FILE_SOURCE_H

#include "context.h"

/* Reads all of a file, or of standard input if path is "-", and unpacks it if its content is gzip
 * (whatever its name, any number of members). *bytes is released by pe_free; a NUL that *size does
 * not count follows the last byte. Fails with PE_ERR_IO ("PATH: No such file or directory"; a
 * directory is refused), PE_ERR_FORMAT if the gzip data are damaged, or PE_ERR_NOMEM. */
pe_status pe_file_read(pe_context *ctx, const char *path, char **bytes, size_t *size) PE_NODISCARD;
/* Likewise from an open descriptor, from where it stands to its end. name is for messages. */
pe_status pe_file_read_fd(pe_context *ctx, int fd, const char *name, char **bytes, size_t *size) PE_NODISCARD;

/* One of several files that are read at the same time. */
struct pe_file {
	const char *path; /* and its name in messages */
	char *bytes;
	size_t size;
	/* What a worker does with it right after unpacking it, or NULL. */
	pe_status (*then)(pe_context *worker, void *arg, const struct pe_file *file);
	void *arg;
};

/* Reads all of `files`, whose bytes are NULL before, as pe_file_read does, in the order in which they stand;
 * unpacks them by several threads, the last one first, for which reason that should be the largest. On
 * failure all bytes are NULL. */
pe_status pe_files_read(pe_context *ctx, struct pe_file *files, int64_t count) PE_NODISCARD;

/* The bytes of a file as they are, which do not go into the digest. */
pe_status pe_file_read_packed(pe_context *ctx, const char *path, char **bytes, size_t *size) PE_NODISCARD;

bool pe_is_gzip(const void *data, size_t size);
/* How many bytes packed data of this size may unpack to: 1 GiB or 128 times as much, whichever is
 * more. Only made-up data go beyond. */
int64_t pe_unpack_limit(int64_t packed);

/* Unpacks gzip data in memory; the result as in pe_file_read. Data that unpack to more than limit
 * bytes are refused; limit 0 stands for pe_unpack_limit. */
pe_status pe_gunzip(pe_context *ctx, const void *data, size_t size, const char *name, int64_t limit,
	char **bytes, size_t *out_size) PE_NODISCARD;

/* The first bytes of what gzip data hold, as far as they can be had, of damaged and cut data too: returns how
 * many, at most room. */
size_t pe_gunzip_head(const void *data, size_t size, uint8_t *out, size_t room);

/* PE_ERR_IO, "NAME: what errno means". */
pe_status pe_fail_errno(pe_context *ctx, const char *name, int error);

#endif
