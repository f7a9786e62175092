/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of attention_rows_body.h in NEON's vectors of 4 floats. */
#include "kernels.h"

#include "float_neon.h"

#include "attention_rows_body.h"

void pe_attention_rows_neon(struct pe_kernels *kernels)
{
	fill_attention_rows(kernels);
}
