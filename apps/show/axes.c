/* SPDX-License-Identifier: BSD-2-Clause
 * Marks, numbers and labels around a panel, and the bar of colours beside it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "draw.h"

static const struct axis *axis_of(const struct panel *panel, bool x_axis)
{
	return x_axis ? &panel->x : &panel->y;
}

/* Cells of tiles along an axis, maps of a sheet. */
static double cells_of(const struct panel *panel, bool x_axis)
{
	const struct tiles *t = &panel->tiles;
	int64_t cells = x_axis ? t->columns : t->rows, group = x_axis ? t->group_columns : t->group_rows;
	return (double)(group ? cells / group : cells);
}

static void axis_range(const struct panel *panel, bool x_axis, double *low, double *high)
{
	const struct axis *axis = axis_of(panel, x_axis);
	*low = axis->low;
	*high = axis->high;
	if (panel->kind == PANEL_TILES) {
		double last = axis->first + (cells_of(panel, x_axis) - 1) * axis->step;
		*low = fmin(axis->first, last);
		*high = fmax(axis->first, last);
	}
}

double tick_place(const struct panel *panel, bool x_axis, double value)
{
	const struct axis *axis = axis_of(panel, x_axis);
	if (panel->kind == PANEL_TILES)
		return tile_middle(panel, x_axis, (value - axis->first) / axis->step);
	double t = (value - axis->low) / (axis->high - axis->low);
	return x_axis ? t * panel->width : (1 - t) * panel->height;
}

/* The maps of a sheet, or every second, third, … of them. */
static struct ticks map_ticks(const struct axis *axis, int64_t maps, int most)
{
	most = most < 1 ? 1 : most > MAX_TICKS ? MAX_TICKS : most;
	int64_t every = (maps + most - 1) / most;
	struct ticks out = {.step = axis->step * (double)every};
	for (int64_t i = 0; i < maps; i += every)
		out.values[out.count++] = axis->first + (double)i * axis->step;
	return out;
}

struct ticks panel_ticks(const struct panel *panel, bool x_axis, struct canvas *canvas)
{
	double low, high, wide = 24;
	char text[40];
	struct ticks ticks = {0};
	if (panel->kind == PANEL_NET)
		return ticks;
	axis_range(panel, x_axis, &low, &high);
	int size = x_axis ? panel->width : panel->height;
	if (panel->kind == PANEL_TILES && panel->tiles.group_rows)
		return map_ticks(axis_of(panel, x_axis), (int64_t)cells_of(panel, x_axis), size / 48);
	ticks = ticks_between(low, high, size / 48, axis_of(panel, x_axis)->whole);
	if (!x_axis)
		return ticks;
	for (int i = 0; i < ticks.count; i++) {
		tick_text(text, sizeof text, ticks.values[i], ticks.step);
		wide = fmax(wide, canvas_text_width(canvas, text, TICK_SIZE, false));
	}
	return ticks_between(low, high, (int)(size / (wide + 18)), panel->x.whole);
}

double y_ticks_width(const struct panel *panel, struct canvas *canvas)
{
	char text[40];
	double widest = 0;
	struct ticks ticks = panel_ticks(panel, false, canvas);
	for (int i = 0; i < ticks.count; i++) {
		tick_text(text, sizeof text, ticks.values[i], ticks.step);
		widest = fmax(widest, canvas_text_width(canvas, text, TICK_SIZE, false));
	}
	return widest;
}

/* ---- axes --------------------------------------------------------------------------- */

static void draw_x(const struct panel *panel, struct canvas *canvas)
{
	struct text_style tick = {.size = TICK_SIZE, .color = color_ink, .anchor = ANCHOR_MIDDLE};
	struct text_style label = {.size = LABEL_SIZE, .color = color_ink, .anchor = ANCHOR_MIDDLE};
	struct ticks ticks = panel_ticks(panel, true, canvas);
	char text[40];
	double bottom = panel->top + panel->height;
	for (int i = 0; i < ticks.count; i++) {
		double x = panel->left + floor(tick_place(panel, true, ticks.values[i]));
		canvas->kind->fill(canvas, x, bottom + 1, 1, TICK_LENGTH, color_ink);
		tick_text(text, sizeof text, ticks.values[i], ticks.step);
		canvas_text(canvas, x + 0.5, bottom + TICK_LENGTH + 3 + TICK_SIZE, text, &tick);
	}
	canvas_text(canvas, panel->left + panel->width / 2.0, bottom + TICK_LENGTH + 10 + TICK_SIZE + LABEL_SIZE,
		panel->x.label ? panel->x.label : "", &label);
}

