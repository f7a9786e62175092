/* SPDX-License-Identifier: BSD-2-Clause */
#include "canvas.h"

#ifndef HAVE_CAIRO
const struct canvas_kind *canvas_kind_labelled(void)
{
	return NULL;
}
#endif

double canvas_text_width(struct canvas *canvas, const char *text, double size, bool bold)
{
	struct text_style style = {.size = size, .bold = bold};
	return canvas->kind->has_text && text[0] ? canvas->kind->text_width(canvas, text, &style) : 0;
}

void canvas_text(struct canvas *canvas, double x, double y, const char *text, const struct text_style *style)
{
	if (!canvas->kind->has_text || !text[0])
		return;
	double width = canvas->kind->text_width(canvas, text, style);
	double shift = style->anchor == ANCHOR_START ? 0 : style->anchor == ANCHOR_MIDDLE ? width / 2 : width;
	canvas->kind->text(canvas, style->upward ? x : x - shift, style->upward ? y + shift : y, text, style);
}

void canvas_frame(struct canvas *canvas, double x, double y, double width, double height, struct rgb color)
{
	const struct canvas_kind *kind = canvas->kind;
	kind->fill(canvas, x - 1, y - 1, width + 2, 1, color);
	kind->fill(canvas, x - 1, y + height, width + 2, 1, color);
	kind->fill(canvas, x - 1, y, 1, height, color);
	kind->fill(canvas, x + width, y, 1, height, color);
}
