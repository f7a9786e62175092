/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernels.h"

void pe_kernels_avx2(struct pe_kernels *kernels)
{
	pe_half_walk_avx2(kernels);
}
