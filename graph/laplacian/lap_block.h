/* SPDX-License-Identifier: BSD-2-Clause
 * Neighbouring graphs whose small components share a call of the engine in lanes.
 *
 *	PE_TRY(pe_lap_block_open(ctx, &block, bytes));       // the sum of pe_lap_bytes of what is added
 *	for each graph: status = pe_lap_block_add(ctx, &block, options, graph, g);
 *	PE_TRY(pe_lap_block_solve(ctx, &block, options));
 *	for each i < block.count: pe_lap_solve, pe_lap_finish of block.tasks[i] …
 *	pe_lap_block_close(ctx, &block);                      // before it is opened again
 */
#ifndef PE_LAP_BLOCK_H
#define PE_LAP_BLOCK_H

#include "eigen_lanes.h"
#include "lap_graph.h"

/* Graphs in a block: enough to fill the lanes, few enough to stay in the cache. */
#define PE_LAP_BLOCK 512

/* Begin with {0}. */
struct pe_lap_block {
	int64_t count;
	struct pe_lap_task tasks[PE_LAP_BLOCK];
	struct pe_lanes *lanes;
	struct pe_eigen_problem *problems;
	struct pe_lanes_result *results;
	char *memory, *next;
	int64_t problem_capacity, result_capacity, memory_capacity;
};

pe_status pe_lap_block_open(pe_context *ctx, struct pe_lap_block *block, int64_t bytes) PE_NODISCARD;

/* Step 1 of graph number g. On failure it is not in the block. */
pe_status pe_lap_block_add(pe_context *ctx, struct pe_lap_block *block, const struct pe_lap_options *options,
	const pe_graph *graph, int64_t g) PE_NODISCARD;

/* Solves what fits into lanes, and with engine=auto alone. What is left, or fails there, is left to
 * pe_lap_solve. Solutions hold until the block is closed. */
pe_status pe_lap_block_solve(
	pe_context *ctx, struct pe_lap_block *block, const struct pe_lap_options *options) PE_NODISCARD;

void pe_lap_block_close(pe_context *ctx, struct pe_lap_block *block);
void pe_lap_block_free(pe_context *ctx, struct pe_lap_block *block);

#endif
