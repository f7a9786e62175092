/* SPDX-License-Identifier: BSD-2-Clause
 * Files are read, not mapped: into large pages that is as fast, and a file that somebody
 * shortens meanwhile is a short read here and a SIGBUS there. */
#include "io/file_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/digest.h"
#include "pool.h"

#define MAX_READ ((size_t)1 << 30)
#define FIRST_CAPACITY (64 * 1024)
#define WORTH_THREADS \
	(64 * 1024) /* bytes, unpacking and digesting of which takes longer than waking a thread */

pe_status pe_fail_errno(pe_context *ctx, const char *name, int error)
{
	char text[256];
	if (strerror_r(error, text, sizeof text) != 0)
		text[0] = '\0';
	return pe_fail(ctx, PE_ERR_IO, "%s: %s", name, text);
}

struct buffer {
	char *bytes;
	int64_t capacity, used;
};

static ssize_t read_some(int fd, void *to, size_t size)
{
	ssize_t got;
	do
		got = read(fd, to, size < MAX_READ ? size : MAX_READ);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Reads to the end. There is always room for one byte more: the NUL, or the sign that the file has grown. */
static pe_status read_all(pe_context *ctx, int fd, const char *name, struct buffer *b)
{
	for (;;) {
		if (b->used == b->capacity)
			PE_TRY(pe_grow(ctx, &b->bytes, &b->capacity, b->used, b->used + 1, 1));
		ssize_t got = read_some(fd, b->bytes + b->used, (size_t)(b->capacity - b->used));
		if (got < 0)
			return pe_fail_errno(ctx, name, errno);
		if (got == 0)
			return PE_OK;
		b->used += got;
	}
}

static pe_status first_buffer(pe_context *ctx, int fd, const char *name, struct buffer *b)
{
	struct stat info;
	if (fstat(fd, &info) != 0)
		return pe_fail_errno(ctx, name, errno);
	if (S_ISDIR(info.st_mode))
		return pe_fail_errno(ctx, name, EISDIR);
	int64_t expected = S_ISREG(info.st_mode) && info.st_size > 0 ? (int64_t)info.st_size : 0;
	return pe_grow(ctx, &b->bytes, &b->capacity, 0, expected ? expected + 1 : FIRST_CAPACITY, 1);
}

static pe_status read_packed(pe_context *ctx, int fd, const char *name, struct buffer *b)
{
	PE_TRY(first_buffer(ctx, fd, name, b));
	PE_TRY(read_all(ctx, fd, name, b));
	b->bytes[b->used] = '\0';
	return PE_OK;
}

/* ---- unpacking, and the digest, at the same time ------------------------------------ */

struct set {
	struct pe_file *files;
	struct buffer *packed; /* of each, what was read */
	int64_t count;
	struct pe_digest *digest;
};

static void digest_all(const struct set *set)
{
	for (int64_t i = 0; i < set->count; i++)
		pe_digest_add(set->digest, set->packed[i].bytes, (size_t)set->packed[i].used);
}

/* Of the last file, the one before it, …, and in the end the digest. */
static pe_status unpack_one(pe_context *worker, void *arg, int64_t index)
{
	struct set *set = arg;
	if (index == set->count) {
		if (set->digest)
			digest_all(set);
		return PE_OK;
	}
	struct pe_file *file = &set->files[set->count - 1 - index];
	const struct buffer *packed = &set->packed[set->count - 1 - index];
	size_t size = (size_t)packed->used;
	file->bytes = packed->bytes;
	file->size = size;
	if (pe_is_gzip(packed->bytes, size))
		PE_TRY(pe_gunzip(worker, packed->bytes, size, file->path, 0, &file->bytes, &file->size));
	return file->then ? file->then(worker, file->arg, file) : PE_OK;
}

static pe_status unpack_each(pe_context *ctx, struct set *set)
{
	int64_t bytes = 0;
	for (int64_t i = 0; i < set->count; i++)
		bytes += set->packed[i].used;
	if (bytes >= WORTH_THREADS)
		return pe_parallel(ctx, set->count + 1, unpack_one, set, NULL);
	for (int64_t i = 0; i <= set->count; i++)
		PE_TRY(unpack_one(ctx, set, i));
	return PE_OK;
}

/* Takes over what was read, if that went well. */
static pe_status unpack(pe_context *ctx, struct set *set, pe_status status)
{
	if (status == PE_OK)
		status = unpack_each(ctx, set);
	for (int64_t i = 0; i < set->count; i++) {
		struct pe_file *file = &set->files[i];
		if (file->bytes != set->packed[i].bytes)
			pe_free(ctx, set->packed[i].bytes);
		if (status == PE_OK)
			continue;
		pe_free(ctx, file->bytes);
		file->bytes = NULL;
	}
	return status;
}

/* ---- files -------------------------------------------------------------------------- */

static pe_status read_path(pe_context *ctx, const char *path, struct buffer *b)
{
	int fd;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return pe_fail_errno(ctx, path, errno);
	pe_status status = read_packed(ctx, fd, path, b);
	close(fd);
	return status;
}

pe_status pe_file_read_packed(pe_context *ctx, const char *path, char **bytes, size_t *size)
{
	struct buffer b = {0};
	pe_status status = read_path(ctx, path, &b);
	if (status != PE_OK)
		pe_free(ctx, b.bytes);
	*bytes = status == PE_OK ? b.bytes : NULL;
	*size = status == PE_OK ? (size_t)b.used : 0;
	return status;
}

pe_status pe_files_read(pe_context *ctx, struct pe_file *files, int64_t count)
{
	struct set set = {.files = files, .count = count, .digest = ctx->digest};
	set.packed = pe_alloc_zero(ctx, count, sizeof *set.packed);
	if (!set.packed)
		return PE_ERR_NOMEM;
	pe_status status = PE_OK;
	for (int64_t i = 0; i < count && status == PE_OK; i++)
		status = read_path(ctx, files[i].path, &set.packed[i]);
	status = unpack(ctx, &set, status);
	pe_free(ctx, set.packed);
	return status;
}

pe_status pe_file_read_fd(pe_context *ctx, int fd, const char *name, char **bytes, size_t *size)
{
	struct pe_file file = {.path = name};
	struct buffer packed = {0};
	struct set set = {&file, &packed, 1, ctx->digest};
	pe_status status = unpack(ctx, &set, read_packed(ctx, fd, name, &packed));
	*bytes = file.bytes;
	*size = status == PE_OK ? file.size : 0;
	return status;
}

pe_status pe_file_read(pe_context *ctx, const char *path, char **bytes, size_t *size)
{
	struct pe_file file = {.path = path};
	*bytes = NULL;
	*size = 0;
	if (strcmp(path, "-") == 0)
		return pe_file_read_fd(ctx, STDIN_FILENO, "standard input", bytes, size);
	PE_TRY(pe_files_read(ctx, &file, 1));
	*bytes = file.bytes;
	*size = file.size;
	return PE_OK;
}
