/* SPDX-License-Identifier: BSD-2-Clause
 * Where files are written to: a file that appears whole or not at all, or an open descriptor. */
#ifndef PE_FILE_SINK_H
#define PE_FILE_SINK_H

#include "context.h"

struct pe_sink {
	pe_context *ctx;
	const char *name; /* for messages */
	int fd;
	bool owns_fd;
	int64_t written; /* bytes, those in the buffer included */
	char *buffer;    /* small writes wait here */
	size_t buffered;
	char *target, *temporary; /* NULL for a descriptor */
	double sync_seconds;      /* spent in fsync by pe_sink_commit */
};

/* Opens a temporary file next to path (which a symbolic link is followed to), with the mode of the
 * file that it will replace, or else that of any new file. A path that is there and is no regular
 * file, such as /dev/stdout or a named pipe, is written to directly. path must outlive the sink. */
pe_status pe_sink_open(pe_context *ctx, const char *path, struct pe_sink *out) PE_NODISCARD;
/* Whether pe_sink_open would succeed now, told by its own failure; leaves nothing behind. */
pe_status pe_sink_try(pe_context *ctx, const char *path) PE_NODISCARD;
/* Writes to a descriptor that stays the caller's. No signal is caught: writing to a pipe that
 * nobody reads is PE_ERR_IO only where SIGPIPE is ignored. */
pe_status pe_sink_open_fd(pe_context *ctx, int fd, const char *name, struct pe_sink *out) PE_NODISCARD;

/* Large blocks go to the system as they are, without a copy. */
pe_status pe_sink_write(struct pe_sink *sink, const void *bytes, size_t size) PE_NODISCARD;
/* Writes the elements in row-major order, without a copy if the tensor is dense. */
pe_status pe_sink_tensor(struct pe_sink *sink, const pe_tensor *tensor) PE_NODISCARD;

/* Leaves so many bytes out, for which there must be room, to be written by pe_sink_write_at. For sinks with a
 * temporary file. */
pe_status pe_sink_skip(struct pe_sink *sink, int64_t size) PE_NODISCARD;
/* Writes at an offset that was passed, and is not in the buffer any more. For several threads at once, each
 * with a context of its own for messages. */
pe_status pe_sink_write_at(
	struct pe_sink *sink, pe_context *worker, int64_t offset, const void *bytes, size_t size) PE_NODISCARD;

/* Writes what is left in the buffer; a file is then synchronised to the disk and takes its name.
 * Ends the sink whether it fails or not; a temporary file is gone then. */
pe_status pe_sink_commit(struct pe_sink *sink) PE_NODISCARD;
/* Ends the sink without a result. Does nothing to a sink that has ended or was never opened. */
void pe_sink_abort(struct pe_sink *sink);

/* The file that path names, symbolic links followed; a link that leads nowhere stands for itself. */
char *pe_resolve_path(pe_context *ctx, const char *path) PE_NODISCARD;
/* Makes the directory entry of path durable. */
void pe_sync_directory_of(pe_context *ctx, const char *path);
/* A name next to path that nothing has yet, ".NAME.posenc-XXXXXXXX"; attempt is 0, 1, … */
char *pe_temporary_name(pe_context *ctx, const char *path, int attempt) PE_NODISCARD;

/* Hands the elements of a tensor in row-major order to take, in blocks: the whole at once if it is
 * dense, else gathered into pieces. Stops at the first status that is not PE_OK. */
pe_status pe_tensor_blocks(pe_context *ctx, const pe_tensor *tensor,
	pe_status (*take)(void *arg, const void *bytes, size_t size), void *arg) PE_NODISCARD;

#endif
