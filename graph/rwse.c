/* SPDX-License-Identifier: BSD-2-Clause
 * Random-walk structural encoding: column k of node i is (P^k)_ii, the probability that a random walk
 * of k steps from i ends at i, P = D⁻¹A. Dwivedi et al., "Graph neural networks with learnable
 * structural and positional representations", ICLR 2022, section 3.2. Exact, in double precision, by
 * half walks (walk.h). */
#include <string.h>

#include "graph_parts.h"
#include "pool.h"
#include "shelf.h"
#include "token_table.h"
#include "walk.h"

#define LARGE 512          /* graphs of more nodes than this are cut themselves, … */
#define BLOCKS_PER_PIECE 4 /* … into so many blocks of start vertices */

enum dangling { LOSE, LOOP, TELEPORT };

struct state {
	const pe_graph *graph;
	int64_t steps;
	bool isolated_ones;
	enum dangling dangling;
};

/* Where the rows of one graph go. */
struct target {
	const struct state *s;
	const pe_tensor *out;
	int64_t first; /* the row of node 0 */
	struct pe_walk walk;
	struct pe_twins twins; /* with classes > 0 the nodes of the walk are classes */
	struct pe_walk_plan plan;
	struct pe_walk_teleport teleport;
};

/* ---- writing rows ------------------------------------------------------------------- */

static void store(const struct target *t, int32_t i, const double *row)
{
	const pe_tensor *out = t->out;
	pe_store_f64(pe_tensor_row(out, t->first + i), out->dtype, out->strides[1], row, 1, t->s->steps);
}

/* The row of a node of the walk, to all nodes that it stands for. Changes row. */
static void store_class(const struct target *t, int32_t c, double *row)
{
	if (t->twins.classes == 0) {
		store(t, c, row);
		return;
	}
	int32_t size = pe_twins_size(&t->twins, c);
	for (int64_t k = 0; k < t->s->steps && size > 1; k++)
		row[k] /= size;
	for (int32_t m = t->twins.start[c]; m < t->twins.start[c + 1]; m++)
		store(t, t->twins.member[m], row);
}

static void store_all(const struct target *t, const double *rows)
{
	const pe_tensor *out = t->out;
	int64_t steps = t->s->steps, n = t->walk.n;
	if (out->strides[1] == 1 && out->strides[0] == steps)
		pe_store_f64(pe_tensor_row(out, t->first), out->dtype, 1, rows, 1, n * steps);
	else
		for (int32_t i = 0; i < n; i++)
			store(t, i, rows + i * steps);
}

/* The row of a node from which no walk goes on. */
static void end_row(const struct target *t, int32_t i, double *row)
{
	enum pe_walk_end end = pe_walk_end(&t->walk, i);
	bool stays = end == PE_WALK_ISOLATED ? t->s->isolated_ones : t->s->dangling == LOOP;
	for (int64_t k = 0; k < t->s->steps; k++)
		row[k] = stays;
	if (end == PE_WALK_DANGLING)
		pe_walk_teleport_add(&t->teleport, i, row);
}

static void store_leaves(const struct target *t, int32_t i, const double *row, double *leaf)
{
	const struct pe_walk *w = &t->walk;
	for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++) {
		int32_t j = w->col[e];
		if (t->plan.core[j] >= 0 || pe_walk_end(w, j) != PE_WALK_GOES_ON)
			continue;
		pe_walk_leaf_row(pe_walk_leaf_share(w, j, i), row, t->s->steps, leaf);
		store_class(t, j, leaf);
	}
}

/* A start vertex, and the leaves on it. */
static void store_start(const struct target *t, int32_t i, double *row, double *leaf)
{
	pe_walk_teleport_add(&t->teleport, i, row);
	if (t->plan.core[i] < pe_walk_degree(&t->walk, i))
		store_leaves(t, i, row, leaf);
	store_class(t, i, row);
}

static void store_ends(const struct target *t, double *row)
{
	for (int32_t i = 0; i < t->walk.n; i++)
		if (pe_walk_end(&t->walk, i) != PE_WALK_GOES_ON) {
			end_row(t, i, row);
			store_class(t, i, row);
		}
}

/* ---- one graph ---------------------------------------------------------------------- */

static void small_graph(pe_context *ctx, const struct target *t, struct pe_walk_small *small, double *rows)
{
	pe_walk_small(ctx, small, &t->walk, rows);
	if (t->s->isolated_ones)
		for (int32_t i = 0; i < t->walk.n; i++)
			if (pe_walk_end(&t->walk, i) != PE_WALK_GOES_ON)
				end_row(t, i, rows + i * t->s->steps);
	store_all(t, rows);
}

