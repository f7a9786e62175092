/* SPDX-License-Identifier: BSD-2-Clause
 * Tables of positions in single precision beside memset of the same bytes, alternately, in one thread: axial
 * and rope2d for 64 x 64 tokens of 1024 numbers (16 MB) and for 128 x 128 (64 MB), sinusoidal for 8192 tokens
 * of 1024.
 *
 *   bench_tables [TURNS] [NAME...]
 *
 * Figures in brackets are of pe_encoding_compute alone, the others of the creation too. Times are CPU
 * times, the least of several turns (25). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "posenc.h"

enum { WIDTH = 1024 };

static void set_options(pe_context *ctx, pe_params *params, const char *const options[2][2])
{
	for (int i = 0; i < 2 && options[i][0]; i++)
		check(ctx, pe_params_set(params, options[i][0], options[i][1]));
}

/* The arrays lie in one block of memory. */
static void measure(
	pe_context *ctx, const char *name, const char *const options[2][2], const pe_domain *domain, int turns)
{
	double whole = 1e9, computed = 1e9, set = 1e9;
	size_t size = (size_t)pe_domain_tokens(domain) * WIDTH * sizeof(float);
	char *out = get_memory(size);
	pe_params *params;
	check(ctx, pe_params_create(ctx, name, &params));
	set_options(ctx, params, options);
	for (int turn = 0; turn < turns; turn++) {
		pe_encoding *e;
		pe_tensor tensors[PE_MAX_ARRAYS];
		double start = now(CLOCK_THREAD_CPUTIME_ID);
		memset(out, turn, size);
		keep_least(&set, now(CLOCK_THREAD_CPUTIME_ID) - start);
		start = now(CLOCK_THREAD_CPUTIME_ID);
		check(ctx, pe_encoding_create(ctx, pe_encoder_find(name), params, domain, NULL, &e));
		double bound = now(CLOCK_THREAD_CPUTIME_ID);
		char *at = out;
		for (int64_t i = 0; i < pe_encoding_array_count(e); i++) {
			pe_array_info info;
			check(ctx, pe_encoding_array(e, i, &info));
			tensors[i] = pe_tensor_dense(at, PE_F32, info.ndim, info.shape);
			at += pe_tensor_bytes(&tensors[i]);
		}
		check(ctx, pe_encoding_compute(e, tensors, pe_encoding_array_count(e)));
		keep_least(&computed, now(CLOCK_THREAD_CPUTIME_ID) - bound);
		keep_least(&whole, now(CLOCK_THREAD_CPUTIME_ID) - start);
		pe_encoding_destroy(&e);
	}
	printf(
		"%-10s %-11s %6lld tokens: %.2f ms (%.2f computing), memset %.2f ms: %.0f %% of its bandwidth (%.0f "
		"%%)\n",
		name, options[1][0] ? options[1][1] : "", (long long)pe_domain_tokens(domain), whole * 1e3,
		computed * 1e3, set * 1e3, set / whole * 100, set / computed * 100);
	pe_params_destroy(&params);
	free(out);
}

static const struct {
	const char *name, *options[2][2];
	int64_t side; /* of a grid; 0: a sequence */
} cases[] = {
	{"axial", {{"dim", "1024"}}, 64},
	{"axial", {{"dim", "1024"}, {"layout", "interleaved"}}, 64},
	{"axial", {{"dim", "1024"}}, 128},
	{"rope2d", {{"head_dim", "1024"}}, 64},
	{"rope2d", {{"head_dim", "1024"}, {"preset", "dinov3"}}, 64},
	{"rope2d", {{"head_dim", "1024"}}, 128},
	{"sinusoidal", {{"dim", "1024"}}, 0},
	{"sinusoidal", {{"dim", "1024"}, {"layout", "halves"}}, 0},
};

static int is_wanted(const char *name, int argc, char **argv)
{
	int wanted = argc <= 2;
	for (int i = 2; i < argc; i++)
		wanted |= strcmp(argv[i], name) == 0;
	return wanted;
}

int main(int argc, char **argv)
{
	pe_context_options options = {.size = sizeof options, .threads = 1};
	pe_context *ctx;
	int turns = argc > 1 ? atoi(argv[1]) : 25;
	if (pe_context_create(&options, &ctx) != PE_OK)
		return 1;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		pe_domain *domain;
		int64_t side = cases[i].side;
		if (!is_wanted(cases[i].name, argc, argv))
			continue;
		check(ctx,
			side ? pe_domain_grid(ctx, 1, side, side, 0, &domain)
				 : pe_domain_sequence(ctx, 8192, 0, &domain));
		measure(ctx, cases[i].name, cases[i].options, domain, turns);
		pe_domain_destroy(&domain);
	}
	pe_context_destroy(&ctx);
	return 0;
}
