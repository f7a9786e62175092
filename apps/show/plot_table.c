/* SPDX-License-Identifier: BSD-2-Clause
 * The numbers themselves as a heat map, and their spectrum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amplitudes.h"
#include "plots.h"

#define MOST_TABLES 16

static bool is_ignored(const struct numbers *n)
{
	static const char *const names[] = {"ptr", "node_ids", "node_names", "failed", "laplacian_groups"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (numbers_are_called(n, names[i]))
			return true;
	return numbers_count(n) == 0 || n->ndim == 0;
}

/* The array to draw: the chosen one, else the first with a row a token, else the first. */
static const struct numbers *table_of(const struct wishes *wishes, const struct subject *subject)
{
	const struct numbers *first = NULL;
	if (wishes->array)
		return subject_find(subject, wishes->array);
	for (int i = 0; i < subject->count; i++) {
		const struct numbers *n = &subject->arrays[i];
		if (n->per_token && n->ndim >= 2 && !is_ignored(n))
			return n;
		first = first || is_ignored(n) || !n->known ? first : n;
	}
	return first;
}

static bool fits_table(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	const struct numbers *n = table_of(wishes, subject);
	if (!subject->tokens_only || wishes->array) {
		if (n && n->ndim > 0 && numbers_count(n) > 0)
			return true;
		if (subject->file && !wishes->array)
			refuse_arrays(subject, "array", why, size);
		else
			snprintf(why, size, "%s yields no array that could be drawn", subject->name);
		return false;
	}
	snprintf(why, size,
		"%s acts on features, and yields nothing but its parameters: give it --tokens FILE or patches to see "
		"what it does, or name a parameter by --array",
		subject->name);
	return false;
}

static const char *column_word(const struct numbers *n, bool tokens)
{
	if (numbers_are_called(n, "cos") || numbers_are_called(n, "sin"))
		return "pair of channels";
	if (numbers_are_called(n, "random_walk_pe") || numbers_are_called(n, "pestat_RWSE"))
		return "steps of the walk";
	if (numbers_are_called(n, "laplacian_eigenvector_pe") || numbers_are_called(n, "EigVecs"))
		return "eigenvector";
	return tokens ? "channel" : "column";
}

static void name_axes(const struct subject *subject, const struct numbers *n, struct panel *panel)
{
	bool tokens = subject->file ? n->ndim == 2 && !subject_find(subject, "ptr") : n->per_token;
	if (numbers_are_called(n, "bias")) {
		panel->y.label = "query";
		panel->x.label = "key";
	} else if (numbers_are_called(n, "buckets") || numbers_are_called(n, "relative_position_index")) {
		panel->y.label = "query";
		panel->x.label = "key";
		panel->tiles.square = true;
	} else {
		panel->y.label = tokens ? subject->on->token : "row";
		panel->y.first = tokens ? subject->on->offset : 0;
		panel->x.label = column_word(n, tokens);
		panel->x.first =
			strcmp(panel->x.label, "steps of the walk") == 0 || strcmp(panel->x.label, "eigenvector") == 0;
	}
}

/* One panel: the last two dimensions at index `at` of those before. */
static void add_table(const struct wishes *wishes, const struct subject *subject, const struct numbers *n,
	int64_t at, bool named, struct figure *figure)
{
	int64_t columns = n->shape[n->ndim - 1], rows = n->ndim > 1 ? n->shape[n->ndim - 2] : 1;
	double *values = get_memory((size_t)(rows * columns), sizeof *values);
	memcpy(values, n->values + at * rows * columns, (size_t)(rows * columns) * sizeof *values);
	struct panel *panel = add_tiles(figure, values, rows, columns);
	name_axes(subject, n, panel);
	if (n->ndim > 2)
		set_panel_title(wishes, panel, subject, "%s [%lld]", n->name, (long long)at);
	else
		set_panel_title(wishes, panel, subject, "%s", named ? n->name : "");
	set_scale_label(panel, "%s", n->name);
	note_masked(figure, panel);
}

