/* SPDX-License-Identifier: BSD-2-Clause
 * The components of one graph, each solved by an engine. */
#include <math.h>
#include <stdio.h>

#include "eigen_lanes.h"
#include "lap_graph.h"
#include "lap_twins.h"

/* A last group is completed up to this many pairs beyond those wanted, enough for the symmetries of
 * real graphs; of a complete graph on thousands of nodes it is left cut, and said to be. Small
 * components have all pairs at hand. */
#define MAX_GROUP 64
#define SMALL 512

int64_t pe_lap_bytes(int64_t n, int64_t entries)
{
	return pe_laplacian_bytes(n, entries) + n * (int64_t)sizeof(struct pe_lap_solution);
}

pe_status pe_lap_begin(pe_context *ctx, const struct pe_lap_options *options, const struct pe_csr *graph,
	char **memory, struct pe_lap_task *task)
{
	task->solutions = NULL;
	PE_TRY(pe_laplacian_build(ctx, graph, &options->rules, memory, &task->laplacian));
	int32_t components = task->laplacian.components;
	task->solutions = pe_carve(memory, components, sizeof *task->solutions);
	for (int32_t c = 0; c < components; c++)
		task->solutions[c] = (struct pe_lap_solution){0};
	return PE_OK;
}

void pe_lap_forget(pe_context *ctx, struct pe_lap_task *task)
{
	for (int32_t c = 0; task->solutions && c < task->laplacian.components; c++) {
		const struct pe_lap_solution *s = &task->solutions[c];
		struct pe_eigen_result engine = {.values = s->owned_values, .vectors = s->owned_vectors};
		if (s->owned_values)
			pe_eigen_result_free(ctx, &engine);
		pe_twins_free(ctx, &task->solutions[c].twins);
	}
	task->solutions = NULL;
}

static int64_t count_zero_modes(const struct pe_laplacian *l)
{
	int64_t count = 0;
	for (int32_t c = 0; c < l->components; c++)
		count += l->zero[c];
	return count;
}

int32_t pe_lap_wanted(const struct pe_lap_options *options, const struct pe_laplacian *l)
{
	if (options->zero == PE_LAP_DROP)
		return options->k;
	int64_t total = (int64_t)options->k + (options->zero == PE_LAP_DROP_FIRST);
	/* Null vectors come first, unless there are values below 0. */
	if (!l->negative)
		total = pe_max(total - count_zero_modes(l), 0);
	return (int32_t)total;
}

struct pe_eigen_request pe_lap_request(const struct pe_lap_options *options, int32_t n, int32_t wanted)
{
	return (struct pe_eigen_request){
		.k = (int32_t)pe_min(wanted, n - 1),
		.tolerance = options->tolerance,
		.max_group = n <= SMALL ? n : MAX_GROUP,
		.certify = options->certify != PE_LAP_CERTIFY_OFF,
		.insist = options->certify == PE_LAP_CERTIFY_REQUIRE,
	};
}

static pe_status solve_problem(pe_context *ctx, const struct pe_lap_options *options,
	const struct pe_eigen_problem *problem, int32_t wanted, int32_t c, struct pe_eigen_result *out)
{
	static pe_status (*const engines[])(pe_context *, const struct pe_eigen_problem *,
		const struct pe_eigen_request *, struct pe_eigen_result *) = {
		[PE_LAP_AUTO] = pe_eigen_auto,
		[PE_LAP_DENSE] = pe_eigen_dense,
		[PE_LAP_SHIFT_INVERT] = pe_eigen_shift_invert,
		[PE_LAP_BLOCK] = pe_eigen_block,
	};
	struct pe_eigen_request request = pe_lap_request(options, problem->n, wanted);
	request.stream = (uint64_t)c;
	PE_TRY(engines[options->engine](ctx, problem, &request, out));
	if (out->complete || problem->n > SMALL || options->engine != PE_LAP_AUTO)
		return PE_OK;
	/* An iteration has met a group of hundreds. */
	pe_eigen_result_free(ctx, out);
	return pe_eigen_dense(ctx, problem, &request, out);
}

/* By way of the quotient, if there are many twins; *twins are then the caller's. */
static pe_status solve_large(pe_context *ctx, const struct pe_lap_options *options,
	const struct pe_eigen_problem *problem, int32_t wanted, int32_t c, struct pe_eigen_result *out,
	struct pe_twins *twins)
{
	struct pe_lap_quotient quotient;
	bool fits;
	PE_TRY(pe_lap_quotient_create(ctx, problem, &quotient, &fits));
	if (!fits)
		return solve_problem(ctx, options, problem, wanted, c, out);
	pe_status status = solve_problem(ctx, options, &quotient.problem, wanted, c, out);
	if (status == PE_OK)
		status = pe_lap_quotient_expand(ctx, &quotient, problem->n, out);
	if (status == PE_OK) {
		*twins = quotient.twins;
		quotient.twins = (struct pe_twins){0};
	} else {
		pe_eigen_result_free(ctx, out);
	}
	pe_lap_quotient_free(ctx, &quotient);
	return status;
}

static pe_status solve_component(pe_context *ctx, const struct pe_lap_options *options, int32_t c,
	int32_t wanted, struct pe_lap_task *task, char note[PE_LAP_NOTE])
{
	struct pe_eigen_problem problem = pe_laplacian_problem(&task->laplacian, c);
	struct pe_eigen_result result = {0};
	struct pe_twins twins = {0};
	if (options->engine == PE_LAP_AUTO && problem.n > PE_LANES_MAX_N)
		PE_TRY(solve_large(ctx, options, &problem, wanted, c, &result, &twins));
	else
		PE_TRY(solve_problem(ctx, options, &problem, wanted, c, &result));
	task->solutions[c] = (struct pe_lap_solution){.count = result.count,
		.vector_step = problem.n,
		.entry_step = 1,
		.values = result.values,
		.vectors = result.vectors,
		.residuals = result.residuals,
		.owned_values = result.values,
		.owned_vectors = result.vectors,
		.twins = twins,
		.residual = NAN,
		.orthogonality = NAN,
		.complete = result.complete,
		.converged = result.converged,
		.certified = result.certified};
	if (note && twins.classes > 0)
		snprintf(note, PE_LAP_NOTE, "%d nodes, %d without twins: %s", (int)problem.n, (int)twins.classes,
			result.note);
	else if (note)
		snprintf(note, PE_LAP_NOTE, "%d nodes: %s", (int)problem.n, result.note);
	return PE_OK;
}

pe_status pe_lap_solve(
	pe_context *ctx, const struct pe_lap_options *options, struct pe_lap_task *task, char note[PE_LAP_NOTE])
{
	const struct pe_laplacian *l = &task->laplacian;
	int32_t wanted = pe_lap_wanted(options, l), largest = 0;
	note[0] = '\0';
	for (int32_t c = 0; wanted > 0 && c < l->components; c++) {
		int32_t n = pe_laplacian_size(l, c);
		if (n < 2 || task->solutions[c].values)
			continue;
		PE_TRY(solve_component(ctx, options, c, wanted, task, n > largest ? note : NULL));
		largest = n > largest ? n : largest;
	}
	return PE_OK;
}
