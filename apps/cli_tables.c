/* SPDX-License-Identifier: BSD-2-Clause
 * Options of the library's tables as the program's: how graphs and pictures are read. */
#include <string.h>

#include "cli.h"

const char *command_table(const struct command *command, int index, const char **title)
{
	const char *names[3] = {NULL}, *titles[3] = {NULL};
	int count = 0;
	if (command->takes_graph_options) {
		names[count] = "graph";
		titles[count++] = "Reading graphs";
	}
	if (command->takes_image_options) {
		names[count] = "image";
		titles[count++] = "Reading pictures, and cutting them into patches";
	}
	if (title)
		*title = titles[index];
	return names[index];
}

/* --edge-weights=X is the option edge_weights of the table "graph". */
static void option_name(const char *word, char *name, size_t room)
{
	size_t size = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
	size = size < room ? size : room - 1;
	for (size_t i = 0; i < size; i++)
		name[i] = word[2 + i] == '-' ? '_' : word[2 + i];
	name[size] = '\0';
}

bool cli_table_option(const pe_params *table, const char *word, pe_option_info *out)
{
	char name[64];
	option_name(word, name, sizeof name);
	for (int64_t i = 0; i < pe_params_count(table); i++) {
		pe_option_info option = pe_params_option(table, i);
		if (strcmp(option.name, name) != 0)
			continue;
		if (out)
			*out = option;
		return true;
	}
	return false;
}

static int set_input_option(struct cli *cli, const struct cli_value *given)
{
	char name[64];
	int size = (int)strcspn(given->name, "=");
	option_name(given->name, name, sizeof name);
	pe_params *table = cli->graph && pe_params_get(cli->graph, name) ? cli->graph : cli->image;
	if (!table || !pe_params_get(table, name))
		return usage_error(cli, "there is no option %.*s", size, given->name);
	if (!given->value)
		return usage_error(cli, "%.*s needs a value", size, given->name);
	if (pe_params_set(table, name, given->value) != PE_OK)
		return usage_error(cli, "%.*s: %s", size, given->name, pe_context_message(cli->ctx));
	return EXIT_DONE;
}

int cli_set_tables(struct cli *cli)
{
	const struct command *command = cli->command;
	if (command->takes_graph_options && pe_params_create(cli->ctx, "graph", &cli->graph) != PE_OK)
		return report_status(cli, PE_ERR_INTERNAL);
	/* One bad file of a folder does not stop the others. */
	if (cli->graph && !cli_has(cli, "fail-fast") && pe_params_set(cli->graph, "unreadable", "empty") != PE_OK)
		return report_status(cli, PE_ERR_INTERNAL);
	if (command->takes_image_options && pe_params_create(cli->ctx, "image", &cli->image) != PE_OK)
		return report_status(cli, PE_ERR_INTERNAL);
	if (cli->image && cli_has(cli, "lenient") && pe_params_set(cli->image, "lenient", "1") != PE_OK)
		return report_status(cli, PE_ERR_INTERNAL);
	for (int i = 0; i < cli->value_count; i++) {
		int code = cli->values[i].name[0] == '-' ? set_input_option(cli, &cli->values[i]) : EXIT_DONE;
		if (code != EXIT_DONE)
			return code;
	}
	return EXIT_DONE;
}
