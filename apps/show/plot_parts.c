/* SPDX-License-Identifier: BSD-2-Clause
 * What the kinds of picture share. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots.h"

/* ---- tokens ------------------------------------------------------------------------- */

bool has_grid(const struct subject *subject)
{
	return subject->on->rows > 0;
}

int64_t grid_tokens(const struct subject *subject)
{
	return subject->on->frames * subject->on->rows * subject->on->columns;
}

bool fits_tokens(const struct subject *subject, int64_t count, char *why, size_t size)
{
	const struct standing *on = subject->on;
	if (!has_grid(subject) || count == on->prefix + grid_tokens(subject))
		return true;
	snprintf(why, size, "%s: the array has %lld tokens, the grid %lld and %lld before it%s", subject->name,
		(long long)count, (long long)grid_tokens(subject), (long long)on->prefix,
		subject->file ? " (--grid, --prefix)" : "");
	return false;
}

static struct place_of_token place_of(const struct subject *subject, int64_t index)
{
	const struct standing *on = subject->on;
	int64_t cell = index - on->prefix;
	if (!has_grid(subject) || cell < 0)
		return (struct place_of_token){index, -1, -1, -1};
	return (struct place_of_token){
		index, cell / (on->rows * on->columns), cell / on->columns % on->rows, cell % on->columns};
}

/* "Y,X" or "T,Y,X" of a grid; -1: it is not that. */
static int64_t read_place(const struct subject *subject, const char *text)
{
	const struct standing *on = subject->on;
	long long a, b, c;
	char rest;
	int count = sscanf(text, "%lld,%lld,%lld%c", &a, &b, &c, &rest);
	if (!has_grid(subject) || count < 2 || count > 3 || text[strspn(text, "0123456789,")])
		return -1;
	if (count == 2) {
		c = b;
		b = a;
		a = 0;
	}
	bool inside = a < on->frames && b < on->rows && c < on->columns;
	return inside ? on->prefix + (a * on->rows + b) * on->columns + c : -1;
}

static int64_t read_index(const char *text, int64_t count)
{
	char *end;
	long long index = strtoll(text, &end, 10);
	return end != text && !*end && index >= 0 && index < count ? index : -1;
}

int choose_token(
	const struct wishes *wishes, const struct subject *subject, int64_t count, struct place_of_token *out)
{
	const struct standing *on = subject->on;
	const char *text = wishes->token;
	int64_t index = !has_grid(subject)
		? count / 2
		: on->prefix + (on->frames / 2 * on->rows + on->rows / 2) * on->columns + on->columns / 2;
	if (text)
		index = strchr(text, ',') ? read_place(subject, text) : read_index(text, count);
	*out = place_of(subject, index);
	if (index >= 0 && index < count)
		return EXIT_DONE;
	if (has_grid(subject))
		return usage_error(wishes->cli,
			"--token %s: expected Y,X or T,Y,X inside a grid of %lld x %lld x %lld, or a "
			"number below %lld",
			text, (long long)on->frames, (long long)on->rows, (long long)on->columns, (long long)count);
	return usage_error(
		wishes->cli, "--token %s: expected a number from 0 to %lld", text, (long long)count - 1);
}

void token_text(char *out, size_t size, const struct subject *subject, const struct place_of_token *token)
{
	if (token->y >= 0 && subject->on->frames > 1)
		snprintf(out, size, "token (%lld, %lld, %lld)", (long long)token->t, (long long)token->y,
			(long long)token->x);
	else if (token->y >= 0)
		snprintf(out, size, "token (%lld, %lld)", (long long)token->y, (long long)token->x);
	else if (has_grid(subject))
		snprintf(out, size, "prefix token %lld", (long long)token->index);
	else
		snprintf(out, size, "%s %.6g", subject->on->token, (double)token->index + subject->on->offset);
}

/* ---- panels ------------------------------------------------------------------------- */

/* "0,2,5-8" */
static bool read_list(const char *text, int64_t count, int64_t *out, int *chosen)
{
	*chosen = 0;
	while (*text) {
		char *end;
		long long first = strtoll(text, &end, 10), last = first;
		if (end == text || first < 0)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoll(text, &end, 10);
		}
		if (end == text || last < first || last >= count || (*end && *end != ','))
			return false;
		for (long long i = first; i <= last; i++) {
			if (*chosen == MOST_PANELS)
				return false;
			out[(*chosen)++] = i;
		}
		text = end + (*end == ',');
	}
	return *chosen > 0;
}

int choose_panels(const struct wishes *wishes, struct figure *figure, int64_t count, int most,
	const char *what, int64_t *out, int *chosen)
{
	if (wishes->panels) {
		if (read_list(wishes->panels, count, out, chosen))
			return EXIT_DONE;
		return usage_error(wishes->cli,
			"--panels %s: expected numbers of %s from 0 to %lld, such as 0,2,5-8, and at most %d",
			wishes->panels, what, (long long)count - 1, MOST_PANELS);
	}
	*chosen = count < most ? (int)count : most;
	for (int i = 0; i < *chosen; i++)
		out[i] = i;
	if (count > most)
		figure_note(figure, "the first %d of %lld %s (--panels)", most, (long long)count, what);
	return EXIT_DONE;
}

