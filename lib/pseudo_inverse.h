/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PE_PSEUDO_INVERSE_H
#define PE_PSEUDO_INVERSE_H

#include "context.h"

/* out (columns, rows) ← the pseudo-inverse of a (rows, columns); both dense, apart. Singular values below
 * 1e-10 of the largest count as 0. For matrices of some hundred rows: time goes with the cube. */
pe_status pe_pseudo_inverse(
	pe_context *ctx, int64_t rows, int64_t columns, const double *a, double *out) PE_NODISCARD;

#endif
