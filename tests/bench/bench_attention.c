/* SPDX-License-Identifier: BSD-2-Clause
 * Tiled attention against a matrix product of the same machine, in the same run, taken in turns.
 *
 *   bench_attention                           all of the following
 *   bench_attention LENGTH ...                share of sgemm (2048³) at these lengths
 *   bench_attention widths|far|threads|encoders   of head widths and odd lengths; time with far tiles left
 *                                             out; two threads against one; encoders at other sites
 *
 * A share is 4 · heads · Lq · Lk · width operations (half as many where causal) in the time of attention,
 * over the operations of sgemm in its own; times are of the processor, since others may be running. Each line
 * is the best and the median of several turns. Memory is what the library had allocated at most during a
 * call, input and output not counted. */
#define _XOPEN_SOURCE 700
#include "attention_problem.h"

#define PRODUCT 2048

void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
	const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
	const int *ldc);

static float *product[3];

/* Operations a second, in 1e9. */
static double run_product(void)
{
	const int n = PRODUCT;
	const float one = 1.0f, zero = 0.0f;
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	sgemm_("N", "T", &n, &n, &n, &one, product[0], &n, product[1], &n, &zero, product[2], &n);
	return 2e-9 * n * n * n / (now(CLOCK_PROCESS_CPUTIME_ID) - start);
}

static void share(const struct problem *p)
{
	struct ready r = prepare(p);
	double shares[TURNS],
		operations = 4e-9 * HEADS * (double)p->length * (double)p->length * (double)p->width;
	int calls = p->length < 2000 ? 16 : p->length < 8000 ? 2 : 1;
	int turns = p->length < 8000 ? TURNS : 3;
	long long before = atomic_load(&used);
	atomic_store(&peak, before);
	attend(&r, p, CLOCK_PROCESS_CPUTIME_ID); /* warm */
	double memory = (double)(atomic_load(&peak) - before) / 1e6;
	for (int turn = 0; turn < turns; turn++) {
		double rate = run_product(), seconds = 0;
		for (int call = 0; call < calls; call++)
			seconds += attend(&r, p, CLOCK_PROCESS_CPUTIME_ID);
		rate = (rate + run_product()) / 2;
		shares[turn] = operations * calls * (p->causal ? 0.5 : 1) / seconds / rate;
	}
	double middle = median(shares, turns);
	printf("%6lld %4lld  %-10s %-7s best %5.1f %%  median %5.1f %%  of sgemm   %6.2f MB\n",
		(long long)p->length, (long long)p->width, p->encoder ? p->encoder : "none",
		p->causal ? "causal" : "", 100 * shares[turns - 1], 100 * middle, memory);
	release(&r);
}

static void lengths(int argc, char **argv)
{
	static const char *const encoders[] = {NULL, "alibi", "t5"};
	for (int i = 1; i < argc; i++)
		for (size_t e = 0; e < sizeof encoders / sizeof *encoders; e++)
			for (int causal = 0; causal < 2; causal++) {
				struct problem p = {atoll(argv[i]), 64, encoders[e], causal, 1, 1, NULL, 0};
				if (!encoders[e] || pe_encoder_find(encoders[e]))
					share(&p);
			}
}

static void widths(void)
{
	static const int64_t list[] = {16, 17, 32, 40, 64, 72, 80, 96, 100, 128, 192, 256};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		share(&(struct problem){2048, list[i], "alibi", 0, 1, 1, NULL, 0});
	for (int64_t length = 1023; length < 1060; length += 9)
		share(&(struct problem){length, 64, "alibi", 0, 1, 1, NULL, 0});
}

static void far_tiles(void)
{
	for (int64_t length = 4096; length <= 16384; length *= 4) {
		struct problem all = {length, 64, "alibi", 0, 1, 1, NULL, 0},
					   near = {length, 64, "alibi", 0, 0, 1, NULL, 0};
		printf("%6lld   64  alibi, far tiles left out: %.2f of the time\n", (long long)length,
			ratio(&near, &all, CLOCK_PROCESS_CPUTIME_ID));
	}
}

static void threads(void)
{
	struct problem one = {4096, 64, "alibi", 0, 1, 1, NULL, 0}, two = {4096, 64, "alibi", 0, 1, 2, NULL, 0};
	printf("  4096   64  alibi, 2 threads: %.2f times as fast by the clock; processor time %.3f of one "
		   "thread's\n",
		ratio(&one, &two, CLOCK_MONOTONIC), ratio(&two, &one, CLOCK_PROCESS_CPUTIME_ID));
}

static void encoders(void)
{
	static const char *const list[] = {"rope", "shaw", "erpe", "fire", "kerple", "cope"};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (pe_encoder_find(list[i]))
			share(&(struct problem){1024, 64, list[i], 0, 1, 1, NULL, 0});
}

int main(int argc, char **argv)
{
	static char *usual[] = {"", "1024", "4096", "16384"};
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	for (int i = 0; i < 3; i++)
		product[i] = numbers((int64_t)PRODUCT * PRODUCT);
	run_product();
	const char *what = argc > 1 ? argv[1] : "";
	if (argc == 1)
		lengths(4, usual);
	else if (what[0] >= '0' && what[0] <= '9')
		lengths(argc, argv);
	if (argc == 1 || strcmp(what, "widths") == 0)
		widths();
	if (argc == 1 || strcmp(what, "far") == 0)
		far_tiles();
	if (argc == 1 || strcmp(what, "threads") == 0)
		threads();
	if (argc == 1 || strcmp(what, "encoders") == 0)
		encoders();
	return 0;
}
