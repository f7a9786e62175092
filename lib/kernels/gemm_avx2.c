/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of gemm_body.h in vectors of 8 floats. */
#include "kernels.h"

#include "float_avx2.h"

#include "gemm_body.h"

void pe_gemm_avx2(struct pe_kernels *kernels)
{
	kernels->gemm = gemm;
}
