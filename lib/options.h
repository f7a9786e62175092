/* SPDX-License-Identifier: BSD-2-Clause
 * Option tables: one row an option. The command line, the help, the range checks, the man page,
 * the completion and the option fuzzer all read the same rows. */
#ifndef PE_OPTIONS_H
#define PE_OPTIONS_H

#include "context.h"

struct pe_option_table {
	const char *name; /* an encoder's, or "graph" */
	const pe_option_info *options;
	int64_t option_count;
	const pe_preset_info *presets;
	int64_t preset_count;
};

/* A table of arrays; for an encoder without presets, or without options. */
#define PE_TABLE(name, options, presets) \
	{ \
		name, options, PE_COUNT(options), presets, PE_COUNT(presets) \
	}
#define PE_TABLE_NO_PRESETS(name, options) \
	{ \
		name, options, PE_COUNT(options), NULL, 0 \
	}
#define PE_TABLE_EMPTY(name) \
	{ \
		name, NULL, 0, NULL, 0 \
	}

/* Rows of a table. The default is text, as a user would write it. min and max are finite; those of
 * an integer at most 2^53 in magnitude. Names go with '_'. A preset's settings name options of the
 * same table. */
#define PE_INT(name, fallback, min, max, help) \
	{ \
		name, PE_OPTION_INT, fallback, min, max, NULL, help \
	}
#define PE_REAL(name, fallback, min, max, help) \
	{ \
		name, PE_OPTION_REAL, fallback, min, max, NULL, help \
	}
#define PE_BOOLEAN(name, fallback, help) \
	{ \
		name, PE_OPTION_BOOL, fallback, 0, 1, NULL, help \
	}
#define PE_CHOICE(name, fallback, choices, help) \
	{ \
		name, PE_OPTION_CHOICE, fallback, 0, 0, choices, help \
	}
#define PE_LIST(name, fallback, min, max, help) \
	{ \
		name, PE_OPTION_LIST, fallback, min, max, NULL, help \
	}
/* Any text, but these words are usual. */
#define PE_WORDS(name, fallback, words, help) \
	{ \
		name, PE_OPTION_STRING, fallback, 0, 0, words, help \
	}
#define PE_STRING(name, fallback, help) \
	{ \
		name, PE_OPTION_STRING, fallback, 0, 0, NULL, help \
	}

/* What an option holds now. The name must be in the table, and of that type: anything else is a
 * bug, caught by an assertion. */
int64_t pe_params_int(const pe_params *params, const char *name);
double pe_params_real(const pe_params *params, const char *name);
bool pe_params_bool(const pe_params *params, const char *name);
int pe_params_choice(const pe_params *params, const char *name);       /* the word's place, from 0 */
const char *pe_params_text(const pe_params *params, const char *name); /* of any type, as text */
/* Owned by params; *count may be 0. */
const double *pe_params_list(const pe_params *params, const char *name, int64_t *count);
/* Whether the option was set by name, not by default or by a preset. */
bool pe_params_is_set(const pe_params *params, const char *name);
/* Sets an option that is in the table, as if it were a default: one that takes whole numbers, or any. */
pe_status pe_params_fill(pe_params *params, const char *name, int64_t number) PE_NODISCARD;
pe_status pe_params_fill_text(pe_params *params, const char *name, const char *text) PE_NODISCARD;
bool pe_params_has(const pe_params *params, const char *name);
pe_option_info pe_params_info(const pe_params *params, const char *name); /* its row */
/* Whether an option is neither set by name nor changed by a preset. */
bool pe_params_is_default(const pe_params *params, const char *name);
/* Whether this preset was set. */
bool pe_params_preset_is(const pe_params *params, const char *name);

pe_status pe_params_from_table(
	pe_context *ctx, const struct pe_option_table *table, pe_params **out) PE_NODISCARD;
pe_status pe_params_copy(pe_context *ctx, const pe_params *params, pe_params **out) PE_NODISCARD;
const struct pe_option_table *pe_params_table(const pe_params *params);

#endif
