/* SPDX-License-Identifier: BSD-2-Clause
 * Where everything goes: panels in rows and columns, each with room for its own title, axes and bar;
 * numbers that two neighbours share are written once. Without text there is no room but gaps. */
#include <math.h>
#include <string.h>

#include "draw.h"

#define GAP 26 /* between panels */
#define PLAIN_GAP 8
#define LEAST_WIDTH 620 /* so that titles do not become towers */
#define MOST_BAR 640
#define MOST_COLUMNS 8

static bool same_axis(const struct panel *a, const struct panel *b, bool x_axis)
{
	const struct axis *s = x_axis ? &a->x : &a->y, *t = x_axis ? &b->x : &b->y;
	int64_t cells_a = x_axis ? a->tiles.columns : a->tiles.rows,
			cells_b = x_axis ? b->tiles.columns : b->tiles.rows;
	bool same = a->kind == b->kind && s->label && t->label && strcmp(s->label, t->label) == 0;
	return same && memcmp(&s->first, &t->first, 4 * sizeof(double)) == 0 &&
		(a->kind != PANEL_TILES || cells_a == cells_b);
}

bool shows_x(const struct figure *figure, int index)
{
	int below = index + figure->columns;
	return below >= figure->count || !same_axis(&figure->panels[index], &figure->panels[below], true);
}

bool shows_y(const struct figure *figure, int index)
{
	return index % figure->columns == 0 ||
		!same_axis(&figure->panels[index - 1], &figure->panels[index], false);
}

static bool has_scale(const struct panel *panel)
{
	return panel->kind != PANEL_CURVES;
}

bool has_common_bar(const struct figure *figure)
{
	for (int i = 0; i < figure->count; i++)
		if (!has_scale(&figure->panels[i]) || figure->panels[i].own_bar)
			return false;
	return figure->count > 1;
}

bool has_bar(const struct figure *figure, int index)
{
	return has_scale(&figure->panels[index]) && !has_common_bar(figure);
}

bool has_bar_label(const struct figure *figure, int index)
{
	return figure->columns <= 2 || index % figure->columns == figure->columns - 1 ||
		index + 1 == figure->count;
}

/* ---- sizes -------------------------------------------------------------------------- */

static int choose_columns(int count)
{
	static const int columns[] = {1, 1, 2, 3, 2, 3, 3, 4, 4, 3};
	return count < 10 ? columns[count] : 4;
}

static void size_panel(const struct figure *figure, struct panel *panel)
{
	static const int widths[] = {840, 480, 340, 250}, heights[] = {640, 480, 340, 250};
	int c = figure->columns < 4 ? figure->columns - 1 : 3;
	int width = figure->sheet ? 1200 : widths[c], height = figure->sheet ? 1200 : heights[c];
	switch (panel->kind) {
	case PANEL_TILES:
		size_tiles(panel, width, height);
		break;
	case PANEL_CURVES:
		panel->width = width;
		panel->height = c == 0 ? 460 : height * 4 / 5;
		curve_limits(panel);
		break;
	case PANEL_NET:
		panel->width = panel->height = c == 0 ? 640 : height;
		break;
	}
}

static void note_means(struct figure *figure, const struct panel *panel)
{
	int64_t rows = 1, columns = 1;
	if (panel->kind == PANEL_TILES)
		tiles_per_pixel(panel, &rows, &columns);
	if (rows * columns > 1)
		figure_note(
			figure, "a pixel is the mean of %lld x %lld numbers", (long long)rows, (long long)columns);
}

/* Room around a panel's data. */
struct room {
	int left, right, top, bottom;
};

static int bar_height(int height)
{
	return height < MOST_BAR ? height : MOST_BAR;
}

static int bar_room(const struct panel *panel, bool label, int height, struct canvas *canvas)
{
	double numbers = bar_ticks_width(&panel->scale, bar_height(height), canvas);
	return (int)ceil(
		BAR_GAP + BAR_WIDTH + 10 + numbers + (label && panel->scale_label[0] ? LABEL_SIZE + 10 : 0));
}

static struct room room_of(const struct figure *figure, int index, struct canvas *canvas)
{
	const struct panel *panel = &figure->panels[index];
	struct room out = {0};
	if (!canvas->kind->has_text)
		return out;
	bool axes = panel->kind != PANEL_NET;
	out.top = panel->title[0] ? 24 : 2;
	if (axes && shows_y(figure, index))
		out.left =
			(int)ceil(y_ticks_width(panel, canvas) + TICK_LENGTH + 14 + (panel->y.label ? LABEL_SIZE : 0));
	if (axes && shows_x(figure, index))
		out.bottom = (int)(TICK_LENGTH + 14 + TICK_SIZE + (panel->x.label ? LABEL_SIZE + 4 : 0));
	out.right = has_bar(figure, index) ? bar_room(panel, has_bar_label(figure, index), panel->height, canvas)
									   : (int)ceil(legend_width(panel, canvas));
	/* Titles and the outermost numbers reach beyond the data. */
	double title = canvas_text_width(canvas, panel->title, PANEL_TITLE_SIZE, true);
	int beyond = (int)ceil(fmax((title - panel->width) / 2, axes && shows_x(figure, index) ? 12 : 0));
	out.left = out.left > beyond ? out.left : beyond;
	out.right = out.right > beyond ? out.right : beyond;
	return out;
}

