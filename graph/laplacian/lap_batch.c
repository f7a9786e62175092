/* SPDX-License-Identifier: BSD-2-Clause */
#include "lap_batch.h"

#include <math.h>
#include <stdlib.h>

#include "lap_block.h"
#include "pool.h"

/* A chunk of neighbouring graphs ends where the sum of n² passes this: some 1,000 molecules, few enough
 * for threads to end together. */
#define CHUNK_WORK ((int64_t)1 << 19)
/* Graphs above this are solved one by one, by engines that use the threads themselves. */
#define LARGE 4096

struct failure {
	int64_t graph;
	char *why;
};

/* What one chunk, or the large graphs, came to. */
struct tally {
	pe_quality quality;
	int64_t padded;
	pe_status status; /* of the last graph that failed */
	struct failure *failures;
	int64_t failed, failure_capacity;
};

struct job {
	const struct pe_lap_options *options;
	const struct pe_lap_outputs *outputs;
	const pe_graph *graph;
	int64_t *ends; /* chunks: one past the last graph */
	struct tally *tallies;
	int64_t chunks;
};

/* What a chunk works with. */
struct worker {
	struct pe_lap_block block;
	struct pe_lap_work work;
	struct tally *tally;
};

/* ---- one graph ---------------------------------------------------------------------- */

static void count_success(
	const struct pe_lap_options *options, const struct pe_lap_result *r, struct tally *tally)
{
	pe_quality *q = &tally->quality;
	q->max_residual = fmax(q->max_residual, r->residual);
	q->max_orthogonality_error = fmax(q->max_orthogonality_error, r->orthogonality);
	q->certified += r->certified;
	q->uncertified += !r->certified;
	q->split_groups += r->split;
	tally->padded += r->columns < options->k;
}

static pe_status note_failure(pe_context *ctx, int64_t g, pe_status why, struct tally *tally)
{
	PE_TRY(pe_grow(ctx, &tally->failures, &tally->failure_capacity, tally->failed, tally->failed + 1,
		sizeof *tally->failures));
	char *text = pe_strdup(ctx, ctx->message);
	if (!text)
		return PE_ERR_NOMEM;
	tally->failures[tally->failed++] = (struct failure){.graph = g, .why = text};
	tally->status = why;
	tally->quality.uncertified++;
	return PE_OK;
}

/* Step 3 and what follows it, after `status` of the steps before. */
static pe_status conclude(pe_context *ctx, const struct job *job, const struct pe_lap_task *task,
	pe_status status, struct pe_lap_work *work, struct tally *tally)
{
	int64_t g = task->graph, n = job->graph->ptr[g + 1] - job->graph->ptr[g];
	bool solved = status == PE_OK;
	if (solved)
		status = pe_lap_finish(ctx, job->options, task, work);
	if (status == PE_OK)
		count_success(job->options, &work->result, tally);
	else if (!pe_lap_is_local(status))
		return status;
	else {
		PE_TRY(note_failure(ctx, g, status, tally));
		/* Of a single graph there is something to hand over; among many it would pass unseen. */
		if (job->graph->count > 1 || !solved)
			PE_TRY(pe_lap_pad_all(ctx, job->options, n, work));
		else
			tally->quality.max_residual = work->result.residual;
	}
	pe_lap_store(job->outputs, job->graph, g, job->options->k, &work->result);
	return PE_OK;
}

/* ---- blocks of graphs --------------------------------------------------------------- */

static bool is_large(const pe_graph *graph, int64_t g)
{
	return graph->count == 1 || graph->ptr[g + 1] - graph->ptr[g] > LARGE;
}

static int64_t bytes_of(const pe_graph *graph, int64_t g)
{
	struct pe_csr view = pe_graph_view(graph, g);
	return pe_lap_bytes(view.n, view.row[view.n] - view.row[0]);
}

/* Adds the large, or the other, graphs from g to end until the block is full; returns where it stopped
 * in *next. */
static pe_status fill_block(pe_context *ctx, const struct job *job, bool large, int64_t g, int64_t end,
	struct worker *w, int64_t *next)
{
	int64_t bytes = 0, count = 0, limit = large ? 1 : PE_LAP_BLOCK;
	for (*next = g; *next < end && count < limit; ++*next)
		if (is_large(job->graph, *next) == large) {
			bytes += bytes_of(job->graph, *next);
			count++;
		}
	PE_TRY(pe_lap_block_open(ctx, &w->block, bytes));
	for (; g < *next; g++) {
		if (is_large(job->graph, g) != large)
			continue;
		pe_status status = pe_lap_block_add(ctx, &w->block, job->options, job->graph, g);
		if (status != PE_OK)
			PE_TRY(conclude(ctx, job, &(struct pe_lap_task){.graph = g}, status, &w->work, w->tally));
	}
	return PE_OK;
}

static pe_status finish_block(pe_context *ctx, const struct job *job, bool large, struct worker *w)
{
	char note[PE_LAP_NOTE];
	PE_TRY(pe_lap_block_solve(ctx, &w->block, job->options));
	for (int64_t i = 0; i < w->block.count; i++) {
		struct pe_lap_task *task = &w->block.tasks[i];
		pe_status status = pe_lap_solve(ctx, job->options, task, note);
		if (large && note[0] && job->graph->count == 1)
			pe_log(ctx, PE_LOG_INFO, "lap: %s", note);
		else if (large && note[0])
			pe_log(ctx, PE_LOG_INFO, "lap: graph %lld, %s", (long long)task->graph, note);
		PE_TRY(conclude(ctx, job, task, status, &w->work, w->tally));
		pe_lap_forget(ctx, task);
	}
	return PE_OK;
}

