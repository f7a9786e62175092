/* SPDX-License-Identifier: BSD-2-Clause
 * What the programs that measure share: clocks, and the way out. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "posenc.h"

/* Seconds. */
static inline double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void keep_least(double *least, double seconds)
{
	if (seconds < *least)
		*least = seconds;
}

static inline void stop(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static inline void must(pe_status status, const pe_context *ctx)
{
	if (status != PE_OK)
		stop(pe_context_message(ctx));
}

#endif
