/* SPDX-License-Identifier: BSD-2-Clause
 * What is added to the scores: a head's queries × keys, one query's keys on the grid, and by distance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots.h"

#define MOST_HEADS 12
#define MOST_LINES 24

static bool fits_bias(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	if (subject_bias(subject, wishes->array))
		return true;
	if (subject->file && !subject_find(subject, "bias_table")) {
		refuse_arrays(subject, "array bias of (heads, queries, keys)", why, size);
		return false;
	}
	snprintf(why, size, "%s yields no array bias of (heads, queries, keys)%s%s", subject->name,
		subject_find(subject, "bias_table") ? " at this size: it is in bias_table" : "",
		subject->tokens_only ? "; it acts on features: give it --tokens" : "");
	return false;
}

static const char *head_word(const struct subject *subject)
{
	const struct numbers *bias = subject_find(subject, "bias");
	return bias && bias->ndim == 3 ? "head" : "table";
}

static void set_head_title(const struct wishes *wishes, struct panel *panel, const struct subject *subject,
	int64_t head, int64_t heads)
{
	if (heads > 1)
		set_panel_title(wishes, panel, subject, "%s %lld", head_word(subject), (long long)head);
	else
		name_panel(wishes, panel, subject);
}

static int build_bias(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	const struct numbers *bias = subject_bias(subject, wishes->array);
	int64_t heads = bias->shape[0], queries = bias->shape[1], keys = bias->shape[2], chosen[MOST_PANELS];
	int count, first = figure->count;
	int code = choose_panels(wishes, figure, heads, MOST_HEADS, "heads", chosen, &count);
	if (code != EXIT_DONE)
		return code;
	for (int i = 0; i < count; i++) {
		double *values = get_memory((size_t)(queries * keys), sizeof *values);
		memcpy(values, bias->values + chosen[i] * queries * keys, (size_t)(queries * keys) * sizeof *values);
		struct panel *panel = add_tiles(figure, values, queries, keys);
		panel->tiles.square = true;
		panel->y.label = "query";
		panel->x.label = "key";
		panel->x.first = subject->on->offset;
		panel->y.first = subject->on->offset + (double)(keys > queries ? keys - queries : 0);
		set_head_title(wishes, panel, subject, chosen[i], heads);
		set_scale_label(panel, "added to the score");
		note_masked(figure, panel);
	}
	set_title(figure, subject, "bias of each query and key%s", heads > 1 ? ", a head each" : "");
	share_scale(wishes, figure, first, (struct scale){0});
	return EXIT_DONE;
}

/* ---- one query ---------------------------------------------------------------------- */

static void add_query_map(const struct wishes *wishes, const struct subject *subject,
	const struct numbers *bias, int64_t head, const struct place_of_token *token, struct figure *figure)
{
	const struct standing *on = subject->on;
	int64_t cells = on->rows * on->columns, frame = token->t < 0 ? 0 : token->t;
	double *values = get_memory((size_t)cells, sizeof *values);
	const double *row = bias->values + (head * bias->shape[1] + token->index) * bias->shape[2];
	memcpy(values, row + on->prefix + frame * cells, (size_t)cells * sizeof *values);
	struct panel *panel = add_tiles(figure, values, on->rows, on->columns);
	set_grid_axes(panel);
	panel->tiles.mark_row = token->y;
	panel->tiles.mark_column = token->x;
	set_head_title(wishes, panel, subject, head, bias->shape[0]);
	set_scale_label(panel, "added to the score");
	note_masked(figure, panel);
}

static bool fits_query(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	if (!has_grid(subject)) {
		snprintf(
			why, size, "%s stands on no grid%s", subject->name, subject->file ? ": give it --grid HxW" : "");
		return false;
	}
	if (!fits_bias(wishes, subject, why, size))
		return false;
	const struct numbers *bias = subject_bias(subject, wishes->array);
	if (bias->shape[1] == bias->shape[2])
		return fits_tokens(subject, bias->shape[2], why, size);
	snprintf(why, size, "%s: the bias has %lld queries and %lld keys: --plot bias shows it", subject->name,
		(long long)bias->shape[1], (long long)bias->shape[2]);
	return false;
}

