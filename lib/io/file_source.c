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

#define MAX_READ ((size_t)1 << 30)
#define FIRST_CAPACITY (64 * 1024)

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

static pe_status unpack(pe_context *ctx, const char *name, struct buffer *b)
{
	char *unpacked;
	size_t size;
	pe_status status = pe_gunzip(ctx, b->bytes, (size_t)b->used, name, 0, &unpacked, &size);
	if (status != PE_OK)
		return status;
	pe_free(ctx, b->bytes);
	*b = (struct buffer){.bytes = unpacked, .capacity = (int64_t)size + 1, .used = (int64_t)size};
	return PE_OK;
}

pe_status pe_file_read_fd(pe_context *ctx, int fd, const char *name, char **bytes, size_t *size)
{
	struct buffer b = {0};
	*bytes = NULL;
	*size = 0;
	pe_status status = first_buffer(ctx, fd, name, &b);
	if (status == PE_OK)
		status = read_all(ctx, fd, name, &b);
	if (status == PE_OK && ctx->digest)
		pe_digest_add(ctx->digest, b.bytes, (size_t)b.used);
	if (status == PE_OK && pe_is_gzip(b.bytes, (size_t)b.used))
		status = unpack(ctx, name, &b);
	if (status != PE_OK) {
		pe_free(ctx, b.bytes);
		return status;
	}
	b.bytes[b.used] = '\0';
	*bytes = b.bytes;
	*size = (size_t)b.used;
	return PE_OK;
}

pe_status pe_file_read(pe_context *ctx, const char *path, char **bytes, size_t *size)
{
	*bytes = NULL;
	*size = 0;
	if (strcmp(path, "-") == 0)
		return pe_file_read_fd(ctx, STDIN_FILENO, "standard input", bytes, size);
	int fd;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return pe_fail_errno(ctx, path, errno);
	pe_status status = pe_file_read_fd(ctx, fd, path, bytes, size);
	close(fd);
	return status;
}
