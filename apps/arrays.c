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

/* The number of the first array that is not redundant; there is one, or none at all. */
static int64_t first_of(const struct job *job)
{
	int64_t i = 0;
	while (i + 1 < job->count && job->arrays[i].redundant)
		i++;
	return i;
}

/* Is an array written where there is no --arrays? Says which are not, and why. */
static bool is_usual(struct cli *cli, const struct output *output, const struct job *jobs, int j, int64_t i)
{
	const struct job *job = &jobs[j];
	if (job->arrays[i].redundant) {
		warn(cli, "%s is large and another array holds the same: it is left out (--arrays %s)", job->names[i],
			job->names[i]);
		return false;
	}
	if (output_is_single(output) && (j != 0 || i != first_of(job))) {
		warn(cli, "%s holds one array: %s is left out", output->path, job->names[i]);
		return false;
	}
	return true;
}

/* Text is a table of tokens: says how to go on where it would be something else. */
static int check_text(struct cli *cli, const struct output *output, const struct job *job, int64_t i)
{
	const pe_array_info *info = &job->arrays[i];
	if (strcmp(output->format, "tsv") != 0 || info->ndim < 3 || (info->ndim == 3 && info->shape[2] == 1))
		return EXIT_DONE;
	return usage_error(cli,
		"%s has %d dimensions, and text is a table of one row a token: choose arrays by --arrays, or write "
		"them all to a file, -o OUT.npz",
		job->names[i], (int)info->ndim);
}

int arrays_choose(
	struct cli *cli, const struct output *output, const char *extra, struct job *jobs, int count)
{
	const char *list = cli_get(cli, "arrays");
	int code = list ? check_names(cli, list, extra, jobs, count) : EXIT_DONE;
	if (code != EXIT_DONE)
		return code;
	if (output_is_single(output) && list && strchr(list, ','))
		return usage_error(cli, "an .npy file holds one array");
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < jobs[j].count && code == EXIT_DONE; i++) {
			jobs[j].wanted[i] =
				list ? array_is_in(list, jobs[j].names[i]) : is_usual(cli, output, jobs, j, i);
			if (jobs[j].wanted[i])
				code = check_text(cli, output, &jobs[j], i);
		}
	return code;
}
