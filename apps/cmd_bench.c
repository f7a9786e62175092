/* SPDX-License-Identifier: BSD-2-Clause
 * posenc bench [NAME…]: encoders against a yardstick in the same run, in turns: copying the bytes
 * they write (sequences and grids), or LAPACK's dsyevd on matrices of the same sizes (graphs). */
#include <lapack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Of OpenBLAS, if that is the BLAS: of more threads than one, matrices of this size are the worse for it. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

enum { ROUNDS = 5, DEFAULT_SIZES = 3 };

struct bench {
	struct cli *cli;
	const pe_encoder *encoder;
	int64_t size; /* tokens, side of a grid, or nodes a graph */
	int64_t graphs;
	pe_graph *graph;
	pe_domain *domain;
	pe_encoding *encoding;
	pe_tensor tensors[PE_MAX_ARRAYS];
	int64_t bytes; /* of all outputs */
	char *copy;    /* where the yardstick copies to */
	double *matrix, *scratch, *values, *work;
	lapack_int *int_work, work_size, int_work_size;
};

/* ---- graphs to work on -------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Rings of n nodes, each with n / 8 chords: sparse and connected, as molecules are. */
static pe_status make_graphs(struct bench *b)
{
	int64_t chords = b->size / 8, per_graph = b->size + chords, edges = b->graphs * per_graph;
	int64_t *index = get_memory((size_t)(2 * edges), sizeof *index);
	int64_t *ptr = get_memory((size_t)b->graphs + 1, sizeof *ptr);
	uint32_t random = 2463534242u;
	for (int64_t g = 0; g < b->graphs; g++) {
		ptr[g + 1] = ptr[g] + b->size;
		for (int64_t i = 0; i < per_graph; i++) {
			int64_t u = i < b->size ? i : next_random(&random) % b->size;
			int64_t v =
				i < b->size ? (i + 1) % b->size : (u + 2 + next_random(&random) % (b->size - 2)) % b->size;
			index[g * per_graph + i] = ptr[g] + u;
			index[edges + g * per_graph + i] = ptr[g] + v;
		}
	}
	pe_tensor edge_index = pe_tensor_dense(index, PE_I64, 2, (int64_t[]){2, edges});
	pe_tensor offsets = pe_tensor_dense(ptr, PE_I64, 1, (int64_t[]){b->graphs + 1});
	pe_status status = pe_graph_from_arrays(
		b->cli->ctx, &edge_index, NULL, &offsets, ptr[b->graphs], b->cli->graph, &b->graph);
	free(index);
	free(ptr);
	return status;
}

/* ---- the two things timed ----------------------------------------------------------- */

static pe_status time_encoder(struct bench *b, double *seconds)
{
	double start = seconds_now();
	pe_status status = pe_encoding_compute(b->encoding, b->tensors, pe_encoding_array_count(b->encoding));
	*seconds = seconds_now() - start;
	return status;
}

static double time_copy(struct bench *b)
{
	double start = seconds_now();
	int64_t at = 0;
	for (int64_t i = 0; i < pe_encoding_array_count(b->encoding); i++) {
		int64_t bytes = pe_tensor_bytes(&b->tensors[i]);
		memcpy(b->copy + at, b->tensors[i].data, (size_t)bytes);
		at += bytes;
	}
	return seconds_now() - start;
}

static double time_dsyevd(struct bench *b)
{
	lapack_int n = (lapack_int)b->size, info;
	double start = seconds_now();
	for (int64_t g = 0; g < b->graphs; g++) {
		memcpy(b->scratch, b->matrix, (size_t)n * (size_t)n * sizeof *b->matrix);
		LAPACK_dsyevd("V", "L", &n, b->scratch, &n, b->values, b->work, &b->work_size, b->int_work,
			&b->int_work_size, &info);
		if (info != 0)
			return NAN;
	}
	return seconds_now() - start;
}

static void fill_matrix(struct bench *b)
{
	uint32_t random = 88172645u;
	size_t n = (size_t)b->size;
	b->matrix = get_memory(n * n, sizeof *b->matrix);
	b->scratch = get_memory(n * n, sizeof *b->scratch);
	b->values = get_memory(n, sizeof *b->values);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++)
			b->matrix[i * n + j] = b->matrix[j * n + i] = (double)next_random(&random) / UINT32_MAX;
	/* What dsyevd asks for, see its documentation. */
	b->work_size = (lapack_int)(1 + 6 * n + 2 * n * n);
	b->int_work_size = (lapack_int)(3 + 5 * n);
	b->work = get_memory((size_t)b->work_size, sizeof *b->work);
	b->int_work = get_memory((size_t)b->int_work_size, sizeof *b->int_work);
}

/* ---- one row ------------------------------------------------------------------------ */

static pe_status make_domain(struct bench *b)
{
	switch (pe_encoder_family(b->encoder)) {
	case PE_SEQ:
		return pe_domain_sequence(b->cli->ctx, b->size, 0, &b->domain);
	case PE_VISION:
		return pe_domain_grid(b->cli->ctx, 1, b->size, b->size, 0, &b->domain);
	default:
		TRY(make_graphs(b));
		return pe_domain_graph(b->cli->ctx, b->graph, &b->domain);
	}
}

