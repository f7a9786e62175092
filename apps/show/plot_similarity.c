/* SPDX-License-Identifier: BSD-2-Clause
 * Cosines between tokens' rows: one token with all others, all with all, and along a grid's lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots.h"

#define MOST_TOKENS 1024 /* of a matrix: more are left out evenly, a picture has no more pixels */
#define MOST_SHEET 1160  /* cells side by side in a sheet */

static void finish_cosines(const struct wishes *wishes, struct figure *figure, int first)
{
	double least = 1, low, high;
	for (int i = first; i < figure->count; i++) {
		const struct tiles *t = &figure->panels[i].tiles;
		set_scale_label(&figure->panels[i], "cosine similarity");
		if (!finite_range(t->values, t->rows * t->columns, &low, &high) && !t->group_rows)
			figure_note(figure, "grey: a row of zeros has no direction");
		least = fmin(least, low);
	}
	share_scale(wishes, figure, first, cosine_scale(least));
}

static void note_prefix(struct figure *figure, const struct subject *subject)
{
	if (subject->on->prefix > 0)
		figure_note(figure, "the %lld prefix token%s not on the grid, and left out",
			(long long)subject->on->prefix, subject->on->prefix == 1 ? " is" : "s are");
}

/* ---- one token ---------------------------------------------------------------------- */

static void add_maps(const struct wishes *wishes, const struct subject *subject, const struct rows *rows,
	const struct place_of_token *token, struct figure *figure)
{
	const struct standing *on = subject->on;
	int64_t cells = on->rows * on->columns;
	for (int64_t t = 0; t < on->frames && t < MOST_PANELS; t++) {
		double *values = get_memory((size_t)cells, sizeof *values);
		for (int64_t i = 0; i < cells; i++)
			values[i] = dot_rows(rows, token->index, on->prefix + t * cells + i);
		struct panel *panel = add_tiles(figure, values, on->rows, on->columns);
		set_grid_axes(panel);
		if (on->frames > 1)
			set_panel_title(wishes, panel, subject, "frame %lld", (long long)t);
		else
			name_panel(wishes, panel, subject);
		if (token->t == t) {
			panel->tiles.mark_row = token->y;
			panel->tiles.mark_column = token->x;
		}
	}
}

static void add_curve(const struct wishes *wishes, const struct subject *subject, const struct rows *rows,
	const struct place_of_token *token, struct figure *figure)
{
	struct panel *panel = figure_add(figure, PANEL_CURVES);
	struct curves *c = &panel->curves;
	c->points = rows->count;
	c->lines = 1;
	c->x = get_memory((size_t)rows->count, sizeof *c->x);
	c->y = get_memory((size_t)rows->count, sizeof *c->y);
	for (int64_t i = 0; i < rows->count; i++) {
		c->x[i] = subject->on->offset + (double)i;
		c->y[i] = dot_rows(rows, token->index, i);
	}
	c->mark = c->x[token->index];
	c->dots = subject->on->graph != NULL;
	panel->x.label = subject->on->token;
	panel->y.label = "cosine similarity";
	panel->x.whole = true;
	name_panel(wishes, panel, subject);
}

static int build_similarity(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	struct rows rows;
	struct place_of_token token;
	char text[80];
	int first = figure->count, code = unit_rows(wishes, subject, &rows);
	if (code != EXIT_DONE)
		return code;
	code = choose_token(wishes, subject, rows.count, &token);
	if (code == EXIT_DONE) {
		token_text(text, sizeof text, subject, &token);
		set_title(figure, subject, "cosine similarity of %s with all others", text);
		if (has_grid(subject)) {
			add_maps(wishes, subject, &rows, &token, figure);
			finish_cosines(wishes, figure, first);
			note_prefix(figure, subject);
		} else {
			add_curve(wishes, subject, &rows, &token, figure);
		}
	}
	free(rows.values);
	return code;
}

/* ---- every token of a grid ---------------------------------------------------------- */

/* Every how many rows or columns a map is drawn, so that the sheet is no larger than a screen. */
static int64_t sheet_step(int64_t maps, int64_t cells)
{
	int64_t most = MOST_SHEET / cells > 1 ? MOST_SHEET / cells : 1;
	return (maps + most - 1) / most;
}

