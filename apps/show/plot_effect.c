/* SPDX-License-Identifier: BSD-2-Clause
 * What an encoder does to features: lengths before and after, of what it adds, and one token's similarities.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots.h"

static bool fits_effect(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	const struct numbers *a = &subject->before, *b = &subject->after;
	(void)wishes;
	if (b->ndim == 0) {
		snprintf(why, size, "there are no features for %s to act on: give it --tokens", subject->name);
		return false;
	}
	if (a->shape[a->ndim - 2] == b->shape[b->ndim - 2] && numbers_count(a) > 0)
		return fits_tokens(subject, a->shape[a->ndim - 2], why, size);
	snprintf(
		why, size, "%s changes the number of tokens: before and after have no common places", subject->name);
	return false;
}

/* The rows of the first batch. */
static struct rows rows_of(const struct numbers *n)
{
	struct rows out = {n->name, NULL, n->shape[n->ndim - 2], n->shape[n->ndim - 1]};
	size_t size = (size_t)(out.count * out.width);
	out.values = get_memory(size, sizeof *out.values);
	memcpy(out.values, n->values, size * sizeof *out.values);
	return out;
}

static double length_of(const double *row, int64_t width)
{
	double square = 0;
	for (int64_t c = 0; c < width; c++)
		square += row[c] * row[c];
	return sqrt(square);
}

static double *lengths(const struct rows *rows)
{
	double *out = get_memory((size_t)rows->count, sizeof *out);
	for (int64_t i = 0; i < rows->count; i++)
		out[i] = length_of(rows->values + i * rows->width, rows->width);
	return out;
}

/* Of after - before, where they are equally wide; NULL where not. */
static double *lengths_of_change(const struct rows *before, const struct rows *after)
{
	if (before->width != after->width)
		return NULL;
	double *change = get_memory((size_t)before->width, sizeof *change);
	double *out = get_memory((size_t)before->count, sizeof *out);
	for (int64_t i = 0; i < before->count; i++) {
		for (int64_t c = 0; c < before->width; c++)
			change[c] = after->values[i * after->width + c] - before->values[i * before->width + c];
		out[i] = length_of(change, before->width);
	}
	free(change);
	return out;
}

static double *similarities(struct rows *rows, int64_t token)
{
	double *out = get_memory((size_t)rows->count, sizeof *out);
	make_unit_rows(rows);
	for (int64_t i = 0; i < rows->count; i++)
		out[i] = dot_rows(rows, token, i);
	return out;
}

/* A map of a number a token on the grid (in the frame of the chosen one), or a curve. Takes the values over.
 */
static void add_numbers(const struct wishes *wishes, const struct subject *subject, double *values,
	int64_t count, const struct place_of_token *token, const char *title, const char *unit,
	struct figure *figure)
{
	const struct standing *on = subject->on;
	struct panel *panel;
	if (has_grid(subject)) {
		int64_t cells = on->rows * on->columns, first = on->prefix + (token->t > 0 ? token->t : 0) * cells;
		memmove(values, values + first, (size_t)cells * sizeof *values);
		panel = add_tiles(figure, values, on->rows, on->columns);
		set_grid_axes(panel);
		set_scale_label(panel, "%s", unit);
	} else {
		panel = figure_add(figure, PANEL_CURVES);
		panel->curves.points = count;
		panel->curves.lines = 1;
		panel->curves.y = values;
		panel->curves.x = get_memory((size_t)count, sizeof *values);
		for (int64_t i = 0; i < count; i++)
			panel->curves.x[i] = on->offset + (double)i;
		panel->x.label = on->token;
		panel->y.label = unit;
		panel->x.whole = true;
	}
	set_panel_title(wishes, panel, subject, "%s", title);
}

/* Panels from `first` on get one scale: of cosines, or of lengths, which goes down to 0. */
static void same_scale(const struct wishes *wishes, struct figure *figure, int first, bool cosines)
{
	double low = cosines, high = 0, a, b;
	for (int i = first; i < figure->count; i++) {
		const struct tiles *t = &figure->panels[i].tiles;
		if (figure->panels[i].kind != PANEL_TILES)
			return;
		finite_range(t->values, t->rows * t->columns, &a, &b);
		low = fmin(low, a);
		high = fmax(high, b);
	}
	struct scale scale = cosines ? cosine_scale(low) : scale_for(low, high);
	(void)wished_scale(wishes, false, &scale);
	for (int i = first; i < figure->count; i++) {
		figure->panels[i].scale = scale;
		figure->panels[i].own_bar = true;
	}
}

static void mark_token(struct figure *figure, int first, const struct place_of_token *token)
{
	for (int i = first; i < figure->count; i++)
		if (figure->panels[i].kind == PANEL_TILES) {
			figure->panels[i].tiles.mark_row = token->y;
			figure->panels[i].tiles.mark_column = token->x;
		} else {
			figure->panels[i].curves.mark = figure->panels[i].curves.x[token->index];
		}
}

static void note_zero_rows(struct figure *figure)
{
	double low, high;
	for (int i = 0; i < figure->count; i++) {
		const struct tiles *t = &figure->panels[i].tiles;
		if (figure->panels[i].kind == PANEL_TILES &&
			!finite_range(t->values, t->rows * t->columns, &low, &high))
			figure_note(figure, "grey: a row of zeros has no direction");
	}
}

static void add_panels(const struct wishes *wishes, const struct subject *subject, struct rows *before,
	struct rows *after, const struct place_of_token *token, struct figure *figure)
{
	double *change = lengths_of_change(before, after);
	int64_t n = before->count;
	int first = figure->count;
	add_numbers(wishes, subject, lengths(before), n, token, "norm before", "norm", figure);
	add_numbers(wishes, subject, lengths(after), n, token, "norm after", "norm", figure);
	if (change)
		add_numbers(wishes, subject, change, n, token, "norm of the change", "norm", figure);
	same_scale(wishes, figure, first, false);
	first = figure->count;
	add_numbers(
		wishes, subject, similarities(before, token->index), n, token, "similarity before", "cosine", figure);
	add_numbers(
		wishes, subject, similarities(after, token->index), n, token, "similarity after", "cosine", figure);
	same_scale(wishes, figure, first, true);
	mark_token(figure, first, token);
	figure->columns = change ? 3 : 2;
}

static int build_effect(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	struct rows before = rows_of(&subject->before), after = rows_of(&subject->after);
	struct place_of_token token;
	char text[80];
	int code = choose_token(wishes, subject, before.count, &token);
	if (code == EXIT_DONE) {
		token_text(text, sizeof text, subject, &token);
		set_title(figure, subject, "features before and after, and their similarity to %s", text);
		add_panels(wishes, subject, &before, &after, &token, figure);
		if (subject->on->prefix > 0)
			figure_note(figure, "prefix tokens are left out");
		if (subject->before.ndim > 2)
			figure_note(figure, "the first of the batch");
		note_zero_rows(figure);
	}
	free(before.values);
	free(after.values);
	return code;
}

const struct plot plot_effect = {"effect", USES_TOKEN, fits_effect, build_effect};
