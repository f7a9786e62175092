/* SPDX-License-Identifier: BSD-2-Clause
 * The pixels of a PNG file unpacked by libdeflate, two to three times faster than zlib, and handed to libpng
 * as a zlib stream of stored blocks (RFC 1951, section 3.2.4), which cost no more than their copying. */
#include <string.h>

#include <libdeflate.h>

#include "io/png_chunks.h"

#define BLOCK 65535
#define BLOCK_HEAD 5
#define STREAM_HEAD 2
#define STREAM_TAIL 4 /* a checksum, that of the file having been compared */

/* Bytes of all rows with their filters, or -1 if that is not for here: interlaced, or no valid header. */
static int64_t raw_size(const uint8_t *header, int64_t height, int64_t width)
{
	static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
	int64_t bits = header[8], kind = header[9], row, size;
	if (kind > 6 || channels[kind] == 0 || bits > 16 || header[12] != 0)
		return -1;
	if (!pe_mul(width, bits * channels[kind], &row) || !pe_mul(row / 8 + (row % 8 > 0) + 1, height, &size))
		return -1;
	return size;
}

/* All data of the IDAT chunks in a row. */
static uint8_t *gather(
	pe_context *ctx, const struct pe_picture_source *source, const struct pe_png_layout *layout)
{
	struct pe_png_stream stream;
	uint8_t *packed = pe_alloc(ctx, layout->data_bytes, 1);
	if (!packed)
		return NULL;
	pe_png_stream_start(&stream, source, layout);
	stream.at = layout->first_data;
	stream.stage = PE_PNG_PIXELS;
	(void)pe_png_stream_read(&stream, packed, (size_t)layout->data_bytes);
	return packed;
}

/* Puts the heads of blocks in front of `size` bytes that stand at the end of the stream, moving them forward.
 */
static void make_stored(uint8_t *stream, size_t size, size_t blocks)
{
	uint8_t *out = stream + STREAM_HEAD;
	const uint8_t *in = stream + STREAM_HEAD + blocks * BLOCK_HEAD;
	memcpy(stream, "\x78\x01", STREAM_HEAD);
	for (size_t b = 0; b < blocks; b++) {
		size_t n = size < BLOCK ? size : BLOCK;
		uint8_t head[BLOCK_HEAD] = {
			b + 1 == blocks, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n, (uint8_t)(~n >> 8)};
		memcpy(out, head, BLOCK_HEAD);
		memmove(out + BLOCK_HEAD, in, n);
		out += BLOCK_HEAD + n;
		in += n;
		size -= n;
	}
	memset(out, 0, STREAM_TAIL);
}

static bool unpack(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size)
{
	size_t used = 0;
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool good = d && libdeflate_zlib_decompress_ex(d, packed, packed_size, out, size, &used, NULL) == 0;
	libdeflate_free_decompressor(d);
	return good && used == packed_size;
}

pe_status pe_png_unpack(pe_context *ctx, const struct pe_picture_source *source,
	const struct pe_png_layout *layout, int64_t height, int64_t width, uint8_t **stored, int64_t *stored_size)
{
	*stored = NULL;
	int64_t size = raw_size(source->data + 16, height, width);
	int64_t blocks = size / BLOCK + 1, all = STREAM_HEAD + blocks * BLOCK_HEAD + size + STREAM_TAIL;
	if (source->lenient || size < 1 || all > PE_PNG_LONGEST ||
		size / PE_PNG_DEFLATE_RATIO > layout->data_bytes)
		return PE_OK;
	uint8_t *packed = gather(ctx, source, layout);
	uint8_t *stream = packed ? pe_alloc(ctx, all, 1) : NULL;
	bool good = stream &&
		unpack(packed, (size_t)layout->data_bytes, stream + STREAM_HEAD + blocks * BLOCK_HEAD, (size_t)size);
	pe_free(ctx, packed);
	if (good) {
		make_stored(stream, (size_t)size, (size_t)blocks);
		*stored = stream;
		*stored_size = all;
		return PE_OK;
	}
	pe_free(ctx, stream);
	return stream ? PE_OK : PE_ERR_NOMEM;
}