struct grid {
	int columns, rows;
	struct room room[MOST_COLUMNS]; /* left and right of each column */
	int width[MOST_COLUMNS];
};

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static void measure_columns(const struct figure *figure, struct canvas *canvas, struct grid *grid)
{
	for (int i = 0; i < figure->count; i++) {
		struct room room = room_of(figure, i, canvas);
		int c = i % grid->columns;
		grid->room[c].left = larger(grid->room[c].left, room.left);
		grid->room[c].right = larger(grid->room[c].right, room.right);
		grid->width[c] = larger(grid->width[c], figure->panels[i].width);
	}
}

/* Width of everything, gaps and the common bar included. */
static int total_width(const struct figure *figure, struct canvas *canvas, const struct grid *grid, int gap)
{
	int total = 0;
	for (int c = 0; c < grid->columns; c++)
		total += grid->room[c].left + grid->width[c] + grid->room[c].right + (c ? gap : 0);
	if (has_common_bar(figure) && canvas->kind->has_text)
		total += bar_room(&figure->panels[0], true, MOST_BAR, canvas);
	return total;
}

/* Places the panels of a row whose top is y, and gives its bottom. */
static int place_row(
	struct figure *figure, struct canvas *canvas, const struct grid *grid, int row, int x, int y, int gap)
{
	int top = 0, height = 0, bottom = 0, first = row * grid->columns;
	int end = first + grid->columns < figure->count ? first + grid->columns : figure->count;
	for (int i = first; i < end; i++) {
		struct room room = room_of(figure, i, canvas);
		top = larger(top, room.top);
		height = larger(height, figure->panels[i].height);
		bottom = larger(bottom, room.bottom);
	}
	for (int i = first; i < end; i++) {
		int c = i - first;
		x += grid->room[c].left;
		figure->panels[i].left = x;
		figure->panels[i].top = y + top;
		x += grid->width[c] + grid->room[c].right + gap;
	}
	return y + top + height + bottom;
}

void figure_lay_out(struct figure *figure, struct canvas *canvas)
{
	bool text = canvas->kind->has_text;
	int gap = text ? GAP : PLAIN_GAP, margin = text ? MARGIN : 0;
	if (figure->columns == 0)
		figure->columns = choose_columns(figure->count);
	struct grid grid = {
		.columns = figure->columns, .rows = (figure->count + figure->columns - 1) / figure->columns};
	for (int i = 0; i < figure->count; i++) {
		if (has_scale(&figure->panels[i]))
			panel_fit_scale(&figure->panels[i]);
		size_panel(figure, &figure->panels[i]);
		note_means(figure, &figure->panels[i]);
	}
	measure_columns(figure, canvas, &grid);
	int width = total_width(figure, canvas, &grid, gap), page = text ? larger(width, LEAST_WIDTH) : width;
	int y = margin + (text ? title_height(canvas, figure, page) + 14 : 0);
	for (int row = 0; row < grid.rows; row++)
		y = place_row(
			figure, canvas, &grid, row, margin + (page - width) / 2, y + (row ? gap * 2 / 3 : 0), gap);
	int note = text ? note_height(canvas, figure, page) : 0;
	figure->width = larger(page + 2 * margin, 1);
	figure->height = larger(y + (note ? 14 + note : 0) + margin, 1);
}

/* ---- drawing ------------------------------------------------------------------------ */

static void draw_common_bar(const struct figure *figure, struct canvas *canvas)
{
	int right = 0, bottom = 0, top = figure->panels[0].top;
	for (int i = 0; i < figure->count; i++) {
		right = larger(right, figure->panels[i].left + figure->panels[i].width);
		bottom = larger(bottom, figure->panels[i].top + figure->panels[i].height);
	}
	int height = bar_height(bottom - top);
	draw_bar(
		&figure->panels[0].scale, figure->panels[0].scale_label, right + BAR_GAP + 8, top, height, canvas);
}

bool figure_draw(struct figure *figure, struct canvas *canvas)
{
	canvas->width = figure->width;
	canvas->height = figure->height;
	if (!canvas->kind->start(canvas))
		return false;
	for (int i = 0; i < figure->count; i++) {
		const struct panel *panel = &figure->panels[i];
		if (panel->kind == PANEL_TILES)
			draw_tiles(panel, canvas);
		else if (panel->kind == PANEL_CURVES)
			draw_curves(panel, canvas);
		else
			draw_net(panel, canvas);
		draw_axes(figure, i, canvas);
		draw_legend(panel, canvas);
		if (canvas->kind->has_text && has_bar(figure, i))
			draw_bar(&panel->scale, has_bar_label(figure, i) ? panel->scale_label : "",
				panel->left + panel->width + BAR_GAP, panel->top, bar_height(panel->height), canvas);
	}
	if (canvas->kind->has_text && has_common_bar(figure))
		draw_common_bar(figure, canvas);
	if (canvas->kind->has_text)
		draw_texts(figure, canvas);
	return true;
}
