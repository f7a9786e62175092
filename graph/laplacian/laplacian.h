/* SPDX-License-Identifier: BSD-2-Clause
 * The Laplacian of a graph, as one symmetric eigenproblem a connected component. */
#ifndef PE_LAPLACIAN_H
#define PE_LAPLACIAN_H

#include "eigen.h"
#include "graph.h"

struct pe_laplacian_rules {
	bool normalized; /* I - D^-½ A D^-½; else D - A */
	bool loops;      /* keep self loops, in A and in D; else they are left out of both */
	bool isolated;   /* normalized: a node without any edge has the eigenvalue 1, not 0 */
};

/* The nodes stand component by component, in ascending order within each. Component c has the
 * places start[c] … start[c+1]-1; node order[p] stands at place p. */
struct pe_laplacian {
	int32_t n, components;
	bool negative;   /* some weight is below 0 */
	bool normalized; /* as in the rules */
	double norm;     /* ‖L‖₁ of the whole graph */
	int32_t *label;  /* n: component of a node */
	int32_t *place;  /* n: place of a node within its component */
	int32_t *order;  /* n */
	int32_t *start;  /* components + 1 */
	int64_t *first;  /* components: where c's entries begin in col and val */
	int64_t *row;    /* n + components offsets; component c's start at row[start[c] + c], from 0 */
	int32_t *col;    /* places within the component */
	double *val;     /* off-diagonal entries */
	double *diag;    /* n */
	double *degree;  /* n */
	double *null;    /* n: of each component the unit vector with M null = 0 (of an isolated node: 1) */
	double *norm1;   /* components: ‖M‖₁; 0 if M is 0 */
	bool *zero;      /* components: the null vector is one (false: an isolated node with eigenvalue 1) */
};

/* Bytes that the Laplacian of a graph with n nodes takes at most. */
int64_t pe_laplacian_bytes(int64_t n, int64_t entries);

/* The graph must be undirected. All arrays are carved from *memory, which is aligned for doubles, has
 * pe_laplacian_bytes bytes, and is left at what is unused. Fails if a normalised Laplacian would have a
 * weight below 0, or if degrees are out of range; the message says what about the graph is wrong. */
pe_status pe_laplacian_build(pe_context *ctx, const struct pe_csr *graph,
	const struct pe_laplacian_rules *rules, char **memory, struct pe_laplacian *out) PE_NODISCARD;

/* count elements of size bytes from *memory, which moves on by a multiple of 8. */
void *pe_carve(char **memory, int64_t count, size_t size);

static inline int32_t pe_laplacian_size(const struct pe_laplacian *laplacian, int32_t component)
{
	return laplacian->start[component + 1] - laplacian->start[component];
}

/* A component with an edge, as a problem that points into the Laplacian. */
struct pe_eigen_problem pe_laplacian_problem(const struct pe_laplacian *laplacian, int32_t component);

/* residual[j] ← ‖Lx - values[j] x‖₂ of column j of rows, node i's entries at rows + i * stride. */
void pe_laplacian_residuals(const struct pe_laplacian *laplacian, const double *rows, int64_t stride,
	const double *values, int32_t columns, double *residual);

#endif