static void fill_sheet(const struct subject *subject, const struct rows *rows, int64_t frame, int64_t step_y,
	int64_t step_x, struct tiles *tiles)
{
	const struct standing *on = subject->on;
	int64_t first = on->prefix + frame * on->rows * on->columns;
	for (int64_t r = 0; r < tiles->rows; r++)
		for (int64_t c = 0; c < tiles->columns; c++) {
			int64_t query = r / on->rows * step_y * on->columns + c / on->columns * step_x;
			int64_t key = r % on->rows * on->columns + c % on->columns;
			tiles->values[r * tiles->columns + c] = dot_rows(rows, first + query, first + key);
		}
}

static int build_sheet(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	const struct standing *on = subject->on;
	struct rows rows;
	struct place_of_token token;
	int first = figure->count, code = unit_rows(wishes, subject, &rows);
	if (code != EXIT_DONE)
		return code;
	code = choose_token(wishes, subject, rows.count, &token);
	if (code != EXIT_DONE) {
		free(rows.values);
		return code;
	}
	int64_t side = on->rows > on->columns ? on->rows : on->columns;
	int64_t step = sheet_step(side, side), down = (on->rows + step - 1) / step;
	int64_t across = (on->columns + step - 1) / step, frame = token.t < 0 ? 0 : token.t;
	double *values = get_memory((size_t)(down * on->rows * across * on->columns), sizeof *values);
	struct panel *panel = add_tiles(figure, values, down * on->rows, across * on->columns);
	set_grid_axes(panel);
	panel->tiles.group_rows = on->rows;
	panel->tiles.group_columns = on->columns;
	panel->x.step = panel->y.step = (double)step;
	panel->x.label = "column x of the token";
	panel->y.label = "row y of the token";
	fill_sheet(subject, &rows, frame, step, step, &panel->tiles);
	free(rows.values);
	name_panel(wishes, panel, subject);
	set_title(figure, subject, "cosine similarity of each token with all others");
	figure->sheet = !wishes->several;
	if (step > 1)
		figure_note(figure, "maps of one row and column in %lld", (long long)step);
	if (on->frames > 1)
		figure_note(figure, "frame %lld of %lld (--token T,Y,X)", (long long)frame, (long long)on->frames);
	finish_cosines(wishes, figure, first);
	figure_note(figure, "each small map is the grid of %lld x %lld tokens", (long long)on->rows,
		(long long)on->columns);
	note_prefix(figure, subject);
	return EXIT_DONE;
}

/* ---- all with all ------------------------------------------------------------------- */

static int build_matrix(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	struct rows rows;
	char why[300];
	int first = figure->count;
	if (!subject_rows(subject, wishes->array, &rows, why, sizeof why))
		return usage_error(wishes->cli, "%s", why);
	make_unit_rows(&rows);
	int64_t step = (rows.count + MOST_TOKENS - 1) / MOST_TOKENS, n = (rows.count + step - 1) / step;
	double *values = get_memory((size_t)(n * n), sizeof *values);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j <= i; j++)
			values[i * n + j] = values[j * n + i] = dot_rows(&rows, i * step, j * step);
	free(rows.values);
	struct panel *panel = add_tiles(figure, values, n, n);
	panel->tiles.square = true;
	panel->x.label = panel->y.label = subject->on->token;
	panel->x.first = panel->y.first = subject->on->offset;
	panel->x.step = panel->y.step = (double)step;
	name_panel(wishes, panel, subject);
	set_title(figure, subject, "cosine similarity of each %s with each", subject->on->token);
	if (step > 1)
		figure_note(figure, "one %s of %lld", subject->on->token, (long long)step);
	finish_cosines(wishes, figure, first);
	return EXIT_DONE;
}

const struct plot plot_similarity = {
	"similarity", USES_ARRAY | USES_TOKEN | USES_GRID, fits_places, build_similarity};
const struct plot plot_sheet = {"sheet", USES_ARRAY | USES_FRAME | USES_GRID, fits_grid, build_sheet};
const struct plot plot_matrix = {"matrix", USES_ARRAY, fits_rows, build_matrix};
