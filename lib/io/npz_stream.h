/* SPDX-License-Identifier: BSD-2-Clause
 * An .npz file of which some arrays come row by row, in any order: their places are kept free, and their
 * checksums put together from those of the parts. */
#ifndef PE_NPZ_STREAM_H
#define PE_NPZ_STREAM_H

#include "bundle.h"

struct pe_npz_stream;

/* Opens the file and lays out the awaited arrays of the bundle, which may get others until the end. path must
 * outlive the stream. */
pe_status pe_npz_stream_begin(
	const pe_bundle *bundle, const char *path, struct pe_npz_stream **out) PE_NODISCARD;
/* The name of the file until the end. */
const char *pe_npz_stream_file(const struct pe_npz_stream *stream);
/* Writes rows of array number `index`, one of the awaited. For several threads at once, each with a context
 * of its own for messages. */
pe_status pe_npz_stream_rows(struct pe_npz_stream *stream, pe_context *worker, int64_t index, int64_t first,
	const pe_tensor *rows) PE_NODISCARD;
/* Writes all else that the bundle holds, and gives the file its name. */
pe_status pe_npz_stream_end(struct pe_npz_stream *stream, double *sync_seconds) PE_NODISCARD;
/* Frees; of a file that was not ended nothing is left. stream may be NULL. */
void pe_npz_stream_free(struct pe_npz_stream *stream);

#endif
