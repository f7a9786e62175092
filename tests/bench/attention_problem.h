/* SPDX-License-Identifier: BSD-2-Clause
 * What the benches of attention share: problems of random numbers, calls with the time they take, and how
 * much memory the library holds at most. */
#ifndef ATTENTION_PROBLEM_H
#define ATTENTION_PROBLEM_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "count_memory.h"
#include "measure.h"
#include "posenc.h"

#define HEADS 8
#define TURNS 5

static float *numbers(int64_t n)
{
	float *out = get_memory((size_t)n * sizeof *out);
	uint32_t state = 1;
	for (int64_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		out[i] = (float)(state >> 8) / (float)(1 << 23) - 1.0f;
	}
	return out;
}

struct problem {
	int64_t length, width;
	const char *encoder; /* NULL: none */
	int causal, keep_far;
	int32_t threads;
	const char *set; /* options of the encoder, name=value and so on; or NULL */
	int fresh;       /* whether the encoding is bound in every call */
};

struct ready {
	pe_context *ctx;
	pe_domain *domain;
	pe_encoding *encoding;
	pe_tensor q, k, v, out, mask; /* mask.data NULL: none */
	float *memory;
};

static void set_options(pe_context *ctx, pe_params *params, const char *set)
{
	char all[128], *rest = NULL;
	snprintf(all, sizeof all, "%s", set ? set : "");
	for (char *name = strtok_r(all, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(name, '=');
		if (!value)
			stop("an option is name=value");
		*value++ = '\0';
		check(ctx, pe_params_set(params, name, value));
	}
}

static void bind(struct ready *r, const struct problem *p)
{
	pe_params *params;
	if (!p->encoder)
		return;
	check(r->ctx, pe_params_create(r->ctx, p->encoder, &params));
	set_options(r->ctx, params, p->set);
	check(r->ctx,
		pe_encoding_create(r->ctx, pe_encoder_find(p->encoder), params, r->domain, NULL, &r->encoding));
	pe_params_destroy(&params);
}

static inline struct ready prepare(const struct problem *p)
{
	struct ready r = {NULL, NULL, NULL, {0}, {0}, {0}, {0}, {0}, NULL};
	pe_context_options options = {.size = sizeof options, .threads = p->threads};
	options.allocator = (pe_allocator){.allocate = count_allocate, .release = count_release};
	int64_t shape[] = {1, HEADS, p->length, p->width}, n = HEADS * p->length * p->width;
	check(NULL, pe_context_create(&options, &r.ctx));
	check(r.ctx, pe_domain_sequence(r.ctx, p->length, 0, &r.domain));
	bind(&r, p);
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
	tensors.mask = r->mask.data ? &r->mask : NULL;
	double start = now(clock);
	if (p->fresh) {
		pe_encoding_destroy(&r->encoding);
		bind(r, p);
	}
	check(r->ctx, pe_attend(r->ctx, &r->encoding, r->encoding ? 1 : 0, &options, &tensors));
	return now(clock) - start;
}

/* A call for each line of input, with its seconds, so that another program can take turns. */
static inline void attend_by_line(struct ready *r, const struct problem *p)
{
	while (getchar() != EOF) {
		printf("%.9f\n", attend(r, p, CLOCK_PROCESS_CPUTIME_ID));
		fflush(stdout);
	}
	release(r);
}

/* Least time of a over least time of b, taken in turns. */
static inline double ratio(const struct problem *a, const struct problem *b, clockid_t clock)
{
	struct ready x = prepare(a), y = prepare(b);
	double least[2] = {1e9, 1e9};
	for (int turn = 0; turn < TURNS; turn++) {
		double s = attend(&x, a, clock), t = attend(&y, b, clock);
		keep_least(&least[0], s);
		keep_least(&least[1], t);
	}
	release(&x);
	release(&y);
	return least[0] / least[1];
}

#endif
