/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "cli.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

const struct cli_option global_options[] = {
	{"quiet", 'q', NULL, "no warnings"},
	{"verbose", 'v', NULL, "say what was found and chosen; twice: more"},
	{"json", 0, NULL, "one JSON object on standard output"},
	{"threads", 0, "N", "worker threads; 0, the default: all CPUs this process may use"},
	{"seed", 0, "N", "seed of everything random (0)"},
	{"cpu", 0, "scalar|avx2|avx512|neon", "highest set of kernels to use (the best)"},
	{"help", 'h', NULL, "this help"},
};
const int global_option_count = sizeof global_options / sizeof *global_options;

/* ---- messages ----------------------------------------------------------------------- */

static bool progress_shown;

static void clear_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

PE_PRINTF(2, 0)
static void say(const char *prefix, const char *format, va_list args)
{
	clear_progress();
	fputs(prefix, stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("posenc: ", format, args);
	va_end(args);
}

void warn(const struct cli *cli, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	json_array_append_new(cli->warnings, json_string(text));
	if (!cli->quiet)
		complain("warning: %s", text);
}

int usage_error(const struct cli *cli, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("posenc: ", format, args);
	va_end(args);
	complain("see 'posenc help%s%s'", cli->command ? " " : "", cli->command ? cli->command->name : "");
	return EXIT_USAGE;
}

int exit_code_of(pe_status status)
{
	switch (status) {
	case PE_OK:
		return EXIT_DONE;
	case PE_ERR_PARTIAL:
		return EXIT_SOME;
	case PE_ERR_ARGUMENT:
	case PE_ERR_RANGE:
	case PE_ERR_SHAPE:
		return EXIT_USAGE;
	case PE_ERR_FORMAT:
	case PE_ERR_UNSUPPORTED:
		return EXIT_INPUT;
	case PE_ERR_NOT_CONVERGED:
	case PE_ERR_NOT_CERTIFIED:
		return EXIT_NUMERIC;
	default:
		return EXIT_SYSTEM;
	}
}

int report_status(const struct cli *cli, pe_status status)
{
	const char *message = cli->ctx ? pe_context_message(cli->ctx) : "";
	complain("%s", message[0] ? message : pe_status_string(status));
	return exit_code_of(status);
}

static void on_log(void *opaque, pe_log_level level, const char *text)
{
	const struct cli *cli = opaque;
	if (level == PE_LOG_WARNING)
		warn(cli, "%s", text);
	else if (cli->verbose >= (int)level - 1)
		complain("%s", text);
}

/* A line that rewrites itself, on a terminal only, for work of more than a second. */
static int on_progress(void *opaque, const char *stage, int64_t done, int64_t total)
{
	struct cli *cli = opaque;
	char text[200];
	bool shown = progress_line(&cli->progress, stage, done, total, seconds_now(), text, sizeof text);
	if (!shown || cli->quiet || !isatty(STDERR_FILENO))
		return 0;
	fprintf(stderr, "\r\033[K%s", text);
	fflush(stderr);
	progress_shown = true;
	return 0;
}

/* ---- small things ------------------------------------------------------------------- */

double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *get_memory(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);
	if (!memory) {
		complain("out of memory");
		exit(EXIT_SYSTEM);
	}
	return memory;
}

void *output_memory(size_t size)
{
	size_t page = (size_t)2 << 20;
	bool huge = size >= 2 * page && size <= SIZE_MAX - page;
	void *memory = NULL;
	if (huge) /* filling small pages would cost more in page faults than in anything else */
		size = (size + page - 1) / page * page;
	if (posix_memalign(&memory, huge ? page : 64, size ? size : 1) != 0)
		return NULL;
#ifdef MADV_HUGEPAGE
	if (huge)
		(void)madvise(memory, size, MADV_HUGEPAGE);
#endif
	return memory;
}

