/* SPDX-License-Identifier: BSD-2-Clause
 * posenc help [COMMAND | ENCODER], all from the tables; --man prints the same as mdoc. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "yields.h"

/* ---- as text ------------------------------------------------------------------------ */

/* Words of text in lines of at most 78 columns, each line after `indent` spaces. */
static void print_wrapped(const char *text, int indent)
{
	int column = 0;
	while (*text) {
		size_t size = strcspn(text, " ");
		if (column > 0 && column + 1 + (int)size > 78) {
			putchar('\n');
			column = 0;
		}
		column +=
			column == 0 ? printf("%*s%.*s", indent, "", (int)size, text) : printf(" %.*s", (int)size, text);
		text += size + (text[size] == ' ');
	}
	putchar('\n');
}

static void print_option(const struct cli_option *option)
{
	char left[64];
	snprintf(left, sizeof left, "  --%s%s%s", option->name, option->value ? " " : "",
		option->value ? option->value : "");
	if (option->letter)
		snprintf(left, sizeof left, "  -%c, --%s%s%s", option->letter, option->name, option->value ? " " : "",
			option->value ? option->value : "");
	puts(left);
	print_wrapped(option->help, 8);
}

static void print_range(const pe_option_info *option)
{
	switch (option->type) {
	case PE_OPTION_INT:
	case PE_OPTION_REAL:
		printf("%.15g ... %.15g", option->min, option->max);
		break;
	case PE_OPTION_BOOL:
		printf("0 or 1");
		break;
	case PE_OPTION_CHOICE:
		printf("%s", option->choices);
		break;
	case PE_OPTION_LIST:
		printf("A/B/..., each %.15g ... %.15g", option->min, option->max);
		break;
	case PE_OPTION_STRING:
		printf("%s%s", option->choices ? option->choices : "text", option->choices ? ", or text" : "");
		break;
	}
}

static bool is_flag(const struct command *command, const char *name)
{
	for (int i = 0; command && i < command->option_count; i++)
		if (strcmp(command->options[i].name, name) == 0)
			return true;
	return false;
}

/* command: whose options the rows are, but for those that it has as flags; or NULL. */
static void print_params(const pe_params *params, const struct command *command)
{
	const char *dashes = command ? "--" : "";
	for (int64_t i = 0; i < pe_params_count(params); i++) {
		pe_option_info option = pe_params_option(params, i);
		if (is_flag(command, option.name))
			continue;
		printf("  %s", dashes);
		for (const char *c = option.name; *c; c++)
			putchar(*c == '_' && *dashes ? '-' : *c);
		printf("%s%s   (", *dashes ? " " : "=", option.fallback[0] ? option.fallback : "...");
		print_range(&option);
		puts(")");
		print_wrapped(option.help, 8);
	}
}

static void help_command(const struct cli *cli, const struct command *command)
{
	printf("usage: posenc %s\n\n", command->usage);
	print_wrapped(command->summary, 0);
	if (command->details)
		printf("\n%s", command->details);
	if (command->option_count)
		puts("\nOptions");
	for (int i = 0; i < command->option_count; i++)
		print_option(&command->options[i]);
	const char *title;
	for (int i = 0; command_table(command, i, &title); i++) {
		pe_params *params;
		if (pe_params_create(cli->ctx, command_table(command, i, NULL), &params) != PE_OK)
			continue;
		printf("\n%s (the defaults are shown)\n", title);
		print_params(params, command);
		pe_params_destroy(&params);
	}
	puts("\nEverywhere");
	for (int i = 0; i < global_option_count; i++)
		print_option(&global_options[i]);
}

static void print_sites(const pe_encoder *encoder)
{
	const char *before = "\nActs in attention at: ";
	for (int site = PE_SITE_SEQUENCE; site <= PE_SITE_SCALE; site *= 2)
		if (pe_encoder_sites(encoder) & site) {
			printf("%s%s", before, pe_site_name((pe_site)site));
			before = ", ";
		}
	if (pe_encoder_sites(encoder))
		putchar('\n');
}

static void print_weights(const pe_encoder *encoder)
{
	if (pe_encoder_weight_count(encoder))
		puts("\nWeights (--weights FILE), each named NAME, or PREFIX.NAME or PREFIX/NAME with as=PREFIX");
	for (int64_t i = 0; i < pe_encoder_weight_count(encoder); i++) {
		pe_weight_info w = pe_encoder_weight(encoder, i);
		printf("  %s %s, begins as %s\n", w.name, w.shape, w.initial);
		if (*w.help)
			printf("      %s\n", w.help);
	}
}

