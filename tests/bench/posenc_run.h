/* SPDX-License-Identifier: BSD-2-Clause
 * The program as a user runs it on a dataset, timed: for the programs that measure whole processes. */
#ifndef POSENC_RUN_H
#define POSENC_RUN_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"

#define COMMAND_SIZE 8192

/* Seconds; whole is without sync. */
struct posenc_times {
	double whole, read, encode, write, sync;
};

/* The number behind "key": in a line of JSON. */
static inline double number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at ? strtod(at + strlen(key), NULL) : NAN;
}

/* The command line of `posenc encode`, without a shell's special characters but those in quotes. paths: the
 * program, its input and its output; options ends with NULL. */
static inline void make_command(
	char command[COMMAND_SIZE], char *const *paths, const char *threads, char *const *options)
{
	int used = snprintf(command, COMMAND_SIZE,
		"'%s' encode '%s' --with lap:k=8 --with rwse:steps=20 --threads %s -q --json -o '%s'", paths[0],
		paths[1], threads, paths[2]);
	for (; *options && used < COMMAND_SIZE; options++)
		used += snprintf(command + used, (size_t)(COMMAND_SIZE - used), " '%s'", *options);
	if (used >= COMMAND_SIZE)
		stop("the command is too long");
}

static inline struct posenc_times run_posenc(const char *command)
{
	static char json[1 << 16];
	double start = now(CLOCK_MONOTONIC);
	FILE *pipe = popen(command, "r");
	size_t size = pipe ? fread(json, 1, sizeof json - 1, pipe) : 0;
	int status = pipe ? pclose(pipe) : -1;
	double seconds = now(CLOCK_MONOTONIC) - start;
	json[size] = '\0';
	if (status != 0)
		stop("posenc failed");
	struct posenc_times times = {.read = number_after(json, "\"read\":"),
		.encode = number_after(json, "\"encode\":"),
		.write = number_after(json, "\"write\":"),
		.sync = number_after(json, "\"sync\":")};
	times.whole = seconds - times.sync;
	times.write -= times.sync;
	return times;
}

#endif
