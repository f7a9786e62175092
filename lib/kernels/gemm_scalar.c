/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of gemm_body.h in vectors of 4 floats. */
#include "kernels.h"

#include "float_scalar.h"

#include "gemm_body.h"

void pe_gemm_scalar(struct pe_kernels *kernels)
{
	kernels->gemm = gemm;
}