char *copy_text(const char *text, size_t size)
{
	char *copy = get_memory(size + 1, 1);
	memcpy(copy, text, size);
	return copy;
}

bool ends_with(const char *text, const char *suffix)
{
	size_t size = strlen(text), tail = strlen(suffix);
	return size >= tail && strcmp(text + size - tail, suffix) == 0;
}

int finish_output(int code)
{
	bool lost = fflush(stdout) != 0 || ferror(stdout);
	if (fclose(stdout) == 0 && !lost)
		return code;
	complain("standard output: %s", strerror(errno));
	return code == EXIT_DONE || code == EXIT_SOME ? EXIT_SYSTEM : code;
}

/* ---- parsing ------------------------------------------------------------------------ */

const char *cli_get(const struct cli *cli, const char *name)
{
	const char *value = NULL;
	for (int i = 0; i < cli->value_count; i++)
		if (strcmp(cli->values[i].name, name) == 0)
			value = cli->values[i].value;
	return value;
}

bool cli_has(const struct cli *cli, const char *name)
{
	for (int i = 0; i < cli->value_count; i++)
		if (strcmp(cli->values[i].name, name) == 0)
			return true;
	return false;
}

bool cli_integer(const struct cli *cli, const char *name, int64_t min, int64_t max, int64_t *value)
{
	const char *text = cli_get(cli, name);
	if (!text)
		return true;
	char *end;
	errno = 0;
	long long x = strtoll(text, &end, 10);
	if (errno || end == text || *end || x < min || x > max) {
		usage_error(cli, "--%s: \"%s\" is not an integer from %lld to %lld", name, text, (long long)min,
			(long long)max);
		return false;
	}
	*value = x;
	return true;
}

static const struct cli_option *find_in(
	const struct cli_option *options, int count, const char *name, size_t size, char letter)
{
	for (int i = 0; i < count; i++) {
		bool matches = letter ? options[i].letter == letter
							  : strlen(options[i].name) == size && memcmp(options[i].name, name, size) == 0;
		if (matches)
			return &options[i];
	}
	return NULL;
}

const struct cli_option *cli_find_option(
	const struct command *command, const char *name, size_t size, char letter)
{
	const struct cli_option *option = find_in(command->options, command->option_count, name, size, letter);
	return option ? option : find_in(global_options, global_option_count, name, size, letter);
}

static void add_value(struct cli *cli, const char *name, const char *value)
{
	cli->values[cli->value_count++] = (struct cli_value){name, value};
}

bool cli_choice(const struct cli *cli, const char *name, int *choice)
{
	const char *text = cli_get(cli, name);
	const char *words = cli_find_option(cli->command, name, strlen(name), 0)->value, *at = words;
	char list[200] = "";
	size_t used = 0;
	for (int i = 0; text && *at; i++) {
		size_t size = strcspn(at, "|");
		if (strlen(text) == size && memcmp(text, at, size) == 0) {
			*choice = i;
			return true;
		}
		if (used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i ? ", " : "", (int)size, at);
		at += size + (at[size] == '|');
	}
	if (text)
		usage_error(cli, "--%s: \"%s\" is not one of %s", name, text, list);
	return !text;
}

/* --name, --name=value, --name value. An unknown name may be a policy of reading input; those are
 * kept, dashes and all, until there is a context to check them with. */
static int parse_long(struct cli *cli, char **argv, int argc, int *at)
{
	const char *word = argv[*at] + 2;
	size_t size = strcspn(word, "=");
	const char *value = word[size] ? word + size + 1 : NULL;
	const struct cli_option *option = cli_find_option(cli->command, word, size, 0);
	if (!option && !command_table(cli->command, 0, NULL))
		return usage_error(cli, "there is no option --%.*s", (int)size, word);
	if (option && !option->value) {
		if (value)
			return usage_error(cli, "--%s takes no value", option->name);
		add_value(cli, option->name, NULL);
		return EXIT_DONE;
	}
	if (!value && *at + 1 < argc)
		value = argv[++*at];
	if (!value && option)
		return usage_error(cli, "--%s needs a value", option->name);
	add_value(cli, option ? option->name : word - 2, value);
	return EXIT_DONE;
}

