/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/npz_stream.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/formats.h"
#include "io/npy.h"
#include "tensor.h"

/* Rows that were written, and the checksum of their bytes. */
struct piece {
	int64_t first, rows;
	uint32_t crc;
};

/* An awaited array. */
struct slot {
	int64_t index;  /* in the bundle */
	int64_t offset; /* of its data in the file */
	int64_t row_bytes;
	uint32_t crc; /* of the .npy header */
	struct pe_zip_place place;
	struct piece *pieces;
	int64_t count, capacity;
};

struct pe_npz_stream {
	const pe_bundle *bundle;
	struct pe_sink sink;
	struct pe_zip zip;
	pthread_mutex_t lock; /* of the slots' pieces */
	struct slot *slots;
	int64_t count;
};

/* ---- the beginning ------------------------------------------------------------------ */

static pe_status lay_out(struct pe_npz_stream *s, int64_t index)
{
	const pe_tensor *t = &s->bundle->arrays[index].tensor;
	struct slot *slot = &s->slots[s->count++];
	char header[PE_NPY_HEADER];
	size_t size = pe_npy_header(header, t->dtype, t->ndim, t->shape);
	int64_t bytes = pe_tensor_bytes(t), rows = t->shape[0];
	*slot = (struct slot){.index = index,
		.row_bytes = rows > 0 ? bytes / rows : 0,
		.crc = libdeflate_crc32(0, header, size),
		.place = pe_zip_next_place(&s->zip)};
	PE_TRY(pe_npz_member(&s->zip, s->bundle->arrays[index].name, header, size, bytes, 0));
	slot->offset = s->sink.written;
	return pe_sink_skip(&s->sink, bytes);
}

static pe_status lay_out_all(struct pe_npz_stream *s)
{
	const pe_bundle *b = s->bundle;
	s->slots = pe_alloc(b->ctx, b->count, sizeof *s->slots);
	if (!s->slots)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < b->count; i++)
		if (b->arrays[i].awaited)
			PE_TRY(lay_out(s, i));
	return PE_OK;
}

pe_status pe_npz_stream_begin(const pe_bundle *bundle, const char *path, struct pe_npz_stream **out)
{
	pe_context *ctx = bundle->ctx;
	struct pe_npz_stream *s = pe_alloc_zero(ctx, 1, sizeof *s);
	*out = NULL;
	if (!s)
		return PE_ERR_NOMEM;
	s->bundle = bundle;
	pthread_mutex_init(&s->lock, NULL);
	pe_status status = pe_sink_open(ctx, path, &s->sink);
	if (status == PE_OK && !s->sink.temporary)
		status = pe_fail(ctx, PE_ERR_UNSUPPORTED, "%s: only a file can be written in parts", path);
	if (status == PE_OK) {
		s->zip = pe_zip_start(&s->sink);
		status = lay_out_all(s);
	}
	if (status == PE_OK)
		*out = s;
	else
		pe_npz_stream_free(s);
	return status;
}

const char *pe_npz_stream_file(const struct pe_npz_stream *stream)
{
	return stream->sink.temporary;
}

/* ---- rows --------------------------------------------------------------------------- */

static struct slot *find(struct pe_npz_stream *s, int64_t index)
{
	struct slot *slot = s->slots;
	while (slot->index != index)
		slot++;
	return slot;
}

static pe_status check(
	pe_context *worker, const struct pe_bundle_array *array, int64_t first, const pe_tensor *rows)
{
	const pe_tensor *whole = &array->tensor;
	PE_TRY(pe_tensor_check_input(worker, rows, array->name));
	bool same = rows->dtype == whole->dtype && rows->ndim == whole->ndim && whole->ndim > 0;
	for (int32_t d = 1; same && d < whole->ndim; d++)
		same = rows->shape[d] == whole->shape[d];
	if (same && first >= 0 && first <= whole->shape[0] && rows->shape[0] <= whole->shape[0] - first)
		return PE_OK;
	return pe_fail(worker, PE_ERR_SHAPE, "%s: these rows have no place in it", array->name);
}

