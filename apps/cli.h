/* SPDX-License-Identifier: BSD-2-Clause
 * What every command shares: one option parser, messages, exit codes, the context. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "posenc.h"
#include "progress.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_SOME = 1, /* some inputs failed, or compare found a difference */
	EXIT_USAGE = 2,
	EXIT_INPUT = 3,
	EXIT_SYSTEM = 4,  /* input, output or memory */
	EXIT_NUMERIC = 5, /* not converged, or not certified where that was demanded */
};

struct cli_option {
	const char *name;  /* without the dashes */
	char letter;       /* 0: none */
	const char *value; /* what the help calls it, "a|b|c" if it is one of these words; NULL: a flag */
	const char *help;
};

struct cli_value {
	const char *name;
	const char *value; /* NULL for a flag */
};

struct command;

/* The command line, taken apart. */
struct cli {
	const struct command *command;
	const char **operands;
	int operand_count;
	struct cli_value *values; /* in the order given */
	int value_count;
	bool quiet, json;
	int verbose;
	pe_context *ctx;
	pe_params *graph; /* policies of reading graphs, if the command takes them */
	pe_params *image; /* those of reading pictures */
	struct progress progress;
	struct json_t *warnings; /* an array of all that warn has said, for --json */
};

struct command {
	const char *name;
	const char *usage;   /* after "posenc " */
	const char *summary; /* one line */
	const char *details; /* examples and notes, or NULL */
	const struct cli_option *options;
	int option_count;
	bool takes_graph_options, takes_image_options;
	int (*run)(struct cli *cli); /* returns an exit code */
};

extern const struct command command_attend, command_bench, command_compare, command_completion,
	command_convert, command_encode, command_help, command_inspect, command_list, command_show;
/* All commands in the order of the help, NULL at the end. */
extern const struct command *const commands[];
extern const struct cli_option global_options[];
extern const int global_option_count;

const struct command *find_command(const char *name);
/* Prints the help of a command or an encoder. */
int help_on(struct cli *cli, const char *topic);

/* Parses argv[0 …] behind the command's name, and makes the context. EXIT_DONE, or an exit code
 * with the message already written. */
int cli_start(struct cli *cli, const struct command *command, int argc, char **argv);
void cli_end(struct cli *cli);

/* The tables whose options are the command's too: number `index` and what its options are for; NULL: no more.
 */
const char *command_table(const struct command *command, int index, const char **title);

/* Makes those tables, graph and image, and sets what was given of them. EXIT_DONE, or an exit code with the
 * message already written. */
int cli_set_tables(struct cli *cli);
/* The option of a table that a word of the command line, "--edge-weights=X", names. false: there is none.
 * out may be NULL. */
bool cli_table_option(const pe_params *table, const char *word, pe_option_info *out);

/* The last value given for an option, or NULL. */
const char *cli_get(const struct cli *cli, const char *name);
bool cli_has(const struct cli *cli, const char *name);
/* An integer option within a range; fallback if not given. false: the message is written. */
bool cli_integer(const struct cli *cli, const char *name, int64_t min, int64_t max, int64_t *value);

/* Which of its words an option was given as; as it was if not given. false: none of them, and the message is
 * written. */
bool cli_choice(const struct cli *cli, const char *name, int *choice);
/* A command's own option or one of all commands, by its name or letter (0: by name). NULL: there is none. */
const struct cli_option *cli_find_option(
	const struct command *command, const char *name, size_t size, char letter);

/* "posenc: …" on standard error. */
void complain(const char *format, ...) PE_PRINTF(1, 2);
/* Likewise "posenc: warning: …", unless -q. */
void warn(const struct cli *cli, const char *format, ...) PE_PRINTF(2, 3);
/* Says what the context has to say, and gives the exit code of a status. */
int report_status(const struct cli *cli, pe_status status);
int exit_code_of(pe_status status);
/* "see posenc help NAME" and EXIT_USAGE. */
int usage_error(const struct cli *cli, const char *format, ...) PE_PRINTF(2, 3);

double seconds_now(void);
/* The program's own memory: never NULL, says so and exits with 4 if there is none. */
void *get_memory(size_t count, size_t size);
char *copy_text(const char *text, size_t size);
bool ends_with(const char *text, const char *suffix);

/* Memory for an array that will be filled whole, to be freed by free(); NULL if there is none. */
void *output_memory(size_t size);

/* For functions that return pe_status and have nothing to clean up. */
#define TRY(call) \
	do { \
		pe_status try_status_ = (call); \
		if (try_status_ != PE_OK) \
			return try_status_; \
	} while (0)

/* Flushes standard output; EXIT_SYSTEM and a message if anything written to it was lost. */
int finish_output(int code);

#endif
