/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of attention_tile_body.h in vectors of 16 floats. */
#include "kernels.h"

#include "float_avx512.h"

#include "attention_tile_body.h"

void pe_attention_tile_avx512(struct pe_kernels *kernels)
{
	fill_attention_tile(kernels);
}