static int build_query(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	const struct numbers *bias = subject_bias(subject, wishes->array);
	int64_t chosen[MOST_PANELS];
	struct place_of_token token;
	char text[80];
	int count, first = figure->count, code = choose_token(wishes, subject, bias->shape[1], &token);
	if (code == EXIT_DONE)
		code = choose_panels(wishes, figure, bias->shape[0], MOST_HEADS, "heads", chosen, &count);
	if (code != EXIT_DONE)
		return code;
	for (int i = 0; i < count; i++)
		add_query_map(wishes, subject, bias, chosen[i], &token, figure);
	token_text(text, sizeof text, subject, &token);
	set_title(figure, subject, "bias of the query at %s%s", text, bias->shape[0] > 1 ? ", a head each" : "");
	share_scale(wishes, figure, first, (struct scale){0});
	return EXIT_DONE;
}

/* ---- by distance -------------------------------------------------------------------- */

static const struct numbers *table_of(const struct wishes *wishes, const struct subject *subject)
{
	const struct numbers *n = subject_find(subject, wishes->array ? wishes->array : "bias_table");
	return n && (numbers_are_called(n, "bias_table") || numbers_are_called(n, "array")) ? n : NULL;
}

static bool fits_distance(const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	const struct numbers *table = table_of(wishes, subject);
	if (table && table->ndim == 2 && numbers_count(table) > 0)
		return true;
	snprintf(
		why, size, "%s yields no bias_table: its bias does not depend on key − query alone", subject->name);
	return false;
}

/* bias_table is (heads, Lq + Lk - 1): entry j - i + Lq - 1. Without the bias Lq = Lk. */
static int64_t queries_of(const struct subject *subject, const struct numbers *table)
{
	const struct numbers *bias = subject_bias(subject, NULL);
	return bias ? bias->shape[1] : (table->shape[1] + 1) / 2;
}

static int build_distance(const struct wishes *wishes, const struct subject *subject, struct figure *figure)
{
	const struct numbers *table = table_of(wishes, subject);
	int64_t chosen[MOST_PANELS], points = table->shape[1], queries = queries_of(subject, table);
	int count;
	int code = choose_panels(wishes, figure, table->shape[0], MOST_LINES, "heads", chosen, &count);
	if (code != EXIT_DONE)
		return code;
	struct panel *panel = figure_add(figure, PANEL_CURVES);
	struct curves *c = &panel->curves;
	c->points = points;
	c->lines = count;
	c->x = get_memory((size_t)points, sizeof *c->x);
	c->y = get_memory((size_t)(points * count), sizeof *c->y);
	c->names = get_memory((size_t)count + 1, sizeof *c->names);
	for (int64_t i = 0; i < points; i++)
		c->x[i] = (double)(i - queries + 1);
	for (int i = 0; i < count; i++) {
		char name[32];
		memcpy(c->y + i * points, table->values + chosen[i] * points, (size_t)points * sizeof *c->y);
		snprintf(name, sizeof name, "head %lld", (long long)chosen[i]);
		c->names[i] = copy_text(name, strlen(name));
	}
	panel->x.label = "key − query (tokens)";
	panel->y.label = "added to the score";
	panel->x.whole = true;
	c->mark = 0;
	name_panel(wishes, panel, subject);
	set_title(figure, subject, "bias by distance");
	return EXIT_DONE;
}

const struct plot plot_bias = {"bias", USES_ARRAY | USES_PANELS, fits_bias, build_bias};
const struct plot plot_query = {
	"query", USES_ARRAY | USES_TOKEN | USES_PANELS | USES_GRID, fits_query, build_query};
const struct plot plot_distance = {"distance", USES_ARRAY | USES_PANELS, fits_distance, build_distance};
