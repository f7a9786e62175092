/* SPDX-License-Identifier: BSD-2-Clause
 * The head of a Matrix Market file: banner, type line, sizes. */
#ifndef PE_MATRIX_MARKET_H
#define PE_MATRIX_MARKET_H

#include "scan.h"

enum pe_mm_symmetry { PE_MM_GENERAL = 0, PE_MM_SYMMETRIC, PE_MM_SKEW };

struct pe_mm_head {
	bool array;    /* dense, by columns; else coordinate */
	bool pattern;  /* no values */
	bool boolean;  /* values 0 and 1 that are no weights, by the type line */
	bool integral; /* values are integers, min … max */
	double min, max;
	enum pe_mm_symmetry symmetry;
	int64_t n, entries; /* entries as declared; of an array, as its shape says */
};

/* Reads up to the first entry. Refuses what is no square real matrix. Without a banner, guesses from the
 * sizes and the first entry if `guess`, else refuses. */
pe_status pe_mm_read_head(struct pe_scan *scan, size_t size, bool guess, struct pe_mm_head *out) PE_NODISCARD;

/* Skips blank lines and comments; false at the end. */
bool pe_mm_next_entry(struct pe_scan *scan);

#endif
