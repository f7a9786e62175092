/* SPDX-License-Identifier: BSD-2-Clause
 * PNG files put together by hand, so that they can be wrong in every way. */
#ifndef XT_PNG_H
#define XT_PNG_H

#include "xt.h"

struct xt_png {
	uint8_t *bytes;
	size_t size, capacity;
};

/* Begins with the signature and IHDR. free(png->bytes) in the end. */
void xt_png_start(struct xt_png *png, uint32_t width, uint32_t height, int bits, int colour, int interlaced);
void xt_png_bytes(struct xt_png *png, const void *data, size_t size);
/* A chunk with its checksum. */
void xt_png_chunk(struct xt_png *png, const char *name, const void *data, size_t size);
/* Rows as a file stores them, compressed; free(*packed). */
size_t xt_png_pack(const void *rows, size_t size, uint8_t **packed);
/* An IDAT chunk of rows as the file stores them, each behind the byte of its filter. */
void xt_png_rows(struct xt_png *png, const void *rows, size_t size);
void xt_png_end(struct xt_png *png);

#endif
