/* SPDX-License-Identifier: BSD-2-Clause
 * PNG by libpng's low-level calls. The values are those stored: nothing is corrected for gamma or profiles,
 * 16 bits stay 16. Grey of fewer than 8 bits is scaled to 8 (exactly: 255 is a multiple of 1, 3 and 15), a
 * palette expanded here, where its indices can be checked, tRNS becomes alpha. libpng leaves by longjmp:
 * whatever outlives that is in struct job. It reads no chunks but IHDR, PLTE, tRNS, IDAT and IEND, so that
 * what others hold costs no memory. */
#include <stdio.h>
#include <string.h>

#include <png.h>

#include "io/png_chunks.h"

#define LARGEST_SIDE 0x7fffffff

struct job {
	struct pe_image *image;
	const struct pe_picture_source *source;
	struct pe_png_layout layout;
	struct pe_png_stream stream;
	struct pe_png_raw raw; /* the pixels unpacked; data NULL: libpng unpacks them */
	png_structp png;
	png_infop info;
	pe_status status;
	bool rows_begun;
	int passes;
	/* Of a palette: its entries as pixels of info.channels samples. */
	uint8_t palette[256][4];
	int palette_size;
	int64_t beyond; /* indices that are not in it */
};

bool pe_is_png(const void *data, size_t size)
{
	return size >= 4 && memcmp((const char *)data + 1, "PNG", 3) == 0;
}

/* ---- what libpng calls -------------------------------------------------------------- */

static void on_error(png_structp png, const char *text)
{
	struct job *job = png_get_error_ptr(png);
	if (job->status != PE_ERR_NOMEM)
		job->status = pe_fail(job->image->ctx, PE_ERR_FORMAT, "%s: PNG: %s, near byte %zu", job->source->name,
			text, job->stream.at);
	png_longjmp(png, 1);
}

static void on_warning(png_structp png, const char *text)
{
	const struct job *job = png_get_error_ptr(png);
	pe_log(job->image->ctx, PE_LOG_WARNING, "%s: PNG: %s, near byte %zu", job->source->name, text,
		job->stream.at);
}

static void *get_memory(png_structp png, png_alloc_size_t size)
{
	struct job *job = png_get_mem_ptr(png);
	void *memory = size > INT64_MAX ? NULL : pe_alloc(job->image->ctx, (int64_t)size, 1);
	if (!memory)
		job->status = PE_ERR_NOMEM;
	return memory;
}

static void free_memory(png_structp png, void *memory)
{
	struct job *job = png_get_mem_ptr(png);
	pe_free(job->image->ctx, memory);
}

static void read_bytes(png_structp png, png_bytep out, size_t size)
{
	struct job *job = png_get_io_ptr(png);
	if (!pe_png_stream_read(&job->stream, out, size))
		png_error(png, "the data end too early");
}

/* ---- before the pixels -------------------------------------------------------------- */

static bool is_little_endian(void)
{
	const uint16_t one = 1;
	uint8_t first;
	memcpy(&first, &one, 1);
	return first == 1;
}

static void take_palette(struct job *job)
{
	png_colorp colours = NULL;
	png_bytep alphas = NULL;
	int count = 0, alpha_count = 0;
	(void)png_get_PLTE(job->png, job->info, &colours, &count);
	(void)png_get_tRNS(job->png, job->info, &alphas, &alpha_count, NULL);
	job->palette_size = count;
	for (int i = 0; i < 256; i++) {
		uint8_t *entry = job->palette[i];
		entry[3] = i < alpha_count ? alphas[i] : 255;
		if (i >= count)
			continue; /* black: lenient readers may meet it */
		entry[0] = colours[i].red;
		entry[1] = colours[i].green;
		entry[2] = colours[i].blue;
	}
}

