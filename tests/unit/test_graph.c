/* SPDX-License-Identifier: BSD-2-Clause
 * From edges as listed to rows: policies, report, threads, memory. */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "graph.h"
#include "reader.h"

/* "0>1 1>2*2.5 | 3 2>2": graphs separated by '|'; the first word is the number of nodes, edges are
 * u>v or u>v*w. */
static void *duplicate(pe_context *ctx, const void *data, int64_t count, size_t size)
{
	void *copy = pe_alloc(ctx, count, size);
	assert_non_null(copy);
	memcpy(copy, data, (size_t)count * size);
	return copy;
}

static struct pe_raw_graphs sketch(pe_context *ctx, const char *text)
{
	static int64_t ptr[20], edge_ptr[20];
	static int32_t u[100], v[100];
	static double w[100];
	bool weighted = strchr(text, '*');
	int64_t graphs = 0, rows = 0;
	for (const char *at = text; at;) {
		int nodes, used;
		assert_int_equal(sscanf(at, "%d%n", &nodes, &used), 1);
		ptr[graphs + 1] = ptr[graphs] + nodes;
		for (at += used; sscanf(at, " %d>%d%n", &u[rows], &v[rows], &used) == 2; rows++) {
			at += used;
			w[rows] = 1;
			if (sscanf(at, "*%lf%n", &w[rows], &used) == 1)
				at += used;
		}
		edge_ptr[++graphs] = rows;
		at = strchr(at, '|');
		at = at ? at + 1 : NULL;
	}
	return (struct pe_raw_graphs){
		.format = "sketch",
		.graphs = graphs,
		.nodes = ptr[graphs],
		.rows = rows,
		.ptr = graphs == 1 ? NULL : duplicate(ctx, ptr, graphs + 1, sizeof *ptr),
		.edge_ptr = graphs == 1 ? NULL : duplicate(ctx, edge_ptr, graphs + 1, sizeof *edge_ptr),
		.u = duplicate(ctx, u, rows, sizeof *u),
		.v = duplicate(ctx, v, rows, sizeof *v),
		.w = weighted ? duplicate(ctx, w, rows, sizeof *w) : NULL,
	};
}

static const struct pe_graph_policy plain = {.weight_column = -1};

static pe_graph *build(pe_context *ctx, const char *text, struct pe_graph_policy policy)
{
	struct pe_raw_graphs raw = sketch(ctx, text);
	pe_graph *graph;
	assert_int_equal(pe_graph_build(ctx, &raw, &policy, &graph), PE_OK);
	return graph;
}

/* Writes the graph as "0>1*2.5 …", graphs after '|', and compares. */
static void expect(pe_graph *graph, const char *expected)
{
	char text[4096], *at = text;
	for (int64_t g = 0; g < graph->count; g++) {
		struct pe_csr view = pe_graph_view(graph, g);
		if (g > 0)
			at += sprintf(at, " |");
		for (int32_t i = 0; i < view.n; i++)
			for (int64_t e = view.row[i]; e < view.row[i + 1]; e++) {
				at += sprintf(at, "%s%d>%d", at == text ? "" : " ", i, view.col[e]);
				if (view.weight)
					at += sprintf(at, "*%g", view.weight[e]);
			}
	}
	*at = '\0';
	assert_string_equal(text, expected);
}

static void becomes(pe_context *ctx, const char *text, struct pe_graph_policy policy, const char *expected)
{
	pe_graph *graph = build(ctx, text, policy);
	expect(graph, expected);
	pe_graph_destroy(&graph);
	assert_null(graph);
}

static void once_or_twice_is_the_same(void **state)
{
	const char *path = "0>1 1>0 1>2 2>1";
	becomes(*state, "3 0>1 1>2", plain, path);
	becomes(*state, "3 2>1 1>0", plain, path);
	becomes(*state, "3 2>1 0>1 1>0 1>2", plain, path);
	becomes(*state, "3 0>1*2 2>1*.5", plain, "0>1*2 1>0*2 1>2*0.5 2>1*0.5");
	becomes(*state, "3 0>1*2 2>1*.5 1>0*2 1>2*.5", plain, "0>1*2 1>0*2 1>2*0.5 2>1*0.5");
	becomes(*state, "3", plain, "");
	becomes(*state, "0", plain, "");
	becomes(*state, "0 | 2 1>0 | 0", plain, " | 0>1 1>0 |");
}