static pe_status set_up(struct bench *b)
{
	TRY(make_domain(b));
	TRY(pe_encoding_create(b->cli->ctx, b->encoder, NULL, b->domain, NULL, &b->encoding));
	for (int64_t i = 0; i < pe_encoding_array_count(b->encoding); i++) {
		pe_array_info info;
		TRY(pe_encoding_array(b->encoding, i, &info));
		b->tensors[i] =
			pe_tensor_dense(NULL, info.dtype == PE_F64 ? PE_F32 : info.dtype, info.ndim, info.shape);
		int64_t bytes = pe_tensor_bytes(&b->tensors[i]);
		b->tensors[i].data = get_memory((size_t)bytes, 1);
		b->bytes += bytes;
	}
	b->copy = get_memory((size_t)b->bytes, 1);
	if (b->graph)
		fill_matrix(b);
	return PE_OK;
}

static void tear_down(struct bench *b)
{
	for (int64_t i = 0; i < pe_encoding_array_count(b->encoding); i++)
		free(b->tensors[i].data);
	pe_encoding_destroy(&b->encoding);
	pe_domain_destroy(&b->domain);
	pe_graph_destroy(&b->graph);
	free(b->copy);
	free(b->matrix);
	free(b->scratch);
	free(b->work);
	free(b->int_work);
	free(b->values);
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void print_row(struct bench *b, double *ours, double *theirs)
{
	double ratios[ROUNDS];
	for (int r = 0; r < ROUNDS; r++)
		ratios[r] = ours[r] / theirs[r];
	qsort(ratios, ROUNDS, sizeof *ratios, compare_doubles);
	qsort(ours, ROUNDS, sizeof *ours, compare_doubles);
	qsort(theirs, ROUNDS, sizeof *theirs, compare_doubles);
	char size[64];
	if (b->graph)
		snprintf(size, sizeof size, "%lld x %lld nodes", (long long)b->graphs, (long long)b->size);
	else
		snprintf(size, sizeof size, pe_encoder_family(b->encoder) == PE_SEQ ? "%lld tokens" : "%lld^2 tokens",
			(long long)b->size);
	printf("%-14s %-20s %10.3f ms   %-7s %10.3f ms   ratio %.3f (%.3f to %.3f)\n",
		pe_encoder_name(b->encoder), size, 1e3 * ours[ROUNDS / 2], b->graph ? "dsyevd" : "memcpy",
		1e3 * theirs[ROUNDS / 2], ratios[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1]);
}

static int bench_one(struct cli *cli, const pe_encoder *encoder, int64_t size)
{
	struct bench b = {.cli = cli, .encoder = encoder, .size = size};
	double ours[ROUNDS], theirs[ROUNDS];
	b.graphs = 1 + 200000 / (size * size);
	pe_status status = set_up(&b);
	for (int r = -1; r < ROUNDS && status == PE_OK; r++) { /* the first round warms up */
		double *a = &ours[r < 0 ? 0 : r], *y = &theirs[r < 0 ? 0 : r];
		status = time_encoder(&b, a);
		*y = b.graph ? time_dsyevd(&b) : time_copy(&b);
	}
	if (status == PE_OK)
		print_row(&b, ours, theirs);
	int code = status == PE_OK ? EXIT_DONE : report_status(cli, status);
	tear_down(&b);
	return code;
}

/* ---- the command -------------------------------------------------------------------- */

static int bench_encoder(struct cli *cli, const pe_encoder *encoder)
{
	static const int64_t usual[][DEFAULT_SIZES] = {
		[PE_SEQ] = {512, 4096, 32768}, [PE_VISION] = {14, 64, 128}, [PE_GRAPH] = {16, 32, 128}};
	const char *sizes = cli_get(cli, "sizes");
	int code = EXIT_DONE;
	for (int i = 0; i < DEFAULT_SIZES && !sizes && code == EXIT_DONE; i++)
		code = bench_one(cli, encoder, usual[pe_encoder_family(encoder)][i]);
	while (sizes && *sizes && code == EXIT_DONE) {
		char *end;
		long long size = strtoll(sizes, &end, 10);
		if (end == sizes || size < 4 || size > 1 << 20 || (*end && *end != '/'))
			return usage_error(cli, "--sizes: \"%s\" is not a list, written 16/64, of sizes from 4", sizes);
		code = bench_one(cli, encoder, size);
		sizes = *end ? end + 1 : end;
	}
	return code;
}

static int run_bench(struct cli *cli)
{
	int code = EXIT_DONE;
	if (openblas_set_num_threads)
		openblas_set_num_threads(1);
	cli->quiet = true; /* the graphs made here are nobody's input */
	for (int i = 0; i < cli->operand_count && code == EXIT_DONE; i++) {
		const pe_encoder *encoder = pe_encoder_find(cli->operands[i]);
		if (!encoder)
			return usage_error(cli, "there is no encoder \"%s\"", cli->operands[i]);
		code = bench_encoder(cli, encoder);
	}
	for (int64_t i = 0; i < pe_encoder_count() && !cli->operand_count && code == EXIT_DONE; i++)
		code = bench_encoder(cli, pe_encoder_at(i));
	return code;
}

static const struct cli_option options[] = {
	{"sizes", 0, "A/B/...", "tokens of a sequence, side of a grid, or nodes of a graph"},
};

const struct command command_bench = {
	.name = "bench",
	.usage = "bench [ENCODER...] [--sizes A/B/...]",
	.summary = "time encoders against copying their output, or against LAPACK's dsyevd",
	.details = "Both are run in turns; the ratio is the median of the rounds, with its range.\n"
			   "The yardstick has one thread: say --threads 1 to compare thread with thread.\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.takes_graph_options = true,
	.run = run_bench,
};
