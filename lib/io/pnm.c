/* SPDX-License-Identifier: BSD-2-Clause
 * Netpbm's formats: PBM, PGM, PPM as text (P1 to P3) and binary (P4 to P6), PAM (P7). One picture a file.
 * A bitmap is 0 and 255 like any picture of 8 bits; other values stay as they are, and maximum says what
 * stands for 1. netpbm.sourceforge.net/doc/pbm.html, pgm.html, ppm.html, pam.html. */
#include <stdio.h>
#include <string.h>

#include "io/picture.h"

struct pnm {
	struct pe_image *image;
	const struct pe_picture_source *source;
	size_t at;
	int kind; /* the digit after 'P' */
	int64_t maximum;
	bool bits;    /* a bitmap, of which 1 is black, as text or packed */
	bool ignored; /* a warning about values was given */
};

/* ---- text --------------------------------------------------------------------------- */

static bool is_space(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Past blanks, and comments from '#' to the end of the line. */
static void skip_blanks(const uint8_t *data, size_t size, size_t *at)
{
	for (; *at < size; (*at)++) {
		if (data[*at] == '#')
			while (*at < size && data[*at] != '\n' && data[*at] != '\r')
				(*at)++;
		else if (!is_space(data[*at]))
			return;
	}
	*at = size;
}

/* A number of at most 10 digits. */
static bool take_number(const uint8_t *data, size_t size, size_t *at, int64_t *out)
{
	int digits = 0;
	skip_blanks(data, size, at);
	for (*out = 0; *at < size && is_digit(data[*at]) && digits <= 10; digits++)
		*out = *out * 10 + data[(*at)++] - '0';
	return digits > 0 && digits <= 10;
}

bool pe_is_pnm(const void *bytes, size_t size)
{
	const uint8_t *data = bytes;
	int64_t number;
	size_t at = 2;
	if (size < 4 || data[0] != 'P' || data[1] < '1' || data[1] > '7' ||
		!(is_space(data[2]) || data[2] == '#'))
		return false;
	if (data[1] == '7')
		return data[2] == '\n' || data[2] == '\r';
	/* So that a list of edges between nodes P1, P2 … is none. */
	return take_number(data, size, &at, &number) && take_number(data, size, &at, &number);
}

static pe_status fault(const struct pnm *p, const char *what, size_t at)
{
	return pe_fail(
		p->image->ctx, PE_ERR_FORMAT, "%s: P%d: %s, at byte %zu", p->source->name, p->kind, what, at);
}

/* An error, or a warning if the source is lenient. */
static pe_status grave_unless_lenient(const struct pnm *p, const char *what, size_t at)
{
	if (!p->source->lenient)
		return fault(p, what, at);
	pe_log(p->image->ctx, PE_LOG_WARNING, "%s: P%d: %s, at byte %zu", p->source->name, p->kind, what, at);
	return PE_OK;
}

/* ---- headers ------------------------------------------------------------------------ */

static const char *format_name(const struct pnm *p)
{
	static const char *const names[] = {"", "pbm", "pgm", "ppm", "pbm", "pgm", "ppm", "pam"};
	return names[p->kind];
}

static pe_status take_sizes(struct pnm *p, int64_t height, int64_t width, int64_t channels)
{
	pe_image_info *info = &p->image->info;
	if (p->maximum < 1 || p->maximum > 65535)
		return fault(p, "the largest value is not 1 to 65535", p->at);
	PE_TRY(pe_picture_check_size(p->image, p->source, height, width));
	info->format = format_name(p);
	info->channels = (int32_t)channels;
	info->alpha = channels == 2 || channels == 4;
	for (info->bits = 1; p->maximum >> info->bits; info->bits++)
		;
	p->image->wide = p->maximum > 255;
	info->maximum = p->maximum == 1 ? 255 : (int32_t)p->maximum;
	return PE_OK;
}

/* P1 to P6: width, height, and of grey and colour the largest value; then one blank. */
static pe_status read_header(struct pnm *p)
{
	const uint8_t *data = p->source->data;
	size_t size = p->source->size;
	int64_t width, height;
	p->bits = p->kind == 1 || p->kind == 4;
	p->maximum = 1;
	if (!take_number(data, size, &p->at, &width) || !take_number(data, size, &p->at, &height))
		return fault(p, "width and height are expected", p->at);
	if (!p->bits && !take_number(data, size, &p->at, &p->maximum))
		return fault(p, "the largest value is expected", p->at);
	if (p->kind > 3 && (p->at >= size || !is_space(data[p->at])))
		return fault(p, "a blank is expected between the header and the pixels", p->at);
	p->at += p->kind > 3;
	return take_sizes(p, height, width, p->kind % 3 == 0 ? 3 : 1);
}

/* The next line that is neither empty nor a comment, without its end; NULL if there is none. */
static const uint8_t *take_line(struct pnm *p, size_t *length)
{
	const uint8_t *data = p->source->data;
	while (p->at < p->source->size) {
		const uint8_t *line = data + p->at, *end = memchr(line, '\n', p->source->size - p->at);
		if (!end)
			return NULL;
		*length = (size_t)(end - line);
		p->at += *length + 1;
		if (*length > 0 && line[0] != '#')
			return line;
	}
	return NULL;
}

static bool starts_with(const uint8_t *line, size_t length, const char *word)
{
	size_t size = strlen(word);
	return length >= size && memcmp(line, word, size) == 0 && (length == size || is_space(line[size]));
}

/* P7: lines of a name and a value, to ENDHDR. The tuple type is told by the depth. */
static pe_status read_pam_header(struct pnm *p)
{
	static const char *const names[] = {"WIDTH", "HEIGHT", "DEPTH", "MAXVAL"};
	int64_t values[4] = {-1, -1, -1, -1};
	size_t length, start = p->at;
	bool ended = false;
	for (const uint8_t *line; !ended && (line = take_line(p, &length)); start = p->at) {
		ended = starts_with(line, length, "ENDHDR");
		for (int i = 0; i < 4; i++) {
			size_t at = strlen(names[i]);
			if (starts_with(line, length, names[i]) && !take_number(line, length, &at, &values[i]))
				return fault(p, "a number is expected", start);
		}
	}
	if (!ended)
		return fault(p, "the header does not end: ENDHDR is expected", p->at);
	if (values[0] < 0 || values[1] < 0 || values[2] < 1 || values[2] > 4 || values[3] < 0)
		return fault(p, "WIDTH, HEIGHT, DEPTH from 1 to 4 and MAXVAL are expected", p->at);
	p->maximum = values[3];
	return take_sizes(p, values[1], values[0], values[2]);
}

/* ---- pixels ------------------------------------------------------------------------- */

static void store(const struct pnm *p, int64_t i, int64_t value)
{
	if (p->image->wide)
		((uint16_t *)p->image->samples)[i] = (uint16_t)value;
	else
		((uint8_t *)p->image->samples)[i] = (uint8_t)value;
}

/* A value as stored: refused, or cut, if it is beyond the largest; 0 and 255 of bitmaps. */
static pe_status take_value(struct pnm *p, int64_t i, int64_t value, size_t at)
{
	if (value > p->maximum && (!p->ignored || !p->source->lenient)) {
		p->ignored = true;
		PE_TRY(grave_unless_lenient(p, "a value is beyond the largest that the header allows", at));
	}
	value = pe_min(value, p->maximum);
	if (p->bits)
		value = 1 - value;
	store(p, i, p->maximum == 1 ? 255 * value : value);
	return PE_OK;
}

/* Text: of a bitmap digits may stand together. */
static bool take_text_value(struct pnm *p, int64_t *value)
{
	const uint8_t *data = p->source->data;
	if (p->kind != 1)
		return take_number(data, p->source->size, &p->at, value);
	skip_blanks(data, p->source->size, &p->at);
	if (p->at >= p->source->size || !is_digit(data[p->at]))
		return false;
	*value = data[p->at++] - '0';
	return true;
}

static pe_status read_text(struct pnm *p, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		int64_t value;
		if (!take_text_value(p, &value)) {
			if (p->at < p->source->size)
				return fault(p, "a number is expected", p->at);
			return grave_unless_lenient(p, "the file ends too early", p->at);
		}
		PE_TRY(take_value(p, i, value, p->at));
	}
	skip_blanks(p->source->data, p->source->size, &p->at);
	return PE_OK;
}

