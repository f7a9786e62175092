/* SPDX-License-Identifier: BSD-2-Clause
 * How good eigenvectors are, as they are delivered. */
#ifndef PE_LAP_QUALITY_H
#define PE_LAP_QUALITY_H

#include "laplacian.h"

/* max over columns of ‖Lv - λv‖₂ / ‖L‖₁; node i's entries at rows + i * stride, scratch of `columns`. */
double pe_lap_residual(const struct pe_laplacian *laplacian, const double *rows, int64_t stride,
	const double *values, int32_t columns, double *scratch);

/* max |VᵀV - I|. */
double pe_lap_orthogonality(const double *rows, int64_t n, int64_t stride, int32_t columns);

#endif
