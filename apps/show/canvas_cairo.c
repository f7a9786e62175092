/* SPDX-License-Identifier: BSD-2-Clause
 * The page by Cairo: an image surface whose pixels become a PNG file, or a surface that writes SVG. */
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "png_bytes.h"

struct page {
	cairo_surface_t *surface;
	cairo_t *cairo;
	cairo_t *ruler; /* to measure text before there is a page */
	unsigned char *bytes;
	size_t size, capacity;
	bool lost; /* no memory for some of the bytes */
};

/* ---- text --------------------------------------------------------------------------- */

static void choose_font(cairo_t *cairo, const struct text_style *style)
{
	cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
		style->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cairo, style->size);
	cairo_font_options_t *options = cairo_font_options_create();
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	cairo_set_font_options(cairo, options);
	cairo_font_options_destroy(options);
}

/* Bytes of the letter that text begins with, or 0 if it is no UTF-8 or a control character. */
static size_t letter_size(const char *text)
{
	unsigned char first = (unsigned char)text[0];
	size_t size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0x20 || first == 0x7f || (first >= 0x80 && first < 0xc2) || first > 0xf4)
		return 0;
	for (size_t i = 1; i < size; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
	/* Spelled longer than need be, halves of UTF-16, beyond Unicode. */
	unsigned char second = (unsigned char)text[size > 1];
	bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
		(first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
	return wrong ? 0 : size;
}

/* Can the font draw this letter? Where none is installed Cairo has letters of its own, of ASCII alone. */
static bool has_letter(cairo_t *cairo, const char *letter, size_t size)
{
	cairo_scaled_font_t *font = cairo_get_scaled_font(cairo);
	cairo_glyph_t *glyphs = NULL;
	int count = 0;
	if (size == 1)
		return true;
	if (cairo_scaled_font_get_type(font) == CAIRO_FONT_TYPE_USER)
		return false;
	cairo_status_t status =
		cairo_scaled_font_text_to_glyphs(font, 0, 0, letter, (int)size, &glyphs, &count, NULL, NULL, NULL);
	bool there = status == CAIRO_STATUS_SUCCESS && count > 0 && glyphs[0].index != 0;
	cairo_glyph_free(glyphs);
	return there;
}

static const char *spelling_of(const char *letter, size_t size)
{
	static const struct {
		const char *letter, *spelled;
	} others[] = {{"−", "-"}, {"·", "|"}, {"λ", "lambda"}, {"∞", "inf"}, {"⁻", "^-"}, {"¹", "1"}};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strlen(others[i].letter) == size && memcmp(letter, others[i].letter, size) == 0)
			return others[i].spelled;
	return "?";
}

/* The text in letters that the font has. */
static void spell(cairo_t *cairo, const char *text, char *out, size_t size)
{
	size_t used = 0;
	while (*text && used + 8 < size) {
		size_t letter = letter_size(text);
		if (letter > 0 && has_letter(cairo, text, letter)) {
			memcpy(out + used, text, letter);
			used += letter;
		} else {
			used += (size_t)snprintf(out + used, size - used, "%s", letter ? spelling_of(text, letter) : "?");
		}
		text += letter ? letter : 1;
	}
	out[used] = '\0';
}

static cairo_t *ruler_of(struct canvas *c)
{
	if (!c->own)
		c->own = calloc(1, sizeof(struct page));
	struct page *page = c->own;
	if (page && !page->ruler) {
		cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
		page->ruler = cairo_create(surface);
		cairo_surface_destroy(surface);
	}
	return page ? page->ruler : NULL;
}

static double text_width(struct canvas *c, const char *text, const struct text_style *style)
{
	char spelled[1024];
	cairo_text_extents_t extents;
	cairo_t *ruler = ruler_of(c);
	if (!ruler)
		return 0;
	choose_font(ruler, style);
	spell(ruler, text, spelled, sizeof spelled);
	cairo_text_extents(ruler, spelled, &extents);
	return extents.x_advance;
}

static void set_color(cairo_t *cairo, struct rgb color, double alpha)
{
	cairo_set_source_rgba(cairo, color.r / 255.0, color.g / 255.0, color.b / 255.0, alpha);
}

static void text(struct canvas *c, double x, double y, const char *words, const struct text_style *style)
{
	char spelled[1024];
	cairo_t *cairo = ((struct page *)c->own)->cairo;
	choose_font(cairo, style);
	spell(cairo, words, spelled, sizeof spelled);
	set_color(cairo, style->color, 1);
	cairo_save(cairo);
	cairo_translate(cairo, x, y);
	if (style->upward)
		cairo_rotate(cairo, -acos(0.0));
	cairo_move_to(cairo, 0, 0);
	cairo_show_text(cairo, spelled);
	cairo_restore(cairo);
}

/* ---- shapes ------------------------------------------------------------------------- */

static void fill(struct canvas *c, double x, double y, double width, double height, struct rgb color)
{
	cairo_t *cairo = ((struct page *)c->own)->cairo;
	set_color(cairo, color, 1);
	cairo_rectangle(cairo, x, y, width, height);
	cairo_fill(cairo);
}

