/* SPDX-License-Identifier: BSD-2-Clause
 * The texts of a page: title, what is shown, and notes, in as many lines as they need. */
#include <string.h>

#include "draw.h"

/* Text in lines no wider than `width`, from the first baseline y on; without draw it is only measured. Gives
 * the number of lines. */
static int wrapped_text(struct canvas *canvas, const char *text, double x, double y, double width,
	double line_height, const struct text_style *style, bool draw)
{
	char line[1024] = "";
	int lines = 0;
	while (*text) {
		size_t word = strcspn(text, " "), used = strlen(line);
		char longer[1024];
		memcpy(longer, line, used);
		if (used)
			longer[used++] = ' ';
		size_t room = sizeof longer - used - 1, taken = word < room ? word : room;
		memcpy(longer + used, text, taken);
		longer[used + taken] = '\0';
		if (line[0] && canvas_text_width(canvas, longer, style->size, style->bold) > width) {
			if (draw)
				canvas_text(canvas, x, y + lines * line_height, line, style);
			lines++;
			memmove(longer, longer + used, taken + 1);
		}
		memcpy(line, longer, sizeof line);
		text += word + strspn(text + word, " ");
	}
	if (line[0] && draw)
		canvas_text(canvas, x, y + lines * line_height, line, style);
	return lines + (line[0] != '\0');
}

static const struct text_style title_style = {.size = TITLE_SIZE, .bold = true, .color = {0x22, 0x22, 0x22}},
							   small_style = {.size = SMALL_SIZE, .color = {0x55, 0x55, 0x55}};
#define TITLE_LINE 27
#define SMALL_LINE 19

int title_height(struct canvas *canvas, const struct figure *figure, int width)
{
	return TITLE_LINE * wrapped_text(canvas, figure->title, 0, 0, width, 0, &title_style, false) +
		SMALL_LINE * wrapped_text(canvas, figure->subtitle, 0, 0, width, 0, &small_style, false);
}

int note_height(struct canvas *canvas, const struct figure *figure, int width)
{
	return SMALL_LINE * wrapped_text(canvas, figure->note, 0, 0, width, 0, &small_style, false);
}

void draw_texts(const struct figure *figure, struct canvas *canvas)
{
	int width = figure->width - 2 * MARGIN;
	int lines = wrapped_text(
		canvas, figure->title, MARGIN, MARGIN + TITLE_SIZE - 4, width, TITLE_LINE, &title_style, true);
	wrapped_text(canvas, figure->subtitle, MARGIN, MARGIN + lines * TITLE_LINE + SMALL_SIZE - 2, width,
		SMALL_LINE, &small_style, true);
	int notes = wrapped_text(canvas, figure->note, 0, 0, width, 0, &small_style, false);
	wrapped_text(canvas, figure->note, MARGIN, figure->height - MARGIN - (notes - 1) * SMALL_LINE - 3, width,
		SMALL_LINE, &small_style, true);
}
