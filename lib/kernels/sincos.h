/* SPDX-License-Identifier: BSD-2-Clause
 * Sines and cosines of many angles. */
#ifndef PE_SINCOS_H
#define PE_SINCOS_H

#include <stdint.h>

/* sine[i] = sin(angle[i]), cosine[i] = cos(angle[i]), i < n, within 0.8 units in the last place. Every
 * set gives the same bits, wherever in the array an angle stands. sin(-0) is -0; infinities and NaN
 * give NaN. Angles beyond 2^36 (6.9e10) are right too, but slower. sine or cosine may be angle itself. */
typedef void pe_sincos_fn(const double *angle, int64_t n, double *sine, double *cosine);

#endif
