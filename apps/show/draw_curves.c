/* SPDX-License-Identifier: BSD-2-Clause
 * Lines and marks over a common axis, and their legend. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "draw.h"

#define LEGEND_LINE 19
#define LEGEND_SAMPLE 22

void curve_limits(struct panel *panel)
{
	const struct curves *c = &panel->curves;
	double low, high;
	finite_range(c->x, c->points, &low, &high);
	double room = c->dots ? (high - low) * 0.03 + 0.3 : 0;
	if (!(panel->x.high > panel->x.low)) {
		panel->x.low = low - room;
		panel->x.high = high > low || room > 0 ? high + room : low + 1;
	}
	if (panel->y.high > panel->y.low)
		return;
	finite_range(c->y, c->lines * c->points, &low, &high);
	room = !are_equal(low, high) ? (high - low) * 0.05 : fmax(fabs(low) * 0.1, 0.5);
	panel->y.low = !are_equal(low, high) && low >= 0 && low < 0.2 * (high - low) ? 0 : low - room;
	panel->y.high = high + room;
}

static void place(const struct panel *panel, double x, double y, double *out)
{
	out[0] = panel->left + tick_place(panel, true, x);
	out[1] = panel->top + tick_place(panel, false, y);
}

static struct rgb color_at(const struct panel *panel, int64_t line)
{
	const struct curves *c = &panel->curves;
	if (c->broad && line + 1 == c->lines)
		return color_grey;
	if (c->many)
		return line + 1 == c->lines ? color_ink : color_of_line(0, 8);
	return color_of_line((int)line, (int)c->lines);
}

static double line_width(const struct curves *c, int64_t line)
{
	bool last = line + 1 == c->lines;
	return c->many && !last ? 1 : c->broad && last ? 6 : 2;
}

static bool is_inside(const struct panel *panel, double y)
{
	return isfinite(y) && y >= panel->y.low && y <= panel->y.high;
}

static void draw_line(const struct panel *panel, int64_t line, double *room, struct canvas *canvas)
{
	const struct curves *c = &panel->curves;
	bool thin = c->many && line + 1 < c->lines;
	int count = 0;
	for (int64_t i = 0; i <= c->points; i++) {
		double y = i < c->points ? c->y[line * c->points + i] : NAN;
		if (is_inside(panel, y)) {
			place(panel, c->x[i], y, room + 2 * count++);
			continue;
		}
		if (count > 1)
			canvas->kind->line(
				canvas, room, count, line_width(c, line), color_at(panel, line), thin ? 0.3 : 1);
		else if (count == 1)
			canvas->kind->disc(canvas, room[0], room[1], 2.5, color_at(panel, line));
		count = 0;
	}
}

static void draw_dots(const struct panel *panel, int64_t line, struct canvas *canvas)
{
	const struct curves *c = &panel->curves;
	double at[2], radius = c->points > 200 ? 2 : c->points > 60 ? 3 : 4.5;
	for (int64_t i = 0; i < c->points; i++)
		if (is_inside(panel, c->y[line * c->points + i])) {
			place(panel, c->x[i], c->y[line * c->points + i], at);
			canvas->kind->disc(canvas, at[0], at[1], radius, color_at(panel, line));
		}
}

static void draw_grid(const struct panel *panel, struct canvas *canvas)
{
	struct ticks x = panel_ticks(panel, true, canvas), y = panel_ticks(panel, false, canvas);
	for (int i = 0; i < x.count; i++)
		canvas->kind->fill(canvas, panel->left + floor(tick_place(panel, true, x.values[i])), panel->top, 1,
			panel->height, color_pale);
	for (int i = 0; i < y.count; i++)
		canvas->kind->fill(canvas, panel->left, panel->top + floor(tick_place(panel, false, y.values[i])),
			panel->width, 1, color_pale);
}

void draw_curves(const struct panel *panel, struct canvas *canvas)
{
	const struct curves *c = &panel->curves;
	double *room = get_memory((size_t)c->points + 1, 2 * sizeof *room);
	draw_grid(panel, canvas);
	if (isfinite(c->mark))
		for (int y = 0; y + 5 <= panel->height; y += 9)
			canvas->kind->fill(canvas, panel->left + floor(tick_place(panel, true, c->mark)), panel->top + y,
				1, 5, color_ink);
	if (c->broad)
		draw_line(panel, c->lines - 1, room, canvas);
	for (int64_t i = 0; i < c->lines - c->broad; i++)
		if (c->dots)
			draw_dots(panel, i, canvas);
		else
			draw_line(panel, i, room, canvas);
	free(room);
}

/* ---- legend ------------------------------------------------------------------------- */

static int64_t name_count(const struct panel *panel)
{
	int64_t count = 0;
	while (panel->kind == PANEL_CURVES && panel->curves.names && panel->curves.names[count])
		count++;
	return count;
}

/* Every how many names are written, so that they fit beside the panel. */
static int64_t name_step(const struct panel *panel)
{
	int64_t count = name_count(panel), room = panel->height / LEGEND_LINE;
	return room > 0 && count > room ? (count + room - 1) / room : 1;
}

double legend_width(const struct panel *panel, struct canvas *canvas)
{
	double widest = 0;
	for (int64_t i = 0; i < name_count(panel); i++)
		widest = fmax(widest, canvas_text_width(canvas, panel->curves.names[i], SMALL_SIZE, false));
	return widest > 0 ? BAR_GAP + LEGEND_SAMPLE + 6 + widest : 0;
}

void draw_legend(const struct panel *panel, struct canvas *canvas)
{
	const struct curves *c = &panel->curves;
	struct text_style style = {.size = SMALL_SIZE, .color = color_ink};
	double x = panel->left + panel->width + BAR_GAP, y = panel->top + 10;
	int64_t count = name_count(panel), step = name_step(panel);
	for (int64_t i = 0; i < count; i += step, y += LEGEND_LINE) {
		int64_t line = panel->curves.many && i + 1 == count ? panel->curves.lines - 1 : i;
		if (canvas->kind->has_text && panel->curves.dots)
			canvas->kind->disc(canvas, x + LEGEND_SAMPLE / 2.0, y, 4, color_at(panel, line));
		else if (canvas->kind->has_text)
			canvas->kind->line(canvas, (double[]){x + 2, y, x + LEGEND_SAMPLE - 2, y}, 2,
				c->broad && line + 1 == c->lines ? 6 : 2.5, color_at(panel, line), 1);
		canvas_text(canvas, x + LEGEND_SAMPLE + 6, y + 5, panel->curves.names[i], &style);
	}
}