static void draw_y(const struct panel *panel, struct canvas *canvas)
{
	struct text_style tick = {.size = TICK_SIZE, .color = color_ink, .anchor = ANCHOR_END};
	struct text_style label = {
		.size = LABEL_SIZE, .color = color_ink, .anchor = ANCHOR_MIDDLE, .upward = true};
	struct ticks ticks = panel_ticks(panel, false, canvas);
	char text[40];
	for (int i = 0; i < ticks.count; i++) {
		double y = panel->top + floor(tick_place(panel, false, ticks.values[i]));
		canvas->kind->fill(canvas, panel->left - 1 - TICK_LENGTH, y, TICK_LENGTH, 1, color_ink);
		tick_text(text, sizeof text, ticks.values[i], ticks.step);
		canvas_text(canvas, panel->left - TICK_LENGTH - 5, y + 0.36 * TICK_SIZE, text, &tick);
	}
	canvas_text(canvas, panel->left - TICK_LENGTH - 14 - y_ticks_width(panel, canvas),
		panel->top + panel->height / 2.0, panel->y.label ? panel->y.label : "", &label);
}

void draw_axes(const struct figure *figure, int index, struct canvas *canvas)
{
	const struct panel *panel = &figure->panels[index];
	struct text_style title = {
		.size = PANEL_TITLE_SIZE, .bold = true, .color = color_ink, .anchor = ANCHOR_MIDDLE};
	if (!canvas->kind->has_text)
		return;
	canvas_text(canvas, panel->left + panel->width / 2.0, panel->top - 8, panel->title, &title);
	if (panel->kind != PANEL_TILES || !panel->tiles.group_rows)
		canvas_frame(canvas, panel->left, panel->top, panel->width, panel->height,
			panel->kind == PANEL_NET ? color_pale : color_ink);
	if (panel->kind == PANEL_NET)
		return;
	if (shows_x(figure, index))
		draw_x(panel, canvas);
	if (shows_y(figure, index))
		draw_y(panel, canvas);
}

/* ---- bar ---------------------------------------------------------------------------- */

static struct ticks bar_ticks(const struct scale *scale, int height)
{
	return ticks_between(scale->low, scale->high, height / 44, false);
}

double bar_ticks_width(const struct scale *scale, int height, struct canvas *canvas)
{
	char text[40];
	double widest = 0;
	struct ticks ticks = bar_ticks(scale, height);
	for (int i = 0; i < ticks.count; i++) {
		tick_text(text, sizeof text, ticks.values[i], ticks.step);
		widest = fmax(widest, canvas_text_width(canvas, text, TICK_SIZE, false));
	}
	return widest;
}

void draw_bar(
	const struct scale *scale, const char *label, int left, int top, int height, struct canvas *canvas)
{
	struct text_style tick = {.size = TICK_SIZE, .color = color_ink};
	struct text_style name = {
		.size = LABEL_SIZE, .color = color_ink, .anchor = ANCHOR_MIDDLE, .upward = true};
	unsigned char *rgb = get_memory((size_t)height * BAR_WIDTH, 3);
	char text[40];
	for (int i = 0; i < height * BAR_WIDTH; i++) {
		double t = (height - 0.5 - i / BAR_WIDTH) / height;
		struct rgb color = color_of(scale, scale->low + t * (scale->high - scale->low));
		memcpy(rgb + 3 * i, (unsigned char[3]){color.r, color.g, color.b}, 3);
	}
	canvas->kind->tiles(canvas, left, top, BAR_WIDTH, height, rgb);
	free(rgb);
	canvas_frame(canvas, left, top, BAR_WIDTH, height, color_ink);
	struct ticks ticks = bar_ticks(scale, height);
	for (int i = 0; i < ticks.count; i++) {
		double t = (ticks.values[i] - scale->low) / (scale->high - scale->low);
		double y = top + floor((1 - t) * (height - 1) + 0.5);
		canvas->kind->fill(canvas, left + BAR_WIDTH + 1, y, 4, 1, color_ink);
		tick_text(text, sizeof text, ticks.values[i], ticks.step);
		canvas_text(canvas, left + BAR_WIDTH + 8, y + 0.36 * TICK_SIZE, text, &tick);
	}
	canvas_text(canvas, left + BAR_WIDTH + 14 + bar_ticks_width(scale, height, canvas) + LABEL_SIZE,
		top + height / 2.0, label, &name);
}
