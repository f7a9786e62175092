/* SPDX-License-Identifier: BSD-2-Clause
 * The chunks of a PNG file. */
#ifndef PE_PNG_CHUNKS_H
#define PE_PNG_CHUNKS_H

#include "io/picture.h"

#define PE_PNG_LONGEST 0x7fffffff /* data of a chunk, bytes */

struct pe_png_layout {
	size_t first_data;  /* where the first IDAT chunk begins */
	int64_t data_bytes; /* of compressed pixels, in all IDAT chunks */
	bool animated;      /* APNG: only its default picture is read */
	bool transparent;   /* there is a chunk tRNS */
	bool profile[5];    /* which of pe_png_colour_chunks are there */
};

/* Chunks that say what the values mean as colours: cICP, gAMA … */
extern const char pe_png_colour_chunks[5][5];

/* Walks over all chunks: signature, lengths, checksums, order, nothing behind the end, no critical chunk that
 * nobody knows. The first thing wrong is PE_ERR_FORMAT with its chunk and offset; if source is lenient it is
 * a warning, and only a missing header or missing pixels are an error. Allocates nothing. */
pe_status pe_png_scan(
	pe_context *ctx, const struct pe_picture_source *source, struct pe_png_layout *out) PE_NODISCARD;

/* Rows of pixels with their filters. */
struct pe_png_raw {
	uint8_t *data;
	size_t size;
};

/* The file as one IDAT chunk would make it: what stands before the pixels, all of them, the end. libpng
 * compares the checksum of the pixels, and sees data behind them, only where they end within a chunk. */
struct pe_png_stream {
	const struct pe_picture_source *source;
	const struct pe_png_layout *layout;
	const struct pe_png_raw *raw; /* what comes instead of the pixels' chunks, or NULL */
	size_t at;                    /* of what comes next in the source */
	size_t in_chunk;              /* bytes left in the IDAT chunk there */
	size_t stored_at;             /* of what comes next of raw as a stream */
	uint8_t frame[16];
	size_t frame_at, frame_size;
	enum { PE_PNG_BEFORE, PE_PNG_FRAME, PE_PNG_PIXELS, PE_PNG_END } stage;
};

/* raw, if not NULL, stands in for the pixels. */
void pe_png_stream_start(struct pe_png_stream *stream, const struct pe_picture_source *source,
	const struct pe_png_layout *layout, const struct pe_png_raw *raw);
/* false if so many bytes are not there. */
bool pe_png_stream_read(struct pe_png_stream *stream, uint8_t *out, size_t size);

/* Allocates image->samples, of which *out, the pixels unpacked, is the end: row y there begins no earlier
 * than row y of the samples, so that row by row may be read and its samples written. out->data NULL, and no
 * samples, where only libpng will do (lenient, interlaced), or can say what is wrong with them. */
pe_status pe_png_unpack(struct pe_image *image, const struct pe_picture_source *source,
	const struct pe_png_layout *layout, struct pe_png_raw *out) PE_NODISCARD;
/* raw as a zlib stream that costs nothing to unpack: its bytes, and a copy of up to `size` of them, from `at`
 * on; returns how many. */
size_t pe_png_stored_size(const struct pe_png_raw *raw);
size_t pe_png_stored_copy(const struct pe_png_raw *raw, size_t at, uint8_t *out, size_t size);

#endif
