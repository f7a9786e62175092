/* SPDX-License-Identifier: BSD-2-Clause
 * Resampling along an axis, by PyTorch's rules (torch.nn.functional.interpolate), for pictures and for tables
 * of positions. Without antialiasing output i looks at source place s·(i + ½) - ½ whatever s is, and places
 * beyond the border take the border's value; with it, it averages over as many inputs as become one output,
 * those beyond the border left out. A size to itself, unless a scale is given, is left as it is. */
#ifndef PE_RESAMPLE_H
#define PE_RESAMPLE_H

#include "context.h"

struct pe_resample_rule {
	enum pe_interpolation interpolation; /* bicubic: a = -0.5 with antialias, -0.75 without */
	bool antialias;
	bool align_corners; /* s = (in - 1)/(out - 1) and, without antialias, places s·i */
	double scale;       /* s, if not in/out: 1/scale_factor where an interpolation is given that; 0: in/out */
};

/* Output i is the sum of weights[i·taps + k] times input first[i] + k, k < count[i]. */
struct pe_resample {
	int64_t in, out, taps;
	int64_t *first, *count;
	double *weights;
};

/* in and out ≥ 1. pe_resample_free takes what there is after a failure, and may be called twice. */
pe_status pe_resample_make(pe_context *ctx, const struct pe_resample_rule *rule, int64_t in, int64_t out,
	struct pe_resample *made) PE_NODISCARD;
void pe_resample_free(pe_context *ctx, struct pe_resample *resample);

/* The inputs *low … *high - 1 that outputs from … to - 1 need; from < to. */
void pe_resample_span(const struct pe_resample *r, int64_t from, int64_t to, int64_t *low, int64_t *high);
/* Outputs from … to - 1, of `inner` numbers each, into out; `in` holds the inputs from number `base` on. */
void pe_resample_apply(const struct pe_resample *r, int64_t from, int64_t to, const double *in, int64_t base,
	int64_t inner, double *out);

/* A grid of vectors to one of another size. */
struct pe_grid_resample {
	const double *in; /* (down.in, across.in, channels), dense */
	int64_t channels;
	struct pe_resample down, across;
	int64_t rows, columns; /* of the new grid those wanted, from the first on: at most down.out, across.out */
	const double *plus;    /* (plus_height, plus_width, channels), added over and over; or NULL */
	int64_t plus_height, plus_width;
	int64_t block; /* tokens come in blocks of so many rows and columns, which fill the grid; 1: row by row */
};

/* The new grid's tokens from number `skip` on into out, (rows columns - skip, channels), of any float type
 * and strides, rounded once. */
pe_status pe_resample_tokens(
	pe_context *ctx, const struct pe_grid_resample *grid, int64_t skip, const pe_tensor *out) PE_NODISCARD;

/* A grid (height, width, channels) to (new_height, new_width, channels); both dense, out overlaps nothing.
 * y and x may have rules that differ (in scale). */
pe_status pe_resample_grid(pe_context *ctx, const struct pe_resample_rule *y,
	const struct pe_resample_rule *x, const double *in, int64_t height, int64_t width, int64_t channels,
	int64_t new_height, int64_t new_width, double *out) PE_NODISCARD;

#endif