/* pe_graph_edges, as "0>1 …", of a tensor whose two rows lie far apart. */
static void lists(
	pe_context *ctx, const char *text, struct pe_graph_policy policy, pe_dtype dtype, const char *expected)
{
	pe_graph *graph = build(ctx, text, policy);
	int64_t memory[2][50], count = pe_graph_get_report(graph)->edges;
	int32_t *small = (int32_t *)memory;
	pe_tensor edges = pe_tensor_dense(memory, dtype, 2, (int64_t[]){2, count});
	edges.strides[0] = 50;
	char found[400] = "", *at = found;
	assert_int_equal(pe_graph_edges(graph, &edges), PE_OK);
	for (int64_t e = 0; e < count; e++)
		at += dtype == PE_I64 ? sprintf(at, "%s%d>%d", e ? " " : "", (int)memory[0][e], (int)memory[1][e])
							  : sprintf(at, "%s%d>%d", e ? " " : "", (int)small[e], (int)small[50 + e]);
	assert_string_equal(found, expected);
	edges.shape[1]++;
	xt_fails(ctx, pe_graph_edges(graph, &edges), PE_ERR_SHAPE, "edge_index");
	pe_graph_destroy(&graph);
}

static void edges_are_listed(void **state)
{
	struct pe_graph_policy policy = plain;
	lists(*state, "4 2>1 1>2 0>1 3>3 3>0", policy, PE_I64, "0>1 0>3 1>2 3>3");
	lists(*state, "2 1>0 | 0 | 3 2>0 0>1", policy, PE_I32, "0>1 2>3 2>4");
	lists(*state, "3", policy, PE_I64, "");
	policy.edges = PE_DIRECTED;
	lists(*state, "3 2>1 1>2 0>1 0>0", policy, PE_I32, "0>0 0>1 1>2 2>1");
	lists(*state, "2 1>0 | 2 1>0 0>1", policy, PE_I64, "1>0 2>3 3>2");
	assert_int_equal(pe_graph_edges(NULL, NULL), PE_ERR_ARGUMENT);
}

static void symmetrise(void **state)
{
	struct pe_graph_policy policy = plain;
	const char *text = "3 0>1*2 1>0*-5 1>2*-3 2>2*7";
	becomes(*state, text, policy, "0>1*2 1>0*2 1>2*-3 2>1*-3 2>2*7");
	policy.symmetrise = PE_SYMMETRISE_SUM;
	becomes(*state, text, policy, "0>1*-3 1>0*-3 1>2*-3 2>1*-3 2>2*7");
	becomes(*state, "3 0>1 1>0 1>2", policy, "0>1*2 1>0*2 1>2*1 2>1*1");
	becomes(*state, "2 0>1*3 1>0*-3", policy, "");
	policy.symmetrise = PE_SYMMETRISE_MEAN;
	becomes(*state, text, policy, "0>1*-1.5 1>0*-1.5 1>2*-1.5 2>1*-1.5 2>2*7");
	becomes(*state, "3 0>1 1>0 1>2 2>1", policy, "0>1 1>0 1>2 2>1");
	becomes(*state, "3 0>1 1>0 1>2", policy, "0>1*1 1>0*1 1>2*0.5 2>1*0.5");
	policy.edges = PE_DIRECTED;
	becomes(*state, text, policy, "0>1*2 1>0*-5 1>2*-3 2>2*7");
}

static void duplicates(void **state)
{
	struct pe_graph_policy policy = plain;
	const char *text = "2 0>1*2 0>1*4 0>1*3 1>1*1";
	becomes(*state, text, policy, "0>1*9 1>0*9 1>1*1");
	becomes(*state, "2 0>1 0>1 1>1 1>1", policy, "0>1 1>0 1>1");
	becomes(*state, "2 0>1*2 0>1*-2", policy, "");
	policy.duplicates = PE_DUPLICATES_FIRST;
	becomes(*state, text, policy, "0>1*2 1>0*2 1>1*1");
	policy.duplicates = PE_DUPLICATES_MAX;
	becomes(*state, text, policy, "0>1*4 1>0*4 1>1*1");
	policy.duplicates = PE_DUPLICATES_SUM;
	becomes(*state, "2 0>1 0>1 1>1", policy, "0>1*2 1>0*2 1>1*1");
	becomes(*state, "2 0>1 1>1", policy, "0>1 1>0 1>1");
	policy.weight_column = 0;
	policy.duplicates = PE_DUPLICATES_AUTO;
	becomes(*state, text, policy, "0>1 1>0 1>1");
}

