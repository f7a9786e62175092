/* SPDX-License-Identifier: BSD-2-Clause
 * What the fuzz targets of graph readers share. */
#ifndef FUZZ_GRAPHS_H
#define FUZZ_GRAPHS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define LARGEST ((size_t)64 << 20)
#define BUILT 65536 /* nodes of graphs that are built: what larger ones add is time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void *fuzz_allocate(void *opaque, size_t size, size_t alignment)
{
	(void)opaque;
	void *pointer;
	return size <= LARGEST && posix_memalign(&pointer, alignment, size) == 0 ? pointer : NULL;
}

static inline void fuzz_release(void *opaque, void *pointer)
{
	(void)opaque;
	free(pointer);
}

/* Blocks above 64 MiB are refused, so that what is found is found by the reader. */
static inline pe_context *fuzz_context(void)
{
	pe_context_options options = {.size = sizeof options, .allocator = {fuzz_allocate, fuzz_release, NULL}};
	pe_context *ctx;
	return pe_context_create(&options, &ctx) == PE_OK ? ctx : NULL;
}

/* Edges must be within their graph: pe_graph_build takes that for granted. */
static inline void fuzz_check_edges(const struct pe_raw_graphs *raw, const int32_t *u, const int32_t *v)
{
	for (int64_t g = 0; g < raw->graphs; g++) {
		int64_t nodes = raw->ptr ? raw->ptr[g + 1] - raw->ptr[g] : raw->nodes;
		int64_t end = raw->edge_ptr ? raw->edge_ptr[g + 1] : raw->rows;
		for (int64_t e = raw->edge_ptr ? raw->edge_ptr[g] : 0; e < end; e++)
			if (u[e] < 0 || u[e] >= nodes || v[e] < 0 || v[e] >= nodes)
				abort();
	}
}

/* Also those that are parsed when they are needed, where a failure is the input's. */
static inline pe_status fuzz_check_rows(pe_context *ctx, const struct pe_raw_graphs *raw)
{
	if (!raw->source) {
		fuzz_check_edges(raw, raw->u, raw->v);
		return PE_OK;
	}
	int32_t *u = malloc((size_t)raw->rows * sizeof *u + 1), *v = malloc((size_t)raw->rows * sizeof *v + 1);
	pe_status status = u && v ? raw->source->read(ctx, raw, 0, raw->graphs, u, v) : PE_ERR_NOMEM;
	if (status == PE_OK)
		fuzz_check_edges(raw, u, v);
	free(u);
	free(v);
	return status;
}

/* Builds what was read and frees it; a refusal must say why and name its source. */
static inline void fuzz_judge(pe_context *ctx, pe_status status, const char *source,
	struct pe_raw_graphs *raw, const struct pe_graph_policy *policy)
{
	pe_graph *graph = NULL;
	if (status == PE_OK) {
		status = fuzz_check_rows(ctx, raw);
		if (raw->nodes <= BUILT && raw->graphs <= BUILT &&
			pe_graph_build(ctx, raw, policy, &graph) == PE_OK) {
			if (status == PE_ERR_FORMAT)
				abort();
			pe_graph_destroy(&graph);
		}
		pe_raw_graphs_free(ctx, raw);
		if (status == PE_OK)
			return;
	}
	const char *message = pe_context_message(ctx);
	if (status != PE_ERR_NOMEM && strncmp(message, source, strlen(source)) != 0) {
		fprintf(stderr, "status %d, message \"%s\"\n", (int)status, message);
		abort();
	}
}

#endif