static void print_yielded(const struct yields *yields)
{
	char shape[200];
	for (int64_t i = 0; i < yields->count; i++) {
		const struct yields_array *array = &yields->arrays[i];
		yields_shape(array, shape, sizeof shape);
		printf("  %s %s%s%s\n", array->name, shape, array->dtype == PE_F64 ? "" : ", ",
			array->dtype == PE_F64 ? "" : pe_dtype_name(array->dtype));
	}
}

/* What encode writes: as the encoder declares it, of one input and another. */
static void print_arrays(const pe_encoder *encoder, const pe_params *params)
{
	struct yields yields, other;
	if (yields_find(encoder, NULL, &yields) != PE_OK)
		return;
	bool tokens = (pe_encoder_sites(encoder) & (PE_SITE_TOKENS | PE_SITE_SEQUENCE)) != 0;
	puts("Arrays that encode writes, with the defaults");
	print_yielded(&yields);
	if (tokens)
		puts("  tokens, with --tokens: the features after the encoder");
	if (yields.count == 0 && !tokens)
		puts("  none");
	for (int64_t i = 0; i < pe_params_preset_count(params); i++) {
		const char *preset = pe_params_preset(params, i).name;
		if (yields_find(encoder, preset, &other) != PE_OK || yields_same_names(&yields, &other))
			continue;
		printf("with preset=%s\n", preset);
		print_yielded(&other);
	}
}

static int help_encoder(struct cli *cli, const pe_encoder *encoder)
{
	pe_params *params;
	pe_status status = pe_params_create(cli->ctx, pe_encoder_name(encoder), &params);
	if (status != PE_OK)
		return report_status(cli, status);
	printf("%s (%s): %s\n\n%s\n", pe_encoder_name(encoder), pe_family_name(pe_encoder_family(encoder)),
		pe_encoder_summary(encoder), pe_encoder_help(encoder));
	print_sites(encoder);
	if (pe_params_count(params))
		puts("\nOptions, with their defaults");
	print_params(params, NULL);
	putchar('\n');
	print_arrays(encoder, params);
	print_weights(encoder);
	if (pe_params_preset_count(params))
		puts("\nPresets");
	for (int64_t i = 0; i < pe_params_preset_count(params); i++) {
		pe_preset_info preset = pe_params_preset(params, i);
		printf("  preset=%s   (%s)\n", preset.name, preset.settings);
		print_wrapped(preset.help, 8);
	}
	printf("\nSource: %s\n\nExample\n  posenc encode %s\n", pe_encoder_source(encoder),
		pe_encoder_example(encoder));
	pe_params_destroy(&params);
	return EXIT_DONE;
}

static int help_overview(void)
{
	puts("posenc: positional encodings for transformers and graph networks\n");
	for (int i = 0; commands[i]; i++)
		printf("  posenc %-60s\n", commands[i]->usage);
	puts("");
	for (int i = 0; commands[i]; i++)
		printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n'posenc help COMMAND' or 'posenc help ENCODER' says more; 'posenc list' names the encoders.\n"
		 "\nExit codes: 0 done; 1 some inputs failed, or compare found a difference; 2 wrong usage;\n"
		 "3 bad input; 4 input, output or memory; 5 not converged, or not certified.");
	return EXIT_DONE;
}

int help_on(struct cli *cli, const char *topic)
{
	const struct command *command = find_command(topic);
	if (command) {
		help_command(cli, command);
		return EXIT_DONE;
	}
	const pe_encoder *encoder = pe_encoder_find(topic);
	return encoder ? help_encoder(cli, encoder)
				   : usage_error(cli, "there is no command or encoder \"%s\"", topic);
}

/* ---- as a man page ------------------------------------------------------------------ */

static void mdoc_text(const char *text)
{
	bool start = true;
	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		start = *text == '\n';
		if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
	putchar('\n');
}

static void mdoc_params(const pe_params *params, bool flags)
{
	puts(".Bl -tag -width Ds");
	for (int64_t i = 0; i < pe_params_count(params); i++) {
		pe_option_info option = pe_params_option(params, i);
		printf(".It Cm %s", flags ? "\\-\\-" : "");
		for (const char *c = option.name; *c; c++)
			putchar(*c == '_' && flags ? '-' : *c);
		printf("%s%s Pq ", flags ? " " : "=", option.fallback);
		print_range(&option);
		putchar('\n');
		mdoc_text(option.help);
	}
	puts(".El");
}

