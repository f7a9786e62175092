/* SPDX-License-Identifier: BSD-2-Clause
 * What encodings, widths and lengths cost tiled attention, against the plain core in the same run, taken in
 * turns; each line tells the ratio and the limit it must keep. Times are of the processor, the least of
 * several turns, one thread.
 *
 *   bench_attention_encoders                  all of the following but threads
 *   bench_attention_encoders table [LENGTH]   encoders at this length (4096), 8 heads of 64
 *   bench_attention_encoders widths           time an operation, of other widths and of odd lengths
 *   bench_attention_encoders memory           held at most by a call at length 16384
 *   bench_attention_encoders threads          two threads against one; wants a machine to itself
 *   bench_attention_encoders time ENCODER|none LENGTH 0|1 [OPTIONS]   seconds of one call, with binding,
 * causal if 1: a line for each line read, for peer_torch_attention.py */
#define _XOPEN_SOURCE 700
#include "attention_problem.h"

static void verdict(const char *what, double value, double limit, const char *unit)
{
	printf("%-44s %6.2f%s, at most %.2f  %s\n", what, value, unit, limit, value <= limit ? "" : "MISSED");
}

static void table(int64_t length)
{
	static const struct {
		const char *encoder, *set;
	} rows[] = {{"fire", NULL}, {"fire", "direction=bidirectional"}, {"kerple", NULL},
		{"kerple", "weight=1,form=power"}, {"deberta", "head_dim=64"}, {"deberta", "head_dim=64,version=2"},
		{"shaw", "head_dim=64"}, {"transformer_xl", "head_dim=64"}, {"rope", NULL}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem with = {length, 64, rows[i].encoder, 0, 1, 1, rows[i].set, 0};
		struct problem plain = {length, 64, NULL, 0, 1, 1, NULL, 0};
		char what[80];
		snprintf(what, sizeof what, "%lld %s %s", (long long)length, rows[i].encoder,
			rows[i].set ? rows[i].set : "");
		verdict(what, ratio(&with, &plain, CLOCK_PROCESS_CPUTIME_ID), 2.5, "x the plain core");
	}
}

static void widths(void)
{
	static const int64_t sizes[][2] = {{2048, 17}, {2048, 32}, {2048, 80}, {2048, 96}, {2048, 128},
		{2047, 64}, {1921, 64}, {2049, 64}, {1033, 64}};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int64_t length = sizes[i][0], width = sizes[i][1];
		struct problem odd = {length, width, "alibi", 0, 1, 1, NULL, 0};
		struct problem even = {1920, 64, "alibi", 0, 1, 1, NULL, 0};
		double share = (1920.0 * 1920 * 64) / ((double)length * (double)length * (double)width);
		char what[80];
		snprintf(what, sizeof what, "%lld keys of width %lld", (long long)length, (long long)width);
		verdict(what, share * ratio(&odd, &even, CLOCK_PROCESS_CPUTIME_ID), 1.5,
			"x the time an operation of 1920 of 64");
	}
}

static void memory(void)
{
	static const char *const encoders[] = {
		NULL, "alibi", "t5", "rope", "kerple", "fire", "shaw", "deberta", "transformer_xl"};
	for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++) {
		int wide = i >= 6;
		struct problem p = {16384, 64, encoders[i], 1, 1, 1, wide ? "head_dim=64" : NULL, 0};
		struct ready r = prepare(&p);
		long long before = atomic_load(&used);
		atomic_store(&peak, before);
		attend(&r, &p, CLOCK_PROCESS_CPUTIME_ID);
		char what[80];
		snprintf(what, sizeof what, "16384 causal %s", encoders[i] ? encoders[i] : "none");
		verdict(what, (double)(atomic_load(&peak) - before) / 1e6, 24, " MB");
		release(&r);
	}
}

static void threads(void)
{
	struct problem one = {4096, 64, "alibi", 0, 1, 1, NULL, 0}, two = {4096, 64, "alibi", 0, 1, 2, NULL, 0};
	verdict("4096 alibi, two threads", ratio(&two, &one, CLOCK_MONOTONIC), 1 / 1.8, " of one thread's time");
}

static void time_calls(char **argv)
{
	const char *encoder = strcmp(argv[0], "none") == 0 ? NULL : argv[0];
	struct problem p = {atoll(argv[1]), 64, encoder, atoi(argv[2]), 0, 1, argv[3], encoder != NULL};
	struct ready r = prepare(&p);
	attend_by_line(&r, &p);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 5 && strcmp(what, "time") == 0)
		time_calls(argv + 2);
	if (argc == 1 || strcmp(what, "table") == 0)
		table(argc > 2 ? atoll(argv[2]) : 4096);
	if (argc == 1 || strcmp(what, "widths") == 0)
		widths();
	if (argc == 1 || strcmp(what, "memory") == 0)
		memory();
	if (strcmp(what, "threads") == 0)
		threads();
	return 0;
}
