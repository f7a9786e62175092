/* SPDX-License-Identifier: BSD-2-Clause
 * Pixels as the bytes of a PNG file. */
#ifndef PNG_BYTES_H
#define PNG_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* rgb: three bytes a pixel, row by row. The bytes are from malloc; equal pixels give equal ones.
 * false: no memory. */
bool png_bytes(const unsigned char *rgb, int width, int height, unsigned char **bytes, size_t *size);

#endif
