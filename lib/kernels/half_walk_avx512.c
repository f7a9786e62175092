/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of half_walk_body.h with 32 registers. */
#define MAX_VECS 6
#include "half_walk_256.h"

void pe_half_walk_avx512(struct pe_kernels *kernels)
{
	fill_half_walk(kernels);
}
