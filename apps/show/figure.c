/* SPDX-License-Identifier: BSD-2-Clause */
#include "figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

struct panel *figure_add(struct figure *figure, enum panel_kind kind)
{
	if (figure->count == figure->capacity) {
		figure->capacity = 2 * figure->capacity + 8;
		struct panel *larger = get_memory((size_t)figure->capacity, sizeof *larger);
		if (figure->count)
			memcpy(larger, figure->panels, (size_t)figure->count * sizeof *larger);
		free(figure->panels);
		figure->panels = larger;
	}
	struct panel *panel = &figure->panels[figure->count++];
	*panel = (struct panel){.kind = kind, .x.step = 1, .y.step = 1};
	if (kind == PANEL_TILES)
		panel->tiles.mark_row = panel->tiles.mark_column = -1;
	if (kind == PANEL_CURVES)
		panel->curves.mark = NAN;
	return panel;
}

void figure_note(struct figure *figure, const char *format, ...)
{
	char text[sizeof figure->note];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (strstr(figure->note, text)) /* of several panels, said once */
		return;
	size_t used = strlen(figure->note);
	snprintf(figure->note + used, sizeof figure->note - used, "%s%s", used ? "; " : "", text);
}

static void free_panel(struct panel *panel)
{
	switch (panel->kind) {
	case PANEL_TILES:
		free(panel->tiles.values);
		break;
	case PANEL_CURVES:
		for (int64_t i = 0; panel->curves.names && panel->curves.names[i]; i++)
			free(panel->curves.names[i]);
		free(panel->curves.names);
		free(panel->curves.x);
		free(panel->curves.y);
		break;
	case PANEL_NET:
		free(panel->net.values);
		break;
	}
}

void figure_free(struct figure *figure)
{
	for (int i = 0; i < figure->count; i++)
		free_panel(&figure->panels[i]);
	free(figure->panels);
	free(figure->net.x);
	free(figure->net.y);
	free(figure->net.from);
	free(figure->net.to);
}

bool finite_range(const double *values, int64_t n, double *low, double *high)
{
	bool any = false, all = true;
	*low = *high = 0;
	for (int64_t i = 0; i < n; i++) {
		if (!isfinite(values[i])) {
			all = false;
			continue;
		}
		*low = any ? fmin(*low, values[i]) : values[i];
		*high = any ? fmax(*high, values[i]) : values[i];
		any = true;
	}
	return all;
}

void panel_fit_scale(struct panel *panel)
{
	double low, high;
	if (panel->scale.high > panel->scale.low)
		return;
	if (panel->kind == PANEL_TILES)
		finite_range(panel->tiles.values, panel->tiles.rows * panel->tiles.columns, &low, &high);
	else
		finite_range(panel->net.values, panel->net.nodes, &low, &high);
	panel->scale = scale_for(low, high);
}

json_t *figure_report(const struct figure *figure)
{
	json_t *panels = json_array();
	for (int i = 0; i < figure->count; i++) {
		const struct panel *p = &figure->panels[i];
		json_t *one = json_pack("{s:o, s:i, s:i, s:i, s:i}", "title", json_text(p->title), "left", p->left,
			"top", p->top, "width", p->width, "height", p->height);
		if (p->kind == PANEL_TILES)
			json_object_update_new(one,
				json_pack("{s:I, s:I}", "rows", (json_int_t)p->tiles.rows, "columns",
					(json_int_t)p->tiles.columns));
		if (p->kind != PANEL_CURVES)
			json_object_update_new(one,
				json_pack("{s:f, s:f, s:s}", "low", p->scale.low, "high", p->scale.high, "map",
					p->scale.map == COLORMAP_DIVERGING ? "diverging" : "sequential"));
		json_array_append_new(panels, one);
	}
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o}", "width", figure->width, "height", figure->height,
		"title", json_text(figure->title), "subtitle", json_text(figure->subtitle), "note",
		json_text(figure->note), "panels", panels);
}
