/* SPDX-License-Identifier: BSD-2-Clause
 * A step of decoding, one query a head against all keys, beside the time that reading keys and values once
 * takes, in the same run, in turns: nothing can be faster.
 *
 *   bench_attention_decode [THREADS [HEADS KEY_HEADS [KEYS ...]]]    1, 32, 32, 4096 and 16384; heads of 128
 *
 * The least of several turns: of one thread by the processor, of more by the clock, which want a machine to
 * themselves.
 * Encodings are bound in each step, as the length changes. */
#define _XOPEN_SOURCE 700
#include <pthread.h>

#include "attention_problem.h"

#define WIDTH 128
#define MOST_THREADS 8

struct step {
	int64_t heads, key_heads, keys;
	pe_dtype dtype;
	const char *encoder; /* NULL: none */
	int32_t threads;
};

static double now_of(int32_t threads)
{
	return now(threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- reading ------------------------------------------------------------------------------ */

struct piece {
	const uint64_t *from;
	int64_t count;
	uint64_t sum;
};

static void *read_piece(void *arg)
{
	struct piece *p = arg;
	uint64_t sum[8] = {0};
	for (int64_t i = 0; i + 8 <= p->count; i += 8)
		for (int u = 0; u < 8; u++)
			sum[u] += p->from[i + u];
	for (int u = 0; u < 8; u++)
		p->sum += sum[u];
	return NULL;
}

static double read_all(const void *memory, int64_t bytes, int32_t threads)
{
	pthread_t thread[MOST_THREADS];
	struct piece piece[MOST_THREADS];
	int64_t each = bytes / 8 / threads;
	double start = now_of(threads);
	for (int32_t i = 0; i < threads; i++) {
		piece[i] = (struct piece){(const uint64_t *)memory + i * each, each, 0};
		if (pthread_create(&thread[i], NULL, read_piece, &piece[i]) != 0)
			stop("no thread");
	}
	for (int32_t i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return now_of(threads) - start;
}

/* ---- a step -------------------------------------------------------------------------------- */

static struct ready prepare_step(const struct step *s, void *memory, float *query)
{
	struct ready r = {NULL, NULL, NULL, {0}, {0}, {0}, {0}, {0}, NULL};
	pe_context_options options = {.size = sizeof options, .threads = s->threads};
	int64_t q[] = {1, s->heads, 1, WIDTH}, k[] = {1, s->key_heads, s->keys, WIDTH};
	int64_t n = s->key_heads * s->keys * WIDTH, size = s->dtype == PE_F32 ? 4 : 2;
	check(NULL, pe_context_create(&options, &r.ctx));
	r.q = pe_tensor_dense(query, PE_F32, 4, q);
	r.out = pe_tensor_dense(query + s->heads * WIDTH, PE_F32, 4, q);
	r.k = pe_tensor_dense(memory, s->dtype, 4, k);
	r.v = pe_tensor_dense((char *)memory + n * size, s->dtype, 4, k);
	return r;
}

static double run_step(struct ready *r, const struct step *s)
{
	char heads[32];
	pe_attention_options options = {.size = sizeof options, .causal = 1};
	pe_attention_tensors tensors = {
		.size = sizeof tensors, .q = &r->q, .k = &r->k, .v = &r->v, .out = &r->out};
	pe_domain *keys = NULL, *query = NULL;
	pe_params *params = NULL;
	double start = now_of(s->threads);
	snprintf(heads, sizeof heads, "heads=%lld", (long long)s->heads);
	if (s->encoder) {
		check(r->ctx, pe_domain_sequence(r->ctx, s->keys, 0, &keys));
		check(r->ctx, pe_domain_tail(r->ctx, keys, 1, &query));
		check(r->ctx, pe_params_create(r->ctx, s->encoder, &params));
		set_options(r->ctx, params, heads);
		pe_encoding_options bound = {.size = sizeof bound, .queries = query};
		check(r->ctx,
			pe_encoding_create(r->ctx, pe_encoder_find(s->encoder), params, keys, &bound, &r->encoding));
	}
	check(r->ctx, pe_attend(r->ctx, &r->encoding, r->encoding ? 1 : 0, &options, &tensors));
	pe_encoding_destroy(&r->encoding);
	pe_params_destroy(&params);
	pe_domain_destroy(&keys);
	pe_domain_destroy(&query);
	return now_of(s->threads) - start;
}

static void measure(const struct step *s, void *memory)
{
	float *query = numbers(2 * s->heads * WIDTH);
	struct ready r = prepare_step(s, memory, query);
	int64_t bytes = 2 * s->key_heads * s->keys * WIDTH * (s->dtype == PE_F32 ? 4 : 2);
	double least[2] = {1e9, 1e9};
	for (int turn = 0; turn < 2 * TURNS; turn++) {
		keep_least(&least[0], read_all(memory, bytes, s->threads));
		keep_least(&least[1], run_step(&r, s));
	}
	printf("%2d threads  %2lld/%2lld heads  %6lld keys  %-4s  %-6s %9.3f ms, %5.1f GB/s; reading alone %9.3f "
		   "ms; %5.2f x\n",
		(int)s->threads, (long long)s->heads, (long long)s->key_heads, (long long)s->keys,
		s->dtype == PE_F32 ? "f32" : "bf16", s->encoder ? s->encoder : "none", 1e3 * least[1],
		1e-9 * (double)bytes / least[1], 1e3 * least[0], least[1] / least[0]);
	release(&r);
	free(query);
}

/* In place. */
static void halve(float *memory, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t bits;
		memcpy(&bits, memory + i, sizeof bits);
		uint16_t half = (uint16_t)(bits >> 16);
		memcpy((char *)memory + 2 * i, &half, sizeof half);
	}
}

int main(int argc, char **argv)
{
	static char *usual[] = {"4096", "16384"};
	struct step s = {.threads = argc > 1 ? atoi(argv[1]) : 1, .heads = 32, .key_heads = 32};
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 3) {
		s.heads = atoll(argv[2]);
		s.key_heads = atoll(argv[3]);
	}
	if (s.threads < 1 || s.threads > MOST_THREADS)
		stop("1 to 8 threads");
	for (int i = 0; i < (argc > 4 ? argc - 4 : 2); i++) {
		s.keys = atoll(argc > 4 ? argv[4 + i] : usual[i]);
		float *memory = numbers(2 * s.key_heads * s.keys * WIDTH);
		for (int narrow = 0; narrow < 2; narrow++) {
			if (narrow)
				halve(memory, 2 * s.key_heads * s.keys * WIDTH);
			for (int with = 0; with < 2; with++) {
				s.dtype = narrow ? PE_BF16 : PE_F32;
				s.encoder = with ? "alibi" : NULL;
				measure(&s, memory);
			}
		}
		free(memory);
	}
	return 0;
}
