/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_graph.h"

#include <math.h>
#include <string.h>

uint64_t xt_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* ---- lists of edges ----------------------------------------------------------------- */

struct xt_edges xt_empty(int n)
{
	return (struct xt_edges){.n = n};
}

void xt_join(struct xt_edges *e, int u, int v, double weight)
{
	if (e->count == e->capacity) {
		e->capacity = 2 * e->capacity + 16;
		e->u = realloc(e->u, (size_t)e->capacity * sizeof *e->u);
		e->v = realloc(e->v, (size_t)e->capacity * sizeof *e->v);
		e->w = realloc(e->w, (size_t)e->capacity * sizeof *e->w);
		assert_true(e->u && e->v && e->w);
	}
	e->u[e->count] = u;
	e->v[e->count] = v;
	e->w[e->count++] = weight;
}

void xt_edges_free(struct xt_edges *e)
{
	free(e->u);
	free(e->v);
	free(e->w);
	*e = xt_empty(0);
}

/* ---- families ----------------------------------------------------------------------- */

struct xt_edges xt_path_graph(int n)
{
	struct xt_edges e = xt_empty(n);
	for (int i = 0; i + 1 < n; i++)
		xt_join(&e, i, i + 1, 1);
	return e;
}

struct xt_edges xt_cycle(int n)
{
	struct xt_edges e = xt_path_graph(n);
	xt_join(&e, n - 1, 0, 1);
	return e;
}

struct xt_edges xt_complete(int n)
{
	struct xt_edges e = xt_empty(n);
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			xt_join(&e, i, j, 1);
	return e;
}

struct xt_edges xt_star(int leaves)
{
	return xt_bipartite(1, leaves);
}

struct xt_edges xt_bipartite(int a, int b)
{
	struct xt_edges e = xt_empty(a + b);
	for (int i = 0; i < a; i++)
		for (int j = 0; j < b; j++)
			xt_join(&e, i, a + j, 1);
	return e;
}

struct xt_edges xt_hypercube(int dimension)
{
	struct xt_edges e = xt_empty(1 << dimension);
	for (int i = 0; i < e.n; i++)
		for (int d = 0; d < dimension; d++)
			if (!(i >> d & 1))
				xt_join(&e, i, i | 1 << d, 1);
	return e;
}

struct xt_edges xt_petersen(void)
{
	struct xt_edges e = xt_empty(10);
	for (int i = 0; i < 5; i++) {
		xt_join(&e, i, (i + 1) % 5, 1);
		xt_join(&e, i, i + 5, 1);
		xt_join(&e, i + 5, (i + 2) % 5 + 5, 1);
	}
	return e;
}

/* The Cayley graph of Z4 × Z4 with ±(1,0), ±(0,1), ±(1,1). */
struct xt_edges xt_shrikhande(void)
{
	static const int steps[3][2] = {{1, 0}, {0, 1}, {1, 1}};
	struct xt_edges e = xt_empty(16);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			for (int s = 0; s < 3; s++)
				xt_join(&e, 4 * i + j, 4 * ((i + steps[s][0]) % 4) + (j + steps[s][1]) % 4, 1);
	return e;
}

static double random_weight(uint64_t *r, double orders)
{
	return orders > 0 ? pow(10, orders * ((double)(xt_next(r) % 10001) / 10000 - 0.5)) : 1;
}

struct xt_edges xt_random_graph(uint64_t seed, int n, int extra, double orders)
{
	struct xt_edges e = xt_empty(n);
	uint64_t r = seed * 7919 + 3;
	bool *there = calloc((size_t)n * (size_t)n + 1, 1);
	for (int i = 1, j; i < n; i++) {
		j = (int)(xt_next(&r) % (uint64_t)i);
		there[i * n + j] = true;
		xt_join(&e, i, j, random_weight(&r, orders));
	}
	for (int t = 0; t < extra; t++) {
		int i = (int)(xt_next(&r) % (uint64_t)n), j = (int)(xt_next(&r) % (uint64_t)n);
		if (i <= j || there[i * n + j])
			continue;
		there[i * n + j] = true;
		xt_join(&e, i, j, random_weight(&r, orders));
	}
	free(there);
	return e;
}

