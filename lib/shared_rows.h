/* SPDX-License-Identifier: BSD-2-Clause
 * Tables whose rows are put together from a few shared numbers: that of a place (y, x) from the numbers of y
 * and those of x. Such a table costs height + width evaluations, not height × width, and writing it is
 * copying. */
#ifndef PE_SHARED_ROWS_H
#define PE_SHARED_ROWS_H

#include "encoder.h"

#define PE_MAX_PARTS 8

struct pe_shared_rows {
	int parts; /* of a row, 1 … PE_MAX_PARTS, one after the other */
	int64_t widths[PE_MAX_PARTS];
	int64_t columns; /* tokens so far apart have much in common: the width of a grid. It tells a good order of
					  * writing, no more */
	double absent;   /* what rows of tokens without a place hold */
	/* Where in the numbers each part of a token's row begins; false: it has no place. Called from several
	 * threads. */
	bool (*find)(const pe_encoding *e, int64_t batch, int64_t token, int64_t starts[PE_MAX_PARTS]);
};

/* The sum of the widths. */
int64_t pe_shared_rows_width(const struct pe_shared_rows *rows);

/* out ← the row of a token. */
void pe_shared_row(const pe_encoding *e, const struct pe_shared_rows *rows, const double *numbers,
	int64_t batch, int64_t token, double *out);

/* y (batch, tokens, width), of any float type and any positive strides, ← the rows of e->domain. The `count`
 * numbers are rounded once and then copied. */
pe_status pe_shared_rows_write(pe_encoding *e, const struct pe_shared_rows *rows, const double *numbers,
	int64_t count, const pe_tensor *y) PE_NODISCARD;

#endif
