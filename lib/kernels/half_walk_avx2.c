/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of half_walk_body.h with 16 registers. */
#define MAX_VECS 5
#include "half_walk_256.h"

void pe_half_walk_avx2(struct pe_kernels *kernels)
{
	fill_half_walk(kernels);
}
