/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays.h"

#include <stdlib.h>
#include <string.h>

bool array_is_in(const char *list, const char *name)
{
	size_t size = strlen(name);
	for (const char *at = list; *at; at += *at == ',') {
		size_t length = strcspn(at, ",");
		if (length == size && memcmp(at, name, size) == 0)
			return true;
		at += length;
	}
	return false;
}

bool array_is_wanted(const struct cli *cli, const char *name, bool usual)
{
	const char *list = cli_get(cli, "arrays");
	return list ? array_is_in(list, name) : usual;
}

static bool is_yielded(const struct job *jobs, int count, const char *name)
{
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < jobs[j].count; i++)
			if (strcmp(jobs[j].names[i], name) == 0)
				return true;
	return false;
}

/* Every name in --arrays must be one that there is. */
static int check_names(
	const struct cli *cli, const char *list, const char *extra, const struct job *jobs, int count)
{
	for (const char *at = list; *at; at += *at == ',') {
		size_t length = strcspn(at, ",");
		char *name = copy_text(at, length);
		bool known = array_is_in(extra, name) || is_yielded(jobs, count, name);
		int code = known ? EXIT_DONE : usage_error(cli, "--arrays: there is no array \"%s\"", name);
		free(name);
		if (code != EXIT_DONE)
			return code;
		at += length;
	}
	return EXIT_DONE;
}

int arrays_choose(
	struct cli *cli, const struct output *output, const char *extra, struct job *jobs, int count)
{
	const char *list = cli_get(cli, "arrays");
	bool single = output_is_single(output);
	int code = list ? check_names(cli, list, extra, jobs, count) : EXIT_DONE;
	if (code != EXIT_DONE)
		return code;
	if (single && list && strchr(list, ','))
		return usage_error(cli, "an .npy file holds one array");
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < jobs[j].count; i++) {
			bool wanted = array_is_wanted(cli, jobs[j].names[i], !single || (i == 0 && j == 0));
			jobs[j].wanted[i] = wanted;
			if (!wanted && !list)
				warn(cli, "%s holds one array: %s is left out", output->path, jobs[j].names[i]);
		}
	return EXIT_DONE;
}