static void loops(void **state)
{
	struct pe_graph_policy policy = plain;
	becomes(*state, "2 0>0 1>0 | 1 0>0 0>0", policy, "0>0 0>1 1>0 | 0>0");
	policy.loops = PE_LOOPS_DROP;
	pe_graph *graph = build(*state, "2 0>0 1>0 | 1 0>0 0>0", policy);
	expect(graph, "0>1 1>0 |");
	const pe_graph_report *report = pe_graph_get_report(graph);
	assert_true(report->self_loops == 3 && report->edges == 1 && report->duplicates == 1);
	assert_int_equal(report->isolated, 1);
	pe_graph_destroy(&graph);
}

static void mirrored_rows(void **state)
{
	struct pe_graph_policy policy = plain;
	for (int symmetric = 0; symmetric < 6; symmetric++) {
		policy.symmetrise = (enum pe_symmetrise)(symmetric % 3);
		policy.edges = symmetric < 3 ? PE_DIRECTION_UNKNOWN : PE_DIRECTED;
		struct pe_raw_graphs raw = sketch(*state, "3 0>1*2 2>1*3 1>0*4 2>2*5");
		raw.mirrored = true;
		pe_graph *graph;
		assert_int_equal(pe_graph_build(*state, &raw, &policy, &graph), PE_OK);
		expect(graph, "0>1*6 1>0*6 1>2*3 2>1*3 2>2*5");
		const pe_graph_report *r = pe_graph_get_report(graph);
		assert_int_equal(r->directed, symmetric >= 3);
		assert_true(r->rows == 4 && r->duplicates == 1 && r->one_way == 0);
		assert_int_equal(r->edges, symmetric < 3 ? 3 : 5);
		pe_graph_destroy(&graph);
	}
}

static void direction(void **state)
{
	static const struct {
		enum pe_direction listed, wanted;
		const char *text;
		bool directed;
	} cases[] = {
		{PE_DIRECTION_UNKNOWN, PE_DIRECTION_UNKNOWN, "2 0>1", false},
		{PE_UNDIRECTED, PE_DIRECTION_UNKNOWN, "2 0>1", false},
		{PE_DIRECTED, PE_DIRECTION_UNKNOWN, "2 0>1 1>0", true},
		{PE_DIRECTED_IF_ONE_WAY, PE_DIRECTION_UNKNOWN, "2 0>1", true},
		{PE_DIRECTED_IF_ONE_WAY, PE_DIRECTION_UNKNOWN, "2 0>1*3 1>0*2", false},
		{PE_DIRECTED_IF_ONE_WAY, PE_UNDIRECTED, "2 0>1", false},
		{PE_DIRECTION_UNKNOWN, PE_DIRECTED, "2 0>1", true},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct pe_graph_policy policy = plain;
		policy.edges = cases[c].wanted;
		struct pe_raw_graphs raw = sketch(*state, cases[c].text);
		raw.direction = cases[c].listed;
		pe_graph *graph;
		assert_int_equal(pe_graph_build(*state, &raw, &policy, &graph), PE_OK);
		assert_int_equal(graph->directed, cases[c].directed);
		pe_graph_destroy(&graph);
	}
}

static void report(void **state)
{
	struct pe_raw_graphs raw = sketch(*state, "6 0>1 1>0 1>2 1>2 3>3 2>4 | 2 0>1");
	raw.base = 1;
	raw.phantom = 1;
	pe_graph *graph;
	assert_int_equal(pe_graph_build(*state, &raw, &plain, &graph), PE_OK);
	const pe_graph_report *r = pe_graph_get_report(graph);
	assert_string_equal(r->format, "sketch");
	assert_true(r->graphs == 2 && r->nodes == 8 && r->edges == 5 && r->rows == 7 && r->self_loops == 1);
	assert_true(r->duplicates == 1 && r->one_way == 3 && r->isolated == 2 && r->phantom == 1);
	assert_true(r->components == 4 && r->base == 1 && !r->directed && !r->weighted && !r->renumbered);
	const int64_t ids[] = {1, 2, 3, 4, 5, 6, 1, 2};
	assert_memory_equal(pe_graph_node_ids(graph), ids, sizeof ids);
	assert_int_equal(pe_graph_ptr(graph)[1], 6);
	assert_null(pe_graph_node_name(graph, 0));
	pe_graph_destroy(&graph);
}

