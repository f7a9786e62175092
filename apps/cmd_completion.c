/* SPDX-License-Identifier: BSD-2-Clause
 * posenc completion bash|zsh|fish: a script that asks the program itself for the words, so that it
 * never grows old. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "show/plots.h"

/* Words of the line are parted by spaces alone, unlike COMP_WORDS, which bash also cuts at : and =; so what
 * it has cut off is taken off the replies again. After a comma an encoder's next option is completed, and of
 * --option=VALUE the value. */
static const char bash_script[] =
	"_posenc() {\n"
	"  local line=${COMP_LINE:0:COMP_POINT} breaks= words head cur\n"
	"  local -a before\n"
	"  read -ra before <<<\"$line\"\n"
	"  cur=\n"
	"  [[ $line == *[[:space:]] ]] || { cur=${before[-1]}; unset 'before[-1]'; }\n"
	"  [[ $cur == --*=* ]] && before+=(\"${cur%%=*}\")\n"
	"  words=$(posenc completion words -- \"${before[@]:1}\" 2>/dev/null)\n"
	"  if [[ $cur == --*=* ]]; then\n"
	"    head=${cur%%=*}=\n"
	"    words=$head${words//$'\\n'/$'\\n'$head}\n"
	"  elif [[ $cur == *:*,* ]]; then\n"
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
	"local -a reply before\n"
	"before=(${words[2,CURRENT-1]})\n"
	"[[ $words[CURRENT] == --*=* ]] && before+=(${words[CURRENT]%%=*}) && compset -P '*='\n"
	"reply=(${(f)\"$(posenc completion words -- $before 2>/dev/null)\"})\n"
	"compadd -a reply\n"
	"[[ $#reply == 0 || $reply[1] == --* ]] && _files\n";

/* fish takes what begins with the word at the cursor. */
static const char fish_script[] =
	"function __posenc_words\n"
	"  set -l option (string match -r -- '^--[^=]*(?==)' (commandline -ct))\n"
	"  for word in (posenc completion words -- (commandline -opc)[2..] $option 2>/dev/null)\n"
	"    set -q option[1]; and echo \"$option=$word\"; or echo $word\n"
	"  end\n"
	"end\n"
	"complete -c posenc -a '(__posenc_words)'\n";

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

/* The words that an option of a table takes. */
static void print_option_words(const char *prefix, const pe_option_info *option)
{
	print_choices(prefix, option->type == PE_OPTION_BOOL ? "0|1" : option->choices);
}

/* The words that the program's own option takes, if they are fixed. */
static void print_own_words(const struct cli *cli, const struct cli_option *option)
{
	if (strcmp(option->name, "plot") == 0)
		for (int i = 0; plots[i]; i++)
			puts(plots[i]->name);
	else if (strcmp(option->name, "cpu") == 0)
		for (const char *at = pe_context_cpus(cli->ctx); *at; at += strspn(at, " ")) {
			int size = (int)strcspn(at, " ");
			printf("%.*s\n", size, at);
			at += size;
		}
	else if (strchr(option->value, '|'))
		print_choices("", option->value);
}

/* The words that may follow the option `last`: there may be none. false: no value follows it. */
static bool print_values(const struct cli *cli, const struct command *command, const char *last)
{
	bool is_long = strncmp(last, "--", 2) == 0;
	const struct cli_option *own = NULL;
	if (is_long || (last[0] == '-' && last[1] && !last[2]))
		own = cli_find_option(command, last + 2, is_long ? strlen(last + 2) : 0, is_long ? 0 : last[1]);
	if (own && own->value)
		print_own_words(cli, own);
	if (own || !is_long)
		return own && own->value;
	for (int t = 0; command_table(command, t, NULL); t++) {
		pe_params *params;
		if (pe_params_create(cli->ctx, command_table(command, t, NULL), &params) != PE_OK)
			continue;
		pe_option_info option;
		bool found = cli_table_option(params, last, &option);
		if (found)
			print_option_words("", &option);
		pe_params_destroy(&params);
		if (found)
			return true;
	}
	return false;
}

static void print_encoder_option(const char *encoder, pe_option_info option)
{
	char prefix[128];
	snprintf(prefix, sizeof prefix, "%s:%s=", encoder, option.name);
	puts(prefix);
	print_option_words(prefix, &option);
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
