/* SPDX-License-Identifier: BSD-2-Clause
 * What a bias inside windows of an image grid costs tiled attention, against the plain core in the same run,
 * taken in turns. Times are of the processor, the least of several turns, one thread, 8 heads.
 *
 *   bench_attention_grid                      all of the following but threads
 *   bench_attention_grid windows              64 windows of 7 x 7, 8 heads of 32, as in Swin
 *   bench_attention_grid grids                one grid of 14 x 14 and of 56 x 56, 8 heads of 64
 *   bench_attention_grid threads              two threads against one; wants a machine to itself
 *   bench_attention_grid time ENCODER|none BATCH HEIGHT WIDTH HEAD_DIM FRESH SHIFT   seconds of one call,
 * with binding if FRESH is 1, and a mask of shifted windows if SHIFT is not 0: a line for each line read, for
 * peer_torch_swin.py */
#define _XOPEN_SOURCE 700
#include "attention_problem.h"

struct grid {
	int64_t batch, height, width, head_dim;
	const char *encoder; /* NULL: none */
	int32_t threads;
	int fresh;
	int64_t shift; /* of the windows of a square picture, as Swin's odd layers have it; 0: no mask */
};

/* Which of the picture's three bands, along one axis, an element of a window comes from. */
static int band(int64_t window, int64_t place, int64_t windows, int64_t size, int64_t shift)
{
	return window < windows - 1 ? 0 : place < size - shift ? 1 : 2;
}

/* (windows, 1, length, length): -100 between elements that the shift brought together. */
static void make_mask(const struct grid *g, float *mask)
{
	int64_t side = 1, length = g->height * g->width;
	while (side * side < g->batch)
		side++;
	for (int64_t b = 0; b < g->batch; b++)
		for (int64_t i = 0; i < length * length; i++) {
			int bands[2];
			for (int e = 0; e < 2; e++) {
				int64_t token = e ? i % length : i / length;
				bands[e] = 3 * band(b / side, token / g->width, side, g->height, g->shift) +
					band(b % side, token % g->width, side, g->width, g->shift);
			}
			mask[b * length * length + i] = bands[0] == bands[1] ? 0.0f : -100.0f;
		}
}

static struct ready prepare_grid(const struct grid *g, struct problem *p)
{
	struct ready r = {NULL, NULL, NULL, {0}, {0}, {0}, {0}, {0}, NULL};
	pe_context_options options = {.size = sizeof options, .threads = g->threads};
	int64_t length = g->height * g->width, shape[] = {g->batch, HEADS, length, g->head_dim};
	int64_t n = g->batch * HEADS * length * g->head_dim, mask_shape[] = {g->batch, 1, length, length};
	*p = (struct problem){length, g->head_dim, g->encoder, 0, 0, g->threads, "heads=8", g->fresh};
	options.allocator = (pe_allocator){.allocate = count_allocate, .release = count_release};
	check(NULL, pe_context_create(&options, &r.ctx));
	check(r.ctx, pe_domain_grid(r.ctx, 1, g->height, g->width, 0, &r.domain));
	bind(&r, p);
	r.memory = numbers(4 * n + g->batch * length * length);
	r.q = pe_tensor_dense(r.memory, PE_F32, 4, shape);
	r.k = pe_tensor_dense(r.memory + n, PE_F32, 4, shape);
	r.v = pe_tensor_dense(r.memory + 2 * n, PE_F32, 4, shape);
	r.out = pe_tensor_dense(r.memory + 3 * n, PE_F32, 4, shape);
	if (g->shift) {
		r.mask = pe_tensor_dense(r.memory + 4 * n, PE_F32, 4, mask_shape);
		make_mask(g, r.memory + 4 * n);
	}
	return r;
}

/* Least times of both, in turns, so many calls each. */
static void compare(const struct grid *a, const struct grid *b, int calls, clockid_t clock, double least[2])
{
	struct problem problems[2];
	struct ready ready[2] = {prepare_grid(a, &problems[0]), prepare_grid(b, &problems[1])};
	least[0] = least[1] = 1e9;
	for (int turn = 0; turn < 3 * TURNS; turn++)
		for (int i = 0; i < 2; i++) {
			double seconds = 0;
			for (int call = 0; call < calls; call++)
				seconds += attend(&ready[i], &problems[i], clock) / calls;
			least[i] = seconds < least[i] ? seconds : least[i];
		}
	release(&ready[0]);
	release(&ready[1]);
}

static void against_none(int64_t batch, int64_t height, int64_t width, int64_t head_dim, int calls)
{
	static const char *const encoders[] = {"swin", "beit", "levit", "log_cpb", "crossformer"};
	for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++) {
		struct grid with = {batch, height, width, head_dim, encoders[i], 1, 0, 0}, plain = with;
		double least[2];
		plain.encoder = NULL;
		compare(&with, &plain, calls, CLOCK_PROCESS_CPUTIME_ID, least);
		double operations = 4e-9 * (double)(batch * HEADS * height * height * width * width * head_dim);
		printf("%3lld x %lld x %lld, heads of %lld  %-12s %8.3f ms, %6.1f GFlop/s; %5.2f x without\n",
			(long long)batch, (long long)height, (long long)width, (long long)head_dim, encoders[i],
			1e3 * least[0], operations / least[0], least[0] / least[1]);
	}
}

static void threads(void)
{
	struct grid one = {64, 7, 7, 32, "swin", 1, 0, 0}, two = {64, 7, 7, 32, "swin", 2, 0, 0};
	double least[2];
	compare(&one, &two, 8, CLOCK_MONOTONIC, least);
	printf("64 windows of 7 x 7, 2 threads: %.2f times as fast by the clock\n", least[0] / least[1]);
}

static void time_calls(char **argv)
{
	struct grid g = {atoll(argv[1]), atoll(argv[2]), atoll(argv[3]), atoll(argv[4]),
		strcmp(argv[0], "none") == 0 ? NULL : argv[0], 1, atoi(argv[5]), atoll(argv[6])};
	struct problem p;
	struct ready r = prepare_grid(&g, &p);
	attend_by_line(&r, &p);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 9 && strcmp(what, "time") == 0)
		time_calls(argv + 2);
	if (argc == 1 || strcmp(what, "windows") == 0)
		against_none(64, 7, 7, 32, 4);
	if (argc == 1 || strcmp(what, "grids") == 0) {
		against_none(1, 14, 14, 64, 8);
		against_none(1, 56, 56, 64, 1);
	}
	if (strcmp(what, "threads") == 0)
		threads();
	return 0;
}
