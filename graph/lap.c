/* SPDX-License-Identifier: BSD-2-Clause
 * Laplacian eigenvectors. Belkin and Niyogi, "Laplacian eigenmaps", 2003; as positional encoding of
 * graph networks: Dwivedi et al., "Benchmarking graph neural networks", 2020. The parts: laplacian.c
 * (the matrix), eigen.h (solvers), eigen_merge.c (groups and choice), canonical.c (basis and sign),
 * lap_graph.c (one graph), lap_batch.c (many). */
#include "encoder.h"
#include "graph.h"
#include "lap_batch.h"
#include "token_table.h"

struct state {
	struct pe_lap_options options;
	pe_graph *symmetrised; /* or NULL: the domain's graph is undirected */
	const pe_graph *graph;
	bool graphgps; /* arrays by GraphGPS's names and shapes */
};

static void read_options(pe_encoding *e, struct pe_lap_options *o)
{
	const pe_params *p = e->params;
	*o = (struct pe_lap_options){
		.k = (int32_t)pe_params_int(p, "k"),
		.normalization = (enum pe_lap_normalization)pe_params_choice(p, "normalization"),
		.zero = (enum pe_lap_zero)pe_params_choice(p, "zero"),
		.pad = (enum pe_lap_pad)pe_params_choice(p, "pad"),
		.sign = (enum pe_lap_sign)pe_params_choice(p, "sign"),
		.whole_groups = pe_params_choice(p, "group") == 1,
		.number = e->domain->graph->number,
		.certify = (enum pe_lap_certify)pe_params_choice(p, "certify"),
		.engine = (enum pe_lap_engine)pe_params_choice(p, "engine"),
		.tolerance = pe_params_real(p, "tolerance"),
		.max_residual = pe_params_real(p, "max_residual"),
	};
	o->rules = (struct pe_laplacian_rules){
		.normalized = o->normalization != PE_LAP_NONE,
		.loops = e->domain->graph->loops == PE_LOOPS_KEEP,
		.isolated = pe_params_bool(p, "isolated"),
	};
}

