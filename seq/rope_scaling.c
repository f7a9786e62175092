/* SPDX-License-Identifier: BSD-2-Clause
 * With w_t = base^(-2t/r), L the length of training, f the factor:
 *   linear        w_t / f                                  Chen et al. 2023, "Extending context window"
 *   ntk           base ← base f^(r/(r-2))                  u/bloc97 2023
 *   dynamic       base ← base (f S/L - f + 1)^(r/(r-2)), S = max(length, L)
 *   yarn          w_t/f ramp + w_t (1 - ramp)              Peng et al. 2023, "YaRN"
 *   longrope      w_t / extension_t                        Ding et al. 2024, "LongRoPE"
 *   llama3        w_t, w_t/f, or in between, by wavelength Llama 3.1, 2024
 *   proportional  base^(-2t/head_dim) / f                  Gemma 4 */
#include "rope_scaling.h"

#include <math.h>

static const long double two_pi = 6.283185307179586476925286766559005768L;

/* Long double holds products and quotients of f32 with more than twice their bits: rounding its result is
 * the same as computing in f32. */
static long double rounded(const struct pe_rope_scaling *s, long double x)
{
	return s->single ? (long double)(float)x : x;
}

long double pe_rope_base(const struct pe_rope_scaling *s)
{
	long double power = (long double)s->rotary_dim / (long double)(s->rotary_dim - 2), stretch;
	switch (s->kind) {
	case PE_ROPE_NTK:
		return rounded(s, s->base * powl(s->factor, power));
	case PE_ROPE_DYNAMIC:
		stretch =
			rounded(s, rounded(s, s->factor * fmax(s->length, s->original_length)) / s->original_length);
		stretch = rounded(s, stretch - (s->factor - 1));
		return rounded(s, s->base * rounded(s, powl(stretch, power)));
	default:
		return rounded(s, s->base);
	}
}

/* The pair, not rounded to a whole number, that turns so often within the length of training. */
static long double pair_of(const struct pe_rope_scaling *s, double turns)
{
	return (long double)s->rotary_dim * logl(s->original_length / (turns * two_pi)) / (2 * logl(s->base));
}

void pe_rope_yarn_range(const struct pe_rope_scaling *s, long double *low, long double *high)
{
	long double first = pair_of(s, s->beta_fast), last = pair_of(s, s->beta_slow);
	*low = fmaxl(s->truncate ? floorl(first) : first, 0);
	*high = fminl(s->truncate ? ceill(last) : last, (long double)(s->rotary_dim - 1));
	*high = fmaxl(*high, *low + 0.001L);
}

/* 1 - ramp. */
static long double yarn_keep(const struct pe_rope_scaling *s, int64_t t)
{
	long double low, high;
	pe_rope_yarn_range(s, &low, &high);
	long double ramp = rounded(s, rounded(s, (long double)t - rounded(s, low)) / rounded(s, high - low));
	return rounded(s, 1 - fminl(fmaxl(ramp, 0), 1));
}

/* power is base^(2t/r). */
static long double yarn(const struct pe_rope_scaling *s, int64_t t, long double power)
{
	long double keep = yarn_keep(s, t);
	long double stretched = rounded(s, 1 / rounded(s, rounded(s, s->factor) * power));
	long double plain = rounded(s, 1 / power);
	return rounded(s, rounded(s, stretched * rounded(s, 1 - keep)) + rounded(s, plain * keep));
}

static long double llama3(const struct pe_rope_scaling *s, long double plain)
{
	long double wavelength = rounded(s, rounded(s, 1 / plain) * rounded(s, two_pi));
	if (wavelength > s->original_length / s->low_factor)
		return rounded(s, plain / s->factor);
	if (wavelength < s->original_length / s->high_factor)
		return plain;
	long double cycles = rounded(s, rounded(s, 1 / wavelength) * s->original_length);
	long double smooth =
		rounded(s, rounded(s, cycles - s->low_factor) / rounded(s, s->high_factor - s->low_factor));
	long double stretched = rounded(s, rounded(s, rounded(s, 1 - smooth) * plain) / s->factor);
	return rounded(s, stretched + rounded(s, smooth * plain));
}

void pe_rope_frequencies(const struct pe_rope_scaling *s, long double *frequency)
{
	long double base = pe_rope_base(s);
	int64_t dim = s->kind == PE_ROPE_PROPORTIONAL ? s->head_dim : s->rotary_dim;
	for (int64_t t = 0; t < s->rotary_dim / 2; t++) {
		long double power = rounded(s, powl(base, rounded(s, 2 * (long double)t / (long double)dim)));
		long double plain = rounded(s, 1 / power);
		switch (s->kind) {
		case PE_ROPE_LINEAR:
		case PE_ROPE_PROPORTIONAL:
			frequency[t] = rounded(s, plain / rounded(s, s->factor));
			break;
		case PE_ROPE_YARN:
			frequency[t] = yarn(s, t, power);
			break;
		case PE_ROPE_LONGROPE:
			frequency[t] = rounded(s, 1 / rounded(s, rounded(s, s->extension[t]) * power));
			break;
		case PE_ROPE_LLAMA3:
			frequency[t] = llama3(s, plain);
			break;
		default:
			frequency[t] = plain;
		}
	}
}

void pe_rope_iterate(const struct pe_rope_scaling *s, struct pe_rope_iterated *out)
{
	struct pe_rope_scaling plain = *s;
	plain.single = false;
	bool proportional = s->kind == PE_ROPE_PROPORTIONAL;
	double dim = (double)(proportional ? s->head_dim : s->rotary_dim), base = (double)pe_rope_base(s);
	bool divided = proportional || s->kind == PE_ROPE_LINEAR || s->kind == PE_ROPE_YARN;
	out->ratio = (float)pow((double)(float)base, (double)(float)(-2 / dim));
	out->stretch = divided ? (float)(1 / s->factor) : 1;
	out->blended = s->kind == PE_ROPE_YARN;
	for (int64_t t = 0; t < s->rotary_dim / 2; t++) {
		long double unscaled = powl(s->base, -2 * (long double)t / dim);
		out->divisor[t] = s->kind == PE_ROPE_LLAMA3 ? (float)(unscaled / llama3(&plain, unscaled))
			: s->kind == PE_ROPE_LONGROPE           ? (float)s->extension[t]
													: 1;
		out->keep[t] = out->blended ? (float)yarn_keep(s, t) : 1;
	}
}

/* ---- amplitudes --------------------------------------------------------------------- */

static double yarn_amplitude(double factor, double mscale)
{
	return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

static double usual_amplitude(const struct pe_rope_scaling *s)
{
	if (s->kind == PE_ROPE_LONGROPE)
		return s->factor <= 1 ? 1 : sqrt(1 + log(s->factor) / log(s->original_length));
	if (s->kind != PE_ROPE_YARN)
		return 1;
	if (s->mscale > 0 && s->mscale_all_dim > 0)
		return yarn_amplitude(s->factor, s->mscale) / yarn_amplitude(s->factor, s->mscale_all_dim);
	return yarn_amplitude(s->factor, 1);
}

void pe_rope_amplitudes(const struct pe_rope_scaling *s, double *turned, double *scores)
{
	*turned = s->attention_factor > 0 ? s->attention_factor : usual_amplitude(s);
	*scores = 1;
	if (!s->in_scale)
		return;
	double moved = *turned;
	if (s->kind == PE_ROPE_YARN && s->mscale_all_dim > 0)
		moved = yarn_amplitude(s->factor, s->mscale_all_dim);
	else
		*turned = 1;
	*scores = moved * moved;
}