static void largest_component(void **state)
{
	struct pe_graph_policy policy = plain;
	policy.largest_component = true;
	const char *text = "7 6>1*3 6>5*2 2>3*1 3>4*4 0>0*9 | 4 3>2*1 1>0*2 | 0 | 2";
	pe_graph *graph = build(*state, text, policy);
	expect(graph, "0>2*3 1>2*2 2>0*3 2>1*2 | 0>1*2 1>0*2 | |");
	const int64_t ids[] = {1, 5, 6, 0, 1, 0};
	assert_memory_equal(pe_graph_node_ids(graph), ids, sizeof ids);
	const pe_graph_report *r = pe_graph_get_report(graph);
	assert_true(r->nodes == 6 && r->edges == 3 && r->components == 3 && r->isolated == 1 && r->renumbered);
	assert_true(r->rows == 7 && r->graphs == 4);
	pe_graph_destroy(&graph);
	becomes(*state, "3 0>1 1>2", policy, "0>1 1>0 1>2 2>1");
	/* What stays has no weight below 0. */
	graph = build(*state, "5 0>1*2 1>2*1 3>4*-1", policy);
	assert_false(graph->negative);
	pe_graph_destroy(&graph);
	graph = build(*state, "5 0>1*2 1>2*-1 3>4*1", policy);
	assert_true(graph->negative);
	pe_graph_destroy(&graph);
}

static void too_large_a_sum(void **state)
{
	struct pe_raw_graphs raw = sketch(*state, "2 0>1*1e308 0>1*1e308");
	pe_graph *graph;
	xt_fails(*state, pe_graph_build(*state, &raw, &plain, &graph), PE_ERR_FORMAT, "too large");
	assert_null(graph);
}

static void symmetrised(void **state)
{
	struct pe_graph_policy policy = plain;
	policy.edges = PE_DIRECTED;
	policy.symmetrise = PE_SYMMETRISE_SUM;
	pe_graph *graph = build(*state, "3 0>1*2 1>0*3 2>1*4 2>2*5 | 2 1>0*6", policy), *made;
	expect(graph, "0>1*2 1>0*3 2>1*4 2>2*5 | 1>0*6");
	assert_int_equal(pe_graph_symmetrised(*state, graph, &made), PE_OK);
	expect(made, "0>1*5 1>0*5 1>2*4 2>1*4 2>2*5 | 0>1*6 1>0*6");
	assert_true(!made->directed && made->report.edges == 4 && made->node_ids[4] == 1);
	pe_graph *none;
	assert_int_equal(pe_graph_symmetrised(*state, made, &none), PE_OK);
	assert_null(none);
	pe_graph_destroy(&made);
	pe_graph_destroy(&graph);
}

/* ---- against a dense matrix --------------------------------------------------------- */

enum { N = 40, GRAPHS = 3000, ROWS = 70 };

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static struct pe_raw_graphs random_graphs(pe_context *ctx)
{
	struct pe_raw_graphs raw = {.format = "random", .graphs = GRAPHS, .rows = (int64_t)GRAPHS * ROWS};
	raw.nodes = (int64_t)GRAPHS * N;
	raw.ptr = pe_alloc(ctx, GRAPHS + 1, sizeof *raw.ptr);
	raw.edge_ptr = pe_alloc(ctx, GRAPHS + 1, sizeof *raw.edge_ptr);
	raw.u = pe_alloc(ctx, raw.rows, sizeof *raw.u);
	raw.v = pe_alloc(ctx, raw.rows, sizeof *raw.v);
	raw.w = pe_alloc(ctx, raw.rows, sizeof *raw.w);
	assert_true(raw.ptr && raw.edge_ptr && raw.u && raw.v && raw.w);
	for (int64_t g = 0; g <= GRAPHS; g++) {
		raw.ptr[g] = g * N;
		raw.edge_ptr[g] = g * ROWS;
	}
	uint32_t seed = 7;
	for (int64_t e = 0; e < raw.rows; e++) {
		raw.u[e] = (int32_t)(next(&seed) % N);
		raw.v[e] = (int32_t)(next(&seed) % N);
		raw.w[e] = 0.1 * (1 + next(&seed) % 9);
	}
	return raw;
}

