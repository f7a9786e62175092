/* SPDX-License-Identifier: BSD-2-Clause
 * What the programs that measure share: clocks, order, memory, and the way out. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static inline int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Sorts values. */
static inline double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, compare_doubles);
	return values[count / 2];
}

_Noreturn static inline void stop(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static inline void check(const pe_context *ctx, pe_status status)
{
	if (status != PE_OK)
		stop(ctx ? pe_context_message(ctx) : "no context");
}

/* Zeros, to be freed by free(): pages that are there. */
static inline void *get_memory(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
	if (!memory)
		stop("no memory");
	return memset(memory, 0, size);
}

#endif
