/* SPDX-License-Identifier: BSD-2-Clause
 * Amplitudes of the discrete Fourier transform, for any length. */
#ifndef AMPLITUDES_H
#define AMPLITUDES_H

#include <stdint.h>

/* out[f] ← the amplitude of the wave of f cycles in n samples, 0 ≤ f ≤ n/2: a sine of height a that fits
 * gives a; out[0] is the mean's magnitude. */
void amplitudes(const double *samples, int64_t n, double *out);

#endif
