/* SPDX-License-Identifier: BSD-2-Clause
 * Which arrays an encoder yields, for help and list: its own word for them, since it is bound to two small
 * inputs of different sizes, and what changes with them is told by name. */
#ifndef YIELDS_H
#define YIELDS_H

#include "cli.h"

/* A side of an array: a number that follows from the options, or a size of the input in words. */
struct yields_side {
	const char *words; /* "tokens", "2 tokens - 1", "nodes" …; NULL: the number */
	int64_t number;
};

struct yields_array {
	char name[64];
	pe_dtype dtype; /* PE_F64: as --dtype says */
	int32_t ndim;
	struct yields_side sides[PE_MAX_DIMS];
};

struct yields {
	int64_t count;
	struct yields_array arrays[PE_MAX_ARRAYS];
};

/* With the defaults, or those of a preset (else NULL). */
pe_status yields_find(const pe_encoder *encoder, const char *preset, struct yields *out);
/* A shape as one reads it: "(8, tokens, tokens)". */
void yields_shape(const struct yields_array *array, char *out, size_t size);
bool yields_same_names(const struct yields *a, const struct yields *b);

#endif
