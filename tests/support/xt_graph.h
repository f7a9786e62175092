/* SPDX-License-Identifier: BSD-2-Clause
 * Graphs for tests: lists of edges, families with known spectra, and their dense Laplacians. */
#ifndef XT_GRAPH_H
#define XT_GRAPH_H

#include "xt.h"

/* An undirected graph, each edge once. Made by one of the functions below, freed by xt_edges_free. */
struct xt_edges {
	int n, count, capacity;
	int *u, *v;
	double *w;
	bool directed; /* edges are as listed, u to v */
};

struct xt_edges xt_empty(int n);
void xt_join(struct xt_edges *edges, int u, int v, double weight);
void xt_edges_free(struct xt_edges *edges);

struct xt_edges xt_path_graph(int n);
struct xt_edges xt_cycle(int n);
struct xt_edges xt_complete(int n);
struct xt_edges xt_star(int leaves);
struct xt_edges xt_bipartite(int a, int b);
struct xt_edges xt_hypercube(int dimension);
struct xt_edges xt_petersen(void);
struct xt_edges xt_shrikhande(void);
/* A connected graph: a random tree and `extra` more edges; weights 10^[-orders/2, orders/2], 0: all 1. */
struct xt_edges xt_random_graph(uint64_t seed, int n, int extra, double orders);
/* b's nodes after a's; the Cartesian product, node (i, j) at i * b.n + j. */
struct xt_edges xt_union(const struct xt_edges *a, const struct xt_edges *b);
struct xt_edges xt_product(const struct xt_edges *a, const struct xt_edges *b);
/* Node i of the graph becomes to[i]. */
struct xt_edges xt_relabelled(const struct xt_edges *edges, const int *to);
/* A random permutation of n, to be freed by free(). */
int *xt_permutation(uint64_t seed, int n);

/* The graphs as one object; with settings of table "graph" ("loops=keep") or NULL. Weights that are all
 * 1 are left out. */
pe_graph *xt_graph(pe_context *ctx, const struct xt_edges *graphs, int count, const char *settings);

/* The next number of a simple generator. */
uint64_t xt_next(uint64_t *state);

#endif
