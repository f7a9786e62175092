/* SPDX-License-Identifier: BSD-2-Clause
 * posenc completion bash|zsh|fish: a script that asks the program itself for the words, so that it
 * never grows old. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Words of the line are parted by spaces alone, unlike COMP_WORDS, which bash also cuts at : and =; so what
 * it has cut off is taken off the replies again. After a comma an encoder's next option is completed. */
static const char bash_script[] =
	"_posenc() {\n"
	"  local line=${COMP_LINE:0:COMP_POINT} breaks= words head cur\n"
	"  local -a before\n"
	"  read -ra before <<<\"$line\"\n"
	"  cur=\n"
	"  [[ $line == *[[:space:]] ]] || { cur=${before[-1]}; unset 'before[-1]'; }\n"
	"  words=$(posenc completion words -- \"${before[@]:1}\" 2>/dev/null)\n"
	"  if [[ $cur == *:*,* ]]; then\n"
	"    head=${cur%,*},\n"
	"    words=${words//${cur%%:*}:/$head}\n"
	"  fi\n"
	"  [[ $cur == -* || $words != --* ]] || words=\n"
	"  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	"  if [[ ${#COMPREPLY[@]} == 0 ]]; then\n"
	"    compopt -o filenames\n"
	"    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"  fi\n"
	"  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
	"  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:\n"
	"  [[ $COMP_WORDBREAKS == *=* ]] && breaks+==\n"
	"  [[ $breaks ]] && COMPREPLY=(\"${COMPREPLY[@]#\"${cur%\"${cur##*[$breaks]}\"}\"}\")\n"
	"}\n"
	"complete -o bashdefault -F _posenc posenc\n";

static const char zsh_script[] =
	"#compdef posenc\n"
	"local -a reply\n"
	"reply=(${(f)\"$(posenc completion words -- ${words[2,CURRENT-1]} 2>/dev/null)\"})\n"
	"compadd -a reply\n"
	"_files\n";

static const char fish_script[] =
	"complete -c posenc -a '(posenc completion words -- (commandline -opc)[2..] 2>/dev/null)'\n";

/* On the command line '-' stands for '_'. */
static bool same_option(const char *typed, const char *name)
{
	while (*typed && (*typed == *name || (*typed == '-' && *name == '_')))
		typed++, name++;
	return *typed == *name;
}

/* The options of a table as the program's. */
static void print_table(const struct cli *cli, const char *name)
{
	pe_params *params;
	if (pe_params_create(cli->ctx, name, &params) != PE_OK)
		return;
	for (int64_t i = 0; i < pe_params_count(params); i++) {
		printf("--");
		for (const char *c = pe_params_option(params, i).name; *c; c++)
			putchar(*c == '_' ? '-' : *c);
		putchar('\n');
	}
	pe_params_destroy(&params);
}

static void print_flags(const struct cli *cli, const struct command *command)
{
	for (int i = 0; i < command->option_count; i++)
		printf("--%s\n", command->options[i].name);
	for (int i = 0; i < global_option_count; i++)
		printf("--%s\n", global_options[i].name);
	for (int i = 0; command_table(command, i, NULL); i++)
		print_table(cli, command_table(command, i, NULL));
}

static void print_encoders(void)
{
	for (int64_t i = 0; i < pe_encoder_count(); i++)
		puts(pe_encoder_name(pe_encoder_at(i)));
}

/* Each of the choices of an option on a line, after prefix. */
static void print_choices(const char *prefix, const char *choices)
{
	for (const char *end; choices && *choices; choices = *end ? end + 1 : end) {
		end = choices + strcspn(choices, "|");
		printf("%s%.*s\n", prefix, (int)(end - choices), choices);
	}
}

/* The choices of --last in the tables of a command. false: it is no option that has any. */
static bool print_values(const struct cli *cli, const struct command *command, const char *last)
{
	bool found = false;
	for (int t = 0; strncmp(last, "--", 2) == 0 && command_table(command, t, NULL); t++) {
		pe_params *params;
		if (pe_params_create(cli->ctx, command_table(command, t, NULL), &params) != PE_OK)
			continue;
		for (int64_t i = 0; i < pe_params_count(params); i++) {
			const pe_option_info option = pe_params_option(params, i);
			if (!option.choices || !same_option(last + 2, option.name))
				continue;
			print_choices("", option.choices);
			found = true;
		}
		pe_params_destroy(&params);
	}
	return found;
}

static void print_encoder_option(const char *encoder, pe_option_info option)
{
	char prefix[128];
	snprintf(prefix, sizeof prefix, "%s:%s=", encoder, option.name);
	puts(prefix);
	print_choices(prefix, option.choices);
}

/* What may follow `--with NAME:`. */
static void print_encoder_options(const struct cli *cli, const char *name)
{
	pe_params *params;
	if (pe_params_create(cli->ctx, name, &params) != PE_OK)
		return;
	for (int64_t i = 0; i < pe_params_count(params); i++)
		print_encoder_option(name, pe_params_option(params, i));
	for (int64_t i = 0; i < pe_params_preset_count(params); i++)
		printf("%s:preset=%s\n", name, pe_params_preset(params, i).name);
	pe_params_destroy(&params);
}

static void print_words(const struct cli *cli)
{
	const struct command *command = cli->operand_count > 1 ? find_command(cli->operands[1]) : NULL;
	const char *last = cli->operands[cli->operand_count - 1];
	if (!command) {
		for (int i = 0; commands[i]; i++)
			puts(commands[i]->name);
		return;
	}
	if (strcmp(last, "--with") == 0) {
		print_encoders();
		for (int64_t i = 0; i < pe_encoder_count(); i++)
			print_encoder_options(cli, pe_encoder_name(pe_encoder_at(i)));
	} else if (command == &command_list && cli->operand_count == 2) {
		print_choices("", "seq|vision|graph");
	} else if (command == &command_completion && cli->operand_count == 2) {
		print_choices("", "bash|zsh|fish");
	} else if (print_values(cli, command, last)) {
		return;
	} else if (command == &command_help) {
		print_encoders();
		for (int i = 0; commands[i]; i++)
			puts(commands[i]->name);
	} else if (command == &command_bench) {
		print_encoders();
	} else {
		print_flags(cli, command);
	}
}

static int run_completion(struct cli *cli)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
	const char *shell = cli->operand_count ? cli->operands[0] : "";
	if (strcmp(shell, "words") == 0) {
		print_words(cli);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts && cli->operand_count == 1; i++)
		if (strcmp(shell, scripts[i].shell) == 0) {
			fputs(scripts[i].script, stdout);
			return EXIT_DONE;
		}
	return usage_error(cli, "completion takes one of bash, zsh, fish");
}

const struct command command_completion = {
	.name = "completion",
	.usage = "completion bash|zsh|fish",
	.summary = "print a completion script for a shell",
	.details = "  source <(posenc completion bash)\n",
	.run = run_completion,
};
