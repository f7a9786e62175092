/* SPDX-License-Identifier: BSD-2-Clause
 * The line that tells how far a long piece of work is. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The work under way; all zero before the first call. */
struct progress {
	char stage[40];
	double started;
	int64_t done;
};

/* Writes "lap  40 %  8.0 %/s  8 s left" into text, for `now` in seconds. false: there is nothing to show
 * before a second of work. Work begins anew with another stage, or where less is done than before. */
bool progress_line(struct progress *progress, const char *stage, int64_t done, int64_t total, double now,
	char *text, size_t size);

#endif