/* Scratch memory is as large as the graph, and pieces of work are many: it is handed on. */
struct pieces {
	const struct target *target;
	struct pe_shelf scratch;
};

static pe_status do_blocks(
	pe_context *worker, const struct target *t, struct pe_walk_scratch *scratch, int64_t from, int64_t to)
{
	int64_t steps = t->s->steps, per_block = t->plan.per_block, count;
	double *rows = pe_alloc(worker, (per_block + 1) * steps, sizeof *rows);
	pe_status status = rows ? PE_OK : PE_ERR_NOMEM;
	for (int64_t b = from; b < to && status == PE_OK; b++) {
		status = pe_walk_block_rows(worker, scratch, b, rows, &count);
		for (int64_t k = 0; k < count && status == PE_OK; k++)
			store_start(t, t->plan.start[b * per_block + k], rows + k * steps, rows + per_block * steps);
	}
	pe_free(worker, rows);
	return status;
}

static pe_status do_piece(pe_context *worker, void *arg, int64_t piece)
{
	struct pieces *p = arg;
	struct pe_walk_scratch *scratch = pe_shelf_take(&p->scratch);
	int64_t from = piece * BLOCKS_PER_PIECE, to = pe_min(from + BLOCKS_PER_PIECE, p->target->plan.blocks);
	if (!scratch)
		PE_TRY(pe_walk_scratch_create(worker, &p->target->plan, &scratch));
	pe_status status = do_blocks(worker, p->target, scratch, from, to);
	if (!pe_shelf_keep(&p->scratch, scratch))
		pe_walk_scratch_destroy(worker, &scratch);
	return status;
}

static pe_status do_pieces(pe_context *ctx, const struct target *t)
{
	struct pieces p = {.target = t};
	int64_t pieces = (t->plan.blocks + BLOCKS_PER_PIECE - 1) / BLOCKS_PER_PIECE;
	pe_status status = pe_parallel(ctx, pieces, do_piece, &p, "rwse");
	for (struct pe_walk_scratch *scratch; (scratch = pe_shelf_take(&p.scratch));)
		pe_walk_scratch_destroy(ctx, &scratch);
	return status;
}

/* A graph of any size whose walk is there, by threads if ctx has any. */
static pe_status any_graph(pe_context *ctx, struct target *t)
{
	double *row = pe_alloc(ctx, t->s->steps, sizeof *row);
	pe_status status = row ? PE_OK : PE_ERR_NOMEM;
	if (status == PE_OK)
		status = pe_walk_merge_twins(ctx, &t->walk, &t->twins);
	if (status == PE_OK && t->s->dangling == TELEPORT)
		status = pe_walk_teleport_create(ctx, &t->walk, t->s->steps, &t->teleport);
	if (status == PE_OK)
		status = pe_walk_plan_create(ctx, &t->walk, t->s->steps, &t->plan);
	if (status == PE_OK) {
		store_ends(t, row);
		status = do_pieces(ctx, t);
	}
	pe_walk_plan_free(ctx, &t->plan);
	pe_walk_teleport_free(ctx, &t->teleport);
	pe_twins_free(ctx, &t->twins);
	pe_free(ctx, row);
	return status;
}

/* With `small`, a small undirected graph is done in it, and rows. */
static pe_status do_graph(pe_context *ctx, const struct state *s, const struct pe_part *part, int64_t g,
	struct pe_walk_small *small, double *rows)
{
	struct pe_csr view = pe_graph_view(s->graph, g);
	struct target t = {.s = s, .out = &part->outs[0], .first = s->graph->ptr[g] - part->node};
	PE_TRY(pe_walk_create(ctx, &view, s->graph->directed, &t.walk));
	pe_status status = PE_OK;
	if (small && !s->graph->directed && view.n <= PE_WALK_SMALL)
		small_graph(ctx, &t, small, rows);
	else
		status = any_graph(ctx, &t);
	pe_walk_free(ctx, &t.walk);
	return status;
}

/* ---- all graphs --------------------------------------------------------------------- */