/* Sums of duplicates in the order of listing, then the larger of the two directions. */
static void reference(const struct pe_raw_graphs *raw, int64_t g, double dense[N][N])
{
	memset(dense, 0, N * sizeof *dense);
	for (int64_t e = raw->edge_ptr[g]; e < raw->edge_ptr[g + 1]; e++)
		dense[raw->u[e]][raw->v[e]] += raw->w[e];
	for (int i = 0; i < N; i++)
		for (int j = 0; j < i; j++)
			dense[i][j] = dense[j][i] = fmax(dense[i][j], dense[j][i]);
}

static void against_dense(void **state)
{
	struct pe_raw_graphs raw = random_graphs(*state), kept = random_graphs(*state);
	pe_graph *graph;
	assert_int_equal(pe_graph_build(*state, &raw, &plain, &graph), PE_OK);
	for (int64_t g = 0; g < GRAPHS; g++) {
		double dense[N][N];
		reference(&kept, g, dense);
		struct pe_csr view = pe_graph_view(graph, g);
		int64_t e = view.row[0];
		for (int32_t i = 0; i < N; i++) {
			for (int32_t j = 0; j < N; j++) {
				if (dense[i][j] == 0)
					continue;
				assert_true(view.col[e] == j && view.weight[e] == dense[i][j]);
				e++;
			}
			assert_true(view.row[i + 1] == e);
		}
	}
	pe_graph_destroy(&graph);
	pe_raw_graphs_free(*state, &kept);
}

/* Small graphs without weights are kept as bits; with weights of 1 they are sorted. */
static void bits_or_sorting(void **state)
{
	for (int c = 0; c < 16; c++) {
		struct pe_graph_policy policy = plain;
		policy.edges = c & 1 ? PE_DIRECTED : PE_UNDIRECTED;
		policy.loops = c & 2 ? PE_LOOPS_DROP : PE_LOOPS_KEEP;
		policy.duplicates = PE_DUPLICATES_FIRST;
		pe_graph *graphs[2];
		for (int weighted = 0; weighted < 2; weighted++) {
			struct pe_raw_graphs raw = random_graphs(*state);
			raw.mirrored = c & 4;
			for (int64_t e = 0; e < raw.rows; e++)
				raw.w[e] = 1;
			for (int64_t g = 0; c & 8 && g < GRAPHS; g += 3) /* parts of 20 nodes: more components */
				for (int64_t e = raw.edge_ptr[g]; e < raw.edge_ptr[g + 1]; e++)
					raw.v[e] = raw.u[e] / 20 * 20 + raw.v[e] % 20;
			if (!weighted) {
				pe_free(*state, raw.w);
				raw.w = NULL;
			}
			assert_int_equal(pe_graph_build(*state, &raw, &policy, &graphs[weighted]), PE_OK);
		}
		size_t entries = (size_t)graphs[0]->row[graphs[0]->nodes];
		assert_memory_equal(graphs[0]->row, graphs[1]->row, (size_t)(graphs[0]->nodes + 1) * sizeof(int64_t));
		assert_memory_equal(graphs[0]->col, graphs[1]->col, entries * sizeof(int32_t));
		assert_null(graphs[0]->weight);
		pe_graph_report report = graphs[1]->report;
		report.weighted = 0;
		report.digest = graphs[0]->report.digest;
		assert_memory_equal(&report, &graphs[0]->report, sizeof report);
		pe_graph_destroy(&graphs[0]);
		pe_graph_destroy(&graphs[1]);
	}
}

/* The largest graph that is kept as bits, and the smallest that is not. */
static void around_64_nodes(void **state)
{
	for (int32_t n = 63; n <= 66; n++) {
		char text[64], expected[128];
		snprintf(text, sizeof text, "%d 0>%d %d>%d", n, n - 1, n - 1, n - 1);
		snprintf(expected, sizeof expected, "0>%d %d>0 %d>%d", n - 1, n - 1, n - 1, n - 1);
		becomes(*state, text, plain, expected);
		pe_graph *graph = build(*state, text, plain);
		assert_true(graph->report.components == n - 1 && graph->report.isolated == n - 2);
		pe_graph_destroy(&graph);
	}
}