static pe_status read_packed(struct pnm *p)
{
	int64_t width = p->image->info.width, row = (width + 7) / 8;
	int64_t rows = pe_min(p->image->info.height, (int64_t)(p->source->size - p->at) / row);
	for (int64_t y = 0; y < rows; y++, p->at += (size_t)row)
		for (int64_t x = 0; x < width; x++)
			PE_TRY(take_value(
				p, y * width + x, p->source->data[p->at + (size_t)x / 8] >> (7 - x % 8) & 1, p->at));
	return PE_OK;
}

/* Values of one byte, or of two, the higher first. */
static pe_status read_bytes(struct pnm *p, int64_t count)
{
	size_t size = p->image->wide ? 2 : 1;
	int64_t there = pe_min(count, (int64_t)((p->source->size - p->at) / size));
	for (int64_t i = 0; i < there; i++, p->at += size) {
		const uint8_t *from = p->source->data + p->at;
		PE_TRY(take_value(p, i, size == 2 ? from[0] << 8 | from[1] : from[0], p->at));
	}
	return PE_OK;
}

/* Bytes that the pixels take at least. */
static int64_t least_bytes(const struct pnm *p, int64_t count)
{
	if (p->kind == 4)
		return (p->image->info.width + 7) / 8 * p->image->info.height;
	if (p->kind > 3)
		return count * (p->image->wide ? 2 : 1);
	return p->kind == 1 ? count : 2 * count - 1;
}

static pe_status read_pixels(struct pnm *p)
{
	const pe_image_info *info = &p->image->info;
	int64_t count = info->height * info->width * info->channels;
	if ((int64_t)(p->source->size - p->at) < least_bytes(p, count))
		PE_TRY(grave_unless_lenient(
			p, "the file ends too early: there are fewer pixels than its header says", p->source->size));
	PE_TRY(pe_picture_allocate(p->image, p->source));
	PE_TRY(p->kind < 4 ? read_text(p, count) : p->kind == 4 ? read_packed(p) : read_bytes(p, count));
	if (p->at < p->source->size && !p->source->lenient)
		return fault(p, "there are more data behind the picture", p->at);
	return PE_OK;
}

pe_status pe_pnm_read(struct pe_image *image, const struct pe_picture_source *source)
{
	struct pnm p = {.image = image, .source = source, .at = 2, .kind = source->data[1] - '0'};
	PE_TRY(p.kind == 7 ? read_pam_header(&p) : read_header(&p));
	return read_pixels(&p);
}
