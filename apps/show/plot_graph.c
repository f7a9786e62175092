/* SPDX-License-Identifier: BSD-2-Clause
 * Graphs: columns drawn on the nodes, the Laplacian's eigenvalues, and rows as curves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"
#include "plots.h"

#define MOST_COLUMNS 12
#define MOST_CURVES 400
#define NAMED_CURVES 8

/* ---- on the nodes ------------------------------------------------------------------- */

static bool fits_nodes(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	if (subject->on->graph)
		return fits_rows(wishes, subject, why, size);
	snprintf(
		why, size, "%s stands on no graph%s", subject->name, subject->file ? ": give it --graph FILE" : "");
	return false;
}

static const char *words_for(const char *array)
{
	if (strstr(array, "eigenvector") || strstr(array, "EigVecs"))
		return "Laplacian eigenvectors";
	return strstr(array, "random_walk") || strstr(array, "pestat_RWSE") ? "return probabilities" : array;
}

/* The layout, made once. */
static int find_places(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	int64_t edges;
	if (figure->net.x)
		return EXIT_DONE;
	int code = net_make(wishes->cli, subject->on->graph, &figure->net, &edges);
	if (code == EXIT_DONE && edges > figure->net.edges)
		figure_note(figure, "%lld of %lld edges are drawn", (long long)figure->net.edges, (long long)edges);
	return code;
}

/* "vector 3, λ = 0.0123", or "column 3". */
static void name_column(const struct wishes *wishes, const struct subject *subject, const struct rows *rows,
	int64_t column, struct panel *panel)
{
	const struct numbers *values = subject_find(subject, "laplacian_eigenvalues");
	values = values ? values : subject_find(subject, "EigVals");
	bool vectors = strstr(rows->name, "eigenvector") || strstr(rows->name, "EigVecs");
	if (vectors && values && column < numbers_count(values))
		set_panel_title(
			wishes, panel, subject, "vector %lld, λ = %.4g", (long long)column + 1, values->values[column]);
	else if (strstr(rows->name, "random_walk"))
		set_panel_title(wishes, panel, subject, "%lld step%s", (long long)column + 1, column ? "s" : "");
	else
		set_panel_title(wishes, panel, subject, "column %lld", (long long)column);
}

static void add_column(const struct wishes *wishes, const struct subject *subject, const struct rows *rows,
	int64_t column, struct figure *figure)
{
	struct panel *panel = figure_add(figure, PANEL_NET);
	panel->net = figure->net;
	panel->net.values = get_memory((size_t)rows->count, sizeof(double));
	for (int64_t i = 0; i < rows->count; i++)
		panel->net.values[i] = rows->values[i * rows->width + column];
	name_column(wishes, subject, rows, column, panel);
	set_scale_label(panel, strstr(rows->name, "random_walk") ? "return probability" : "entry");
	panel->own_bar = true;
	double low, high;
	if (!finite_range(panel->net.values, rows->count, &low, &high))
		figure_note(figure, "grey: no number");
	(void)wished_scale(wishes, true, &panel->scale);
}

static int build_nodes(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	struct rows rows;
	char why[300];
	int64_t chosen[MOST_PANELS];
	int count, code = find_places(wishes, subject, figure);
	if (code != EXIT_DONE)
		return code;
	if (!subject_rows(subject, wishes->array, &rows, why, sizeof why))
		return usage_error(wishes->cli, "%s", why);
	if (rows.count != figure->net.nodes)
		code = usage_error(wishes->cli, "%s: the array has %lld rows, the graph %lld nodes", subject->name,
			(long long)rows.count, (long long)figure->net.nodes);
	if (code == EXIT_DONE)
		code = choose_panels(wishes, figure, rows.width, MOST_COLUMNS, "columns", chosen, &count);
	for (int i = 0; code == EXIT_DONE && i < count; i++)
		add_column(wishes, subject, &rows, chosen[i], figure);
	free(rows.values);
	if (code != EXIT_DONE)
		return code;
	set_title(figure, subject, "%s on the graph", words_for(rows.name));
	figure_note(figure,
		"nodes stand at the first two eigenvectors of I − D⁻¹A that are not constant, moved toward their "
		"ranks where they crowd");
	return EXIT_DONE;
}

/* ---- eigenvalues -------------------------------------------------------------------- */

static const struct numbers *eigenvalues_of(const struct wishes *wishes, const struct subject *subject)
{
	if (wishes->array)
		return subject_find(subject, wishes->array);
	const struct numbers *values = subject_find(subject, "laplacian_eigenvalues");
	return values ? values : subject_find(subject, "EigVals");
}

