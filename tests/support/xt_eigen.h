/* SPDX-License-Identifier: BSD-2-Clause
 * Eigenproblems of graphs whose spectra are known, and checks of results. Include xt.h first. */
#ifndef XT_EIGEN_H
#define XT_EIGEN_H

#include "eigen.h"

/* A connected graph's Laplacian; release by xt_problem_free. */
struct xt_problem {
	struct pe_eigen_problem p;
	int64_t *row;
	int32_t *col;
	double *val, *diag, *null;
};

/* From edges listed once; w NULL: all 1. sym: normalised. */
struct xt_problem xt_problem(
	int32_t n, int64_t edges, const int32_t *u, const int32_t *v, const double *w, bool sym);
void xt_problem_free(struct xt_problem *problem);

struct xt_problem xt_eigen_grid(int32_t rows, int32_t columns, bool sym);
struct xt_problem xt_eigen_cycle(int32_t n, bool sym);
struct xt_problem xt_eigen_hypercube(int32_t dimensions, bool sym);
struct xt_problem xt_eigen_bipartite(int32_t a, int32_t b, bool sym); /* complete; a = 1 is a star */
struct xt_problem xt_eigen_barbell(int32_t clique, int32_t path, bool sym);
/* A tree that grows at random, and as many random edges more; weights 10^±decades. */
struct xt_problem xt_eigen_random(int32_t n, double decades, bool sym);

/* All eigenvalues but the null vector's, ascending, by LAPACK; to be freed by free(). */
double *xt_eigen_spectrum(pe_context *ctx, const struct xt_problem *problem);

/* Ascending values; residuals within tolerance; vectors orthonormal, and orthogonal to null. */
void xt_eigen_check_pairs(
	const struct xt_problem *problem, const struct pe_eigen_result *result, double tolerance);
/* The values are those of the spectrum, none left out. */
void xt_eigen_check_values(const struct pe_eigen_result *result, const double *spectrum, double atol);

/* A request for k pairs and a certificate, groups up to 64. */
struct pe_eigen_request xt_eigen_ask(int32_t k, double tolerance);
/* Lets an engine solve for k pairs, of which it must give `count` with the last whole group, and compares
 * with LAPACK's spectrum. Frees the problem; returns whether the result is certified. */
bool xt_eigen_solve(pe_context *ctx,
	pe_status (*engine)(pe_context *ctx, const struct pe_eigen_problem *problem,
		const struct pe_eigen_request *request, struct pe_eigen_result *out),
	struct xt_problem problem, int32_t k, int32_t count, double tolerance);

#endif