/* What the file holds, and how its rows are to come. */
static void choose_form(struct job *job)
{
	pe_image_info *info = &job->image->info;
	int type = png_get_color_type(job->png, job->info), bits = png_get_bit_depth(job->png, job->info);
	int alphas = 0; /* 0, too, if a chunk PLTE came after them */
	(void)png_get_tRNS(job->png, job->info, NULL, &alphas, NULL);
	bool transparent = alphas > 0;
	info->palette = type == PNG_COLOR_TYPE_PALETTE;
	info->alpha = (type & PNG_COLOR_MASK_ALPHA) || transparent;
	info->channels = ((type & PNG_COLOR_MASK_COLOR) ? 3 : 1) + info->alpha;
	info->bits = bits;
	info->interlaced = png_get_interlace_type(job->png, job->info) != PNG_INTERLACE_NONE;
	info->maximum = bits == 16 ? 65535 : 255;
	job->image->wide = bits == 16;
	if (info->palette) {
		take_palette(job);
		png_set_packing(job->png);
	} else {
		if (bits < 8)
			png_set_expand_gray_1_2_4_to_8(job->png);
		if (transparent)
			png_set_tRNS_to_alpha(job->png);
		if (bits == 16 && is_little_endian())
			png_set_swap(job->png);
	}
	job->passes = png_set_interlace_handling(job->png);
	png_read_update_info(job->png, job->info);
}

/* So short data cannot be this picture: said before there is memory for it. */
static bool is_too_short(const struct job *job)
{
	const pe_image_info *info = &job->image->info;
	int64_t stored = (int64_t)png_get_channels(job->png, job->info);
	int64_t bits = info->height * info->width * stored * info->bits;
	return !job->source->lenient && bits / 8 / PE_DEFLATE_RATIO > job->layout.data_bytes;
}

/* Where there are samples already. */
static bool has_room(const struct job *job)
{
	const struct pe_image *image = job->image;
	const uint8_t *samples = image->samples;
	if (!samples)
		return true;
	size_t room = (size_t)(job->raw.data + job->raw.size - samples);
	return room >= (size_t)image->info.height * pe_picture_row_bytes(image);
}

static pe_status prepare(struct job *job)
{
	struct pe_image *image = job->image;
	png_read_info(job->png, job->info);
	choose_form(job);
	size_t row = image->info.palette ? (size_t)image->info.width : pe_picture_row_bytes(image);
	if (png_get_rowbytes(job->png, job->info) != row || !has_room(job))
		return pe_fail(image->ctx, PE_ERR_INTERNAL, "%s: libpng's rows have another form", job->source->name);
	if (is_too_short(job))
		return pe_fail(image->ctx, PE_ERR_FORMAT,
			"%s: PNG: %lld bytes of data are too few for %lld x %lld pixels, at byte %zu", job->source->name,
			(long long)job->layout.data_bytes, (long long)image->info.width, (long long)image->info.height,
			job->layout.first_data);
	return job->raw.data ? PE_OK : pe_picture_allocate(image, job->source);
}

/* ---- the pixels --------------------------------------------------------------------- */

/* Where libpng puts row y: indices of a palette at the end of the pixels that they become. */
static uint8_t *stored_row(const struct job *job, int64_t y)
{
	uint8_t *row = pe_picture_row(job->image, y);
	return job->image->info.palette ? row + pe_picture_row_bytes(job->image) - job->image->info.width : row;
}

/* Pixel x is written only over indices that have been used. */
static void expand_row(struct job *job, int64_t y)
{
	uint8_t *out = pe_picture_row(job->image, y);
	const uint8_t *index = stored_row(job, y);
	size_t channels = (size_t)job->image->info.channels;
	for (int64_t x = 0; x < job->image->info.width; x++, out += channels) {
		const uint8_t *entry = job->palette[index[x]];
		job->beyond += index[x] >= job->palette_size;
		memcpy(out, entry, channels);
	}
}

static pe_status expand(struct job *job)
{
	if (!job->image->info.palette)
		return PE_OK;
	for (int64_t y = 0; y < job->image->info.height; y++)
		expand_row(job, y);
	if (job->beyond == 0)
		return PE_OK;
	if (!job->source->lenient)
		return pe_fail(job->image->ctx, PE_ERR_FORMAT,
			"%s: PNG: %lld pixels have colours beyond the %d of the palette, in the IDAT chunks up to byte "
			"%zu",
			job->source->name, (long long)job->beyond, job->palette_size, job->stream.at);
	pe_log(job->image->ctx, PE_LOG_WARNING,
		"%s: PNG: %lld pixels have colours beyond the %d of the palette: black", job->source->name,
		(long long)job->beyond, job->palette_size);
	return PE_OK;
}