/* All large, or all other, graphs from g to end. */
static pe_status encode(
	pe_context *ctx, const struct job *job, bool large, int64_t g, int64_t end, struct tally *tally)
{
	struct worker *w = pe_alloc_zero(ctx, 1, sizeof *w);
	if (!w)
		return PE_ERR_NOMEM;
	w->tally = tally;
	pe_status status = PE_OK;
	while (status == PE_OK && g < end) {
		status = fill_block(ctx, job, large, g, end, w, &g);
		if (status == PE_OK)
			status = finish_block(ctx, job, large, w);
		pe_lap_block_close(ctx, &w->block);
	}
	pe_lap_block_free(ctx, &w->block);
	pe_lap_work_free(ctx, &w->work);
	pe_free(ctx, w);
	return status;
}

/* ---- all graphs --------------------------------------------------------------------- */

static pe_status encode_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	struct job *job = arg;
	int64_t first = chunk ? job->ends[chunk - 1] : 0;
	return encode(worker, job, false, first, job->ends[chunk], &job->tallies[chunk]);
}

/* Cuts the graphs into chunks; large ones weigh nothing. */
static pe_status plan(pe_context *ctx, struct job *job)
{
	int64_t capacity = 0, sum = 0, used = 0;
	for (int64_t g = 0; g < job->graph->count; g++) {
		int64_t n = job->graph->ptr[g + 1] - job->graph->ptr[g];
		sum += is_large(job->graph, g) ? 0 : n * n + 1;
		if (sum < CHUNK_WORK && g + 1 < job->graph->count)
			continue;
		PE_TRY(pe_grow(ctx, &job->ends, &capacity, used, used + 1, sizeof *job->ends));
		job->ends[used++] = g + 1;
		sum = 0;
	}
	job->chunks = used;
	job->tallies = pe_alloc_zero(ctx, used + 1, sizeof *job->tallies);
	return job->tallies ? PE_OK : PE_ERR_NOMEM;
}

static int compare_failures(const void *left, const void *right)
{
	const struct failure *a = left, *b = right;
	return (a->graph > b->graph) - (a->graph < b->graph);
}

/* All failures in ascending order into e. */
static pe_status hand_over_failures(pe_encoding *e, const struct job *job)
{
	int64_t total = 0;
	for (int64_t c = 0; c <= job->chunks; c++)
		total += job->tallies[c].failed;
	struct failure *all = pe_alloc(e->ctx, total, sizeof *all);
	if (!all)
		return PE_ERR_NOMEM;
	total = 0;
	for (int64_t c = 0; c <= job->chunks; c++)
		for (int64_t i = 0; i < job->tallies[c].failed; i++)
			all[total++] = job->tallies[c].failures[i];
	qsort(all, (size_t)total, sizeof *all, compare_failures);
	pe_status status = PE_OK;
	for (int64_t i = 0; status == PE_OK && i < total; i++)
		status = pe_encoding_note_failure(e, all[i].graph, all[i].why);
	pe_free(e->ctx, all);
	return status;
}

static pe_status add_up(pe_encoding *e, const struct job *job, struct pe_lap_summary *summary)
{
	pe_quality *q = &e->quality;
	for (int64_t c = 0; c <= job->chunks; c++) {
		const struct tally *t = &job->tallies[c];
		q->max_residual = fmax(q->max_residual, t->quality.max_residual);
		q->max_orthogonality_error = fmax(q->max_orthogonality_error, t->quality.max_orthogonality_error);
		q->certified += t->quality.certified;
		q->uncertified += t->quality.uncertified;
		q->split_groups += t->quality.split_groups;
		summary->padded += t->padded;
		if (t->status != PE_OK)
			summary->status = t->status;
	}
	return hand_over_failures(e, job);
}

static void release(pe_context *ctx, struct job *job)
{
	for (int64_t c = 0; job->tallies && c <= job->chunks; c++) {
		for (int64_t i = 0; i < job->tallies[c].failed; i++)
			pe_free(ctx, job->tallies[c].failures[i].why);
		pe_free(ctx, job->tallies[c].failures);
	}
	pe_free(ctx, job->tallies);
	pe_free(ctx, job->ends);
}

pe_status pe_lap_run(pe_encoding *e, const struct pe_lap_options *options, const pe_graph *graph,
	const struct pe_lap_outputs *outputs, struct pe_lap_summary *summary)
{
	struct job job = {.options = options, .outputs = outputs, .graph = graph};
	*summary = (struct pe_lap_summary){0};
	pe_status status = plan(e->ctx, &job);
	if (status == PE_OK)
		status = pe_parallel(e->ctx, job.chunks, encode_chunk, &job, "lap");
	if (status == PE_OK)
		status = encode(e->ctx, &job, true, 0, graph->count, &job.tallies[job.chunks]);
	if (status == PE_OK)
		status = add_up(e, &job, summary);
	release(e->ctx, &job);
	return status;
}
