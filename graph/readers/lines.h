/* SPDX-License-Identifier: BSD-2-Clause
 * Text that holds one thing a line, found by the line's number: so that several threads can read it, each its
 * lines, and a message names the line that one thread would have named. */
#ifndef PE_LINES_H
#define PE_LINES_H

#include "scan.h"

struct pe_lines {
	const char *name, *text, *end; /* the source's, which must stay */
	bool regular;                  /* every line begins with a visible character, so that none is blank */
	int64_t count;                 /* of lines; -1 if not regular, which is all that is known then */
	int64_t pieces, each;          /* pe_lines_each takes so many lines at a time, the last time fewer */
	int64_t blocks;                /* of the text */
	int64_t *first;                /* blocks + 1: the first line that begins behind a byte of block b */
};

/* Counts the lines. Released by pe_lines_free, which may be called on a zeroed one. */
pe_status pe_lines_count(pe_context *ctx, const struct pe_source *source, struct pe_lines *out) PE_NODISCARD;
void pe_lines_free(pe_context *ctx, struct pe_lines *lines);

/* A cursor at the beginning of a line, from 0; the lines are regular. */
struct pe_scan pe_lines_at(pe_context *ctx, const struct pe_lines *lines, int64_t line);

/* Takes lines first … end-1, from where the cursor stands. */
typedef pe_status (*pe_lines_fn)(struct pe_scan *scan, void *arg, int64_t first, int64_t end);

/* Calls fn for all lines, a piece at a time, by several threads. Of several failures the first in the text is
 * told. */
pe_status pe_lines_each(
	pe_context *ctx, const struct pe_lines *lines, pe_lines_fn fn, void *arg) PE_NODISCARD;

#endif
