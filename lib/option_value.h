/* SPDX-License-Identifier: BSD-2-Clause
 * What one option holds, from the text that a user wrote. */
#ifndef PE_OPTION_VALUE_H
#define PE_OPTION_VALUE_H

#include "context.h"

struct pe_option_value {
	char *text;      /* as set */
	int64_t integer; /* INT, BOOL; CHOICE: the word's place */
	double real;
	double *list;
	int64_t count;
	bool by_name;
};

/* *out ← the value, to be cleared; or a refusal that begins with the table's name, and an empty value. */
pe_status pe_option_parse(pe_context *ctx, const char *table, const pe_option_info *option, const char *text,
	struct pe_option_value *out) PE_NODISCARD;
void pe_option_clear(pe_context *ctx, struct pe_option_value *value);

#endif
