/* SPDX-License-Identifier: BSD-2-Clause
 * libFuzzer target of the option tables: the bytes are NAME:key=value,key=value… as after --with. What
 * is taken encodes a small input twice to the same bytes; what is refused says why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"

#define LARGEST 4096     /* bytes of a text */
#define ENOUGH (1 << 20) /* bytes of outputs: an option that asks for more is not followed */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds, const char *what, const pe_context *ctx)
{
	if (holds)
		return;
	fprintf(stderr, "%s; message \"%s\"\n", what, pe_context_message(ctx));
	abort();
}

/* A ring of five with a tail, a path of two, and a node alone. */
static pe_status make_graph(pe_context *ctx, pe_graph **out)
{
	int64_t edges[2][7] = {{0, 1, 2, 3, 4, 2, 6}, {1, 2, 3, 4, 0, 5, 7}}, ptr[] = {0, 6, 9};
	const int64_t shape[] = {2, 7}, count = 3;
	pe_tensor index = pe_tensor_dense(edges, PE_I64, 2, shape),
			  offsets = pe_tensor_dense(ptr, PE_I64, 1, &count);
	return pe_graph_from_arrays(ctx, &index, NULL, &offsets, 9, NULL, out);
}

static pe_status make_domain(pe_context *ctx, const pe_encoder *encoder, pe_graph **graph, pe_domain **out)
{
	switch (pe_encoder_family(encoder)) {
	case PE_SEQ:
		return pe_domain_sequence(ctx, 7, -2.5, out);
	case PE_VISION:
		return pe_domain_grid(ctx, 1, 3, 5, 1, out);
	default: {
		pe_status status = make_graph(ctx, graph);
		return status == PE_OK ? pe_domain_graph(ctx, *graph, out) : status;
	}
	}
}

static void set_options(pe_context *ctx, pe_params *params, char *text)
{
	char *rest = text;
	for (char *word; (word = strtok_r(rest, ",", &rest));) {
		char *value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (pe_params_set(params, word, value) != PE_OK)
			require(strlen(pe_context_message(ctx)) > 5, "an option is refused without a word", ctx);
	}
}

static int64_t allocate(const pe_encoding *e, pe_tensor *outs)
{
	int64_t total = 0, count = pe_encoding_array_count(e);
	for (int64_t i = 0; i < count; i++) {
		pe_array_info info;
		if (pe_encoding_array(e, i, &info) != PE_OK)
			abort();
		outs[i] = pe_tensor_dense(NULL, info.dtype, info.ndim, info.shape);
		int64_t bytes = pe_tensor_bytes(&outs[i]);
		total += bytes < 0 || bytes > ENOUGH ? ENOUGH + 1 : bytes;
	}
	for (int64_t i = 0; i < count && total <= ENOUGH; i++)
		outs[i].data = calloc((size_t)pe_tensor_bytes(&outs[i]) + 1, 1);
	return total;
}

static void compute_twice(pe_context *ctx, pe_encoding *e)
{
	pe_tensor first[PE_MAX_ARRAYS], second[PE_MAX_ARRAYS];
	int64_t count = pe_encoding_array_count(e);
	if (allocate(e, first) <= ENOUGH && allocate(e, second) <= ENOUGH) {
		pe_status a = pe_encoding_compute(e, first, count), b = pe_encoding_compute(e, second, count);
		require(a == b, "the same call ends in two ways", ctx);
		require(a == PE_OK || strlen(pe_context_message(ctx)) > 5, "a failure without a word", ctx);
		require(a != PE_ERR_INTERNAL, "an internal error", ctx);
		for (int64_t i = 0; i < count; i++)
			require(memcmp(first[i].data, second[i].data, (size_t)pe_tensor_bytes(&first[i])) == 0,
				"the same call gives two results", ctx);
		for (int64_t i = 0; i < count; i++)
			free(second[i].data);
	}
	for (int64_t i = 0; i < count; i++)
		free(first[i].data);
}

static void try_options(pe_context *ctx, char *text)
{
	pe_params *params;
	pe_graph *graph = NULL;
	pe_domain *domain;
	pe_encoding *e;
	char *options = strchr(text, ':');
	if (options)
		*options++ = '\0';
	const pe_encoder *encoder = pe_encoder_find(text);
	if (!encoder)
		return;
	require(pe_params_create(ctx, text, &params) == PE_OK, "no default parameters", ctx);
	if (options)
		set_options(ctx, params, options);
	require(make_domain(ctx, encoder, &graph, &domain) == PE_OK, "no domain", ctx);
	pe_status status = pe_encoding_create(ctx, encoder, params, domain, NULL, &e);
	if (status == PE_OK)
		compute_twice(ctx, e);
	else
		require(strlen(pe_context_message(ctx)) > 5, "refused without a word", ctx);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_graph_destroy(&graph);
	pe_params_destroy(&params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pe_context *ctx;
	if (size > LARGEST || pe_context_create(NULL, &ctx) != PE_OK)
		return 0;
	char *text = calloc(size + 1, 1);
	if (text) {
		memcpy(text, data, size);
		try_options(ctx, text);
	}
	free(text);
	pe_context_destroy(&ctx);
	return 0;
}
