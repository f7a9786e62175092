/* SPDX-License-Identifier: BSD-2-Clause
 * A whole dataset by one thread and by two, in turns.
 *
 *   bench_threads POSENC INPUT OUTPUT.npz [ROUNDS] [-- OPTION VALUE …]
 *
 * What stands behind -- goes to posenc encode. Prints, stage by stage and for the whole process (without
 * fsync), the medians and their ratio. Nothing else may run meanwhile, a reader of the output neither: two
 * threads need both cores to themselves. */
#include "posenc_run.h"

#define MAX_ROUNDS 100

enum stage { READ, ENCODE, WRITE, WHOLE, STAGES };

static void record(double seconds[STAGES][MAX_ROUNDS], int round, const struct posenc_times *times)
{
	seconds[READ][round] = times->read;
	seconds[ENCODE][round] = times->encode;
	seconds[WRITE][round] = times->write;
	seconds[WHOLE][round] = times->whole;
}

static void compare(char commands[2][COMMAND_SIZE], int rounds)
{
	static const char *const names[] = {"read", "encode", "write", "whole"};
	static double seconds[2][STAGES][MAX_ROUNDS];
	run_posenc(commands[0]);
	for (int r = 0; r < rounds; r++)
		for (int t = 0; t < 2; t++) {
			struct posenc_times times = run_posenc(commands[t]);
			record(seconds[t], r, &times);
		}
	for (int s = 0; s < STAGES; s++) {
		double one = median(seconds[0][s], rounds), two = median(seconds[1][s], rounds);
		printf("%-6s one thread %.4f s, two %.4f s: %.2f times (least of each: %.2f)\n", names[s], one, two,
			one / two, seconds[0][s][0] / seconds[1][s][0]);
	}
}

int main(int argc, char **argv)
{
	static char commands[2][COMMAND_SIZE];
	int own = 1;
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	int rounds = own > 4 ? atoi(argv[4]) : 15;
	if (own < 4 || rounds < 1 || rounds > MAX_ROUNDS) {
		fputs("usage: bench_threads POSENC INPUT OUTPUT.npz [ROUNDS] [-- OPTION VALUE ...]\n", stderr);
		return 2;
	}
	char *const *options = argv + own + (own < argc);
	make_command(commands[0], argv + 1, "1", options);
	make_command(commands[1], argv + 1, "2", options);
	compare(commands, rounds);
	return 0;
}
