/* SPDX-License-Identifier: BSD-2-Clause
 * A walk over the chunks of a PNG file before libpng sees it: so that what is wrong is said with its chunk
 * and offset, and that libpng need not compute the checksums again.
 * ISO/IEC 15948:2004, "Portable Network Graphics", section 5. */
#include "io/png_chunks.h"

#include <stdio.h>
#include <string.h>

#include <libdeflate.h>

#define SIGNATURE 8
#define FRAME 12 /* length, name and checksum of a chunk */
#define HEADER_BYTES 13

const char pe_png_colour_chunks[5][5] = {"cHRM", "cICP", "gAMA", "iCCP", "sRGB"};

struct chunk {
	size_t at;       /* of its length */
	uint32_t length; /* of its data */
	char name[5];
};

static uint32_t number_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool is(const struct chunk *chunk, const char *name)
{
	return memcmp(chunk->name, name, 4) == 0;
}

/* An error, or a warning if the source is lenient. */
static pe_status fault(pe_context *ctx, const struct pe_picture_source *source, const char *what, size_t at)
{
	if (!source->lenient)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: %s, at byte %zu", source->name, what, at);
	pe_log(ctx, PE_LOG_WARNING, "%s: %s, at byte %zu", source->name, what, at);
	return PE_OK;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Takes the frame of the chunk at `at`, whose 12 bytes are there. NULL, or what is wrong with it. */
static const char *take_frame(const struct pe_picture_source *source, size_t at, struct chunk *out)
{
	out->at = at;
	out->length = number_at(source->data + at);
	memcpy(out->name, source->data + at + 4, 4);
	out->name[4] = '\0';
	for (int i = 0; i < 4; i++)
		if (!is_letter(out->name[i]))
			return "this is no chunk: its name is not four letters";
	return out->length > PE_PNG_LONGEST ? "a chunk has an impossible length" : NULL;
}

static bool is_known_critical(const struct chunk *chunk)
{
	return is(chunk, "IHDR") || is(chunk, "PLTE") || is(chunk, "IDAT") || is(chunk, "IEND");
}

static pe_status check_chunk(
	pe_context *ctx, const struct pe_picture_source *source, const struct chunk *chunk)
{
	char text[80];
	const uint8_t *at = source->data + chunk->at;
	bool critical = chunk->name[0] >= 'A' && chunk->name[0] <= 'Z';
	if (libdeflate_crc32(0, at + 4, (size_t)chunk->length + 4) != number_at(at + 8 + chunk->length)) {
		snprintf(text, sizeof text, "the checksum of chunk %s does not fit its data", chunk->name);
		return fault(ctx, source, text, chunk->at);
	}
	if (is(chunk, "CgBI"))
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"%s: this is Apple's variant of PNG (chunk CgBI); convert it: pngcrush "
			"-revert-iphone-optimizations",
			source->name);
	if (critical && !is_known_critical(chunk)) {
		snprintf(text, sizeof text, "chunk %s is critical, and not one of PNG's", chunk->name);
		return fault(ctx, source, text, chunk->at);
	}
	return PE_OK;
}

/* Which chunks have gone by, as far as the order of chunks matters. */
struct walk {
	struct pe_png_layout *layout;
	bool has_data, after_data;
};

static pe_status note(
	pe_context *ctx, const struct pe_picture_source *source, struct walk *walk, const struct chunk *chunk)
{
	struct pe_png_layout *layout = walk->layout;
	for (size_t i = 0; i < sizeof pe_png_colour_chunks / sizeof *pe_png_colour_chunks; i++)
		if (is(chunk, pe_png_colour_chunks[i]))
			layout->profile[i] = true;
	if (is(chunk, "acTL"))
		layout->animated = true;
	if (is(chunk, "tRNS"))
		layout->transparent = true;
	bool data = is(chunk, "IDAT");
	if (data && walk->after_data)
		PE_TRY(fault(ctx, source, "there are other chunks between chunks IDAT", chunk->at));
	if (walk->has_data && (is(chunk, "PLTE") || is(chunk, "tRNS")))
		PE_TRY(fault(ctx, source, "a chunk of colours comes after the pixels", chunk->at));
	if (data && !walk->has_data)
		layout->first_data = chunk->at;
	walk->after_data = walk->has_data && !data;
	walk->has_data = walk->has_data || data;
	layout->data_bytes += data ? chunk->length : 0;
	return PE_OK;
}

static pe_status check_header(pe_context *ctx, const struct pe_picture_source *source)
{
	static const uint8_t signature[SIGNATURE] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
	if (source->size < SIGNATURE || memcmp(source->data, signature, SIGNATURE) != 0)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: the signature of PNG is damaged, as by a transfer as text or an early end, at byte 0",
			source->name);
	if (source->size < SIGNATURE + FRAME + HEADER_BYTES)
		return pe_fail(
			ctx, PE_ERR_FORMAT, "%s: the file ends in its header, at byte %zu", source->name, source->size);
	if (memcmp(source->data + SIGNATURE, "\0\0\0\15IHDR", 8) != 0 &&
		memcmp(source->data + SIGNATURE + 4, "CgBI", 4) != 0)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: the first chunk is not a header, at byte 8", source->name);
	return PE_OK;
}

