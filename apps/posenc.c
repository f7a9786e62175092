/* SPDX-License-Identifier: BSD-2-Clause
 * posenc: positional encodings from the command line. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

const struct command *const commands[] = {
	&command_encode,
	&command_attend,
	&command_convert,
	&command_show,
	&command_inspect,
	&command_compare,
	&command_list,
	&command_help,
	&command_bench,
	&command_completion,
	NULL,
};

const struct command *find_command(const char *name)
{
	for (int i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct cli cli;
	int code = cli_start(&cli, command, argc, argv);
	if (code == EXIT_DONE)
		code = cli_has(&cli, "help") ? help_on(&cli, command->name) : command->run(&cli);
	cli_end(&cli);
	return code;
}

/* OpenBLAS starts a thread a CPU when it is loaded, and each turns idly for some 70 ms, on the CPUs that our
 * own threads are to have. posenc has BLAS work on one thread always: the others may go. */
static void end_idle_blas_threads(void)
{
	void *set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
	void *end = dlsym(RTLD_DEFAULT, "blas_thread_shutdown_");
	void (*set_threads)(int);
	int (*end_threads)(void);
	if (!set || !end)
		return;
	memcpy(&set_threads, &set, sizeof set);
	memcpy(&end_threads, &end, sizeof end);
	set_threads(1);
	(void)end_threads();
}

int main(int argc, char **argv)
{
	end_idle_blas_threads();
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, with a message and an exit code */
	if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
		printf("posenc %s\n", pe_version());
		return finish_output(EXIT_DONE);
	}
	bool wants_help = argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
	const struct command *command = wants_help ? &command_help : argc >= 2 ? find_command(argv[1]) : NULL;
	if (command)
		return finish_output(run(command, argc - 2, argv + 2));
	if (argc >= 2)
		complain("there is no command \"%s\"", argv[1]);
	complain("usage: posenc encode|attend|convert|show|inspect|compare|list|help|bench|completion ...; see "
			 "'posenc help'");
	return EXIT_USAGE;
}
