/* SPDX-License-Identifier: BSD-2-Clause
 * The axes of a grid, for encoders that give each axis channels of its own: axial, fourier, rope2d. */
#ifndef PE_GRID_AXES_H
#define PE_GRID_AXES_H

#include "encoder.h"

#define PE_MAX_GRID_AXES 3

/* The words of the option axes. */
#define PE_GRID_AXES_WORDS "auto|yx|xy|tyx|txy|ytx|yxt|xty|xyt"

struct pe_grid_axes {
	int count;                    /* 2 or 3 */
	int number[PE_MAX_GRID_AXES]; /* in the order of channels: 0 is t, 1 y, 2 x */
};

/* What a word says, one of the above; auto: yx, or tyx of several frames. */
struct pe_grid_axes pe_grid_axes_of(const char *word, const pe_domain *domain);

/* Frames, height or width. */
int64_t pe_grid_length(const pe_domain *domain, int number);

/* t, y and x of a token; false if it has no place. */
bool pe_grid_find(const pe_domain *domain, int64_t token, int64_t place[3]);

/* Likewise of tokens that come in blocks of so many rows and columns, which fill a frame, and row by row in
 * each; 1: row by row. */
bool pe_grid_find_in_blocks(const pe_domain *domain, int64_t side, int64_t token, int64_t place[3]);

/* The option denominator, of coordinates that are divided by a length: the axis' own, or that of the largest
 * or smallest of all axes. */
enum pe_divisor { PE_DIVISOR_OWN, PE_DIVISOR_LARGEST, PE_DIVISOR_SMALLEST };
#define PE_DIVISOR_WORDS "own|max|min"
double pe_grid_divisor(
	const struct pe_grid_axes *axes, const pe_domain *domain, enum pe_divisor which, int axis);

/* counted[…] and last[…] ← of each place (t·H + y)·W + x of a batch of a padded grid, how many places of its
 * line along an axis, up to it, are not padding, minus 1, and what that is at the line's end. */
void pe_grid_count(const pe_domain *domain, int64_t batch, int number, int64_t *counted, int64_t *last);

/* The option rest: what becomes of channels where the axes' shares are no pairs of them. */
enum pe_rest { PE_REST_REFUSE, PE_REST_CUT, PE_REST_ZEROS, PE_REST_FIRST, PE_REST_LAST };

#define PE_OPTION_SHARES \
	PE_LIST("shares", "0", 0, 1 << 20, \
		"channels of each axis in proportion, in the order of axes: 2/1/1; 1: all alike; 0: all alike, but " \
		"2/1/1 where axes=auto is tyx")
#define PE_OPTION_REST \
	PE_CHOICE("rest", "refuse", "refuse|cut|zeros|first|last", \
		"if shares are not pairs of channels: refuse; round up and cut the last axis off at dim; round " \
		"down and " \
		"end in zeros; or round down, and the first or last axis has what remains")

/* widths[axis] ← of each axis, even, by the options shares and rest. Their sum is dim, with rest=cut at least
 * that and with rest=zeros at most. */
pe_status pe_grid_deal(pe_encoding *e, const struct pe_grid_axes *axes, int64_t dim,
	int64_t widths[PE_MAX_GRID_AXES]) PE_NODISCARD;

#endif
