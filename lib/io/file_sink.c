/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* realpath, fallocate */
#include "io/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "io/file_source.h"

#define BUFFER (64 * 1024)
#define MAX_WRITE ((size_t)1 << 30)
#define ATTEMPTS 100
#define RESERVED ((size_t)1 << 20) /* from so many bytes on, space is reserved at once */

/* ---- writing ------------------------------------------------------------------------- */

/* Drops the first `done` bytes of the two parts. */
static void advance(struct iovec part[2], size_t done)
{
	for (int i = 0; i < 2; i++) {
		size_t step = done < part[i].iov_len ? done : part[i].iov_len;
		part[i].iov_base = (char *)part[i].iov_base + step;
		part[i].iov_len -= step;
		done -= step;
	}
}

static ssize_t write_some(int fd, const struct iovec part[2])
{
	struct iovec now[2] = {part[0], part[1]};
	ssize_t done;
	if (now[1].iov_len > MAX_WRITE)
		now[1].iov_len = MAX_WRITE;
	do
		done = now[0].iov_len ? writev(fd, now, 2) : write(fd, now[1].iov_base, now[1].iov_len);
	while (done < 0 && errno == EINTR);
	return done;
}

/* Blocks found all at once cost less than page after page. false: there is no room, says errno. Where it does
 * not work at all, the write tells. */
static bool reserve(const struct pe_sink *s, int64_t offset, size_t size)
{
#ifdef FALLOC_FL_KEEP_SIZE
	if (s->temporary && size >= RESERVED && fallocate(s->fd, FALLOC_FL_KEEP_SIZE, offset, (off_t)size) != 0)
		return errno != ENOSPC && errno != EDQUOT;
#else
	(void)s, (void)offset, (void)size;
#endif
	return true;
}

/* Writes the buffer, and then these bytes. */
static pe_status write_through(struct pe_sink *s, const void *bytes, size_t size)
{
	struct iovec part[2] = {{s->buffer, s->buffered}, {NULL, size}};
	memcpy(&part[1].iov_base, &bytes, sizeof bytes); /* iovec has no const */
	s->buffered = 0;
	while (part[0].iov_len + part[1].iov_len > 0) {
		ssize_t done = write_some(s->fd, part);
		if (done < 0)
			return pe_fail_errno(s->ctx, s->name, errno);
		advance(part, (size_t)done);
	}
	return PE_OK;
}

pe_status pe_sink_write(struct pe_sink *sink, const void *bytes, size_t size)
{
	sink->written += (int64_t)size;
	if (size > BUFFER - sink->buffered) {
		(void)reserve(sink, sink->written - (int64_t)size, size);
		return write_through(sink, bytes, size);
	}
	if (size > 0)
		memcpy(sink->buffer + sink->buffered, bytes, size);
	sink->buffered += size;
	return PE_OK;
}

static pe_status take(void *arg, const void *bytes, size_t size)
{
	return pe_sink_write(arg, bytes, size);
}

pe_status pe_sink_tensor(struct pe_sink *sink, const pe_tensor *tensor)
{
	return pe_tensor_blocks(sink->ctx, tensor, take, sink);
}

pe_status pe_sink_skip(struct pe_sink *sink, int64_t size)
{
	PE_TRY(write_through(sink, "", 0));
	if (lseek(sink->fd, (off_t)size, SEEK_CUR) < 0 || !reserve(sink, sink->written, (size_t)size))
		return pe_fail_errno(sink->ctx, sink->name, errno);
	sink->written += size;
	return PE_OK;
}

pe_status pe_sink_write_at(
	struct pe_sink *sink, pe_context *worker, int64_t offset, const void *bytes, size_t size)
{
	const char *from = bytes;
	while (size > 0) {
		ssize_t done = pwrite(sink->fd, from, size < MAX_WRITE ? size : MAX_WRITE, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return pe_fail_errno(worker, sink->name, errno);
		from += done;
		offset += done;
		size -= (size_t)done;
	}
	return PE_OK;
}

/* ---- opening ------------------------------------------------------------------------- */

pe_status pe_sink_open_fd(pe_context *ctx, int fd, const char *name, struct pe_sink *out)
{
	*out = (struct pe_sink){.ctx = ctx, .name = name, .fd = fd};
	out->buffer = pe_alloc(ctx, BUFFER, 1);
	return out->buffer ? PE_OK : PE_ERR_NOMEM;
}

char *pe_temporary_name(pe_context *ctx, const char *path, int attempt)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t mix = (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 32) + (uint64_t)(uintptr_t)ctx;
	mix = (mix + (uint64_t)attempt) * 0x9e3779b97f4a7c15;
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash + 1 - path) : 0, size = strlen(path) + 32;
	char *name = pe_alloc(ctx, (int64_t)size, 1);
	/* The middle of a long name is left out: a name has at most 255 bytes. */
	if (name)
		snprintf(
			name, size, "%.*s.%.200s.posenc-%08x", (int)folder, path, path + folder, (unsigned)(mix >> 32));
	return name;
}

