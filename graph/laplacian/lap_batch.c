/* SPDX-License-Identifier: BSD-2-Clause */
#include "lap_batch.h"

#include <math.h>

#include "graph_parts.h"
#include "lap_block.h"
#include "lap_outputs.h"
#include "shelf.h"

/* Graphs above this are solved one by one, by engines that use the threads themselves. */
#define LARGE 4096

struct failure {
	int64_t graph;
	char *why;
};

/* What one part came to. */
struct tally {
	pe_quality quality;
	int64_t padded;
	pe_status status; /* of the last graph that failed */
	struct failure *failures;
	int64_t failed, failure_capacity;
};

struct job {
	const struct pe_lap_options *options;
	const pe_graph *graph;
	bool values_by_node;
	struct tally *tallies;
	struct pe_shelf workers;
};

/* What a part works with. */
struct worker {
	const struct job *job;
	const struct pe_part *part;
	struct pe_lap_outputs outputs;
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
static pe_status conclude(pe_context *ctx, struct worker *w, const struct pe_lap_task *task, pe_status status)
{
	const struct job *job = w->job;
	int64_t g = task->graph, n = job->graph->ptr[g + 1] - job->graph->ptr[g];
	bool solved = status == PE_OK;
	if (solved)
		status = pe_lap_finish(ctx, job->options, task, &w->work);
	if (status == PE_OK)
		count_success(job->options, &w->work.result, w->tally);
	else if (!pe_lap_is_local(status))
		return status;
	else {
		PE_TRY(note_failure(ctx, g, status, w->tally));
		/* Of a single graph there is something to hand over; among many it would pass unseen. */
		if (job->graph->count > 1 || !solved)
			PE_TRY(pe_lap_pad_all(ctx, job->options, n, &w->work));
		else
			w->tally->quality.max_residual = w->work.result.residual;
	}
	pe_lap_store(&w->outputs, job->graph, g, job->options->k, &w->work.result);
	return PE_OK;
}

/* ---- blocks of graphs --------------------------------------------------------------- */

static int64_t bytes_of(const pe_graph *graph, int64_t g)
{
	struct pe_csr view = pe_graph_view(graph, g);
	return pe_lap_bytes(view.n, view.row[view.n] - view.row[0]);
}

/* Graphs from g on, until the block is full; returns where it stopped in *next. */
static pe_status fill_block(pe_context *ctx, struct worker *w, int64_t g, int64_t *next)
{
	const pe_graph *graph = w->job->graph;
	int64_t bytes = 0, end = pe_min(g + PE_LAP_BLOCK, w->part->end);
	for (int64_t i = g; i < end; i++)
		bytes += bytes_of(graph, i);
	PE_TRY(pe_lap_block_open(ctx, &w->block, bytes));
	for (; g < end; g++) {
		pe_status status = pe_lap_block_add(ctx, &w->block, w->job->options, graph, g);
		if (status != PE_OK)
			PE_TRY(conclude(ctx, w, &(struct pe_lap_task){.graph = g}, status));
	}
	*next = end;
	return PE_OK;
}

static void say_how(pe_context *ctx, const struct worker *w, int64_t g, const char *note)
{
	if (!w->part->large || !note[0])
		return;
	if (w->job->graph->count == 1)
		pe_log(ctx, PE_LOG_INFO, "lap: %s", note);
	else
		pe_log(ctx, PE_LOG_INFO, "lap: graph %lld, %s", (long long)g, note);
}

static pe_status finish_block(pe_context *ctx, struct worker *w)
{
	char note[PE_LAP_NOTE];
	PE_TRY(pe_lap_block_solve(ctx, &w->block, w->job->options));
	for (int64_t i = 0; i < w->block.count; i++) {
		struct pe_lap_task *task = &w->block.tasks[i];
		pe_status status = pe_lap_solve(ctx, w->job->options, task, note);
		say_how(ctx, w, task->graph, note);
		PE_TRY(conclude(ctx, w, task, status));
		pe_lap_forget(ctx, task);
	}
	return PE_OK;
}

static void free_worker(pe_context *ctx, struct worker *w)
{
	pe_lap_block_free(ctx, &w->block);
	pe_lap_work_free(ctx, &w->work);
	pe_free(ctx, w);
}

static pe_status encode_part(pe_context *ctx, void *arg, const struct pe_part *part)
{
	struct job *job = arg;
	struct worker *w = pe_shelf_take(&job->workers);
	if (!w && !(w = pe_alloc_zero(ctx, 1, sizeof *w)))
		return PE_ERR_NOMEM;
	w->job = job;
	w->part = part;
	w->tally = &job->tallies[part->number];
	w->outputs = (struct pe_lap_outputs){.vectors = part->outs[0],
		.values = part->outs[1],
		.groups = part->outs[2],
		.values_by_node = job->values_by_node,
		.graph = part->first,
		.node = part->node};
	pe_status status = PE_OK;
	for (int64_t g = part->first; status == PE_OK && g < part->end;) {
		status = fill_block(ctx, w, g, &g);
		if (status == PE_OK)
			status = finish_block(ctx, w);
		pe_lap_block_close(ctx, &w->block);
	}
	if (part->large || !pe_shelf_keep(&job->workers, w))
		free_worker(ctx, w);
	return status;
}

/* ---- all graphs --------------------------------------------------------------------- */

static pe_status add_up(pe_encoding *e, const struct job *job, int64_t parts, struct pe_lap_summary *summary)
{
	pe_quality *q = &e->quality;
	for (int64_t p = 0; p < parts; p++) {
		const struct tally *t = &job->tallies[p];
		q->max_residual = fmax(q->max_residual, t->quality.max_residual);
		q->max_orthogonality_error = fmax(q->max_orthogonality_error, t->quality.max_orthogonality_error);
		q->certified += t->quality.certified;
		q->uncertified += t->quality.uncertified;
		q->split_groups += t->quality.split_groups;
		summary->padded += t->padded;
		if (t->status != PE_OK)
			summary->status = t->status;
		for (int64_t i = 0; i < t->failed; i++)
			PE_TRY(pe_encoding_note_failure(e, t->failures[i].graph, t->failures[i].why));
	}
	return PE_OK;
}

static void free_tallies(pe_context *ctx, struct tally *tallies, int64_t count)
{
	for (int64_t p = 0; tallies && p < count; p++) {
		for (int64_t i = 0; i < tallies[p].failed; i++)
			pe_free(ctx, tallies[p].failures[i].why);
		pe_free(ctx, tallies[p].failures);
	}
	pe_free(ctx, tallies);
}

pe_status pe_lap_run(pe_encoding *e, const struct pe_lap_options *options, const pe_graph *graph,
	bool values_by_node, const pe_tensor *outs, struct pe_lap_summary *summary)
{
	struct job job = {.options = options, .graph = graph, .values_by_node = values_by_node};
	struct pe_graph_parts parts;
	*summary = (struct pe_lap_summary){0};
	PE_TRY(pe_graph_parts_plan(e->ctx, graph, graph->count == 1 ? -1 : LARGE, &parts));
	job.tallies = pe_alloc_zero(e->ctx, parts.count, sizeof *job.tallies);
	pe_status status = job.tallies ? PE_OK : PE_ERR_NOMEM;
	if (status == PE_OK)
		status = pe_graph_parts_run(e, &parts, outs, encode_part, &job);
	if (status == PE_OK)
		status = add_up(e, &job, parts.count, summary);
	for (struct worker *w; (w = pe_shelf_take(&job.workers));)
		free_worker(e->ctx, w);
	free_tallies(e->ctx, job.tallies, parts.count);
	pe_graph_parts_free(e->ctx, &parts);
	return status;
}
