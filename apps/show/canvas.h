/* SPDX-License-Identifier: BSD-2-Clause
 * A page to draw on, in pixels from its upper left corner. Two kinds: by Cairo, with text, to PNG or SVG;
 * and plain, with the same tiles, lines and discs but no text, to PNG alone, which needs nothing. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "colormap.h"

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

struct text_style {
	double size; /* of the letters, in pixels */
	bool bold;
	struct rgb color;
	enum anchor anchor;
	bool upward; /* turned by a quarter, reading upward */
};

struct canvas;

struct canvas_kind {
	bool has_text;
	/* Frees what start made. */
	void (*close)(struct canvas *canvas);
	/* A white page of canvas->width and height. false: no memory. */
	bool (*start)(struct canvas *canvas);
	double (*text_width)(struct canvas *canvas, const char *text, const struct text_style *style);
	void (*fill)(struct canvas *canvas, double x, double y, double width, double height, struct rgb color);
	void (*tiles)(struct canvas *canvas, int x, int y, int width, int height, const unsigned char *rgb);
	void (*line)(
		struct canvas *canvas, const double *xy, int points, double width, struct rgb color, double alpha);
	void (*disc)(struct canvas *canvas, double x, double y, double radius, struct rgb color);
	void (*text)(struct canvas *canvas, double x, double y, const char *text, const struct text_style *style);
	/* The file's bytes, from malloc. false: no memory. */
	bool (*finish)(struct canvas *canvas, unsigned char **bytes, size_t *size);
};

struct canvas {
	const struct canvas_kind *kind;
	bool svg;
	int width, height;
	void *own; /* of the kind */
};

/* The plain kind; the one by Cairo, or NULL where the program was built without. */
extern const struct canvas_kind canvas_kind_plain;
const struct canvas_kind *canvas_kind_labelled(void);

/* Text with a baseline at y; of upward text x is the baseline. */
double canvas_text_width(struct canvas *canvas, const char *text, double size, bool bold);
void canvas_text(struct canvas *canvas, double x, double y, const char *text, const struct text_style *style);
/* The outline of a rectangle, one pixel wide, around its outside. */
void canvas_frame(struct canvas *canvas, double x, double y, double width, double height, struct rgb color);

#endif
