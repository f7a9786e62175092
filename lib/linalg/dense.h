/* SPDX-License-Identifier: BSD-2-Clause
 * Dense symmetric eigenproblems by LAPACK. */
#ifndef PE_DENSE_H
#define PE_DENSE_H

#include "context.h"

/* All eigenpairs of the symmetric n × n matrix whose lower triangle is in a (column-major): values
 * ascending into values[n], the vectors into a, one a column. Fails with PE_ERR_NOT_CONVERGED, or
 * PE_ERR_INTERNAL on NaN. One BLAS thread. */
pe_status pe_dense_eigen(pe_context *ctx, int32_t n, double *a, double *values) PE_NODISCARD;

#endif
