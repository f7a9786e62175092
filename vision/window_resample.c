/* SPDX-License-Identifier: BSD-2-Clause */
#include "window_resample.h"

#include <math.h>

#include "resample.h"

/* Places of n offsets from the centre on, 1, 1 + q, 1 + q + q² …, the last near `end`: BEiT's
 * run_class_finetuning.py, which looks for q between 1.01 and 1.5 and takes the last one it tried. */
static void fill_places(int64_t n, int64_t end, double *places)
{
	double left = 1.01, right = 1.5, q = left;
	while (right - left > 1e-6) {
		q = (left + right) / 2;
		if ((1 - pow(q, (double)n)) / (1 - q) > (double)end)
			right = q;
		else
			left = q;
	}
	double place = 1;
	for (int64_t i = 0; i < n; i++) {
		places[i] = place;
		place += pow(q, (double)(i + 1));
	}
}

/* Output i, at whole offset d from the centre, between the places around it; beyond the last, its value. */
static void interpolate(struct pe_resample *r, const double *places, int64_t i)
{
	int64_t n = r->in / 2, d = i - r->out / 2, above = 0;
	double far = (double)(d < 0 ? -d : d);
	while (above < n && places[above] < far)
		above++; /* places[above - 1] < far <= places[above], place -1 being 0 */
	double low = above > 0 ? places[above - 1] : 0;
	double t = d == 0 ? 0 : above == n ? 1 : (far - low) / (places[above] - low);
	int64_t inner = d == 0 || above < n ? above : n - 1, outer = inner + (d != 0 && n > 0);
	if (n == 0)
		inner = outer = 0;
	r->first[i] = n + (d < 0 ? -outer : inner);
	r->count[i] = outer - inner + 1;
	r->weights[2 * i] = outer == inner ? 1 : d < 0 ? t : 1 - t;
	r->weights[2 * i + 1] = d < 0 ? 1 - t : t;
}

static pe_status make_geometric(pe_context *ctx, int64_t in, int64_t out, struct pe_resample *made)
{
	*made = (struct pe_resample){.in = in, .out = out, .taps = 2};
	double *places = pe_alloc(ctx, in / 2, sizeof *places);
	made->first = pe_alloc(ctx, out, sizeof *made->first);
	made->count = pe_alloc(ctx, out, sizeof *made->count);
	made->weights = pe_alloc(ctx, out, 2 * sizeof *made->weights);
	bool there = places && made->first && made->count && made->weights;
	if (there) {
		fill_places(in / 2, out / 2, places);
		for (int64_t i = 0; i < out; i++)
			interpolate(made, places, i);
	}
	pe_free(ctx, places);
	return there ? PE_OK : PE_ERR_NOMEM;
}

static pe_status resample_geometric(pe_context *ctx, const double *in, int64_t height, int64_t width,
	int64_t channels, int64_t new_height, int64_t new_width, double *out)
{
	struct pe_resample down = {0}, across = {0};
	int64_t inner = new_width * channels;
	double *rows = pe_alloc(ctx, height, (size_t)inner * sizeof *rows);
	pe_status status = rows ? PE_OK : PE_ERR_NOMEM;
	if (status == PE_OK)
		status = make_geometric(ctx, height, new_height, &down);
	if (status == PE_OK)
		status = make_geometric(ctx, width, new_width, &across);
	if (status == PE_OK) {
		for (int64_t i = 0; i < height; i++)
			pe_resample_apply(
				&across, 0, new_width, in + i * width * channels, 0, channels, rows + i * inner);
		pe_resample_apply(&down, 0, new_height, rows, 0, inner, out);
	}
	pe_free(ctx, rows);
	pe_resample_free(ctx, &down);
	pe_resample_free(ctx, &across);
	return status;
}

pe_status pe_window_resample(pe_context *ctx, enum pe_window_resize how, const double *in, int64_t height,
	int64_t width, int64_t channels, int64_t new_height, int64_t new_width, double *out)
{
	const struct pe_resample_rule bicubic = {.interpolation = PE_BICUBIC};
	if (how == PE_RESIZE_GEOMETRIC)
		return resample_geometric(ctx, in, height, width, channels, new_height, new_width, out);
	return pe_resample_grid(ctx, &bicubic, &bicubic, in, height, width, channels, new_height, new_width, out);
}