struct writing {
	struct pe_sink *sink;
	pe_context *worker;
	int64_t offset;
	uint32_t crc;
};

static pe_status write_block(void *arg, const void *bytes, size_t size)
{
	struct writing *w = arg;
	w->crc = libdeflate_crc32(w->crc, bytes, size);
	w->offset += (int64_t)size;
	return pe_sink_write_at(w->sink, w->worker, w->offset - (int64_t)size, bytes, size);
}

static pe_status note_piece(struct pe_npz_stream *s, struct slot *slot, struct piece piece)
{
	pe_context quiet = {
		.allocator = s->bundle->ctx->allocator}; /* others may use the bundle's for messages */
	pthread_mutex_lock(&s->lock);
	pe_status status =
		pe_grow(&quiet, &slot->pieces, &slot->capacity, slot->count, slot->count + 1, sizeof *slot->pieces);
	if (status == PE_OK)
		slot->pieces[slot->count++] = piece;
	pthread_mutex_unlock(&s->lock);
	return status;
}

pe_status pe_npz_stream_rows(
	struct pe_npz_stream *stream, pe_context *worker, int64_t index, int64_t first, const pe_tensor *rows)
{
	struct pe_npz_stream *s = stream;
	struct slot *slot = find(s, index);
	PE_TRY(check(worker, &s->bundle->arrays[index], first, rows));
	struct writing w = {&s->sink, worker, slot->offset + first * slot->row_bytes, 0};
	PE_TRY(pe_tensor_blocks(worker, rows, write_block, &w));
	if (rows->shape[0] == 0)
		return PE_OK;
	pe_status status = note_piece(s, slot, (struct piece){first, rows->shape[0], w.crc});
	return status == PE_OK ? PE_OK : pe_fail(worker, status, "out of memory");
}

/* ---- the end ------------------------------------------------------------------------ */

static int by_first(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	return (a->first > b->first) - (a->first < b->first);
}

/* Every row once? Then the checksum of the whole. */
static pe_status put_together(struct pe_npz_stream *s, struct slot *slot)
{
	const struct pe_bundle_array *array = &s->bundle->arrays[slot->index];
	const struct piece *piece = slot->pieces, *end = piece + slot->count;
	int64_t next = 0;
	uint32_t crc = slot->crc;
	if (slot->count > 0)
		qsort(slot->pieces, (size_t)slot->count, sizeof *slot->pieces, by_first);
	for (; piece < end && piece->first == next; piece++) {
		crc = (uint32_t)crc32_combine(crc, piece->crc, (z_off_t)(piece->rows * slot->row_bytes));
		next += piece->rows;
	}
	if (piece < end && piece->first < next)
		return pe_fail(s->bundle->ctx, PE_ERR_ARGUMENT, "%s: row %lld was written twice", array->name,
			(long long)piece->first);
	if (next < array->tensor.shape[0])
		return pe_fail(
			s->bundle->ctx, PE_ERR_ARGUMENT, "%s: row %lld was not written", array->name, (long long)next);
	return pe_zip_set_crc(&s->zip, &slot->place, crc);
}

pe_status pe_npz_stream_end(struct pe_npz_stream *stream, double *sync_seconds)
{
	struct pe_npz_stream *s = stream;
	for (int64_t i = 0; i < s->count; i++)
		PE_TRY(put_together(s, &s->slots[i]));
	PE_TRY(pe_npz_finish(s->bundle, &s->zip));
	pe_status status = pe_sink_commit(&s->sink);
	*sync_seconds = s->sink.sync_seconds;
	return status;
}

void pe_npz_stream_free(struct pe_npz_stream *stream)
{
	if (!stream)
		return;
	pe_context *ctx = stream->bundle->ctx;
	for (int64_t i = 0; i < stream->count; i++)
		pe_free(ctx, stream->slots[i].pieces);
	pe_free(ctx, stream->slots);
	pe_zip_free(&stream->zip);
	pe_sink_abort(&stream->sink);
	pthread_mutex_destroy(&stream->lock);
	pe_free(ctx, stream);
}
