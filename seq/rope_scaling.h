/* SPDX-License-Identifier: BSD-2-Clause
 * The frequencies of rotary positions, and how they are stretched for sequences longer than those of
 * training. */
#ifndef PE_ROPE_SCALING_H
#define PE_ROPE_SCALING_H

#include <stdbool.h>
#include <stdint.h>

/* In the order of the words of the option scaling. */
enum pe_rope_kind {
	PE_ROPE_NONE,
	PE_ROPE_LINEAR,
	PE_ROPE_NTK,
	PE_ROPE_DYNAMIC,
	PE_ROPE_YARN,
	PE_ROPE_LONGROPE,
	PE_ROPE_LLAMA3,
	PE_ROPE_PROPORTIONAL
};

/* Everything checked: original_length > 0 where it is used, factor ≥ 1, base > 1 for yarn, rotary_dim > 2
 * for ntk and dynamic, high_factor > low_factor, beta_fast ≥ beta_slow. */
struct pe_rope_scaling {
	enum pe_rope_kind kind;
	int64_t head_dim, rotary_dim;
	double base, factor, original_length, length;
	double beta_fast, beta_slow;    /* yarn */
	double low_factor, high_factor; /* llama3 */
	const double *extension;        /* longrope: rotary_dim/2 divisors */
	double attention_factor;        /* 0: as the kind says */
	double mscale, mscale_all_dim;  /* 0: not set */
	bool truncate, in_scale;
	bool single; /* every step is rounded to f32, in the order of transformers' code */
};

/* The base, stretched by ntk and dynamic. */
long double pe_rope_base(const struct pe_rope_scaling *s);
/* YaRN's ramp begins after pair *low and ends at pair *high > *low. */
void pe_rope_yarn_range(const struct pe_rope_scaling *s, long double *low, long double *high);
/* frequency[t], t < rotary_dim/2. */
void pe_rope_frequencies(const struct pe_rope_scaling *s, long double *frequency);
/* What multiplies cosines and sines, and what multiplies the scale of the scores. */
void pe_rope_amplitudes(const struct pe_rope_scaling *s, double *turned, double *scores);

/* ggml's angles: theta begins as the position and is multiplied by `ratio` from pair to pair; with
 * x = theta / divisor[t], the angle is stretch x, or for yarn stretch x (1 - keep[t]) + x keep[t]. */
struct pe_rope_iterated {
	float ratio, stretch;
	float *divisor, *keep; /* rotary_dim/2 each, the caller's */
	bool blended;
};
void pe_rope_iterate(const struct pe_rope_scaling *s, struct pe_rope_iterated *out);

#endif