static int build_table(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	const struct numbers *n = table_of(wishes, subject), *sine = NULL;
	int64_t chosen[MOST_PANELS], tables = 1;
	int count, first = figure->count;
	if (!wishes->array)
		sine = subject_sine(subject, n);
	for (int32_t d = 0; d + 2 < n->ndim; d++)
		tables *= n->shape[d];
	int code = choose_panels(wishes, figure, tables, MOST_TABLES, "tables", chosen, &count);
	if (code != EXIT_DONE)
		return code;
	set_title(figure, subject, "%s%s", n->name, sine ? " and sin of the angle of each pair" : "");
	for (int i = 0; i < count; i++)
		add_table(wishes, subject, n, chosen[i], sine != NULL, figure);
	if (sine)
		add_table(wishes, subject, sine, 0, true, figure);
	share_scale(wishes, figure, first, (struct scale){0});
	if (sine)
		set_scale_label(&figure->panels[first], "cos, sin");
	return EXIT_DONE;
}

/* ---- spectrum ----------------------------------------------------------------------- */

static bool fits_spectrum(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	if (!subject->on->graph)
		return fits_places(wishes, subject, why, size);
	snprintf(why, size, "%s: the nodes of a graph stand on no line", subject->name);
	return false;
}

/* Lines of n tokens, `step` apart, one from each of the starts: of each channel the root mean square over the
 * lines of the amplitude at each frequency; the highest frequency first. */
struct lines {
	int64_t n, step, count;
	const int64_t *starts;
};

static double *spectrum_of(const struct rows *rows, const struct lines *lines)
{
	int64_t n = lines->n, bins = n / 2 + 1, width = rows->width;
	double *out = get_memory((size_t)(bins * width), sizeof *out),
		   *line = get_memory((size_t)n, sizeof *line);
	double *amplitude = get_memory((size_t)bins, sizeof *amplitude);
	for (int64_t c = 0; c < width; c++) {
		for (int64_t l = 0; l < lines->count; l++) {
			for (int64_t i = 0; i < n; i++)
				line[i] = rows->values[(lines->starts[l] + i * lines->step) * width + c];
			amplitudes(line, n, amplitude);
			for (int64_t f = 0; f < bins; f++)
				out[(bins - 1 - f) * width + c] += amplitude[f] * amplitude[f] / (double)lines->count;
		}
	}
	for (int64_t i = 0; i < bins * width; i++)
		out[i] = sqrt(out[i]);
	free(line);
	free(amplitude);
	return out;
}

static void add_spectrum(const struct wishes *wishes, const struct subject *subject, const struct rows *rows,
	const struct lines *lines, const char *title, struct figure *figure)
{
	int64_t bins = lines->n / 2 + 1;
	struct panel *panel = add_tiles(figure, spectrum_of(rows, lines), bins, rows->width);
	panel->y.first = (double)(bins - 1) / (double)lines->n;
	panel->y.step = -1.0 / (double)lines->n;
	panel->y.whole = false;
	panel->y.label = "frequency (cycles per token)";
	panel->x.label = "channel";
	set_panel_title(wishes, panel, subject, "%s", title);
	set_scale_label(panel, "amplitude");
}

static void add_grid_spectra(const struct wishes *wishes, const struct subject *subject,
	const struct rows *rows, struct figure *figure)
{
	const struct standing *on = subject->on;
	int64_t *starts = get_memory((size_t)(on->rows + on->columns), sizeof *starts);
	int64_t base = on->prefix + on->frames / 2 * on->rows * on->columns;
	for (int64_t x = 0; x < on->columns; x++)
		starts[x] = base + x;
	add_spectrum(wishes, subject, rows, &(struct lines){on->rows, on->columns, on->columns, starts},
		"along columns (y)", figure);
	for (int64_t y = 0; y < on->rows; y++)
		starts[y] = base + y * on->columns;
	add_spectrum(
		wishes, subject, rows, &(struct lines){on->columns, 1, on->rows, starts}, "along rows (x)", figure);
	free(starts);
}

static int build_spectrum(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	struct rows rows;
	char why[300];
	int first = figure->count;
	if (!subject_rows(subject, wishes->array, &rows, why, sizeof why))
		return usage_error(wishes->cli, "%s", why);
	if (has_grid(subject))
		add_grid_spectra(wishes, subject, &rows, figure);
	else
		add_spectrum(wishes, subject, &rows, &(struct lines){rows.count, 1, 1, (int64_t[]){0}}, "", figure);
	free(rows.values);
	set_title(figure, subject, "amplitude of each channel of %s by frequency", rows.name);
	share_scale(wishes, figure, first, (struct scale){0});
	return EXIT_DONE;
}

const struct plot plot_table = {"table", USES_ARRAY | USES_PANELS, fits_table, build_table};
const struct plot plot_spectrum = {"spectrum", USES_ARRAY | USES_GRID, fits_spectrum, build_spectrum};