void set_title(struct figure *figure, const struct subject *subject, const char *format, ...)
{
	char text[200];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	size_t used = strlen(figure->title);
	snprintf(
		figure->title + used, sizeof figure->title - used, "%s%s: %s", used ? "; " : "", subject->name, text);
}

void name_panel(const struct wishes *wishes, struct panel *panel, const struct subject *subject)
{
	if (wishes->several)
		snprintf(panel->title, sizeof panel->title, "%s", subject->name);
}

void set_panel_title(
	const struct wishes *wishes, struct panel *panel, const struct subject *subject, const char *format, ...)
{
	char text[sizeof panel->title - 64 - 2];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	name_panel(wishes, panel, subject);
	size_t used = strlen(panel->title);
	snprintf(panel->title + used, sizeof panel->title - used, "%s%s", used && text[0] ? ": " : "", text);
}

void set_scale_label(struct panel *panel, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(panel->scale_label, sizeof panel->scale_label, format, args);
	va_end(args);
}

bool wished_scale(const struct wishes *wishes, bool signs, struct scale *scale)
{
	struct scale range = wishes->range;
	if (!(range.high > range.low))
		return false;
	range.map = signs && range.low < 0 && range.high > 0 ? COLORMAP_DIVERGING : COLORMAP_SEQUENTIAL;
	*scale = range;
	return true;
}

struct scale cosine_scale(double least)
{
	double low = least < -0.5 ? -1 : least < 1 - 1e-9 ? floor(least * 10) / 10 : 0;
	return (struct scale){COLORMAP_SEQUENTIAL, low, 1};
}

void share_scale(const struct wishes *wishes, struct figure *figure, int first, struct scale given)
{
	double low = INFINITY, high = -INFINITY, a, b;
	bool all = true;
	for (int i = first; i < figure->count; i++) {
		const struct panel *p = &figure->panels[i];
		const double *values = p->kind == PANEL_TILES ? p->tiles.values : p->net.values;
		int64_t count = p->kind == PANEL_TILES ? p->tiles.rows * p->tiles.columns : p->net.nodes;
		all = finite_range(values, count, &a, &b) && all;
		low = fmin(low, a);
		high = fmax(high, b);
	}
	struct scale scale = given.high > given.low ? given : scale_for(low, high);
	if (all && are_equal(low, high))
		figure_note(figure, "%s: all numbers are %.4g",
			figure->panels[first].title[0] ? "panels of one colour" : "one colour", low);
	(void)wished_scale(wishes, !(given.high > given.low), &scale);
	for (int i = first; i < figure->count; i++) {
		figure->panels[i].scale = scale;
		figure->panels[i].own_bar = wishes->several;
	}
}

struct panel *add_tiles(struct figure *figure, double *values, int64_t rows, int64_t columns)
{
	struct panel *panel = figure_add(figure, PANEL_TILES);
	panel->tiles.values = values;
	panel->tiles.rows = rows;
	panel->tiles.columns = columns;
	panel->x.whole = panel->y.whole = true;
	return panel;
}

void set_grid_axes(struct panel *panel)
{
	panel->tiles.square = true;
	panel->x.label = "column x";
	panel->y.label = "row y";
}

void note_masked(struct figure *figure, const struct panel *panel)
{
	double low, high;
	if (!finite_range(panel->tiles.values, panel->tiles.rows * panel->tiles.columns, &low, &high))
		figure_note(figure, "grey: −∞ or no number");
}

/* ---- rows --------------------------------------------------------------------------- */

void make_unit_rows(struct rows *rows)
{
	for (int64_t i = 0; i < rows->count; i++) {
		double *row = rows->values + i * rows->width, square = 0;
		for (int64_t c = 0; c < rows->width; c++)
			square += row[c] * row[c];
		double factor = square > 0 ? 1 / sqrt(square) : NAN;
		for (int64_t c = 0; c < rows->width; c++)
			row[c] *= factor;
	}
}

double dot_rows(const struct rows *rows, int64_t i, int64_t j)
{
	const double *a = rows->values + i * rows->width, *b = rows->values + j * rows->width;
	double sum = 0;
	for (int64_t c = 0; c < rows->width; c++)
		sum += a[c] * b[c];
	return sum;
}

bool fits_rows(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	struct rows rows;
	if (!subject_rows(subject, wishes->array, &rows, why, size))
		return false;
	free(rows.values);
	return true;
}

bool fits_places(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	struct rows rows;
	if (!subject_rows(subject, wishes->array, &rows, why, size))
		return false;
	free(rows.values);
	return fits_tokens(subject, rows.count, why, size);
}

bool fits_grid(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	if (has_grid(subject))
		return fits_places(wishes, subject, why, size);
	snprintf(why, size, "%s stands on no grid%s", subject->name, subject->file ? ": give it --grid HxW" : "");
	return false;
}

int unit_rows(const struct wishes *wishes, const struct subject *subject, struct rows *rows)
{
	char why[300];
	if (!subject_rows(subject, wishes->array, rows, why, sizeof why))
		return usage_error(wishes->cli, "%s", why);
	make_unit_rows(rows);
	return EXIT_DONE;
}
