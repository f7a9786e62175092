/* SPDX-License-Identifier: BSD-2-Clause
 * Biases inside a window of a grid that depend on the offset between query and key alone: one number a head
 * and offset, in a table. Row (yq - yk + height - 1)(2 width - 1) + (xq - xk + width - 1), as in Swin; or
 * |yq - yk| width + |xq - xk|, as in LeViT. */
#ifndef PE_WINDOW_TABLE_H
#define PE_WINDOW_TABLE_H

#include "encoder.h"

#define PE_OPTION_WINDOW \
	PE_LIST("window", "", 1, 4096, \
		"the window's height/width, or one number of both; empty: the grid. A smaller grid has part of it")
#define PE_OPTION_PRETRAINED_WINDOW(help) PE_LIST("pretrained_window", "", 1, 4096, help)

/* The first member of such an encoder's state. */
struct pe_window_table {
	int64_t height, width; /* the window's */
	bool mirrored;         /* rows by |dy| and |dx| */
	/* 0: no rows for prefix tokens, whose bias is 0. 3: the last rows are of a prefix query, of a prefix
	 * key, and of both. */
	int64_t extra;
	int64_t rows;
	double *values; /* (heads, rows), made by pe_window_make; pe_window_release frees it */
};

/* For bind, with mirrored and extra set in the state: reads the option window, refuses grids with frames and
 * grids beyond the window, and sets height, width and rows. */
pe_status pe_window_take(pe_encoding *e) PE_NODISCARD;
/* Likewise for encoders without that option, whose window is the grid. */
pe_status pe_window_of_grid(pe_encoding *e) PE_NODISCARD;
/* The option pretrained_window, or 0 and 0. */
pe_status pe_window_take_pretrained(pe_encoding *e, int64_t *height, int64_t *width) PE_NODISCARD;
/* Allocates values. */
pe_status pe_window_make(pe_encoding *e) PE_NODISCARD;
/* Likewise, and fills them from the weight `name`, (rows, heads); a table of another window is resampled as
 * the option resize says (PE_OPTION_RESIZE), its extra rows stay. Which window it is of says the option
 * pretrained_window; else it is this one's if the rows are as many, else a square one. */
pe_status pe_window_weight(pe_encoding *e, const char *name, struct pe_initial initial) PE_NODISCARD;

/* The offset query - key of a row, not of an extra one. */
void pe_window_offset(const struct pe_window_table *t, int64_t row, int64_t *dy, int64_t *dx);

/* A walk over places of a grid, one token after the other. */
struct pe_walk {
	int64_t y, x, width, ahead; /* ahead: prefix tokens still to come */
};
struct pe_walk pe_walk_begin(const pe_domain *grid, int64_t token);
static inline void pe_walk_step(struct pe_walk *w)
{
	if (w->ahead > 0) {
		w->ahead--;
	} else if (++w->x == w->width) {
		w->x = 0;
		w->y++;
	}
}

/* An option that is a height and a width, "7/14", or "7" for both; an empty one leaves both as they are. */
pe_status pe_take_sides(pe_encoding *e, const char *option, int64_t *height, int64_t *width) PE_NODISCARD;
/* Those that follow from given weights: the option if it is said or nothing is given (0), else what is given,
 * which the parameters then hold. */
pe_status pe_follow_sides(pe_encoding *e, const char *option, int64_t given_height, int64_t given_width,
	int64_t *height, int64_t *width) PE_NODISCARD;
/* For encoders of two axes: refuses grids with more than one frame. */
pe_status pe_check_one_frame(pe_encoding *e) PE_NODISCARD;

/* Declares bias and relative_position_index (Lq, Lk), which is -1 where there is no row, at the end of bind.
 */
pe_status pe_window_declare(pe_encoding *e) PE_NODISCARD;

/* The functions of struct pe_encoder, and of index. */
void pe_window_index(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows);
void pe_window_scores(const pe_encoding *e, const struct pe_cells *cells, double *bias);
pe_status pe_window_compute(pe_encoding *e, const pe_tensor *outs);
void pe_window_release(pe_encoding *e);

#endif
