/* SPDX-License-Identifier: BSD-2-Clause
 * Numbers as colours, in steps that look even. */
#ifndef COLORMAP_H
#define COLORMAP_H

#include <stdbool.h>

struct rgb {
	unsigned char r, g, b;
};

enum colormap {
	COLORMAP_SEQUENTIAL, /* viridis */
	COLORMAP_DIVERGING,  /* blue, near white in the middle, red; both sides equally light */
};

/* What the ends of a map stand for. */
struct scale {
	enum colormap map;
	double low, high;
};

/* Numbers beyond the ends take the end's colour; NaN and -inf are grey. */
struct rgb color_of(const struct scale *scale, double value);
/* The colour of line number index of count: as different as can be for up to 8, else along viridis. */
struct rgb color_of_line(int index, int count);
/* Do these differ by no more than the rounding of float32? */
bool are_equal(double low, double high);
/* A scale for numbers from low to high: diverging and symmetric where both signs are there, else
 * sequential, from 0 where low is near it. Equal ends are moved apart. */
struct scale scale_for(double low, double high);

extern const struct rgb color_ink, color_grey, color_pale;

#endif