/* The chunk at `at`: PE_OK, and *next behind it, or at the end where there is nothing more to walk over. */
static pe_status step(
	pe_context *ctx, const struct pe_picture_source *source, size_t at, struct chunk *chunk, size_t *next)
{
	char text[80];
	*next = source->size;
	chunk->name[0] = '\0';
	if (source->size - at < FRAME)
		return fault(ctx, source, "the file ends without the chunk IEND", source->size);
	const char *wrong = take_frame(source, at, chunk);
	if (wrong) {
		chunk->name[0] = '\0';
		return fault(ctx, source, wrong, at);
	}
	if (source->size - at - FRAME < chunk->length) {
		snprintf(text, sizeof text, "the file ends in chunk %s, which began", chunk->name);
		chunk->length = (uint32_t)(source->size - at - FRAME); /* lenient readers take that */
		return fault(ctx, source, text, at);
	}
	*next = at + FRAME + chunk->length;
	return check_chunk(ctx, source, chunk);
}

static pe_status walk_chunks(pe_context *ctx, const struct pe_picture_source *source, struct walk *walk)
{
	struct chunk chunk = {0};
	for (size_t at = SIGNATURE, next; at < source->size; at = next) {
		PE_TRY(step(ctx, source, at, &chunk, &next));
		PE_TRY(note(ctx, source, walk, &chunk));
		if (!is(&chunk, "IEND"))
			continue;
		return next < source->size ? fault(ctx, source, "there are more data behind the end", next) : PE_OK;
	}
	return chunk.name[0] ? fault(ctx, source, "the file ends without the chunk IEND", source->size) : PE_OK;
}

pe_status pe_png_scan(pe_context *ctx, const struct pe_picture_source *source, struct pe_png_layout *out)
{
	*out = (struct pe_png_layout){0};
	struct walk walk = {.layout = out};
	PE_TRY(check_header(ctx, source));
	PE_TRY(walk_chunks(ctx, source, &walk));
	if (!walk.has_data)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: PNG: there are no pixels: no chunk IDAT", source->name);
	if (out->data_bytes > PE_PNG_LONGEST)
		return pe_fail(
			ctx, PE_ERR_UNSUPPORTED, "%s: PNG: more than 2 GiB of compressed pixels", source->name);
	return PE_OK;
}

/* ---- as one chunk ------------------------------------------------------------------- */

static void put_number(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

void pe_png_stream_start(struct pe_png_stream *stream, const struct pe_picture_source *source,
	const struct pe_png_layout *layout, const struct pe_png_raw *raw)
{
	*stream = (struct pe_png_stream){.source = source, .layout = layout, .raw = raw, .frame_size = 8};
	put_number(stream->frame, (uint32_t)(raw ? pe_png_stored_size(raw) : (size_t)layout->data_bytes));
	memcpy(stream->frame + 4, "IDAT", 4);
}

/* To the next IDAT chunk that is not empty; the walk has seen to it that there is one. */
static void next_chunk(struct pe_png_stream *s)
{
	struct chunk chunk;
	while (s->in_chunk == 0 && s->source->size - s->at >= FRAME) {
		(void)take_frame(s->source, s->at, &chunk);
		size_t length = chunk.length, there = s->source->size - s->at - FRAME;
		length = length < there ? length : there;
		if (is(&chunk, "IDAT") && length > 0) {
			s->in_chunk = length;
			s->at += 8;
		} else {
			s->at += FRAME + length;
		}
	}
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* From the source; `left` is what there is of this stage. */
static size_t copy(struct pe_png_stream *s, uint8_t *out, size_t size, size_t left)
{
	size_t n = smaller(size, left);
	memcpy(out, s->source->data + s->at, n);
	s->at += n;
	return n;
}

static size_t copy_pixels(struct pe_png_stream *s, uint8_t *out, size_t size)
{
	if (s->raw) {
		size_t some = pe_png_stored_copy(s->raw, s->stored_at, out, size);
		s->stored_at += some;
		return some;
	}
	next_chunk(s);
	size_t n = copy(s, out, size, s->in_chunk);
	s->in_chunk -= n;
	if (n > 0 && s->in_chunk == 0)
		s->at += smaller(4, s->source->size - s->at); /* the checksum */
	return n;
}

static size_t copy_frame(struct pe_png_stream *s, uint8_t *out, size_t size)
{
	size_t n = smaller(size, s->frame_size - s->frame_at);
	memcpy(out, s->frame + s->frame_at, n);
	s->frame_at += n;
	return n;
}

bool pe_png_stream_read(struct pe_png_stream *s, uint8_t *out, size_t size)
{
	/* A checksum that nobody looks at, and the end. */
	static const uint8_t end[16] = {0, 0, 0, 0, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
	while (size > 0) {
		size_t n = s->stage == PE_PNG_BEFORE ? copy(s, out, size, s->layout->first_data - s->at)
			: s->stage == PE_PNG_PIXELS      ? copy_pixels(s, out, size)
											 : copy_frame(s, out, size);
		out += n;
		size -= n;
		if (n > 0)
			continue;
		if (s->stage == PE_PNG_END)
			return false;
		s->stage++;
		if (s->stage == PE_PNG_END) {
			memcpy(s->frame, end, sizeof end);
			s->frame_at = 0;
			s->frame_size = sizeof end;
		}
	}
	return true;
}