/* ---- graphs from graphs ------------------------------------------------------------- */

struct xt_edges xt_union(const struct xt_edges *a, const struct xt_edges *b)
{
	struct xt_edges e = xt_empty(a->n + b->n);
	for (int i = 0; i < a->count; i++)
		xt_join(&e, a->u[i], a->v[i], a->w[i]);
	for (int i = 0; i < b->count; i++)
		xt_join(&e, a->n + b->u[i], a->n + b->v[i], b->w[i]);
	return e;
}

struct xt_edges xt_product(const struct xt_edges *a, const struct xt_edges *b)
{
	struct xt_edges e = xt_empty(a->n * b->n);
	for (int i = 0; i < a->count; i++)
		for (int j = 0; j < b->n; j++)
			xt_join(&e, a->u[i] * b->n + j, a->v[i] * b->n + j, a->w[i]);
	for (int i = 0; i < b->count; i++)
		for (int j = 0; j < a->n; j++)
			xt_join(&e, j * b->n + b->u[i], j * b->n + b->v[i], b->w[i]);
	return e;
}

struct xt_edges xt_relabelled(const struct xt_edges *edges, const int *to)
{
	struct xt_edges e = xt_empty(edges->n);
	for (int i = 0; i < edges->count; i++)
		xt_join(&e, to[edges->u[i]], to[edges->v[i]], edges->w[i]);
	return e;
}

int *xt_permutation(uint64_t seed, int n)
{
	int *to = malloc((size_t)n * sizeof *to + 1);
	uint64_t r = seed * 31 + 7;
	for (int i = 0; i < n; i++)
		to[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int j = (int)(xt_next(&r) % (uint64_t)(i + 1)), t = to[i];
		to[i] = to[j];
		to[j] = t;
	}
	return to;
}

/* ---- the object --------------------------------------------------------------------- */

static bool all_ones(const struct xt_edges *graphs, int count)
{
	for (int g = 0; g < count; g++)
		for (int e = 0; e < graphs[g].count; e++)
			if (fabs(graphs[g].w[e] - 1) > 0)
				return false;
	return true;
}

pe_graph *xt_graph(pe_context *ctx, const struct xt_edges *graphs, int count, const char *settings)
{
	int64_t edges = 0, nodes = 0, at = 0;
	for (int g = 0; g < count; g++)
		edges += graphs[g].count;
	int64_t *index = malloc((size_t)(2 * edges + 1) * sizeof *index);
	int64_t *ptr = malloc((size_t)(count + 1) * sizeof *ptr);
	double *weight = malloc((size_t)(edges + 1) * sizeof *weight);
	for (int g = 0; g < count; g++) {
		ptr[g] = nodes;
		for (int e = 0; e < graphs[g].count; e++, at++) {
			index[at] = nodes + graphs[g].u[e];
			index[edges + at] = nodes + graphs[g].v[e];
			weight[at] = graphs[g].w[e];
		}
		nodes += graphs[g].n;
	}
	ptr[count] = nodes;
	pe_tensor index_view = pe_tensor_dense(index, PE_I64, 2, (int64_t[]){2, edges});
	pe_tensor weight_view = pe_tensor_dense(weight, PE_F64, 1, &edges);
	pe_tensor ptr_view = pe_tensor_dense(ptr, PE_I64, 1, (int64_t[]){count + 1});
	pe_params *params;
	pe_graph *graph;
	assert_int_equal(pe_params_create(ctx, "graph", &params), PE_OK);
	xt_set(params, count && graphs[0].directed ? "edges=directed" : "edges=undirected");
	if (settings)
		xt_set(params, settings);
	if (pe_graph_from_arrays(ctx, &index_view, all_ones(graphs, count) ? NULL : &weight_view,
			count == 1 ? NULL : &ptr_view, nodes, params, &graph) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	pe_params_destroy(&params);
	free(index);
	free(ptr);
	free(weight);
	return graph;
}
