/* SPDX-License-Identifier: BSD-2-Clause
 * The channels of axial's axes: where the sines and cosines of each lie in a row, and what they are. */
#ifndef PE_AXIAL_CHANNELS_H
#define PE_AXIAL_CHANNELS_H

#include "grid_axes.h"

enum pe_axial_layout { PE_AXIAL_BLOCKS, PE_AXIAL_INTERLEAVED, PE_AXIAL_TRIG };

struct pe_axial_axis {
	int number;    /* of grid_axes.h, or the encoder's own */
	int64_t bands; /* sines, and cosines */
	const double *frequency;
	double scale;               /* of its coordinates */
	int64_t sine, cosine, step; /* where in a row they begin, and how far apart they are */
	int64_t numbers;            /* where in the shared numbers its first place begins, 2 × bands a place */
};

struct pe_axial_channels {
	int count;
	struct pe_axial_axis axis[PE_MAX_GRID_AXES];
	enum pe_axial_layout layout;
	int64_t used;        /* of `dim` channels; the others are 0 */
	double *frequencies; /* of all axes; to be freed */
};

/* For bind: lays out axes of these widths (pe_grid_deal), count and layout being there, and finds their
 * frequencies by the options base and timescale. */
pe_status pe_axial_lay_out(pe_encoding *e, struct pe_axial_channels *channels,
	const int64_t widths[PE_MAX_GRID_AXES], int64_t dim) PE_NODISCARD;

/* Sines and cosines of a coordinate, 2 × bands side by side, or `step` apart, as they lie in a row. */
void pe_axial_write_numbers(const pe_encoding *e, const struct pe_axial_axis *axis, double c, double *out);
/* Those that fall into a row of dim channels, into their places in it. */
void pe_axial_write_row(
	const pe_encoding *e, const struct pe_axial_axis *axis, double c, int64_t dim, double *row);

/* The widths of the runs of numbers that make up a row of dim channels: each axis' or, in layout trig, the
 * sines of each and the cosines of each, then the zeros, if there are any. Returns their number. */
int pe_axial_runs(const struct pe_axial_channels *channels, int64_t dim, int64_t *widths);

#endif