static void tiles(struct canvas *c, int x, int y, int width, int height, const unsigned char *rgb)
{
	struct page *page = c->own;
	cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
	unsigned char *data = cairo_image_surface_get_data(image);
	int stride = cairo_image_surface_get_stride(image);
	page->lost = page->lost || !data;
	for (int row = 0; row < height && data; row++)
		for (int column = 0; column < width; column++, rgb += 3) {
			unsigned pixel = (unsigned)rgb[0] << 16 | (unsigned)rgb[1] << 8 | rgb[2];
			memcpy(data + (size_t)row * (size_t)stride + 4 * (size_t)column, &pixel, 4);
		}
	cairo_surface_mark_dirty(image);
	cairo_set_source_surface(page->cairo, image, x, y);
	cairo_pattern_set_filter(cairo_get_source(page->cairo), CAIRO_FILTER_NEAREST);
	cairo_rectangle(page->cairo, x, y, width, height);
	cairo_fill(page->cairo);
	cairo_surface_destroy(image);
}

static void line(struct canvas *c, const double *xy, int points, double width, struct rgb color, double alpha)
{
	cairo_t *cairo = ((struct page *)c->own)->cairo;
	set_color(cairo, color, alpha);
	cairo_set_line_width(cairo, width);
	cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
	cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
	cairo_new_path(cairo);
	for (int i = 0; i < points; i++)
		cairo_line_to(cairo, xy[2 * i], xy[2 * i + 1]);
	cairo_stroke(cairo);
}

static void disc(struct canvas *c, double x, double y, double radius, struct rgb color)
{
	cairo_t *cairo = ((struct page *)c->own)->cairo;
	set_color(cairo, color, 1);
	cairo_new_path(cairo);
	cairo_arc(cairo, x, y, radius, 0, 4 * acos(0.0));
	cairo_fill(cairo);
}

/* ---- the page ----------------------------------------------------------------------- */

static cairo_status_t take(void *own, const unsigned char *bytes, unsigned size)
{
	struct page *page = own;
	if (page->size + size > page->capacity) {
		size_t capacity = 2 * (page->size + size);
		unsigned char *larger = realloc(page->bytes, capacity);
		if (!larger)
			return CAIRO_STATUS_NO_MEMORY;
		page->bytes = larger;
		page->capacity = capacity;
	}
	memcpy(page->bytes + page->size, bytes, size);
	page->size += size;
	return CAIRO_STATUS_SUCCESS;
}

static bool start(struct canvas *c)
{
	if (!ruler_of(c))
		return false;
	struct page *page = c->own;
	page->surface = c->svg ? cairo_svg_surface_create_for_stream(take, page, c->width, c->height)
						   : cairo_image_surface_create(CAIRO_FORMAT_RGB24, c->width, c->height);
	if (c->svg)
		cairo_svg_surface_set_document_unit(page->surface, CAIRO_SVG_UNIT_PX);
	page->cairo = cairo_create(page->surface);
	fill(c, 0, 0, c->width, c->height, (struct rgb){255, 255, 255});
	return cairo_status(page->cairo) == CAIRO_STATUS_SUCCESS;
}

static bool finish_svg(struct page *page, unsigned char **bytes, size_t *size)
{
	cairo_surface_finish(page->surface);
	if (page->lost || cairo_surface_status(page->surface) != CAIRO_STATUS_SUCCESS)
		return false;
	*bytes = page->bytes;
	*size = page->size;
	page->bytes = NULL;
	return true;
}

static bool finish_png(struct canvas *c, unsigned char **bytes, size_t *size)
{
	struct page *page = c->own;
	size_t pixels = (size_t)c->width * (size_t)c->height;
	unsigned char *rgb = malloc(3 * pixels), *to = rgb;
	if (!rgb)
		return false;
	cairo_surface_flush(page->surface);
	const unsigned char *data = cairo_image_surface_get_data(page->surface);
	size_t stride = (size_t)cairo_image_surface_get_stride(page->surface);
	for (size_t i = 0; i < pixels; i++, to += 3) {
		unsigned pixel;
		memcpy(&pixel, data + i / (size_t)c->width * stride + 4 * (i % (size_t)c->width), 4);
		to[0] = (unsigned char)(pixel >> 16);
		to[1] = (unsigned char)(pixel >> 8);
		to[2] = (unsigned char)pixel;
	}
	bool done = png_bytes(rgb, c->width, c->height, bytes, size);
	free(rgb);
	return done;
}

static bool finish(struct canvas *c, unsigned char **bytes, size_t *size)
{
	struct page *page = c->own;
	if (page->lost || cairo_status(page->cairo) != CAIRO_STATUS_SUCCESS)
		return false;
	return c->svg ? finish_svg(page, bytes, size) : finish_png(c, bytes, size);
}

static void close_page(struct canvas *c)
{
	struct page *page = c->own;
	if (!page)
		return;
	cairo_destroy(page->cairo); /* which, like the next, takes NULL */
	cairo_surface_destroy(page->surface);
	cairo_destroy(page->ruler);
	free(page->bytes);
	free(page);
	c->own = NULL;
}

static const struct canvas_kind cairo_kind = {
	.has_text = true,
	.start = start,
	.close = close_page,
	.text_width = text_width,
	.fill = fill,
	.tiles = tiles,
	.line = line,
	.disc = disc,
	.text = text,
	.finish = finish,
};

const struct canvas_kind *canvas_kind_labelled(void)
{
	return &cairo_kind;
}
