/* SPDX-License-Identifier: BSD-2-Clause
 * What a picture is made of, and the readers of its formats. */
#ifndef PE_PICTURE_H
#define PE_PICTURE_H

#include "io/digest.h"

#include "context.h"

#define PE_DEFLATE_RATIO 1032 /* a byte of deflate unpacks to no more */

struct pe_image {
	pe_context *ctx;
	pe_image_info info;
	bool wide;     /* a sample has two bytes, in the machine's order; else one */
	void *samples; /* (height, width, channels) */
	char colour[64];
	char digest[PE_DIGEST_HEX];
};

/* Bytes to read a picture from. */
struct pe_picture_source {
	const uint8_t *data;
	size_t size;
	const char *name;   /* for messages */
	bool lenient;       /* take what there is of damaged data, with a warning */
	int64_t max_pixels; /* more are refused before any memory is asked for */
};

/* By the first bytes. */
bool pe_is_png(const void *data, size_t size);
bool pe_is_pnm(const void *data, size_t size);
bool pe_is_jpeg(const void *data, size_t size);
bool pe_is_webp(const void *data, size_t size);

/* Each fills image->info and ->samples; what there is after a failure is released by pe_image_destroy.
 * PE_ERR_FORMAT names what is wrong and where. */
pe_status pe_png_read(struct pe_image *image, const struct pe_picture_source *source) PE_NODISCARD;
pe_status pe_pnm_read(struct pe_image *image, const struct pe_picture_source *source) PE_NODISCARD;
/* Where the build has their libraries: PE_WITH_JPEG, PE_WITH_WEBP. */
pe_status pe_jpeg_read(struct pe_image *image, const struct pe_picture_source *source) PE_NODISCARD;
pe_status pe_webp_read(struct pe_image *image, const struct pe_picture_source *source) PE_NODISCARD;

/* Refuses sizes that are empty or beyond the limit, or, if source is lenient, out of proportion to its data.
 * Allocates nothing. */
pe_status pe_picture_check_size(struct pe_image *image, const struct pe_picture_source *source,
	int64_t height, int64_t width) PE_NODISCARD;
/* Allocates the samples of info's height, width and channels; zeroed if source is lenient, for then some may
 * be missing. */
pe_status pe_picture_allocate(struct pe_image *image, const struct pe_picture_source *source) PE_NODISCARD;

/* Bytes of a row of samples. */
size_t pe_picture_row_bytes(const struct pe_image *image);
/* Address of row y. */
void *pe_picture_row(const struct pe_image *image, int64_t y);

#endif
