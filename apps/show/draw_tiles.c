/* SPDX-License-Identifier: BSD-2-Clause
 * Heat maps: whole pixels a cell; where cells are more than pixels, the mean of as many as it takes. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "draw.h"

#define MOST_PIXELS 64 /* of a cell */

/* One direction: how many cells share a pixel, or how many pixels a cell has. */
struct step {
	int64_t cells, pixels;
};

static int64_t gaps(int64_t cells, int64_t group)
{
	return group > 0 ? (cells / group - 1) * SHEET_GAP : 0;
}

/* Averaging begins only where the cells would not fit by a third. */
static struct step choose_step(int64_t cells, int64_t group, int most)
{
	int64_t room = most - gaps(cells, group), limit = room + room / 3;
	struct step out = {1, 1};
	if (cells < 1)
		return out;
	if (group == 0 && cells > limit)
		out.cells = (cells + limit - 1) / limit;
	int64_t shown = (cells + out.cells - 1) / out.cells;
	out.pixels = room / shown < 1 ? 1 : room / shown;
	return out;
}

static int64_t extent(int64_t cells, int64_t group, struct step step)
{
	return (cells + step.cells - 1) / step.cells * step.pixels + gaps(cells, group);
}

/* Read off the size that was chosen. */
static struct step step_of(int64_t cells, int64_t group, int size)
{
	int64_t room = size - gaps(cells, group);
	struct step out = {1, cells > 0 ? room / cells : 1};
	for (; out.pixels == 0; out.cells++)
		if ((cells + out.cells - 1) / out.cells == room)
			return (struct step){out.cells, 1};
	return out;
}

void size_tiles(struct panel *panel, int most_width, int most_height)
{
	const struct tiles *t = &panel->tiles;
	struct step x = choose_step(t->columns, t->group_columns, most_width);
	struct step y = choose_step(t->rows, t->group_rows, most_height);
	if (!t->square) { /* a table of few numbers is small */
		x.pixels = x.pixels < MOST_PIXELS ? x.pixels : MOST_PIXELS;
		y.pixels = y.pixels < MOST_PIXELS ? y.pixels : MOST_PIXELS;
	} else {
		x.cells = y.cells = x.cells > y.cells ? x.cells : y.cells;
		x.pixels = y.pixels = x.cells > 1 ? 1 : x.pixels < y.pixels ? x.pixels : y.pixels;
	}
	panel->width = (int)extent(t->columns, t->group_columns, x);
	panel->height = (int)extent(t->rows, t->group_rows, y);
}

void tiles_per_pixel(const struct panel *panel, int64_t *rows, int64_t *columns)
{
	*rows = step_of(panel->tiles.rows, panel->tiles.group_rows, panel->height).cells;
	*columns = step_of(panel->tiles.columns, panel->tiles.group_columns, panel->width).cells;
}

double tile_middle(const struct panel *panel, bool x_axis, double i)
{
	const struct tiles *t = &panel->tiles;
	int64_t cells = x_axis ? t->columns : t->rows, group = x_axis ? t->group_columns : t->group_rows;
	struct step step = step_of(cells, group, x_axis ? panel->width : panel->height);
	if (group > 0)
		return i * (double)(group * step.pixels + SHEET_GAP) + (double)(group * step.pixels) / 2;
	return (i + 0.5) * (double)step.pixels / (double)step.cells;
}

/* Mean of the finite ones among the cells that share a pixel; NaN if there is none. */
static double mean(const struct tiles *t, int64_t row, int64_t column, int64_t rows, int64_t columns)
{
	double sum = 0;
	int64_t count = 0;
	for (int64_t r = row; r < row + rows && r < t->rows; r++)
		for (int64_t c = column; c < column + columns && c < t->columns; c++) {
			double v = t->values[r * t->columns + c];
			if (!isfinite(v))
				continue;
			sum += v;
			count++;
		}
	return count ? sum / (double)count : NAN;
}

static void paint(unsigned char *rgb, int64_t stride, int64_t width, int64_t height, struct rgb color)
{
	for (int64_t y = 0; y < height; y++)
		for (int64_t x = 0; x < width; x++) {
			unsigned char *p = rgb + 3 * (y * stride + x);
			p[0] = color.r;
			p[1] = color.g;
			p[2] = color.b;
		}
}

/* A frame around a cell, in black and white so that it is seen on any colour. */
static void mark(const struct panel *panel, struct step x, struct step y, struct canvas *canvas)
{
	const struct tiles *t = &panel->tiles;
	if (t->mark_row < 0 || !canvas->kind->has_text)
		return;
	int64_t wide = x.pixels, high = y.pixels;
	double left = panel->left + (double)(t->mark_column / x.cells * wide);
	double top = panel->top + (double)(t->mark_row / y.cells * high);
	canvas_frame(canvas, left - 1, top - 1, (double)wide + 2, (double)high + 2, (struct rgb){255, 255, 255});
	canvas_frame(canvas, left, top, (double)wide, (double)high, (struct rgb){0, 0, 0});
}

void draw_tiles(const struct panel *panel, struct canvas *canvas)
{
	const struct tiles *t = &panel->tiles;
	int64_t width = panel->width, height = panel->height;
	if (width < 1 || height < 1)
		return;
	struct step x = step_of(t->columns, t->group_columns, panel->width);
	struct step y = step_of(t->rows, t->group_rows, panel->height);
	unsigned char *rgb = get_memory((size_t)(width * height), 3);
	paint(rgb, width, width, height, (struct rgb){255, 255, 255});
	for (int64_t row = 0; row < t->rows; row += y.cells)
		for (int64_t column = 0; column < t->columns; column += x.cells) {
			double value = x.cells * y.cells == 1 ? t->values[row * t->columns + column]
												  : mean(t, row, column, y.cells, x.cells);
			int64_t top = row / y.cells * y.pixels, left = column / x.cells * x.pixels;
			top += t->group_rows ? row / t->group_rows * SHEET_GAP : 0;
			left += t->group_columns ? column / t->group_columns * SHEET_GAP : 0;
			paint(rgb + 3 * (top * width + left), width, x.pixels, y.pixels, color_of(&panel->scale, value));
		}
	canvas->kind->tiles(canvas, panel->left, panel->top, panel->width, panel->height, rgb);
	free(rgb);
	mark(panel, x, y, canvas);
}
