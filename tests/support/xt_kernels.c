/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_kernels.h"

#include <string.h>

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
