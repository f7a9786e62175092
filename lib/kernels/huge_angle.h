/* SPDX-License-Identifier: BSD-2-Clause
 * The reduction of angles that are too large for sincos_body.h. */
#ifndef PE_HUGE_ANGLE_H
#define PE_HUGE_ANGLE_H

#include <stdint.h>

/* n, modulo 4, and *r + *lo, off by less than 2^-80 of itself, such that x = n pi/2 + *r + *lo and
 * |*r| ≤ pi/4, nearly. |x| must be 2^22 or more; infinities and NaN give *r = NaN. */
int64_t pe_reduce_huge_angle(double x, double *r, double *lo);

#endif