static pe_status do_part(pe_context *ctx, void *arg, const struct pe_part *part)
{
	const struct state *s = arg;
	struct pe_walk_small *small = NULL;
	if (!part->outs[0].data)
		return PE_OK;
	if (part->large)
		return do_graph(ctx, s, part, part->first, NULL, NULL);
	double *rows = pe_alloc(ctx, (PE_WALK_SMALL + 1) * s->steps, sizeof *rows);
	pe_status status = rows ? pe_walk_small_create(ctx, s->steps, &small) : PE_ERR_NOMEM;
	for (int64_t g = part->first; g < part->end && status == PE_OK; g++)
		if (s->graph->ptr[g + 1] > s->graph->ptr[g])
			status = do_graph(ctx, s, part, g, small, rows);
	pe_walk_small_destroy(ctx, &small);
	pe_free(ctx, rows);
	return status;
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	struct state *s = e->state;
	struct pe_graph_parts parts;
	PE_TRY(pe_graph_parts_plan(e->ctx, s->graph, LARGE, &parts));
	pe_status status = pe_graph_parts_run(e, &parts, outs, do_part, s);
	pe_graph_parts_free(e->ctx, &parts);
	return status;
}

/* ---- the encoder -------------------------------------------------------------------- */

static pe_status bind(pe_encoding *e)
{
	const pe_graph *graph = e->domain->graph;
	if (graph->negative)
		return pe_encoding_fail(e, PE_ERR_UNSUPPORTED,
			"a weight is negative, and probabilities of a random walk cannot be; take the weights' absolute "
			"values, or leave them out (--edge-weights none)");
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	*s = (struct state){
		.graph = graph,
		.steps = pe_params_int(e->params, "steps"),
		.isolated_ones = pe_params_bool(e->params, "isolated"),
		.dangling = (enum dangling)pe_params_choice(e->params, "dangling"),
	};
	const char *name = pe_params_preset_is(e->params, "graphgps") ? "pestat_RWSE" : "random_walk_pe";
	return pe_declare(e, name, PE_F64, 2, (int64_t[]){e->domain->tokens, s->steps}, true);
}

static const pe_option_info options[] = {
	PE_INT("steps", "20", 1, 10000, "columns: walks of 1 to this many steps"),
	PE_BOOLEAN(
		"isolated", "0", "what the row of a node without edges holds: zeros, or ones as if it had a loop"),
	PE_CHOICE("dangling", "lose", "lose|loop|teleport",
		"a directed walk at a node without out-edges: ends, stays, or goes on at any node of the graph"),
	PE_OPTION_MERGE_DEFAULT("concat"),
};

static const pe_preset_info presets[] = {
	{"graphgps", "isolated=0,dangling=lose",
		"RWSE of GraphGPS, times 1..steps: the same numbers on unit weights, in the array pestat_RWSE. "
		"GraphGPS leaves edge weights out; read the graph without them to match it"},
	{"pyg", "isolated=0,dangling=lose",
		"AddRandomWalkPE of PyTorch Geometric: the same numbers on unit weights without duplicate edges. "
		"On weighted graphs it divides 1, not the weight, by max(1, sum of weights), so its rows do not "
		"sum to 1; duplicate edges count in the degree, and in A only above 2,000 nodes. Neither is copied"},
};

const struct pe_encoder pe_encoder_rwse = {
	.table = PE_TABLE("rwse", options, presets),
	.family = PE_GRAPH,
	.summary = "random-walk structural encoding: return probabilities of 1 to k steps",
	.help = "random_walk_pe[i, k-1] = (P^k)_ii, k = 1 … steps, with P = D^-1 A: the\n"
			"probability that a random walk of k steps from node i ends at i. A holds\n"
			"the edge weights (which must not be negative), D their sums over out-edges.\n"
			"Self loops are kept in both. Exact in double precision, rounded once.\n"
			"An isolated node (no edge of weight above 0, in or out) has a row of zeros,\n"
			"or of ones with isolated=1. On a directed graph a walk at a node without\n"
			"out-edges ends (dangling=lose), stays there for ever (loop), or goes on at\n"
			"any node of its graph with equal probability, isolated ones included\n"
			"(teleport). The graph is taken as directed or not as it was read; it is\n"
			"never symmetrised.\n"
			"On bipartite graphs odd steps are exactly 0.\n"
			"Large graphs cost, for each node, what lies within steps/2 edges of it,\n"
			"and memory for that alone, never n^2.",
	.source = "Dwivedi et al. 2022, \"Graph neural networks with learnable structural and positional "
			  "representations\", section 3.2",
	.example = "datasets/csl.g6 --with rwse:steps=16",
	.domains = PE_DOMAIN_GRAPH,
	.bind = bind,
	.by_parts = true,
	.compute = compute,
	.tokens = pe_token_rows_tokens,
	.tokens_shape = pe_token_rows_shape,
};
