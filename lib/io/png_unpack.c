/* SPDX-License-Identifier: BSD-2-Clause
 * The pixels of a PNG file unpacked by libdeflate, two to three times faster than zlib, and handed to libpng
 * as a zlib stream of stored blocks (RFC 1951, section 3.2.4), which cost no more than their copying. They
 * lie where the samples will be, at the end: libpng has taken a row before it gives back its samples. */
#include <string.h>

#include <libdeflate.h>

#include "io/png_chunks.h"

#define BLOCK 65535
#define BLOCK_HEAD 5
#define STREAM_HEAD 2
#define STREAM_TAIL 4 /* a checksum, that of the file having been compared */

size_t pe_png_stored_size(const struct pe_png_raw *raw)
{
	return STREAM_HEAD + raw->size + (raw->size + BLOCK - 1) / BLOCK * BLOCK_HEAD + STREAM_TAIL;
}

/* Up to `size` of the n bytes at `from`, without the first `at`. */
static size_t copy_part(const uint8_t *from, size_t n, size_t at, uint8_t *out, size_t size)
{
	n = n - at < size ? n - at : size;
	memcpy(out, from + at, n);
	return n;
}

size_t pe_png_stored_copy(const struct pe_png_raw *raw, size_t at, uint8_t *out, size_t size)
{
	static const uint8_t start[STREAM_HEAD] = {0x78, 1}, end[STREAM_TAIL] = {0};
	size_t last = pe_png_stored_size(raw) - STREAM_TAIL;
	if (at < STREAM_HEAD)
		return copy_part(start, sizeof start, at, out, size);
	if (at >= last)
		return copy_part(end, sizeof end, at - last, out, size);
	size_t first = (at - STREAM_HEAD) / (BLOCK_HEAD + BLOCK) * BLOCK, left = raw->size - first;
	size_t n = left < BLOCK ? left : BLOCK;
	at = (at - STREAM_HEAD) % (BLOCK_HEAD + BLOCK);
	const uint8_t head[BLOCK_HEAD] = {
		n == left, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n, (uint8_t)(~n >> 8)};
	if (at < BLOCK_HEAD)
		return copy_part(head, sizeof head, at, out, size);
	return copy_part(raw->data + first, n, at - BLOCK_HEAD, out, size);
}

/* Bytes of all rows with their filters, and of the memory for them and the samples, row behind row. false if
 * they are not for here: interlaced, no valid header, more than a chunk holds or than the data can be. */
static bool measure(const struct pe_image *image, const struct pe_picture_source *source,
	const struct pe_png_layout *layout, int64_t *size, int64_t *room)
{
	static const int stored[] = {1, 0, 3, 1, 2, 0, 4}, expanded[] = {1, 0, 3, 3, 2, 0, 4};
	const uint8_t *header = source->data + 16;
	int64_t bits = header[8], kind = header[9], row, samples;
	if (kind > 6 || stored[kind] == 0 || bits > 16 || header[12] != 0)
		return false;
	if (!pe_mul(image->info.width, bits * stored[kind], &row) ||
		!pe_mul(image->info.width, (expanded[kind] + layout->transparent) * (bits > 8 ? 2 : 1), &samples))
		return false;
	row = row / 8 + (row % 8 > 0) + 1;
	return pe_mul(row, image->info.height, size) && pe_mul(pe_max(row, samples), image->info.height, room) &&
		*size / PE_DEFLATE_RATIO <= layout->data_bytes &&
		pe_png_stored_size(&(struct pe_png_raw){.size = (size_t)*size}) <= PE_PNG_LONGEST;
}

/* The data of the only IDAT chunk; NULL if there are several. */
static const uint8_t *find_packed(const struct pe_picture_source *source, const struct pe_png_layout *layout)
{
	const uint8_t *length = source->data + layout->first_data;
	bool only = layout->data_bytes ==
		((int64_t)length[0] << 24 | (int64_t)length[1] << 16 | (int64_t)length[2] << 8 | length[3]);
	return only ? length + 8 : NULL;
}

/* The data of all of them in a row. */
static uint8_t *gather(
	pe_context *ctx, const struct pe_picture_source *source, const struct pe_png_layout *layout)
{
	struct pe_png_stream stream;
	uint8_t *packed = pe_alloc(ctx, layout->data_bytes, 1);
	if (!packed)
		return NULL;
	pe_png_stream_start(&stream, source, layout, NULL);
	stream.at = layout->first_data;
	stream.stage = PE_PNG_PIXELS;
	(void)pe_png_stream_read(&stream, packed, (size_t)layout->data_bytes);
	return packed;
}

static bool unpack(const uint8_t *packed, size_t packed_size, const struct pe_png_raw *raw)
{
	size_t used = 0;
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool good =
		d && libdeflate_zlib_decompress_ex(d, packed, packed_size, raw->data, raw->size, &used, NULL) == 0;
	libdeflate_free_decompressor(d);
	return good && used == packed_size;
}

pe_status pe_png_unpack(struct pe_image *image, const struct pe_picture_source *source,
	const struct pe_png_layout *layout, struct pe_png_raw *out)
{
	int64_t size, room;
	*out = (struct pe_png_raw){0};
	if (source->lenient || !measure(image, source, layout, &size, &room))
		return PE_OK;
	const uint8_t *packed = find_packed(source, layout);
	uint8_t *gathered = packed ? NULL : gather(image->ctx, source, layout);
	uint8_t *samples = packed || gathered ? pe_alloc(image->ctx, room, 1) : NULL;
	struct pe_png_raw raw = {.size = (size_t)size};
	if (samples)
		raw.data = samples + room - size;
	if (samples && unpack(packed ? packed : gathered, (size_t)layout->data_bytes, &raw)) {
		image->samples = samples;
		*out = raw;
	} else {
		pe_free(image->ctx, samples);
	}
	pe_free(image->ctx, gathered);
	return samples ? PE_OK : PE_ERR_NOMEM;
}
