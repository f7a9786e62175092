/* SPDX-License-Identifier: BSD-2-Clause
 * A learned table of a grid's positions as checkpoints hold it, under any of the names that they give it. */
#ifndef PE_GRID_TABLE_H
#define PE_GRID_TABLE_H

#include "encoder.h"

struct pe_grid_table {
	int64_t dim, height, width, prefix_rows;
	const double *first; /* (prefix_rows, dim) */
	const double *grid;  /* (height, width, dim) */
	double *owned;       /* where it is not the weight's own memory */
	char *prefix;        /* of the weights' names, while bind runs */
};

/* For bind: the table that is given, by the first of its names that is there (grid_table.c lists them), else
 * pos_embed begun N(0, sd). Reads the options dim, grid, prefix_rows and order, and refuses a table whose
 * grid is not said. pe_grid_table_free takes what there is after a failure. */
pe_status pe_grid_table_take(pe_encoding *e, double sd, struct pe_grid_table *table) PE_NODISCARD;
void pe_grid_table_free(pe_context *ctx, struct pe_grid_table *table);

/* For bind: another weight of four axes, in the order that the option order says. Its sides are those that
 * `option` says, else those of the weight that is given; without either *height and *width stay, and if they
 * are 0 *values is NULL. *owned is to be freed. */
pe_status pe_grid_table_planes(pe_encoding *e, const char *name, const char *option, double sd, int64_t dim,
	int64_t *height, int64_t *width, const double **values, double **owned) PE_NODISCARD;

#endif
