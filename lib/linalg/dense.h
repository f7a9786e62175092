/* SPDX-License-Identifier: BSD-2-Clause
 * Dense symmetric eigenproblems by LAPACK. */
#ifndef PE_DENSE_H
#define PE_DENSE_H

#include "context.h"

#define PE_DENSE_MAX_N 32000 /* beyond, LAPACK's 32-bit work sizes overflow */

/* All eigenpairs of the symmetric n × n matrix whose lower triangle is in a (column-major): values
 * ascending into values[n], the vectors into a, one a column. a must be finite: LAPACK does not look.
 * PE_ERR_NOT_CONVERGED if LAPACK gives up, PE_ERR_UNSUPPORTED if n is above PE_DENSE_MAX_N. One BLAS
 * thread. */
pe_status pe_dense_eigen(pe_context *ctx, int32_t n, double *a, double *values) PE_NODISCARD;

#endif
