/* SPDX-License-Identifier: BSD-2-Clause
 * Which arrays are written: the option --arrays. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "job.h"
#include "output.h"

/* Is name in a list of words between commas? */
bool array_is_in(const char *list, const char *name);
/* Is this array to be written? usual: is it where there is no --arrays? */
bool array_is_wanted(const struct cli *cli, const char *name, bool usual);

/* Sets `wanted` of the jobs' arrays, and says what a file of one array leaves out. extra: a list of
 * the other names there may be. EXIT_DONE, or an exit code with the message already written. */
int arrays_choose(
	struct cli *cli, const struct output *output, const char *extra, struct job *jobs, int count);

#endif
