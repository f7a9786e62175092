/* SPDX-License-Identifier: BSD-2-Clause */
#include "lap_block.h"

pe_status pe_lap_block_open(pe_context *ctx, struct pe_lap_block *block, int64_t bytes)
{
	block->count = 0;
	PE_TRY(pe_grow(ctx, &block->memory, &block->memory_capacity, 0, bytes, 1));
	block->next = block->memory;
	return PE_OK;
}

pe_status pe_lap_block_add(pe_context *ctx, struct pe_lap_block *block, const struct pe_lap_options *options,
	const pe_graph *graph, int64_t g)
{
	struct pe_lap_task *task = &block->tasks[block->count];
	struct pe_csr view = pe_graph_view(graph, g);
	task->graph = g;
	PE_TRY(pe_lap_begin(ctx, options, &view, &block->next, task));
	block->count++;
	return PE_OK;
}

pe_status pe_lap_block_solve(
	pe_context *ctx, struct pe_lap_block *block, const struct pe_lap_options *options)
{
	(void)ctx;
	(void)block;
	(void)options;
	return PE_OK;
}

void pe_lap_block_close(pe_context *ctx, struct pe_lap_block *block)
{
	for (int64_t i = 0; i < block->count; i++)
		pe_lap_forget(ctx, &block->tasks[i]);
	block->count = 0;
}

void pe_lap_block_free(pe_context *ctx, struct pe_lap_block *block)
{
	pe_lap_block_close(ctx, block);
	pe_free(ctx, block->problems);
	pe_free(ctx, block->results);
	pe_free(ctx, block->memory);
}