static void any_number_of_threads(void **state)
{
	pe_graph *first = NULL;
	for (int32_t threads = 1; threads <= 4; threads *= 2) {
		pe_context *ctx = xt_context(threads, NULL);
		struct pe_raw_graphs raw = random_graphs(*state);
		pe_graph *graph;
		assert_int_equal(pe_graph_build(ctx, &raw, &plain, &graph), PE_OK);
		pe_context_destroy(&ctx); /* the graph does not need it */
		if (!first) {
			first = graph;
			continue;
		}
		size_t entries = (size_t)first->row[first->nodes];
		assert_memory_equal(graph->row, first->row, (size_t)(first->nodes + 1) * sizeof *graph->row);
		assert_memory_equal(graph->col, first->col, entries * sizeof *graph->col);
		assert_memory_equal(graph->weight, first->weight, entries * sizeof *graph->weight);
		pe_graph_report report = graph->report;
		report.digest = first->report.digest; /* a pointer into each graph */
		assert_memory_equal(&report, &first->report, sizeof report);
		pe_graph_destroy(&graph);
	}
	pe_graph_destroy(&first);
}

static void out_of_memory(void **state)
{
	struct xt_shortage s = {.forever = true};
	struct pe_graph_policy policy = plain;
	policy.largest_component = true;
	while (xt_shortage_next(&s)) {
		struct pe_raw_graphs raw = sketch(*state, "3 0>1*2 1>2*3 2>1*4 | 2 0>1*1 1>1*2");
		pe_graph *graph;
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_graph_build(*state, &raw, &policy, &graph));
		assert_int_equal(graph != NULL, s.over);
		assert_null(raw.u);
		pe_graph_destroy(&graph);
	}
}

/* ---- from the caller's arrays, with options ----------------------------------------- */

/* One graph of many, as it is among them. */
static void selects(pe_graph *graph, int64_t index, const char *expected, pe_graph_report report)
{
	pe_graph *one, *again;
	struct xt_shortage s = {.forever = true};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_graph_select(graph->ctx, graph, index, &one));
		assert_int_equal(one != NULL, s.over);
		pe_graph_destroy(&one);
	}
	assert_int_equal(pe_graph_select(graph->ctx, graph, index, &one), PE_OK);
	expect(one, expected);
	const pe_graph_report *r = pe_graph_get_report(one);
	assert_true(r->graphs == 1 && r->nodes == report.nodes && r->edges == report.edges &&
		r->rows == report.edges && r->self_loops == report.self_loops && r->isolated == report.isolated &&
		r->components == report.components);
	assert_true(r->directed == graph->directed && r->weighted == (graph->weight != NULL));
	assert_true(one->negative == (strchr(expected, '-') != NULL) && one->number == index);
	assert_memory_equal(pe_graph_ptr(one), ((int64_t[]){0, report.nodes}), 2 * sizeof(int64_t));
	assert_memory_equal(
		pe_graph_node_ids(one), graph->node_ids + graph->ptr[index], (size_t)report.nodes * sizeof(int64_t));
	assert_int_equal(pe_graph_select(graph->ctx, one, 0, &again), PE_OK);
	expect(again, expected);
	assert_int_equal(again->number, index);
	pe_graph_destroy(&again);
	pe_graph_destroy(&one);
}

static void one_of_many(void **state)
{
	pe_graph *graph = build(*state, "3 0>1*2 1>2*-3 2>1*-3 | 4 0>1 1>2*4 2>2 | 0", plain), *one;
	selects(
		graph, 0, "0>1*2 1>0*2 1>2*-3 2>1*-3", (pe_graph_report){.nodes = 3, .edges = 2, .components = 1});
	selects(graph, 1, "0>1*1 1>0*1 1>2*4 2>1*4 2>2*1",
		(pe_graph_report){.nodes = 4, .edges = 3, .components = 2, .self_loops = 1, .isolated = 1});
	selects(graph, 2, "", (pe_graph_report){0});
	xt_fails(*state, pe_graph_select(*state, graph, 3, &one), PE_ERR_ARGUMENT, "there is no graph 3");
	xt_fails(*state, pe_graph_select(*state, graph, -1, &one), PE_ERR_ARGUMENT, "there is no graph -1");
	assert_null(one);
	pe_graph_destroy(&graph);
	struct pe_graph_policy policy = plain;
	policy.edges = PE_DIRECTED;
	graph = build(*state, "2 0>1 | 3 0>1 2>1", policy);
	selects(graph, 1, "0>1 2>1", (pe_graph_report){.nodes = 3, .edges = 2, .components = 1});
	pe_graph_destroy(&graph);
}

