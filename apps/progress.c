/* SPDX-License-Identifier: BSD-2-Clause */
#include "progress.h"

#include <stdio.h>
#include <string.h>

bool progress_line(struct progress *progress, const char *stage, int64_t done, int64_t total, double now,
	char *text, size_t size)
{
	if (strncmp(progress->stage, stage, sizeof progress->stage - 1) != 0 || done < progress->done) {
		snprintf(progress->stage, sizeof progress->stage, "%s", stage);
		progress->started = now;
	}
	progress->done = done;
	double elapsed = now - progress->started;
	if (elapsed < 1 || done <= 0 || total <= 0)
		return false;
	double rate = (double)done / elapsed;
	snprintf(text, size, "%s  %.0f %%  %.1f %%/s  %.0f s left", stage, 100 * (double)done / (double)total,
		100 * rate / (double)total, (double)(total - done) / rate);
	return true;
}
