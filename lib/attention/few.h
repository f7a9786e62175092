/* SPDX-License-Identifier: BSD-2-Clause
 * Attention of few queries to many keys, as in decoding: part of the tiled core. */
#ifndef PE_FEW_H
#define PE_FEW_H

#include "kernels/kernels.h"
#include "plan.h"

/* Whether a plan is for pe_attend_few: at most 8 queries, and no site that wants tiles. */
bool pe_plan_is_few(const struct pe_plan *plan);
/* In f32; q, k and v are not f64. */
pe_status pe_attend_few(struct pe_plan *plan) PE_NODISCARD;

#define PE_FEW_ROWS 32    /* queries of a task at most, over all heads */
#define PE_FEW_CHUNK 1024 /* keys of a task */

/* What a chunk yields of one query, besides sums of values. */
struct pe_few_part {
	double base; /* taken off scores, in units of log 2 */
	float max, sum;
};

struct pe_few {
	const struct pe_plan *plan;
	const struct pe_kernels *kernels;
	int64_t group, rows; /* query heads, and queries of them all, that share a key head */
	int64_t row_blocks, chunks;
	bool by_rows; /* whether a query sees a key must be asked cell by cell */
	bool biased, adjusted;
	struct pe_few_part *parts; /* (batch, heads, queries, chunks) */
	float *sums;               /* likewise, × sum_width */
};

/* few_chunk.c: the task of pe_parallel. index: (batch, key head, block of PE_FEW_ROWS rows, chunk). */
pe_status pe_few_attend_chunk(pe_context *worker, void *few, int64_t index) PE_NODISCARD;

#endif
