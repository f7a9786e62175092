/* SPDX-License-Identifier: BSD-2-Clause
 * Encoder rwse on graphs with many twins: the same as by dense powers. */
#include <math.h>
#include <string.h>

#include "xt.h"

#include "walk.h"
#include "xt_graph.h"

/* Whether the twins of the graph are merged; the number of nodes of the walk. */
static int32_t nodes_of_walk(pe_context *ctx, const pe_graph *graph)
{
	struct pe_csr view = pe_graph_view(graph, 0);
	struct pe_walk walk;
	struct pe_twins twins;
	assert_int_equal(pe_walk_create(ctx, &view, graph->directed, &walk), PE_OK);
	assert_int_equal(pe_walk_merge_twins(ctx, &walk, &twins), PE_OK);
	assert_int_equal(walk.n, twins.classes > 0 ? twins.classes : view.n);
	int32_t n = walk.n;
	pe_twins_free(ctx, &twins);
	pe_walk_free(ctx, &walk);
	return n;
}

static double *encode(pe_context *ctx, const pe_graph *graph, const char *settings)
{
	pe_domain *domain;
	int64_t columns;
	assert_int_equal(pe_domain_graph(ctx, graph, &domain), PE_OK);
	double *rows = xt_first_array(ctx, "rwse", settings, domain, &columns);
	assert_int_equal(columns, 9);
	pe_domain_destroy(&domain);
	return rows;
}

/* P of the definition; rows without edges are 0, or 1 on the diagonal. */
static double *transition(const struct xt_edges *e, bool isolated)
{
	size_t n = (size_t)e->n;
	double *p = calloc(n * n, sizeof *p);
	for (int t = 0; t < e->count; t++)
		p[(size_t)e->u[t] * n + (size_t)e->v[t]] = p[(size_t)e->v[t] * n + (size_t)e->u[t]] = e->w[t];
	for (size_t i = 0; i < n; i++) {
		double sum = 0;
		for (size_t j = 0; j < n; j++)
			sum += p[i * n + j];
		for (size_t j = 0; j < n && sum > 0; j++)
			p[i * n + j] /= sum;
		if (!(sum > 0))
			p[i * n + i] = isolated;
	}
	return p;
}

/* Merged: how many nodes the walk is to have. */
static void check(pe_context *ctx, const struct xt_edges *e, int32_t merged)
{
	pe_graph *graph = xt_graph(ctx, e, 1, "loops=keep");
	size_t n = (size_t)e->n;
	assert_int_equal(nodes_of_walk(ctx, graph), merged);
	for (int isolated = 0; isolated < 2; isolated++) {
		double *got = encode(ctx, graph, isolated ? "steps=9,isolated=1" : "steps=9");
		double *p = transition(e, isolated), *power = malloc(n * n * sizeof *p),
			   *next = malloc(n * sizeof *p);
		memcpy(power, p, n * n * sizeof *p);
		for (size_t k = 0; k < 9; k++) {
			for (size_t i = 0; i < n; i++)
				xt_close_f64(got[i * 9 + k], power[i * n + i], 1e-12, 0);
			for (size_t i = 0; i < n; i++) {
				memset(next, 0, n * sizeof *next);
				for (size_t t = 0; t < n; t++)
					for (size_t j = 0; j < n && power[i * n + t] > 0; j++)
						next[j] += power[i * n + t] * p[t * n + j];
				memcpy(power + i * n, next, n * sizeof *next);
			}
		}
		free(next);
		free(power);
		free(p);
		free(got);
	}
	pe_graph_destroy(&graph);
}

/* Hubs 0 … 2, and nodes on all, on the first two, and on the last alone; two of the hubs have loops, two
 * nodes have nothing, and so that rows differ some weights do. */
static struct xt_edges hubs(int many, bool weighted)
{
	struct xt_edges e = xt_empty(3 + 3 * many + 2);
	for (int i = 0; i < many; i++) {
		for (int h = 0; h < 3; h++)
			xt_join(&e, h, 3 + 3 * i, weighted ? h + 0.3 : 1);
		xt_join(&e, 0, 4 + 3 * i, weighted ? 1e7 : 1);
		xt_join(&e, 1, 4 + 3 * i, weighted && i % 2 ? 1e-7 : 1);
		xt_join(&e, 2, 5 + 3 * i, weighted ? 1e-3 : 1);
	}
	xt_join(&e, 0, 0, 1);
	xt_join(&e, 1, 1, 1);
	return e;
}

static void hubs_and_their_nodes(void **state)
{
	for (int weighted = 0; weighted < 2; weighted++) {
		struct xt_edges e = hubs(40, weighted);
		check(*state, &e, 3 + 3 + weighted + 2); /* by weight the second kind are two */
		int *to = xt_permutation(3, e.n);
		struct xt_edges mixed = xt_relabelled(&e, to);
		check(*state, &mixed, 3 + 3 + weighted + 2);
		free(to);
		xt_edges_free(&mixed);
		xt_edges_free(&e);
	}
	struct xt_edges e = xt_bipartite(3, 90);
	check(*state, &e, 2);
	xt_edges_free(&e);
}

/* Where twins are few, or leaves, they stay. */
static void few_twins(void **state)
{
	struct xt_edges e = xt_random_graph(1, 120, 60, 0);
	check(*state, &e, 120);
	xt_edges_free(&e);
	e = xt_star(99);
	check(*state, &e, 100);
	xt_edges_free(&e);
}

/* K_{2,m}, m a million: from a hub and from any other node back in 2 steps by 1/2 and 1/m, bipartite. */
static void a_million_shared_nodes(void **state)
{
	enum { M = 1000000 };
	struct xt_edges e = xt_bipartite(2, M);
	pe_graph *graph = xt_graph(*state, &e, 1, NULL);
	double *rows = encode(*state, graph, "steps=9");
	for (int64_t i = 0; i < M + 2; i++)
		for (int k = 0; k < 9; k++)
			xt_close_f64(rows[i * 9 + k], k % 2 ? (i < 2 ? 0.5 : 1.0 / M) : 0, 1e-14, 0);
	free(rows);
	pe_graph_destroy(&graph);
	xt_edges_free(&e);
}

static void no_memory(void **state)
{
	pe_context *ctx = *state;
	struct xt_edges e = hubs(30, true);
	pe_graph *graph = xt_graph(ctx, &e, 1, NULL);
	struct pe_csr view = pe_graph_view(graph, 0);
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		struct pe_walk walk;
		struct pe_twins twins;
		assert_int_equal(pe_walk_create(ctx, &view, false, &walk), PE_OK);
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_walk_merge_twins(ctx, &walk, &twins));
		if (!s.over)
			assert_int_equal(walk.n, view.n);
		else
			pe_twins_free(ctx, &twins);
		pe_walk_free(ctx, &walk);
	}
	pe_graph_destroy(&graph);
	xt_edges_free(&e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hubs_and_their_nodes),
		cmocka_unit_test(few_twins),
		cmocka_unit_test(a_million_shared_nodes),
		cmocka_unit_test(no_memory),
	};
	return xt_run(argc, argv, tests);
}
