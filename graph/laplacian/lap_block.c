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

/* Pairs wanted of a component in lanes: a function of the options alone, so that a graph has the same
 * bits in any company. Of a graph in several components it may be a few too many. */
static int32_t wanted_in_lanes(const struct pe_lap_options *options)
{
	return options->zero == PE_LAP_KEEP ? options->k - 1 : options->k;
}

static bool fits(const struct pe_laplacian *l, int32_t c)
{
	int32_t n = pe_laplacian_size(l, c);
	return n > 1 && n <= PE_LANES_MAX_N && !l->negative;
}

static int64_t count_small(const struct pe_lap_block *block)
{
	int64_t count = 0;
	for (int64_t i = 0; i < block->count; i++)
		for (int32_t c = 0; c < block->tasks[i].laplacian.components; c++)
			count += fits(&block->tasks[i].laplacian, c);
	return count;
}

static struct pe_lap_solution borrow(const struct pe_lanes_result *r)
{
	return (struct pe_lap_solution){
		.count = r->count,
		.vector_step = 1,
		.entry_step = r->stride,
		.values = r->values,
		.vectors = r->vectors,
		.residual = r->residual,
		.orthogonality = r->orthogonality,
		.complete = r->complete,
		.converged = true,
		.certified = true,
		.in_lanes = true,
	};
}

pe_status pe_lap_block_solve(
	pe_context *ctx, struct pe_lap_block *block, const struct pe_lap_options *options)
{
	int64_t count = count_small(block), at = 0;
	int32_t wanted = wanted_in_lanes(options);
	if (count == 0 || wanted < 1 || options->engine != PE_LAP_AUTO)
		return PE_OK;
	PE_TRY(pe_grow(ctx, &block->problems, &block->problem_capacity, 0, count, sizeof *block->problems));
	PE_TRY(pe_grow(ctx, &block->results, &block->result_capacity, 0, count, sizeof *block->results));
	if (!block->lanes)
		PE_TRY(pe_lanes_create(ctx, &block->lanes));
	for (int64_t i = 0; i < block->count; i++)
		for (int32_t c = 0; c < block->tasks[i].laplacian.components; c++)
			if (fits(&block->tasks[i].laplacian, c))
				block->problems[at++] = pe_laplacian_problem(&block->tasks[i].laplacian, c);
	struct pe_eigen_request request = pe_lap_request(options, PE_LANES_MAX_N, wanted);
	PE_TRY(pe_eigen_lanes(ctx, block->lanes, block->problems, count, &request, block->results));
	at = 0;
	for (int64_t i = 0; i < block->count; i++)
		for (int32_t c = 0; c < block->tasks[i].laplacian.components; c++)
			if (fits(&block->tasks[i].laplacian, c) && block->results[at++].ok)
				block->tasks[i].solutions[c] = borrow(&block->results[at - 1]);
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
	pe_lanes_destroy(ctx, &block->lanes);
	pe_free(ctx, block->problems);
	pe_free(ctx, block->results);
	pe_free(ctx, block->memory);
}
