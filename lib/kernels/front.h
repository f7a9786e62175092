/* SPDX-License-Identifier: BSD-2-Clause
 * Inner loops of a supernodal factorisation L D Lᵀ: one supernode's columns, and what they do to the rest.
 * Its `width` columns lie one after the other with leading dimension `height`: first the rows of its own
 * columns, with D on the diagonal and what is above it undefined, then those below. Beyond the last number of
 * l, and of an update, PE_FRONT_SLACK others may be read. */
#ifndef PE_FRONT_H
#define PE_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#define PE_FRONT_LANES 4 /* right-hand sides, which lie interleaved: row i of vector r at x[4 i + r] */
#define PE_FRONT_SLACK 16
#define PE_FRONT_DEPTH 256                    /* columns that are taken from others at once */
#define PE_FRONT_SCRATCH (8 * PE_FRONT_DEPTH) /* numbers, for front_factor and front_update */

/* The lower triangle of the assembled columns ← L and D. false if a pivot is 0 or not a number. */
typedef bool pe_front_factor_fn(int32_t height, int32_t width, double *l, double *scratch);
/* update ← -L₂ D L₂ᵀ of the rows below, L₂; its lower triangle, leading dimension height - width. */
typedef void pe_front_update_fn(
	int32_t height, int32_t width, const double *l, double *update, double *scratch);

/* A factored supernode, and where its rows are: its own from `first` on, those below as listed. */
struct pe_front {
	int32_t width, below, first;
	const int32_t *row; /* below */
	const double *l;
};

/* x ← L⁻¹ x, where L is continued by the unit matrix. x is 32-byte aligned, of PE_FRONT_LANES interleaved. */
typedef void pe_front_forward_fn(const struct pe_front *front, double *x);
/* The supernode's own rows of x ← those of (D Lᵀ)⁻¹ x, where the rows below are known. */
typedef void pe_front_backward_fn(const struct pe_front *front, double *x);
/* y ← y + L D Lᵀ x for these columns alone. */
typedef void pe_front_multiply_fn(const struct pe_front *front, const double *x, double *y);

#endif