static void read_pixels(struct job *job)
{
	int64_t height = job->image->info.height;
	job->rows_begun = true;
	for (int pass = 0; pass < job->passes; pass++)
		for (int64_t y = 0; y < height; y++)
			png_read_row(job->png, stored_row(job, y), NULL);
	png_read_end(job->png, NULL);
}

/* libpng comes back here: with a picture that has begun, a lenient reader takes what there is. */
static pe_status decode(struct job *job)
{
	if (setjmp(png_jmpbuf(job->png))) {
		if (!job->source->lenient || !job->rows_begun || job->status == PE_ERR_NOMEM)
			return job->status;
		pe_log(
			job->image->ctx, PE_LOG_WARNING, "%s; what is missing is 0", pe_context_message(job->image->ctx));
		return PE_OK;
	}
	png_set_benign_errors(job->png, job->source->lenient);
	png_set_user_limits(job->png, LARGEST_SIDE, LARGEST_SIDE); /* there are limits of our own */
	png_set_keep_unknown_chunks(job->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
	/* The walk over the chunks has compared the checksums. */
	png_set_crc_action(
		job->png, PNG_CRC_QUIET_USE, job->source->lenient ? PNG_CRC_WARN_DISCARD : PNG_CRC_QUIET_USE);
	png_set_read_fn(job->png, job, read_bytes);
	/* All data at once: libpng looks at what is behind the pixels only within a buffer. */
	if (!job->raw.data)
		png_set_compression_buffer_size(job->png, (size_t)job->layout.data_bytes + 1);
	else
		png_set_option(job->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
	png_set_chunk_malloc_max(job->png, 0);
	pe_status status = prepare(job);
	if (status == PE_OK)
		read_pixels(job);
	return status;
}

/* ---- the whole ---------------------------------------------------------------------- */

static void name_colour_chunks(struct pe_image *image, const struct pe_png_layout *layout)
{
	size_t used = 0;
	for (size_t i = 0; i < sizeof pe_png_colour_chunks / sizeof *pe_png_colour_chunks; i++)
		if (layout->profile[i])
			used += (size_t)snprintf(image->colour + used, sizeof image->colour - used, "%s%s",
				used ? " " : "", pe_png_colour_chunks[i]);
}

static int64_t number_at(const uint8_t *at)
{
	return (int64_t)at[0] << 24 | (int64_t)at[1] << 16 | (int64_t)at[2] << 8 | at[3];
}

pe_status pe_png_read(struct pe_image *image, const struct pe_picture_source *source)
{
	struct job job = {.image = image, .source = source};
	PE_TRY(pe_png_scan(image->ctx, source, &job.layout));
	const uint8_t *header = source->data + 16;
	PE_TRY(pe_picture_check_size(image, source, number_at(header + 4), number_at(header)));
	PE_TRY(pe_png_unpack(image, source, &job.layout, &job.raw));
	pe_png_stream_start(&job.stream, source, &job.layout, job.raw.data ? &job.raw : NULL);
	image->info.format = "png";
	name_colour_chunks(image, &job.layout);
	if (job.layout.animated)
		pe_log(image->ctx, PE_LOG_WARNING, "%s: this is an animation: its default picture is read",
			source->name);

	job.png = png_create_read_struct_2(
		PNG_LIBPNG_VER_STRING, &job, on_error, on_warning, &job, get_memory, free_memory);
	job.info = job.png ? png_create_info_struct(job.png) : NULL;
	pe_status status = job.info ? decode(&job) : PE_ERR_NOMEM;
	png_destroy_read_struct(&job.png, &job.info, NULL);
	return status == PE_OK ? expand(&job) : status;
}