/* Opens s->temporary next to s->target, with a name that nobody has. */
static pe_status open_temporary(struct pe_sink *s)
{
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		s->temporary = pe_temporary_name(s->ctx, s->target, attempt);
		if (!s->temporary)
			return PE_ERR_NOMEM;
		s->fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (s->fd >= 0)
			return PE_OK;
		int error = errno;
		pe_free(s->ctx, s->temporary);
		s->temporary = NULL;
		if (error != EEXIST && error != EINTR)
			return pe_fail_errno(s->ctx, s->name, error);
	}
	return pe_fail_errno(s->ctx, s->name, EEXIST);
}

char *pe_resolve_path(pe_context *ctx, const char *path)
{
	struct stat info;
	char *real = lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(path, NULL) : NULL;
	char *copy = pe_strdup(ctx, real ? real : path);
	free(real);
	return copy;
}

static pe_status open_file(struct pe_sink *s, const char *path)
{
	struct stat old;
	bool exists = stat(path, &old) == 0;
	if (!exists && errno != ENOENT)
		return pe_fail_errno(s->ctx, path, errno);
	if (exists && S_ISDIR(old.st_mode))
		return pe_fail_errno(s->ctx, path, EISDIR);
	if (exists && !S_ISREG(old.st_mode)) {
		s->fd = open(path, O_WRONLY | O_CLOEXEC);
		return s->fd < 0 ? pe_fail_errno(s->ctx, path, errno) : PE_OK;
	}
	s->target = pe_resolve_path(s->ctx, path);
	if (!s->target)
		return PE_ERR_NOMEM;
	PE_TRY(open_temporary(s));
	if (exists && fchmod(s->fd, old.st_mode & 07777) != 0)
		return pe_fail_errno(s->ctx, path, errno);
	return PE_OK;
}

pe_status pe_sink_open(pe_context *ctx, const char *path, struct pe_sink *out)
{
	*out = (struct pe_sink){.ctx = ctx, .name = path, .fd = -1};
	out->buffer = pe_alloc(ctx, BUFFER, 1);
	pe_status status = out->buffer ? open_file(out, path) : PE_ERR_NOMEM;
	out->owns_fd = true;
	if (status != PE_OK)
		pe_sink_abort(out);
	return status;
}

pe_status pe_sink_try(pe_context *ctx, const char *path)
{
	struct stat old;
	struct pe_sink sink;
	if (stat(path, &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)) /* a reader would notice */
		return access(path, W_OK) == 0 ? PE_OK : pe_fail_errno(ctx, path, errno);
	PE_TRY(pe_sink_open(ctx, path, &sink));
	pe_sink_abort(&sink);
	return PE_OK;
}

/* ---- the end ------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void pe_sync_directory_of(pe_context *ctx, const char *path)
{
	char *folder = pe_strdup(ctx, path);
	if (!folder)
		return;
	char *slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pe_free(ctx, folder);
	if (fd < 0)
		return;
	(void)fsync(fd); /* some file systems cannot; the file is there all the same */
	close(fd);
}

static pe_status close_fd(struct pe_sink *s)
{
	int fd = s->fd;
	s->fd = -1;
	if (!s->owns_fd || fd < 0 || close(fd) == 0 || errno == EINTR)
		return PE_OK;
	return pe_fail_errno(s->ctx, s->name, errno);
}

static pe_status publish(struct pe_sink *s)
{
	double start = seconds();
	if (fsync(s->fd) != 0 && errno != EINVAL)
		return pe_fail_errno(s->ctx, s->name, errno);
	s->sync_seconds = seconds() - start;
	PE_TRY(close_fd(s));
	if (rename(s->temporary, s->target) != 0)
		return pe_fail_errno(s->ctx, s->name, errno);
	pe_free(s->ctx, s->temporary);
	s->temporary = NULL;
	pe_sync_directory_of(s->ctx, s->target);
	s->sync_seconds = seconds() - start;
	return PE_OK;
}

pe_status pe_sink_commit(struct pe_sink *sink)
{
	pe_status status = write_through(sink, "", 0);
	if (status == PE_OK && sink->temporary)
		status = publish(sink);
	if (status == PE_OK)
		status = close_fd(sink);
	pe_sink_abort(sink);
	return status;
}

void pe_sink_abort(struct pe_sink *sink)
{
	if (!sink->ctx)
		return;
	if (sink->owns_fd && sink->fd >= 0)
		close(sink->fd);
	if (sink->temporary)
		unlink(sink->temporary);
	pe_free(sink->ctx, sink->temporary);
	pe_free(sink->ctx, sink->target);
	pe_free(sink->ctx, sink->buffer);
	double sync_seconds = sink->sync_seconds;
	*sink = (struct pe_sink){.fd = -1, .sync_seconds = sync_seconds};
}
