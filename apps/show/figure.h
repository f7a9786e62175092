/* SPDX-License-Identifier: BSD-2-Clause
 * What a picture shows: a title and panels, in numbers. Texts and arrays belong to the figure and come
 * from get_memory; figure_draw lays it out and draws it. */
#ifndef FIGURE_H
#define FIGURE_H

#include <jansson.h>
#include <stdint.h>

#include "canvas.h"
#include "posenc.h"

/* An axis. Of tiles: cell i stands for first + i·step; of curves: the panel goes from low to high. */
struct axis {
	const char *label; /* with its unit */
	double first, step;
	double low, high;
	bool whole; /* marks at whole numbers only */
};

/* A heat map: values[row·columns + column], row 0 at the top. */
struct tiles {
	double *values;
	int64_t rows, columns;
	int64_t group_rows, group_columns; /* > 0: a sheet of maps of this size; the axes count maps */
	bool square;                       /* cells as high as wide */
	int64_t mark_row, mark_column;     /* a cell to be marked, or -1 */
};

/* Lines over a common x: y[line·points + point]; a NaN breaks a line. */
struct curves {
	double *x, *y;
	int64_t points, lines;
	bool dots;    /* marks instead of lines */
	bool many;    /* thin lines of one colour, without names; the last is thick and black */
	bool broad;   /* the last line is broad and pale, under the others */
	char **names; /* lines, or NULL */
	double mark;  /* an x to be marked, or NaN */
};

/* A graph: nodes at x, y in 0 … 1, edges from[i] to[i], and a value a node. */
struct net {
	double *x, *y, *values;
	int64_t nodes, edges;
	int64_t *from, *to;
};

enum panel_kind { PANEL_TILES, PANEL_CURVES, PANEL_NET };

struct panel {
	enum panel_kind kind;
	char title[160];
	struct axis x, y;
	struct scale scale; /* of tiles and nets */
	char scale_label[120];
	bool own_bar; /* the scale is this panel's alone */
	union {
		struct tiles tiles;
		struct curves curves;
		struct net net;
	};
	int left, top, width, height; /* of the data, in pixels: set by the layout */
};

struct figure {
	char title[300];
	char subtitle[600]; /* input and options */
	char note[600];     /* what was left out or averaged, and why something is grey */
	struct panel *panels;
	int count, capacity;
	int columns;    /* of panels; 0: chosen */
	bool sheet;     /* the only panel may be large */
	struct net net; /* what panels of the graph share; all but values of theirs point into this one */
	int width, height;
};

/* One more panel, zeroed but for marks; the pointer is good until the next call. */
struct panel *figure_add(struct figure *figure, enum panel_kind kind);
void figure_note(struct figure *figure, const char *format, ...) PE_PRINTF(2, 3);
void figure_free(struct figure *figure);

/* Sets the panel's scale to its values' range, unless it is given already (high > low). */
void panel_fit_scale(struct panel *panel);
/* Least and largest finite number of n; 0 and 0 if there is none. false: something is not finite. */
bool finite_range(const double *values, int64_t n, double *low, double *high);

/* Finds places and sizes; measures text on the canvas. */
void figure_lay_out(struct figure *figure, struct canvas *canvas);
/* Draws it on the canvas, which is open; it is started here. false: no memory. */
bool figure_draw(struct figure *figure, struct canvas *canvas);
/* Titles, places, sizes and scales, for --json. */
json_t *figure_report(const struct figure *figure);

#endif
