/* SPDX-License-Identifier: BSD-2-Clause */
#include "resample.h"

#include <math.h>
#include <string.h>

/* Keys' cubic convolution kernel, and the triangle. R. Keys, "Cubic convolution interpolation for digital
 * image processing", 1981. */
static double kernel(enum pe_interpolation interpolation, double a, double x)
{
	x = fabs(x);
	if (interpolation == PE_BILINEAR)
		return x < 1 ? 1 - x : 0;
	if (x < 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Source places an output. */
static double step_of(const struct pe_resample_rule *rule, int64_t in, int64_t out)
{
	if (rule->align_corners)
		return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
	return rule->scale > 0 ? rule->scale : (double)in / (double)out;
}

static int64_t clamp(int64_t i, int64_t count)
{
	return pe_max(0, pe_min(i, count - 1));
}

/* Two or four taps around a place; those beyond the border fall on its value. */
static void interpolate(const struct pe_resample_rule *rule, double step, int64_t i, struct pe_resample *r)
{
	bool cubic = rule->interpolation == PE_BICUBIC;
	double place = rule->align_corners ? step * (double)i : step * ((double)i + 0.5) - 0.5;
	if (!cubic && place < 0)
		place = 0;
	place = fmin(place, (double)r->in + 2); /* far enough to be all border */
	double below = floor(place), t = place - below;
	int64_t taps = cubic ? 4 : 2, start = (int64_t)below - (cubic ? 1 : 0);
	double *weights = r->weights + i * r->taps;
	r->first[i] = clamp(start, r->in);
	r->count[i] = clamp(start + taps - 1, r->in) - r->first[i] + 1;
	for (int64_t k = 0; k < taps; k++) {
		double away = cubic ? t + 1 - (double)k : t - (double)k;
		weights[clamp(start + k, r->in) - r->first[i]] += kernel(rule->interpolation, -0.75, away);
	}
}

/* An average over all inputs under the kernel, widened to the size of an output. */
static void average(const struct pe_resample_rule *rule, double step, int64_t i, struct pe_resample *r)
{
	double wide = fmax(step, 1), support = (rule->interpolation == PE_BICUBIC ? 2 : 1) * wide;
	double centre = step * ((double)i + 0.5), total = 0, *weights = r->weights + i * r->taps;
	int64_t low = pe_max((int64_t)(centre - support + 0.5), 0);
	int64_t high = pe_min((int64_t)(centre + support + 0.5), r->in);
	low = pe_min(low, r->in - 1); /* a scale of the caller's may lead beyond the end */
	high = pe_max(high, low + 1);
	high = pe_min(high, low + r->taps);
	r->first[i] = low;
	r->count[i] = high - low;
	for (int64_t k = 0; k < high - low; k++) {
		weights[k] = kernel(rule->interpolation, -0.5, ((double)(low + k) - centre + 0.5) / wide);
		total += weights[k];
	}
	if (!(fabs(total) > 0)) { /* all of it lies beyond the border */
		weights[high - low - 1] = 1;
		total = 1;
	}
	for (int64_t k = 0; k < high - low; k++)
		weights[k] /= total;
}

/* A size to itself leaves everything as it is, to the bit. */
static bool is_same(const struct pe_resample_rule *rule, int64_t in, int64_t out)
{
	return in == out && !(rule->scale > 0);
}

static int64_t taps_of(const struct pe_resample_rule *rule, double step, int64_t in)
{
	bool cubic = rule->interpolation == PE_BICUBIC;
	if (!rule->antialias)
		return cubic ? 4 : 2;
	double taps = 2 * ceil((cubic ? 2 : 1) * fmax(step, 1)) + 1;
	return taps < (double)in ? (int64_t)taps : in;
}

pe_status pe_resample_make(
	pe_context *ctx, const struct pe_resample_rule *rule, int64_t in, int64_t out, struct pe_resample *made)
{
	double step = step_of(rule, in, out);
	bool same = is_same(rule, in, out);
	*made = (struct pe_resample){.in = in, .out = out, .taps = same ? 1 : taps_of(rule, step, in)};
	int64_t count;
	if (!pe_mul(out, made->taps, &count))
		return pe_fail(ctx, PE_ERR_NOMEM, "resampling %lld values to %lld needs too many weights",
			(long long)in, (long long)out);
	made->first = pe_alloc(ctx, out, sizeof *made->first);
	made->count = pe_alloc(ctx, out, sizeof *made->count);
	made->weights = pe_alloc_zero(ctx, count, sizeof *made->weights);
	if (!made->first || !made->count || !made->weights)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < out; i++)
		if (same) {
			made->first[i] = i;
			made->count[i] = 1;
			made->weights[i] = 1;
		} else if (rule->antialias)
			average(rule, step, i, made);
		else
			interpolate(rule, step, i, made);
	return PE_OK;
}

void pe_resample_free(pe_context *ctx, struct pe_resample *resample)
{
	pe_free(ctx, resample->first);
	pe_free(ctx, resample->count);
	pe_free(ctx, resample->weights);
	*resample = (struct pe_resample){0};
}

void pe_resample_span(const struct pe_resample *r, int64_t from, int64_t to, int64_t *low, int64_t *high)
{
	*low = r->first[from];
	*high = r->first[from] + r->count[from];
	for (int64_t i = from; i < to; i++) {
		*low = pe_min(*low, r->first[i]);
		*high = pe_max(*high, r->first[i] + r->count[i]);
	}
}

void pe_resample_apply(const struct pe_resample *r, int64_t from, int64_t to, const double *in, int64_t base,
	int64_t inner, double *out)
{
	memset(out, 0, (size_t)((to - from) * inner) * sizeof *out);
	for (int64_t i = from; i < to; i++, out += inner)
		for (int64_t k = 0; k < r->count[i]; k++) {
			double weight = r->weights[i * r->taps + k];
			const double *row = in + (r->first[i] + k - base) * inner;
			for (int64_t c = 0; c < inner; c++)
				out[c] += weight * row[c];
		}
}
