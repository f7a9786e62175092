/* SPDX-License-Identifier: BSD-2-Clause */
#include "axial_channels.h"

#include <math.h>

#include "kernels/kernels.h"

static pe_status find_frequencies(pe_encoding *e, struct pe_axial_channels *channels, int64_t bands)
{
	double base = pe_params_real(e->params, "base");
	bool closed = pe_params_choice(e->params, "timescale") == 1;
	double *w = channels->frequencies = pe_alloc(e->ctx, bands, sizeof *w);
	if (!w)
		return PE_ERR_NOMEM;
	for (int i = 0; i < channels->count; w += channels->axis[i++].bands) {
		int64_t count = channels->axis[i].bands, steps = closed ? pe_max(count - 1, 1) : count;
		channels->axis[i].frequency = w;
		for (int64_t k = 0; k < count; k++)
			w[k] = pow(base, -(double)k / (double)steps);
	}
	return PE_OK;
}

pe_status pe_axial_lay_out(
	pe_encoding *e, struct pe_axial_channels *channels, const int64_t widths[PE_MAX_GRID_AXES], int64_t dim)
{
	bool trig = channels->layout == PE_AXIAL_TRIG, interleaved = channels->layout == PE_AXIAL_INTERLEAVED;
	int64_t all = 0, before = 0;
	for (int i = 0; i < channels->count; i++)
		all += widths[i] / 2;
	for (int i = 0; i < channels->count; before += widths[i++] / 2) {
		struct pe_axial_axis *a = &channels->axis[i];
		a->bands = widths[i] / 2;
		a->step = interleaved ? 2 : 1;
		a->sine = trig ? before : 2 * before;
		a->cosine = a->sine + (trig ? all : interleaved ? 1 : a->bands);
	}
	channels->used = pe_min(2 * all, dim);
	return find_frequencies(e, channels, all);
}

/* The first so many of each. */
static void write_some(const pe_encoding *e, const struct pe_axial_axis *a, double c, double *sines,
	double *cosines, int64_t sine_count, int64_t cosine_count)
{
	enum { BLOCK = 64 };
	double angle[BLOCK], sine[BLOCK], cosine[BLOCK];
	for (int64_t first = 0; first < sine_count; first += BLOCK) {
		int64_t count = pe_min(BLOCK, sine_count - first);
		for (int64_t k = 0; k < count; k++)
			angle[k] = c * a->frequency[first + k];
		e->ctx->kernels->sincos(angle, count, sine, cosine);
		for (int64_t k = 0; k < count; k++)
			sines[(first + k) * a->step] = sine[k];
		for (int64_t k = 0; k < pe_min(count, cosine_count - first); k++)
			cosines[(first + k) * a->step] = cosine[k];
	}
}

void pe_axial_write_numbers(const pe_encoding *e, const struct pe_axial_axis *a, double c, double *out)
{
	write_some(e, a, c, out, out + (a->step == 2 ? 1 : a->bands), a->bands, a->bands);
}

/* How many of `count` values from `first` on, step apart, are below `end`. */
static int64_t count_below(int64_t first, int64_t step, int64_t count, int64_t end)
{
	return pe_max(0, pe_min(count, (end - first + step - 1) / step));
}

void pe_axial_write_row(
	const pe_encoding *e, const struct pe_axial_axis *a, double c, int64_t dim, double *row)
{
	write_some(e, a, c, row + a->sine, row + a->cosine, count_below(a->sine, a->step, a->bands, dim),
		count_below(a->cosine, a->step, a->bands, dim));
}

int pe_axial_runs(const struct pe_axial_channels *channels, int64_t dim, int64_t *widths)
{
	bool trig = channels->layout == PE_AXIAL_TRIG;
	int runs = 0;
	for (int i = 0; i < channels->count; i++) {
		const struct pe_axial_axis *a = &channels->axis[i];
		widths[runs++] = count_below(a->sine, 1, trig ? a->bands : 2 * a->bands, dim);
	}
	for (int i = 0; i < channels->count && trig; i++)
		widths[runs++] = count_below(channels->axis[i].cosine, 1, channels->axis[i].bands, dim);
	if (channels->used < dim)
		widths[runs++] = dim - channels->used;
	return runs;
}
