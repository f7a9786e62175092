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
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "posenc.h"

#define PRODUCT 2048
#define HEADS 8
#define TURNS 5

void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
	const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
	const int *ldc);

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *why)
{
	fprintf(stderr, "bench_attention: %s\n", why);
	exit(1);
}

/* ---- memory ------------------------------------------------------------------------- */

static atomic_llong used, peak;

#define HEADER 64 /* bytes in front of a block, which hold its size */

static void *count_allocate(void *opaque, size_t size, size_t alignment)
{
	(void)opaque;
	(void)alignment;
	void *memory;
	if (posix_memalign(&memory, HEADER, size + HEADER) != 0)
		return NULL;
	memcpy(memory, &size, sizeof size);
	long long total = atomic_fetch_add(&used, (long long)size) + (long long)size;
	if (total > atomic_load(&peak))
		atomic_store(&peak, total);
	return (char *)memory + HEADER;
}

static void count_release(void *opaque, void *pointer)
{
	(void)opaque;
	size_t size;
	if (!pointer)
		return;
	memcpy(&size, (char *)pointer - HEADER, sizeof size);
	atomic_fetch_sub(&used, (long long)size);
	free((char *)pointer - HEADER);
}

static float *numbers(int64_t n)
{
	float *out = aligned_alloc(64, ((size_t)n * sizeof *out + 63) / 64 * 64);
	uint32_t state = 1;
	if (!out)
		stop("no memory");
	for (int64_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		out[i] = (float)(state >> 8) / (float)(1 << 23) - 1.0f;
	}
	return out;
}

/* ---- what is measured ------------------------------------------------------------------ */

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

struct problem {
	int64_t length, width;
	const char *encoder; /* NULL: none */
	int causal, keep_far;
	int32_t threads;
};

struct ready {
	pe_context *ctx;
	pe_domain *domain;
	pe_encoding *encoding;
	pe_tensor q, k, v, out;
	float *memory;
};

static void check(pe_context *ctx, pe_status status)
{
	if (status != PE_OK)
		stop(ctx ? pe_context_message(ctx) : "no context");
}

static struct ready prepare(const struct problem *p)
{
	struct ready r = {NULL, NULL, NULL, {0}, {0}, {0}, {0}, NULL};
	pe_context_options options = {.size = sizeof options, .threads = p->threads};
	options.allocator = (pe_allocator){.allocate = count_allocate, .release = count_release};
	int64_t shape[] = {1, HEADS, p->length, p->width}, n = HEADS * p->length * p->width;
	check(NULL, pe_context_create(&options, &r.ctx));
	check(r.ctx, pe_domain_sequence(r.ctx, p->length, 0, &r.domain));
	if (p->encoder)
		check(
			r.ctx, pe_encoding_create(r.ctx, pe_encoder_find(p->encoder), NULL, r.domain, NULL, &r.encoding));
	r.memory = numbers(4 * n);
	r.q = pe_tensor_dense(r.memory, PE_F32, 4, shape);
	r.k = pe_tensor_dense(r.memory + n, PE_F32, 4, shape);
	r.v = pe_tensor_dense(r.memory + 2 * n, PE_F32, 4, shape);
	r.out = pe_tensor_dense(r.memory + 3 * n, PE_F32, 4, shape);
	return r;
}

static void release(struct ready *r)
{
	pe_encoding_destroy(&r->encoding);
	pe_domain_destroy(&r->domain);
	pe_context_destroy(&r->ctx);
	free(r->memory);
}

/* Seconds of a call; for several threads the time of the processors shows what sharing costs. */
static double attend(struct ready *r, const struct problem *p, clockid_t clock)
{
	pe_attention_options options = {
		.size = sizeof options, .causal = p->causal, .keep_far_tiles = p->keep_far};
	pe_attention_tensors tensors = {
		.size = sizeof tensors, .q = &r->q, .k = &r->k, .v = &r->v, .out = &r->out};
	double start = now(clock);
	check(r->ctx, pe_attend(r->ctx, &r->encoding, r->encoding ? 1 : 0, &options, &tensors));
	return now(clock) - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
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
	qsort(shares, (size_t)turns, sizeof *shares, by_value);
	printf("%6lld %4lld  %-10s %-7s best %5.1f %%  median %5.1f %%  of sgemm   %6.2f MB\n",
		(long long)p->length, (long long)p->width, p->encoder ? p->encoder : "none",
		p->causal ? "causal" : "", 100 * shares[turns - 1], 100 * shares[turns / 2], memory);
	release(&r);
}

/* Least time of a over least time of b, taken in turns. */
static double ratio(const struct problem *a, const struct problem *b, clockid_t clock)
{
	struct ready x = prepare(a), y = prepare(b);
	double least[2] = {1e9, 1e9};
	for (int turn = 0; turn < TURNS; turn++) {
		double s = attend(&x, a, clock), t = attend(&y, b, clock);
		least[0] = s < least[0] ? s : least[0];
		least[1] = t < least[1] ? t : least[1];
	}
	release(&x);
	release(&y);
	return least[0] / least[1];
}

static void lengths(int argc, char **argv)
{
	static const char *const encoders[] = {NULL, "alibi", "t5"};
	for (int i = 1; i < argc; i++)
		for (size_t e = 0; e < sizeof encoders / sizeof *encoders; e++)
			for (int causal = 0; causal < 2; causal++) {
				struct problem p = {atoll(argv[i]), 64, encoders[e], causal, 1, 1};
				if (!encoders[e] || pe_encoder_find(encoders[e]))
					share(&p);
			}
}

static void widths(void)
{
	static const int64_t list[] = {16, 17, 32, 40, 64, 72, 80, 96, 100, 128, 192, 256};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		share(&(struct problem){2048, list[i], "alibi", 0, 1, 1});
	for (int64_t length = 1023; length < 1060; length += 9)
		share(&(struct problem){length, 64, "alibi", 0, 1, 1});
}

static void far_tiles(void)
{
	for (int64_t length = 4096; length <= 16384; length *= 4) {
		struct problem all = {length, 64, "alibi", 0, 1, 1}, near = {length, 64, "alibi", 0, 0, 1};
		printf("%6lld   64  alibi, far tiles left out: %.2f of the time\n", (long long)length,
			ratio(&near, &all, CLOCK_PROCESS_CPUTIME_ID));
	}
}

static void threads(void)
{
	struct problem one = {4096, 64, "alibi", 0, 1, 1}, two = {4096, 64, "alibi", 0, 1, 2};
	printf("  4096   64  alibi, 2 threads: %.2f times as fast by the clock; processor time %.3f of one "
		   "thread's\n",
		ratio(&one, &two, CLOCK_MONOTONIC), ratio(&two, &one, CLOCK_PROCESS_CPUTIME_ID));
}

static void encoders(void)
{
	static const char *const list[] = {"rope", "shaw", "erpe", "fire", "kerple", "cope"};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (pe_encoder_find(list[i]))
			share(&(struct problem){1024, 64, list[i], 0, 1, 1});
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
