/* SPDX-License-Identifier: BSD-2-Clause
 * Angles position × frequency, and their cosines and sines, for encoders that turn pairs of channels.
 * A product rounded to double is off by half a unit in its last place, at an angle of 10^7 already 1e-9;
 * here the frequency has some 80 bits and the rounding of the product is made good. */
#ifndef PE_FREQUENCY_H
#define PE_FREQUENCY_H

#include "context.h"

struct pe_frequencies {
	int64_t count;
	double *high, *low; /* frequency t is high[t] + low[t], high[t] of 26 bits */
};

/* Takes frequencies, finite, as exactly as long double has them. To be freed, after a failure too. */
pe_status pe_frequencies_make(
	pe_context *ctx, const long double *frequency, int64_t count, struct pe_frequencies *out) PE_NODISCARD;
void pe_frequencies_free(pe_context *ctx, struct pe_frequencies *f);

/* cosine[t], sine[t] ← of position × frequency first + t, t < count, within 2e-16 + |angle| 2^-62 as long
 * as |angle| < 2^36, and on the unit circle beyond. May be called from several threads. */
void pe_frequencies_turn(const pe_context *ctx, const struct pe_frequencies *f, double position,
	int64_t first, int64_t count, double *cosine, double *sine);

/* Likewise of position[t] × frequency first + t: for encoders whose pairs go by different coordinates. */
void pe_frequencies_turn_each(const pe_context *ctx, const struct pe_frequencies *f, const double *position,
	int64_t first, int64_t count, double *cosine, double *sine);

#endif
