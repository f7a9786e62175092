/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of attention_tile_body.h in vectors of 4 floats. */
#include "kernels.h"

#include "float_scalar.h"

#include "attention_tile_body.h"

void pe_attention_tile_scalar(struct pe_kernels *kernels)
{
	fill_attention_tile(kernels);
}
