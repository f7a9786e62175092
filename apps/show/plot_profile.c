/* SPDX-License-Identifier: BSD-2-Clause
 * Cosines of a token with those of its row and of its column, beside the mean of all rows and columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots.h"

static double mean_of_lines(const struct subject *subject, const struct rows *rows,
	const struct place_of_token *token, bool along_row, int64_t at)
{
	const struct standing *on = subject->on;
	int64_t lines = along_row ? on->rows : on->columns, base = on->prefix + token->t * on->rows * on->columns;
	double sum = 0;
	for (int64_t line = 0; line < lines; line++) {
		int64_t from = along_row ? line * on->columns + token->x : token->y * on->columns + line;
		int64_t to = along_row ? line * on->columns + at : at * on->columns + line;
		sum += dot_rows(rows, base + from, base + to);
	}
	return sum / (double)lines;
}

static void add_profile(const struct wishes *wishes, const struct subject *subject, const struct rows *rows,
	const struct place_of_token *token, bool along_row, struct figure *figure)
{
	const struct standing *on = subject->on;
	struct panel *panel = figure_add(figure, PANEL_CURVES);
	struct curves *c = &panel->curves;
	int64_t base = on->prefix + token->t * on->rows * on->columns, n = along_row ? on->columns : on->rows;
	c->points = n;
	c->lines = 2;
	c->broad = true;
	c->x = get_memory((size_t)n, sizeof *c->x);
	c->y = get_memory((size_t)n, 2 * sizeof *c->y);
	for (int64_t i = 0; i < n; i++) {
		c->x[i] = (double)i;
		int64_t to = along_row ? token->y * on->columns + i : i * on->columns + token->x;
		c->y[i] = dot_rows(rows, token->index, base + to);
		c->y[n + i] = mean_of_lines(subject, rows, token, along_row, i);
	}
	c->names = get_memory(3, sizeof *c->names);
	char text[80];
	snprintf(text, sizeof text, "%s %lld", along_row ? "row" : "column",
		(long long)(along_row ? token->y : token->x));
	c->names[0] = copy_text(text, strlen(text));
	snprintf(text, sizeof text, "mean of all %s", along_row ? "rows" : "columns");
	c->names[1] = copy_text(text, strlen(text));
	c->mark = (double)(along_row ? token->x : token->y);
	panel->x.label = along_row ? "column x" : "row y";
	panel->y.label = "cosine similarity";
	panel->x.whole = true;
	set_panel_title(wishes, panel, subject, along_row ? "along the row" : "along the column");
}

static int build_profile(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	struct rows rows;
	struct place_of_token token;
	char text[80];
	int code = unit_rows(wishes, subject, &rows);
	if (code != EXIT_DONE)
		return code;
	code = choose_token(wishes, subject, rows.count, &token);
	if (code == EXIT_DONE && token.y < 0)
		code =
			usage_error(wishes->cli, "--token %s is a prefix token: it has no row and column", wishes->token);
	if (code == EXIT_DONE) {
		token_text(text, sizeof text, subject, &token);
		set_title(figure, subject, "cosine similarity of %s along its row and column", text);
		add_profile(wishes, subject, &rows, &token, true, figure);
		add_profile(wishes, subject, &rows, &token, false, figure);
	}
	free(rows.values);
	return code;
}

const struct plot plot_profile = {"profile", USES_ARRAY | USES_TOKEN | USES_GRID, fits_grid, build_profile};
