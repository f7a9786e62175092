/* SPDX-License-Identifier: BSD-2-Clause */
#include "png_bytes.h"

#include <png.h>
#include <stdlib.h>

bool png_bytes(const unsigned char *rgb, int width, int height, unsigned char **bytes, size_t *size)
{
	png_image image = {.version = PNG_IMAGE_VERSION,
		.width = (png_uint_32)width,
		.height = (png_uint_32)height,
		.format = PNG_FORMAT_RGB};
	png_alloc_size_t room = PNG_IMAGE_PNG_SIZE_MAX(image); /* so that it is packed once only */
	*bytes = malloc(room);
	if (!*bytes)
		return false;
	if (!png_image_write_to_memory(&image, *bytes, &room, 0, rgb, 0, NULL)) {
		free(*bytes);
		*bytes = NULL;
		return false;
	}
	*size = room;
	return true;
}
