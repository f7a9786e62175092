/* SPDX-License-Identifier: BSD-2-Clause
 * Where the marks of an axis stand, and how numbers are written there. */
#ifndef TICKS_H
#define TICKS_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_TICKS 24

struct ticks {
	int count;
	double values[MAX_TICKS];
	double step;
};

/* Marks at round numbers within low … high, at most `most` of them; whole: at whole numbers only. */
struct ticks ticks_between(double low, double high, int most, bool whole);
/* A mark's number, with the digits that its step needs. */
void tick_text(char *out, size_t size, double value, double step);

#endif
