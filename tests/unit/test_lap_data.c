/* SPDX-License-Identifier: BSD-2-Clause
 * Encoder lap on every graph file of the real data, and on the molecules. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "graph.h"
#include "xt_lap.h"

/* What must hold of residual and orthogonality. */
#define LIMIT 1e-10

enum outcome {
	FINE,
	NEGATIVE,  /* refused for weights below 0; fine without weights */
	UNREADABLE /* no graph at all: not square, complex, not finite, damaged */
};

static const struct {
	const char *name;
	enum outcome outcome;
} files[] = {
	{"graphs-metis/4elt.graph", FINE},
	{"graphs-metis/airfoil1.graph", FINE},
	{"graphs-metis/astro-ph.graph", FINE},
	{"graphs-metis/celegans_metabolic.graph", FINE},
	{"graphs-metis/jazz.graph", FINE},
	{"graphs-metis/karate.graph", FINE},
	{"graphs-metis/lesmis.graph", FINE},
	{"graphs-metis/polblogs.graph", FINE},
	{"graphs-metis/power.graph", FINE},
	{"graphs-metis/tiny_01.graph", FINE},
	{"graphs-metis/tiny_02.graph", FINE},
	{"graphs-metis/tiny_03.graph", FINE},
	{"graphs-metis/tiny_04.graph", FINE},
	{"graphs-edgelist/C-elegans-frontal.txt", FINE},
	{"graphs-edgelist/cora.cites", FINE},
	{"graphs-edgelist/facebook_combined.txt.gz", FINE},
	{"graphs-edgelist/lanl_routes.edgelist", FINE},
	{"matrix-market/bcsstk13.mtx", NEGATIVE},
	{"matrix-market/comments_west0067.mtx", UNREADABLE},
	{"matrix-market/complex.mtx", UNREADABLE},
	{"matrix-market/cover.mtx", FINE},
	{"matrix-market/cover_structure.mtx", FINE},
	{"matrix-market/cryg2500.mtx", FINE}, /* its negative entries are loops */
	{"matrix-market/empty.mtx", UNREADABLE},
	{"matrix-market/full.mtx", FINE},
	{"matrix-market/full_noheader.mtx", UNREADABLE},
	{"matrix-market/full_symmetric.mtx", FINE},
	{"matrix-market/jagmesh7.mtx", FINE},
	{"matrix-market/karate.mtx", FINE},
	{"matrix-market/ldbc-directed-example-bool.mtx", FINE},
	{"matrix-market/ldbc-directed-example-unweighted.mtx", FINE},
	{"matrix-market/ldbc-directed-example.mtx", FINE},
	{"matrix-market/ldbc-undirected-example-bool.mtx", FINE},
	{"matrix-market/ldbc-undirected-example-unweighted.mtx", FINE},
	{"matrix-market/ldbc-undirected-example.mtx", FINE},
	{"matrix-market/lp_afiro.mtx", UNREADABLE},
	{"matrix-market/lp_afiro_structure.mtx", UNREADABLE},
	{"matrix-market/mangled1.mtx", UNREADABLE},
	{"matrix-market/mangled2.mtx", UNREADABLE},
	{"matrix-market/mangled3.mtx", UNREADABLE},
	{"matrix-market/mangled4.mtx", UNREADABLE},
	{"matrix-market/mangled5.mtx", UNREADABLE},
	{"matrix-market/mangled6.mtx", UNREADABLE},
	{"matrix-market/mangled7.mtx", UNREADABLE},
	{"matrix-market/mangled8.mtx", UNREADABLE},
	{"matrix-market/mangled_format.mtx", UNREADABLE},
	{"matrix-market/mangled_skew.mtx", UNREADABLE},
	{"matrix-market/matrix_bool.mtx", FINE},
	{"matrix-market/matrix_fp64.mtx", UNREADABLE},
	{"matrix-market/matrix_int32.mtx", FINE},
	{"matrix-market/skew_fp64.mtx", UNREADABLE},
	{"matrix-market/structure.mtx", FINE},
	{"matrix-market/tree-example.mtx", FINE},
	{"matrix-market/west0067.mtx", NEGATIVE},
	{"matrix-market/west0067_jumbled.mtx", NEGATIVE},
	{"matrix-market/west0067_noheader.mtx", UNREADABLE},
};

/* ---- residuals by the definition ---------------------------------------------------- */

/* ‖Lv - λv‖₂ of column j, and ‖L‖₁, of D - A or of its normalised form, loops left out. */
static double residual(const pe_graph *g, bool normalized, const double *degree, const struct xt_lap *lap,
	int64_t j, double *norm)
{
	int64_t k = lap->k;
	double sum = 0;
	*norm = 0;
	for (int64_t i = 0; i < g->nodes; i++) {
		double diagonal = normalized ? degree[i] > 0 : degree[i];
		double y = (diagonal - lap->values[j]) * lap->vectors[i * k + j], absolute = diagonal;
		for (int64_t e = g->row[i]; e < g->row[i + 1]; e++) {
			int32_t c = g->col[e];
			if (c == i)
				continue;
			double w = (g->weight ? g->weight[e] : 1) / (normalized ? sqrt(degree[i]) * sqrt(degree[c]) : 1);
			y -= w * lap->vectors[c * k + j];
			absolute += fabs(w);
		}
		sum += y * y;
		*norm = fmax(*norm, fabs(absolute));
	}
	return sqrt(sum);
}