static void from_arrays(void **state)
{
	int64_t index[] = {0, 1, 3, 1, 2, 4};
	double weight[] = {2, 0, 5};
	int64_t offsets[] = {0, 3, 6};
	pe_tensor edge_index = pe_tensor_dense(index, PE_I64, 2, (int64_t[]){2, 3});
	pe_tensor edge_weight = pe_tensor_dense(weight, PE_F64, 1, (int64_t[]){3});
	pe_tensor ptr = pe_tensor_dense(offsets, PE_I64, 1, (int64_t[]){3});
	pe_params *params;
	assert_int_equal(pe_params_create(*state, "graph", &params), PE_OK);
	pe_graph *graph;
	assert_int_equal(pe_graph_from_arrays(*state, &edge_index, &edge_weight, &ptr, 6, params, &graph), PE_OK);
	expect(graph, "0>1*2 1>0*2 | 0>1*5 1>0*5");
	pe_graph_destroy(&graph);
	xt_set(params, "edges=directed,edge_weights=none,component=largest");
	assert_int_equal(pe_graph_from_arrays(*state, &edge_index, &edge_weight, &ptr, 6, params, &graph), PE_OK);
	expect(graph, "0>1 1>2 | 0>1");
	pe_graph_destroy(&graph);
	xt_set(params, "edge_weights=0");
	xt_fails(*state, pe_graph_from_arrays(*state, &edge_index, NULL, NULL, -1, params, &graph), PE_ERR_RANGE,
		"edge_weights=0 is not a column");
	assert_int_equal(pe_params_set(params, "loops", "sometimes"), PE_ERR_RANGE);
	pe_params_destroy(&params);
}

/* ---- what is said ------------------------------------------------------------------- */

static void collect(void *opaque, pe_log_level level, const char *text)
{
	char *all = opaque;
	if (level == PE_LOG_WARNING)
		strcat(strcat(all, text), "\n");
}

static void changes_are_said(void **state)
{
	(void)state;
	char said[4096] = "";
	pe_context_options options = {sizeof options, .log = collect, .opaque = said};
	pe_context *ctx;
	assert_int_equal(pe_context_create(&options, &ctx), PE_OK);
	struct pe_graph_policy policy = plain;
	policy.loops = PE_LOOPS_DROP;
	policy.largest_component = true;
	pe_graph *graph = build(ctx, "5 0>1*1 0>1*1 1>2*1 2>2*1 2>1*4 3>3*0", policy);
	pe_graph_destroy(&graph);
	assert_string_equal(said,
		"1 duplicate row was summed (duplicates=sum)\n"
		"2 self loops were dropped (loops=drop)\n"
		"1 edge of weight 0 was dropped\n"
		"1 one-way edge was made undirected (symmetrise=max)\n"
		"1 edge had different weights in the two directions (symmetrise=max)\n"
		"2 nodes outside of the largest component were dropped, 3 stay "
		"(component=largest)\n");
	*said = '\0';
	graph = build(ctx, "3 0>1 1>0 1>2 2>1", plain);
	pe_graph_destroy(&graph);
	assert_string_equal(said, "");
	graph = build(ctx, "3 0>1 1>2", plain);
	pe_graph_destroy(&graph);
	assert_string_equal(said, "every edge is listed in one direction only and was read as undirected\n");
	pe_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_or_twice_is_the_same),
		cmocka_unit_test(edges_are_listed),
		cmocka_unit_test(symmetrise),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(loops),
		cmocka_unit_test(mirrored_rows),
		cmocka_unit_test(direction),
		cmocka_unit_test(report),
		cmocka_unit_test(largest_component),
		cmocka_unit_test(too_large_a_sum),
		cmocka_unit_test(symmetrised),
		cmocka_unit_test(against_dense),
		cmocka_unit_test(bits_or_sorting),
		cmocka_unit_test(around_64_nodes),
		cmocka_unit_test(any_number_of_threads),
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(one_of_many),
		cmocka_unit_test(from_arrays),
		cmocka_unit_test(changes_are_said),
	};
	return xt_run(argc, argv, tests) != 0;
}
