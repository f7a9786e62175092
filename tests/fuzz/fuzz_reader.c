/* SPDX-License-Identifier: BSD-2-Clause
 * libFuzzer target of one graph reader, named by -DREADER=pe_reader_gml: reads, builds the graph, and checks
 * that a refusal says why. Blocks above 64 MiB are refused, so that what is found is found by the reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define LARGEST ((size_t)64 << 20)
#define BUILT 65536 /* nodes of graphs that are built: what larger ones add is time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *allocate(void *opaque, size_t size, size_t alignment)
{
	(void)opaque;
	void *pointer;
	return size <= LARGEST && posix_memalign(&pointer, alignment, size) == 0 ? pointer : NULL;
}

static void release(void *opaque, void *pointer)
{
	(void)opaque;
	free(pointer);
}

/* Edges must be within their graph: pe_graph_build takes that for granted. */
static void check_rows(const struct pe_raw_graphs *raw)
{
	for (int64_t g = 0; g < raw->graphs; g++) {
		int64_t nodes = raw->ptr ? raw->ptr[g + 1] - raw->ptr[g] : raw->nodes;
		int64_t end = raw->edge_ptr ? raw->edge_ptr[g + 1] : raw->rows;
		for (int64_t e = raw->edge_ptr ? raw->edge_ptr[g] : 0; e < end; e++)
			if (raw->u[e] < 0 || raw->u[e] >= nodes || raw->v[e] < 0 || raw->v[e] >= nodes)
				abort();
	}
}

static void check_message(const pe_context *ctx, pe_status status)
{
	const char *message = pe_context_message(ctx);
	if (status != PE_ERR_NOMEM && strncmp(message, "fuzz:", 5) != 0) {
		fprintf(stderr, "status %d, message \"%s\"\n", (int)status, message);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pe_context_options options = {.size = sizeof options, .allocator = {allocate, release, NULL}};
	pe_context *ctx;
	if (pe_context_create(&options, &ctx) != PE_OK)
		return 0;
	struct pe_source source = {(const char *)data, size, "fuzz"};
	/* The policies take turns. */
	struct pe_graph_policy policy = {
		.edges = (enum pe_direction)(size % 3), .weight_column = -(int32_t)(size % 2)};
	struct pe_raw_graphs raw;
	pe_graph *graph = NULL;
	if (READER.recognise)
		(void)READER.recognise(&source);
	if (READER.plausible)
		(void)READER.plausible(&source);
	pe_status status = READER.read(ctx, &source, &policy, &raw);
	if (status == PE_OK) {
		check_rows(&raw);
		if (raw.nodes <= BUILT && raw.graphs <= BUILT && pe_graph_build(ctx, &raw, &policy, &graph) == PE_OK)
			pe_graph_destroy(&graph);
		pe_raw_graphs_free(ctx, &raw);
	} else {
		check_message(ctx, status);
	}
	pe_context_destroy(&ctx);
	return 0;
}
