/* SPDX-License-Identifier: BSD-2-Clause
 * The kinds of picture: each makes panels of a subject. */
#ifndef PLOTS_H
#define PLOTS_H

#include "figure.h"
#include "subject.h"

/* What the command line asks for. */
struct wishes {
	struct cli *cli;
	const char *array;  /* --array, or NULL */
	const char *token;  /* --token, or NULL */
	const char *panels; /* --panels, or NULL */
	bool several;       /* subjects: panels name theirs */
	struct scale range; /* of --range; high ≤ low: none */
};

/* Options of show that not every kind takes. */
enum plot_use {
	USES_ARRAY = 1,
	USES_TOKEN = 2,
	USES_FRAME = 4, /* --token too, but only of several frames */
	USES_PANELS = 8,
	USES_GRID = 16, /* the place of tokens on one; so --grid of a file of arrays */
	USES_GRAPH = 32 /* likewise --graph */
};

struct plot {
	const char *name;
	unsigned uses; /* plot_use */
	/* Whether it can show this; if not, why. */
	bool (*fits)(const struct wishes *wishes, const struct subject *subject, char *why, size_t size);
	/* EXIT_DONE, or an exit code with the message already written. */
	int (*build)(const struct wishes *wishes, const struct subject *subject, struct figure *figure);
};

/* The kinds, NULL at the end; the names, as "a, b or c", into out. */
extern const struct plot *const plots[];
void plot_names(char *out, size_t size);
const struct plot *plot_find(const char *name);
/* The kind that says most of what this holds, of those that take the options given if there is one. NULL:
 * there is nothing to show, and why. */
const struct plot *plot_for(
	const struct wishes *wishes, const struct subject *subject, char *why, size_t size);

/* An option given that none of these kinds takes, one a subject: its name, and which kinds take it, as
 * "a, b or c", into out. NULL: there is none. */
const char *plots_unused(const struct wishes *wishes, const struct subject *subject,
	const struct plot *const *used, int count, char *out, size_t size);

/* plot_KIND.c */
extern const struct plot plot_similarity, plot_sheet, plot_matrix, plot_profile, plot_spectrum, plot_table,
	plot_bias, plot_query, plot_distance, plot_nodes, plot_eigenvalues, plot_curves, plot_effect;

/* ---- shared ------------------------------------------------------------------------- */

/* A token by its number among all, prefix included, and its place. */
struct place_of_token {
	int64_t index;
	int64_t t, y, x; /* -1: a prefix token, or there is no grid */
};

/* The token of --token, or the one in the middle. */
int choose_token(
	const struct wishes *wishes, const struct subject *subject, int64_t count, struct place_of_token *out);
/* "token (3, 4)", "position 7". */
void token_text(char *out, size_t size, const struct subject *subject, const struct place_of_token *token);
bool has_grid(const struct subject *subject);
int64_t grid_tokens(const struct subject *subject);
/* Whether rows are as many as the grid's tokens; if not, why. */
bool fits_tokens(const struct subject *subject, int64_t count, char *why, size_t size);

/* Which of `count` panels are drawn: those of --panels, else the first `most`, which is then noted as "what".
 * Numbers into out, which has room for MOST_PANELS. */
#define MOST_PANELS 64
int choose_panels(const struct wishes *wishes, struct figure *figure, int64_t count, int most,
	const char *what, int64_t *out, int *chosen);

/* Adds to the title: "NAME: text". */
void set_title(struct figure *figure, const struct subject *subject, const char *format, ...) PE_PRINTF(3, 4);
/* A panel's title: the subject's name where there are several, and a text. */
void name_panel(const struct wishes *wishes, struct panel *panel, const struct subject *subject);
void set_panel_title(const struct wishes *wishes, struct panel *panel, const struct subject *subject,
	const char *format, ...) PE_PRINTF(4, 5);
void set_scale_label(struct panel *panel, const char *format, ...) PE_PRINTF(2, 3);
/* *scale ← that of --range, if it is given: true. signs: diverging where it is on both sides of 0. */
bool wished_scale(const struct wishes *wishes, bool signs, struct scale *scale);
/* Of cosines, the least of which is this: up to 1, down to there, or to -1 where some are far below 0. */
struct scale cosine_scale(double least);
/* Gives the panels from `first` on one scale: that of --range, or the given one, or what their numbers need.
 */
void share_scale(const struct wishes *wishes, struct figure *figure, int first, struct scale given);
/* A heat map of values, which it takes over. */
struct panel *add_tiles(struct figure *figure, double *values, int64_t rows, int64_t columns);
/* Axes of a grid's rows and columns. */
void set_grid_axes(struct panel *panel);
/* Says why cells are grey if some are. */
void note_masked(struct figure *figure, const struct panel *panel);

/* Whether there are rows; as many as the grid has tokens, if there is one; on a grid. */
bool fits_rows(const struct wishes *wishes, const struct subject *subject, char *why, size_t size);
bool fits_places(const struct wishes *wishes, const struct subject *subject, char *why, size_t size);
bool fits_grid(const struct wishes *wishes, const struct subject *subject, char *why, size_t size);
/* The rows, of length 1. fits_rows has been asked. */
int unit_rows(const struct wishes *wishes, const struct subject *subject, struct rows *rows);
/* Rows made of length 1; rows of length 0 become NaN. */
void make_unit_rows(struct rows *rows);
double dot_rows(const struct rows *rows, int64_t i, int64_t j);

#endif