static void mdoc_options(const struct cli_option *options, int count)
{
	puts(".Bl -tag -width Ds");
	for (int i = 0; i < count; i++) {
		printf(".It ");
		if (options[i].letter)
			printf("Fl %c , ", options[i].letter);
		printf("Fl \\-%s%s%s\n", options[i].name, options[i].value ? " Ar " : "",
			options[i].value ? options[i].value : "");
		mdoc_text(options[i].help);
	}
	puts(".El");
}

static void mdoc_commands(struct cli *cli)
{
	puts(".Sh COMMANDS");
	for (int i = 0; commands[i]; i++) {
		printf(".Ss posenc %s\n", commands[i]->usage);
		mdoc_text(commands[i]->summary);
		if (commands[i]->details) {
			puts(".Bd -literal");
			mdoc_text(commands[i]->details);
			puts(".Ed");
		}
		if (commands[i]->option_count)
			mdoc_options(commands[i]->options, commands[i]->option_count);
	}
	const char *title;
	for (int i = 0; command_table(&command_encode, i, &title); i++) {
		pe_params *params;
		if (pe_params_create(cli->ctx, command_table(&command_encode, i, NULL), &params) != PE_OK)
			continue;
		printf(".Ss %s\n", title);
		mdoc_params(params, true);
		pe_params_destroy(&params);
	}
	puts(".Ss Everywhere");
	mdoc_options(global_options, global_option_count);
}

static void mdoc_encoder(struct cli *cli, const pe_encoder *encoder)
{
	pe_params *params;
	if (pe_params_create(cli->ctx, pe_encoder_name(encoder), &params) != PE_OK)
		return;
	printf(".Ss %s\n", pe_encoder_name(encoder));
	printf("Family %s: %s.\n.Bd -literal\n", pe_family_name(pe_encoder_family(encoder)),
		pe_encoder_summary(encoder));
	mdoc_text(pe_encoder_help(encoder));
	puts(".Ed");
	mdoc_params(params, false);
	puts(".Bd -literal");
	print_arrays(encoder, params);
	puts(".Ed");
	if (pe_params_preset_count(params))
		puts(".Pp\nPresets:\n.Bl -tag -width Ds");
	for (int64_t i = 0; i < pe_params_preset_count(params); i++) {
		printf(".It Cm preset=%s\n", pe_params_preset(params, i).name);
		mdoc_text(pe_params_preset(params, i).help);
	}
	if (pe_params_preset_count(params))
		puts(".El");
	puts(".Pp");
	printf("Source: %s.\n", pe_encoder_source(encoder));
	pe_params_destroy(&params);
}

static int print_man_page(struct cli *cli)
{
	puts(".Dd $Mdocdate$\n.Dt POSENC 1\n.Os\n.Sh NAME\n.Nm posenc\n"
		 ".Nd positional encodings for transformers and graph networks\n.Sh SYNOPSIS");
	for (int i = 0; commands[i]; i++)
		printf("%s.Nm\n.Cm %s\n", i ? "" : "", commands[i]->usage);
	puts(".Sh DESCRIPTION\n"
		 "posenc computes the positional encodings of graphs, image grids and sequences, and says\n"
		 "how right they are.\n"
		 "Data go to files or to standard output, everything else to standard error;\n"
		 "files appear whole or not at all.");
	mdoc_commands(cli);
	puts(".Sh ENCODERS");
	for (int64_t i = 0; i < pe_encoder_count(); i++)
		mdoc_encoder(cli, pe_encoder_at(i));
	puts(".Sh EXIT STATUS\n.Bl -tag -width Ds -compact\n"
		 ".It 0\ndone\n.It 1\nsome inputs failed, or compare found a difference\n.It 2\nwrong usage\n"
		 ".It 3\nbad input, with file and line\n.It 4\ninput, output or memory\n"
		 ".It 5\nnot converged, or not certified where that was demanded\n.El");
	return EXIT_DONE;
}

static int run_help(struct cli *cli)
{
	if (cli_has(cli, "man"))
		return print_man_page(cli);
	if (cli->operand_count > 1)
		return usage_error(cli, "help takes one command or encoder");
	return cli->operand_count ? help_on(cli, cli->operands[0]) : help_overview();
}

static const struct cli_option options[] = {
	{"man", 0, NULL, "print the manual page, in mdoc"},
};

const struct command command_help = {
	.name = "help",
	.usage = "help [COMMAND | ENCODER]",
	.summary = "help on a command or an encoder",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.run = run_help,
};
