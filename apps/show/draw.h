/* SPDX-License-Identifier: BSD-2-Clause
 * What layout and drawing share: sizes of letters, and how each kind of panel measures and draws itself. */
#ifndef DRAW_H
#define DRAW_H

#include "figure.h"
#include "ticks.h"

/* Letters and gaps, in pixels. */
#define MARGIN 26 /* of the page */
#define TITLE_SIZE 20.0
#define PANEL_TITLE_SIZE 14.0
#define LABEL_SIZE 14.0
#define TICK_SIZE 13.0
#define SMALL_SIZE 13.0
#define TICK_LENGTH 5
#define BAR_GAP 12
#define BAR_WIDTH 15
#define SHEET_GAP 3

/* Does this panel show the marks of its x or y axis, or are they its neighbour's? */
bool shows_x(const struct figure *figure, int index);
bool shows_y(const struct figure *figure, int index);
/* Does every panel share one scale, whose bar stands to the right of all? */
bool has_common_bar(const struct figure *figure);
bool has_bar(const struct figure *figure, int index);
/* Is the bar's label written beside it? */
bool has_bar_label(const struct figure *figure, int index);

/* Width and height of the panel's data within `most` pixels. */
void size_tiles(struct panel *panel, int most_width, int most_height);
/* How many cells one pixel is the mean of: 1 and 1 where there is room for all. */
void tiles_per_pixel(const struct panel *panel, int64_t *rows, int64_t *columns);
/* The middle of cell i of an axis, in pixels from the panel's edge. */
double tile_middle(const struct panel *panel, bool x_axis, double i);
void draw_tiles(const struct panel *panel, struct canvas *canvas);
void draw_curves(const struct panel *panel, struct canvas *canvas);
void draw_net(const struct panel *panel, struct canvas *canvas);

/* The marks of an axis of a panel. */
struct ticks panel_ticks(const struct panel *panel, bool x_axis, struct canvas *canvas);
/* Where a mark stands, in pixels from the panel's left or top edge. */
double tick_place(const struct panel *panel, bool x_axis, double value);
/* The least range of a panel of curves, with room around it. */
void curve_limits(struct panel *panel);

/* Width of the widest number at the y axis; of numbers beside a bar; of the legend. */
double y_ticks_width(const struct panel *panel, struct canvas *canvas);
double bar_ticks_width(const struct scale *scale, int height, struct canvas *canvas);
double legend_width(const struct panel *panel, struct canvas *canvas);

void draw_axes(const struct figure *figure, int index, struct canvas *canvas);
void draw_bar(
	const struct scale *scale, const char *label, int left, int top, int height, struct canvas *canvas);
void draw_legend(const struct panel *panel, struct canvas *canvas);

/* Heights of the texts above the panels and below them, on a page with room for so wide lines. */
int title_height(struct canvas *canvas, const struct figure *figure, int width);
int note_height(struct canvas *canvas, const struct figure *figure, int width);
void draw_texts(const struct figure *figure, struct canvas *canvas);

#endif