/* -q, -vv, -oFILE, -o FILE. */
static int parse_short(struct cli *cli, char **argv, int argc, int *at)
{
	for (const char *c = argv[*at] + 1; *c; c++) {
		const struct cli_option *option = cli_find_option(cli->command, NULL, 0, *c);
		if (!option)
			return usage_error(cli, "there is no option -%c", *c);
		if (!option->value) {
			add_value(cli, option->name, NULL);
			continue;
		}
		if (!c[1] && *at + 1 >= argc)
			return usage_error(cli, "-%c needs a value", *c);
		add_value(cli, option->name, c[1] ? c + 1 : argv[++*at]);
		break;
	}
	return EXIT_DONE;
}

static int parse(struct cli *cli, int argc, char **argv)
{
	bool options = true;
	for (int at = 0; at < argc; at++) {
		const char *word = argv[at];
		int code = EXIT_DONE;
		if (!options || word[0] != '-' || word[1] == '\0')
			cli->operands[cli->operand_count++] = word;
		else if (strcmp(word, "--") == 0)
			options = false;
		else if (word[1] == '-')
			code = parse_long(cli, argv, argc, &at);
		else
			code = parse_short(cli, argv, argc, &at);
		if (code != EXIT_DONE)
			return code;
	}
	return EXIT_DONE;
}

/* ---- start and end ------------------------------------------------------------------ */

static int create_context(struct cli *cli, int64_t threads, int64_t seed, const char *cpu)
{
	pe_context_options options = {.size = sizeof options};
	options.log = on_log;
	options.progress = on_progress;
	options.opaque = cli;
	options.threads = threads == 0 ? -1 : (int32_t)threads;
	options.seed = (uint64_t)seed;
	options.cpu = cpu;
	pe_status status = pe_context_create(&options, &cli->ctx);
	if (status == PE_ERR_UNSUPPORTED)
		return usage_error(cli, "--cpu: \"%s\" is not a set of kernels that this machine runs: %s", cpu,
			pe_context_cpus(NULL));
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

static int count_flags(const struct cli *cli, const char *name)
{
	int count = 0;
	for (int i = 0; i < cli->value_count; i++)
		count += strcmp(cli->values[i].name, name) == 0;
	return count;
}

int cli_start(struct cli *cli, const struct command *command, int argc, char **argv)
{
	*cli = (struct cli){.command = command, .warnings = json_array()};
	cli->operands = get_memory((size_t)argc, sizeof *cli->operands);
	size_t letters = 0;
	for (int i = 0; i < argc; i++)
		letters += strlen(argv[i]) + 1; /* a word of flags holds one a letter */
	cli->values = get_memory(letters, sizeof *cli->values);
	int code = parse(cli, argc, argv);
	if (code != EXIT_DONE)
		return code;
	cli->quiet = cli_has(cli, "quiet");
	cli->verbose = count_flags(cli, "verbose");
	cli->json = cli_has(cli, "json");
	int64_t threads = 0, seed = 0;
	if (!cli_integer(cli, "threads", 0, 1024, &threads) ||
		!cli_integer(cli, "seed", INT64_MIN, INT64_MAX, &seed))
		return EXIT_USAGE;
	code = create_context(cli, threads, seed, cli_get(cli, "cpu"));
	if (code == EXIT_DONE && command_table(command, 0, NULL))
		code = cli_set_tables(cli);
	return code;
}

void cli_end(struct cli *cli)
{
	clear_progress();
	pe_params_destroy(&cli->graph);
	pe_params_destroy(&cli->image);
	pe_context_destroy(&cli->ctx);
	free(cli->operands);
	free(cli->values);
	json_decref(cli->warnings);
}
