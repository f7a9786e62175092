/* SPDX-License-Identifier: BSD-2-Clause
 * posenc completion bash|zsh|fish: a script that asks the program itself for the words, so that it
 * never grows old. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const char bash_script[] =
	"_posenc() {\n"
	"  local cur=${COMP_WORDS[COMP_CWORD]} words\n"
	"  [[ ${COMP_WORDS[COMP_CWORD-1]} == : ]] && cur=\n"
	"  words=$(posenc completion words -- \"${COMP_WORDS[@]:1:COMP_CWORD-1}\" 2>/dev/null)\n"
	"  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	"  [[ ${#COMPREPLY[@]} == 0 ]] && mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"complete -o filenames -o bashdefault -F _posenc posenc\n";

static const char zsh_script[] =
	"#compdef posenc\n"
	"local -a reply\n"
	"reply=(${(f)\"$(posenc completion words -- ${words[2,CURRENT-1]} 2>/dev/null)\"})\n"
	"compadd -a reply\n"
	"_files\n";

static const char fish_script[] =
	"complete -c posenc -a '(posenc completion words -- (commandline -opc)[2..] 2>/dev/null)'\n";

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

/* What may follow `--with NAME:`. */
static void print_encoder_options(const struct cli *cli, const char *name)
{
	pe_params *params;
	if (pe_params_create(cli->ctx, name, &params) != PE_OK)
		return;
	for (int64_t i = 0; i < pe_params_count(params); i++)
		printf("%s:%s=\n", name, pe_params_option(params, i).name);
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
