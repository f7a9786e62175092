/* SPDX-License-Identifier: BSD-2-Clause
 * Small connected graphs as eigenproblems, for tests and measurements. */
#ifndef SMALL_GRAPHS_H
#define SMALL_GRAPHS_H

#include "eigen.h"

/* problems[0 … count-1]; everything they point to belongs to the set. */
struct small_set {
	struct pe_eigen_problem *problems;
	int64_t count, capacity;
};

struct small_edge {
	int32_t a, b;
	double weight;
};

enum small_matrix { SMALL_PLAIN, SMALL_NORMALISED };

/* Adds the Laplacian of a connected graph: D - A, or I - D^-½ A D^-½. Edges once each, no loops. */
void small_add(struct small_set *set, int32_t n, const struct small_edge *edges, int64_t count,
	enum small_matrix matrix);
/* Puts a problem into a set, which owns it from now on. */
void small_move(struct small_set *set, const struct pe_eigen_problem *problem);
void small_free(struct small_set *set);

/* Fills a fresh set. Trees of degree at most 4 with a few rings, 6 to 38 nodes, normalised. */
void small_molecules(struct small_set *set, int64_t count, uint64_t seed);
/* 40 to 120 nodes, mean degree about 6, weights in (0, 1], normalised. */
void small_weighted(struct small_set *set, int64_t count, uint64_t seed);

/* The matrix, n × n, both triangles. */
void small_dense(const struct pe_eigen_problem *problem, double *a);

/* A number of 64 random bits; state is any number. */
uint64_t small_random(uint64_t *state);

#endif