static void check(pe_context *ctx, const pe_graph *given, bool normalized, const struct xt_lap *lap)
{
	pe_graph *made;
	double norm, *degree = calloc((size_t)given->nodes + 1, sizeof *degree);
	assert_int_equal(pe_graph_symmetrised(ctx, given, &made), PE_OK);
	const pe_graph *g = made ? made : given;
	for (int64_t i = 0; i < g->nodes; i++)
		for (int64_t e = g->row[i]; e < g->row[i + 1]; e++)
			degree[i] += g->col[e] == i ? 0 : g->weight ? g->weight[e] : 1;
	for (int64_t j = 0; j < lap->k && lap->groups[j] >= 0; j++) {
		double r = residual(g, normalized, degree, lap, j, &norm);
		if (!(r <= LIMIT * norm))
			fail_msg("column %d: residual %g of a norm %g", (int)j, r, norm);
		for (int64_t l = 0; l <= j; l++) {
			double product = 0;
			for (int64_t i = 0; i < g->nodes; i++)
				product += lap->vectors[i * lap->k + l] * lap->vectors[i * lap->k + j];
			xt_close_f64(product, l == j, 0, LIMIT);
		}
	}
	assert_true(lap->quality.max_residual <= LIMIT && lap->quality.max_orthogonality_error <= LIMIT);
	free(degree);
	pe_graph_destroy(&made);
}

/* ---- files -------------------------------------------------------------------------- */

static pe_status load(pe_context *ctx, const char *path, const char *settings, pe_graph **graph)
{
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, "graph", &params), PE_OK);
	xt_set(params, settings);
	pe_status status = pe_graph_from_file(ctx, path, params, graph);
	pe_params_destroy(&params);
	return status;
}

static void encode(
	pe_context *ctx, const char *name, const char *settings, const char *normalization, bool refused)
{
	pe_graph *graph;
	char options[64];
	snprintf(options, sizeof options, "normalization=%s", normalization);
	if (load(ctx, xt_data(name), settings, &graph) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	struct xt_lap lap = xt_lap(ctx, graph, options);
	if (refused) {
		assert_int_equal(lap.status, PE_ERR_UNSUPPORTED);
		assert_non_null(strstr(lap.message, "weights below 0"));
	} else {
		if (lap.status != PE_OK)
			fail_msg("%s", lap.message);
		check(ctx, graph, strcmp(normalization, "sym") == 0, &lap);
	}
	xt_lap_free(&lap);
	pe_graph_destroy(&graph);
}

static void every_file(void **state)
{
	pe_graph *graph;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		print_message("           %s\n", files[i].name);
		if (files[i].outcome == UNREADABLE) {
			assert_int_not_equal(load(*state, xt_data(files[i].name), "edge_weights=none", &graph), PE_OK);
			continue;
		}
		encode(*state, files[i].name, "edge_weights=auto", "sym", files[i].outcome == NEGATIVE);
		encode(*state, files[i].name, "edge_weights=none", "sym", false);
		encode(*state, files[i].name, "edge_weights=none", "none", false);
	}
}

/* ---- molecules ---------------------------------------------------------------------- */

static void molecules(void **state)
{
	pe_graph *graph;
	(void)state;
	struct xt_lap results[3];
	const char *path = xt_data("molecules-zinc24k/zinc24k.g6");
	for (int t = 0; t < 3; t++) {
		pe_context *ctx = xt_context(1 << t, NULL);
		if (load(ctx, path, "edges=auto", &graph) != PE_OK)
			fail_msg("%s", pe_context_message(ctx));
		results[t] = xt_lap(ctx, graph, "");
		pe_graph_destroy(&graph);
		pe_context_destroy(&ctx);
		const pe_quality *q = &results[t].quality;
		assert_int_equal(results[t].status, PE_OK);
		assert_int_equal(results[t].graphs, 24445);
		assert_int_equal(q->certified, 24445);
		assert_true(q->max_residual < 1e-12 && q->max_orthogonality_error < 1e-12);
		size_t size = (size_t)(results[t].nodes * 8) * sizeof(double);
		assert_memory_equal(results[t].vectors, results[0].vectors, size);
	}
	for (int t = 0; t < 3; t++)
		xt_lap_free(&results[t]);
}

/* One in a hundred against LAPACK, alone and among the others. */
static void some_molecules(void **state)
{
	pe_graph *graph;
	if (load(*state, xt_data("molecules-zinc24k/zinc24k.g6"), "edges=auto", &graph) != PE_OK)
		fail_msg("%s", pe_context_message(*state));
	struct xt_lap all = xt_lap(*state, graph, "");
	for (int64_t g = 0; g < graph->count; g += 100) {
		struct pe_csr view = pe_graph_view(graph, g);
		struct xt_edges edges = xt_empty(view.n);
		for (int32_t i = 0; i < view.n; i++)
			for (int64_t e = view.row[i]; e < view.row[i + 1]; e++)
				if (view.col[e] > i)
					xt_join(&edges, i, view.col[e], 1);
		struct xt_lap alone = xt_lap_of(*state, &edges, NULL, "");
		assert_memory_equal(
			alone.vectors, all.vectors + graph->ptr[g] * 8, (size_t)view.n * 8 * sizeof(double));
		double values[64], *l = xt_laplacian(&edges, true, false, false, NULL);
		int columns = view.n - 1 < 8 ? view.n - 1 : 8;
		xt_check_pairs(l, view.n, &alone, columns, 1e-13);
		xt_eigen(l, view.n, values);
		for (int j = 0; j < columns; j++)
			xt_close_f64(alone.values[j], values[j + 1], 0, 1e-14);
		free(l);
		xt_lap_free(&alone);
		xt_edges_free(&edges);
	}
	xt_lap_free(&all);
	pe_graph_destroy(&graph);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file),
		cmocka_unit_test(molecules),
		cmocka_unit_test(some_molecules),
	};
	return xt_run(argc, argv, tests);
}
