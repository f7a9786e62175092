/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernels.h"

static int64_t number_pairs(const char **at, const char *end, int64_t rows, int32_t *u, int32_t *v)
{
	return pe_number_pairs8(at, end, rows, u, v);
}

void pe_number_pairs_scalar(struct pe_kernels *kernels)
{
	kernels->number_pairs = number_pairs;
}
