/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <string.h>

#include "xt_kernels.h"

#define GUARD 8

const struct pe_kernels *xt_kernels(int i)
{
	char names[64];
	strcpy(names, pe_kernels_available());
	for (; i > 0; i--) {
		char *space = strrchr(names, ' ');
		if (!space)
			return NULL;
		*space = '\0';
	}
	char *last = strrchr(names, ' ');
	return pe_kernels_select(last ? last + 1 : names);
}

double *xt_guarded(int64_t n)
{
	double *block = aligned_alloc(64, (size_t)((n + 2 * GUARD + 7) / 8 * 8) * sizeof *block);
	assert_non_null(block);
	for (int64_t i = 0; i < n + 2 * GUARD; i++)
		block[i] = XT_CANARY;
	return block + GUARD;
}

void xt_release_guarded(double *data, int64_t n)
{
	for (int64_t i = 0; i < GUARD; i++)
		assert_true(data[-1 - i] == XT_CANARY && data[n + i] == XT_CANARY);
	free(data - GUARD);
}
