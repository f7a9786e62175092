/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_png.h"

#include <string.h>

#include <libdeflate.h>

static void put_number(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

void xt_png_bytes(struct xt_png *png, const void *data, size_t size)
{
	if (png->capacity < png->size + size) {
		png->capacity = 2 * (png->size + size);
		png->bytes = realloc(png->bytes, png->capacity);
		assert_non_null(png->bytes);
	}
	if (size > 0)
		memcpy(png->bytes + png->size, data, size);
	png->size += size;
}

void xt_png_chunk(struct xt_png *png, const char *name, const void *data, size_t size)
{
	uint8_t number[4];
	put_number(number, (uint32_t)size);
	xt_png_bytes(png, number, 4);
	xt_png_bytes(png, name, 4);
	xt_png_bytes(png, data, size);
	put_number(number, libdeflate_crc32(0, png->bytes + png->size - size - 4, size + 4));
	xt_png_bytes(png, number, 4);
}

void xt_png_start(struct xt_png *png, uint32_t width, uint32_t height, int bits, int colour, int interlaced)
{
	uint8_t header[13] = {0};
	*png = (struct xt_png){0};
	put_number(header, width);
	put_number(header + 4, height);
	header[8] = (uint8_t)bits;
	header[9] = (uint8_t)colour;
	header[12] = (uint8_t)interlaced;
	xt_png_bytes(png, "\x89PNG\r\n\x1a\n", 8);
	xt_png_chunk(png, "IHDR", header, sizeof header);
}

size_t xt_png_pack(const void *rows, size_t size, uint8_t **packed)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
	size_t bound = libdeflate_zlib_compress_bound(compressor, size);
	*packed = malloc(bound);
	assert_non_null(*packed);
	size_t packed_size = libdeflate_zlib_compress(compressor, rows, size, *packed, bound);
	assert_true(packed_size > 0);
	libdeflate_free_compressor(compressor);
	return packed_size;
}

void xt_png_rows(struct xt_png *png, const void *rows, size_t size)
{
	uint8_t *packed;
	size_t packed_size = xt_png_pack(rows, size, &packed);
	xt_png_chunk(png, "IDAT", packed, packed_size);
	free(packed);
}

void xt_png_end(struct xt_png *png)
{
	xt_png_chunk(png, "IEND", "", 0);
}