static bool is_spectrum(const struct numbers *values)
{
	return numbers_are_called(values, "laplacian_eigenvalues") || numbers_are_called(values, "EigVals");
}

static bool fits_eigenvalues(
	const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	const struct numbers *values = eigenvalues_of(wishes, subject);
	if (values && values->ndim > 0 && numbers_count(values) > 0 && is_spectrum(values))
		return true;
	snprintf(why, size, "%s yields no eigenvalues", subject->name);
	return false;
}

static int build_eigenvalues(
	const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	const struct numbers *values = eigenvalues_of(wishes, subject);
	struct panel *panel = figure_add(figure, PANEL_CURVES);
	struct curves *c = &panel->curves;
	c->points = values->ndim > 1 ? values->shape[1] : values->shape[0];
	c->lines = 1;
	c->dots = true;
	c->x = get_memory((size_t)c->points, sizeof *c->x);
	c->y = get_memory((size_t)c->points, sizeof *c->y);
	for (int64_t i = 0; i < c->points; i++) {
		c->x[i] = (double)(i + 1);
		c->y[i] = values->values[i];
	}
	panel->x.label = "number of the eigenvalue";
	panel->y.label = "eigenvalue";
	panel->x.whole = true;
	name_panel(wishes, panel, subject);
	set_title(figure, subject, "eigenvalues of the graph Laplacian");
	return EXIT_DONE;
}

/* ---- curves ------------------------------------------------------------------------- */

static void fill_curves(
	const struct subject *subject, const struct rows *rows, int64_t step, struct curves *c)
{
	char name[60];
	for (int64_t l = 0; l < c->lines; l++)
		for (int64_t i = 0; i < rows->width; i++)
			c->y[l * rows->width + i] =
				c->many && l + 1 == c->lines ? 0 : rows->values[l * step * rows->width + i];
	for (int64_t i = 0; c->many && i < rows->width; i++) {
		double *mean = &c->y[(c->lines - 1) * rows->width + i];
		for (int64_t row = 0; row < rows->count; row++)
			*mean += rows->values[row * rows->width + i] / (double)rows->count;
	}
	int64_t names = c->many ? 2 : c->lines;
	c->names = get_memory((size_t)names + 1, sizeof *c->names);
	for (int64_t l = 0; l < names; l++) {
		snprintf(name, sizeof name, "%s %lld", subject->on->token, (long long)(l * step));
		if (c->many)
			snprintf(name, sizeof name, "%s %s", l ? "mean of all" : "each", subject->on->token);
		if (c->many && l)
			snprintf(name, sizeof name, "mean");
		c->names[l] = copy_text(name, strlen(name));
	}
}

static int build_curves(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	struct rows rows;
	char why[300];
	if (!subject_rows(subject, wishes->array, &rows, why, sizeof why))
		return usage_error(wishes->cli, "%s", why);
	bool walk = strstr(rows.name, "random_walk") || strstr(rows.name, "pestat_RWSE");
	int64_t step = (rows.count + MOST_CURVES - 1) / MOST_CURVES;
	struct panel *panel = figure_add(figure, PANEL_CURVES);
	struct curves *c = &panel->curves;
	c->many = rows.count > NAMED_CURVES;
	c->points = rows.width;
	c->lines = (rows.count + step - 1) / step + c->many;
	c->x = get_memory((size_t)c->points, sizeof *c->x);
	c->y = get_memory((size_t)(c->points * c->lines), sizeof *c->y);
	for (int64_t i = 0; i < c->points; i++)
		c->x[i] = (double)(i + walk);
	fill_curves(subject, &rows, step, c);
	panel->x.label = walk ? "steps of the walk" : "channel";
	panel->y.label = walk ? "return probability" : "entry";
	panel->x.whole = true;
	name_panel(wishes, panel, subject);
	set_title(figure, subject, walk ? "probability to be back after so many steps" : "rows of %s", rows.name);
	if (step > 1)
		figure_note(
			figure, "one %s of %lld has a line, the mean is of all", subject->on->token, (long long)step);
	free(rows.values);
	return EXIT_DONE;
}

const struct plot plot_nodes = {"nodes", USES_ARRAY | USES_PANELS | USES_GRAPH, fits_nodes, build_nodes};
const struct plot plot_eigenvalues = {"eigenvalues", USES_ARRAY, fits_eigenvalues, build_eigenvalues};
const struct plot plot_curves = {"curves", USES_ARRAY, fits_rows, build_curves};