/* Loops count where they are kept. */
static bool has_negative_edges(const struct state *s)
{
	const pe_graph *graph = s->graph;
	for (int64_t i = 0; graph->negative && i < graph->nodes; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			if (graph->weight[e] < 0 && (graph->col[e] != i || s->options.rules.loops))
				return true;
	return false;
}

/* Says what is not used as it was given. */
static pe_status prepare_graph(pe_encoding *e, struct state *s)
{
	const pe_graph *given = e->domain->graph;
	PE_TRY(pe_graph_symmetrised(e->ctx, given, &s->symmetrised));
	s->graph = s->symmetrised ? s->symmetrised : given;
	if (s->symmetrised)
		pe_log(e->ctx, PE_LOG_WARNING,
			"lap: the Laplacian needs an undirected graph: edges were made two-way by "
			"the policy symmetrise");
	if (!s->options.rules.loops && given->loops == PE_LOOPS_AUTO && given->report.self_loops > 0)
		pe_log(e->ctx, PE_LOG_WARNING, "lap: %lld self loops are left out (loops=keep keeps them)",
			(long long)given->report.self_loops);
	if (s->graph->count == 1 && s->options.rules.normalized && has_negative_edges(s))
		return pe_encoding_fail(e, PE_ERR_UNSUPPORTED,
			"there are edge weights below 0, with which D^-1/2 may not be real: take normalization=none, or "
			"leave the weights out");
	return PE_OK;
}

static pe_status declare(pe_encoding *e, const struct state *s)
{
	int64_t nodes = s->graph->nodes, graphs = s->graph->count, k = s->options.k;
	const int64_t by_node[] = {nodes, k, 1}, by_graph[] = {graphs, k};
	PE_TRY(pe_declare(e, s->graphgps ? "EigVecs" : "laplacian_eigenvector_pe", PE_F64, 2, by_node, true));
	if (s->graphgps)
		PE_TRY(pe_declare(e, "EigVals", PE_F64, 3, by_node, true));
	else
		PE_TRY(pe_declare(e, "laplacian_eigenvalues", PE_F64, 2, by_graph, false));
	return pe_declare(e, "laplacian_groups", PE_I32, 2, by_graph, false);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	read_options(e, &s->options);
	s->graphgps = pe_params_preset_is(e->params, "graphgps");
	PE_TRY(prepare_graph(e, s));
	/* Where there are none, to keep them is the quicker way to the same. */
	s->options.rules.loops |= e->domain->graph->report.self_loops == 0;
	return declare(e, s);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_graph_destroy(&s->symmetrised);
}

static void say(pe_encoding *e, const struct state *s, const struct pe_lap_summary *summary)
{
	long long graphs = s->graph->count, split = e->quality.split_groups;
	if (split > 0)
		pe_log(e->ctx, PE_LOG_WARNING,
			"lap: in %lld of %lld graphs k=%d cuts through a group of equal eigenvalues (group=complete "
			"leaves "
			"such a group out)",
			split, graphs, (int)s->options.k);
	if (summary->padded > 0)
		pe_log(e->ctx, PE_LOG_WARNING,
			"lap: %lld of %lld graphs have fewer than k=%d columns and are filled up with %s",
			(long long)summary->padded, graphs, (int)s->options.k,
			s->options.pad == PE_LAP_PAD_ZERO ? "0" : "NaN");
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	struct pe_lap_summary summary;
	PE_TRY(pe_lap_run(e, &s->options, s->graph, s->graphgps, outs, &summary));
	say(e, s, &summary);
	if (e->quality.failed == 0)
		return PE_OK;
	if (s->graph->count == 1)
		return pe_encoding_fail(e, summary.status, "%s", e->failures[0]);
	return pe_encoding_fail(e, PE_ERR_PARTIAL, "%lld of %lld graphs failed; the first is graph %lld: %s",
		(long long)e->quality.failed, (long long)s->graph->count, (long long)e->failed[0], e->failures[0]);
}

static const pe_option_info options[] = {
	PE_INT("k", "8", 1, 1 << 20, "number of eigenvectors, smallest eigenvalues first"),
	PE_CHOICE("normalization", "sym", "sym|none|rw", "I - D^-1/2 A D^-1/2, D - A, or I - D^-1 A"),
	PE_CHOICE("zero", "drop", "drop|drop_first|keep",
		"null vectors, one a component: drop all, drop the first column whatever it is, or keep all"),
	PE_CHOICE("pad", "zero", "zero|nan|error", "what fills columns beyond those a graph has"),
	PE_CHOICE("sign", "canonical", "canonical|random|none",
		"make the largest entry positive, draw signs from the seed, or leave them as computed"),
	PE_CHOICE("group", "cut", "cut|complete",
		"a group of equal eigenvalues that does not fit: cut it and say so, or leave it out"),
	PE_BOOLEAN(
		"isolated", "0", "eigenvalue of a node without edges under sym and rw; 0 makes it a null vector"),
	PE_CHOICE("certify", "auto", "auto|require|off",
		"prove that no eigenvalue was skipped: where it costs little, at any cost or fail, or never"),
	PE_CHOICE(
		"engine", "auto", "auto|dense|shift_invert|block", "the eigensolver; auto goes by size and fill"),
	PE_REAL(
		"tolerance", "1e-11", 1e-16, 1e-2, "residual, relative to the norm of L, at which iterations stop"),
	PE_REAL("max_residual", "1e-10", 1e-16, 1, "a graph whose result has a larger residual fails"),
	PE_OPTION_MERGE_DEFAULT("concat"),
};

static const pe_preset_info presets[] = {
	{"pyg", "zero=drop_first,pad=error,sign=random,isolated=1",
		"AddLaplacianEigenvectorPE of PyTorch Geometric, which always drops one column, also of a graph in "
		"several components. Not copied: the solver for unsymmetric matrices, which loses orthogonality in "
		"repeated eigenvalues; single precision; signs from torch's generator. k is at most n - 1"},
	{"dgl", "zero=drop_first,pad=zero,sign=random,isolated=1",
		"LapPE of DGL. It keeps self loops and ignores weights: read the graph with loops=keep and "
		"edge weights none. Not copied: the tolerance of 1e-2, which gives wrong pairs; NaN in "
		"padded eigenvalues (here they are 0 as the vectors are)"},
	{"graphgps", "k=10,zero=keep,pad=nan,isolated=1",
		"LapPE of GraphGPS: null vectors kept, NaN padding, arrays EigVecs (nodes, k) and EigVals "
		"(nodes, k, 1). It ignores weights: read the graph with edge weights none. Many of its "
		"configurations take normalization=none. Not copied: single precision; signs as LAPACK leaves them"},
};

const struct pe_encoder pe_encoder_lap = {
	.table = PE_TABLE("lap", options, presets),
	.family = PE_GRAPH,
	.summary = "eigenvectors of the graph Laplacian with the smallest eigenvalues",
	.help = "L v = w v with L = I - D^-1/2 A D^-1/2 (sym), D - A (none), I - D^-1 A (rw);\n"
			"D holds the weighted degrees. Columns are unit vectors, eigenvalues ascending.\n"
			"rw pairs come from sym: v = D^-1/2 u, made unit. What is said and asked of\n"
			"residuals is then of u under sym; that of v under rw is larger where degrees\n"
			"are orders of magnitude apart, up to the root of their ratio.\n"
			"Self loops are left out unless the graph was read with loops=keep; then they\n"
			"count in A and once in D (they cancel in D - A). Directed graphs are made\n"
			"undirected first. Weights below 0 need normalization=none.\n"
			"A graph in c components has c null vectors, known exactly: zero=drop leaves\n"
			"out all c, drop_first the first column whatever it is, keep none; they stand\n"
			"in the order of the components, each with its nodes' entries alone.\n"
			"laplacian_groups numbers the groups of equal eigenvalues; -1 is padding.\n"
			"Neighbours are of one group if they are closer than 1e-12 of the norm of L,\n"
			"which no arithmetic tells apart, or than 100 times their residuals, but never\n"
			"if farther than 1e-9 of the norm. Among values that are equal up to 1e-12 the\n"
			"basis is canonical: with P the projector on their space, the axis e_i with the\n"
			"largest |P e_i| (the first of those equal up to 1e-6) gives P e_i, then the\n"
			"same with the rest; all that before k cuts.\n"
			"sign=canonical: the first entry, in row order, of at least (1 - 1e-6) times\n"
			"the largest magnitude is positive. sign=random flips that by the seed, the\n"
			"graph's number and the column.\n"
			"Graphs with fewer than k eigenvectors are filled up as pad says. A graph that\n"
			"does not converge, or has a residual |Lv - wv|_2 / |L|_1 above max_residual,\n"
			"fails; among many it is filled and named.",
	.source = "Dwivedi et al. 2020, \"Benchmarking graph neural networks\", section 3.2",
	.example = "datasets/csl.g6 --with lap:k=8",
	.domains = PE_DOMAIN_GRAPH,
	.bind = bind,
	.by_parts = true,
	.release = release,
	.compute = compute,
	.tokens = pe_token_rows_tokens,
	.tokens_shape = pe_token_rows_shape,
};
