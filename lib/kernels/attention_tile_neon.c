/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of attention_tile_body.h in NEON's vectors of 4 floats. */
#include "kernels.h"

#include "float_neon.h"

#include "attention_tile_body.h"

void pe_attention_tile_neon(struct pe_kernels *kernels)
{
	fill_attention_tile(kernels);
}
