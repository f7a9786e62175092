/* SPDX-License-Identifier: BSD-2-Clause
 * A named array in double, whatever type it came in. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "cli.h"

struct numbers {
	char *name;
	double *values; /* row-major */
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS];
	bool whole; /* the type is one of integers */
	bool per_token;
	bool known; /* an encoder's; of a file: its name and shape are those of one that encode writes */
};

/* A copy of a tensor, whatever its strides. */
struct numbers numbers_copy(const char *name, const pe_tensor *tensor);
/* Likewise, but takes over the memory of one in double, which must be from malloc and is then NULL. */
struct numbers numbers_take(const char *name, pe_tensor *tensor);
void numbers_free(struct numbers *numbers);
int64_t numbers_count(const struct numbers *numbers);
/* A value and whose it is, for qsort: ascending, equal ones by node. */
struct ranked {
	double value;
	int64_t node;
};
int compare_ranked(const void *a, const void *b);

#endif
