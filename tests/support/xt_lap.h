/* SPDX-License-Identifier: BSD-2-Clause
 * Running encoder lap, and checking what it gives against dense matrices made by definition. */
#ifndef XT_LAP_H
#define XT_LAP_H

#include "xt_graph.h"

struct xt_lap {
	int64_t nodes, graphs, k;
	double *vectors; /* (nodes, k) */
	double *values;  /* (graphs, k), (nodes, k) with preset graphgps */
	int32_t *groups; /* (graphs, k) */
	pe_quality quality;
	pe_status status;
	char message[1024];
	int64_t *failed; /* quality.failed */
};

/* Runs lap with settings ("k=4,zero=keep", or "") on a graph, as f64. */
struct xt_lap xt_lap(pe_context *ctx, const pe_graph *graph, const char *settings);
/* Likewise on one list of edges; read with graph_settings, or NULL. */
struct xt_lap xt_lap_of(
	pe_context *ctx, const struct xt_edges *edges, const char *graph_settings, const char *settings);
void xt_lap_free(struct xt_lap *lap);

/* The symmetric Laplacian of the definition, n × n, to be freed by free(): sym (rw has the same values)
 * or none; degree (n) may be NULL. */
double *xt_laplacian(
	const struct xt_edges *edges, bool normalized, bool loops, bool isolated, double *degree);
/* All eigenvalues of a symmetric matrix, ascending, by LAPACK; a is overwritten by the vectors,
 * vector j at a + j * n. */
void xt_eigen(double *a, int n, double *values);

/* Fails the test unless columns 0 … columns-1 of n rows are orthonormal eigenvectors of L with the
 * values, within tolerance (of the residual relative to ‖L‖₁), the rest is padding, values ascend and
 * groups begin with 0. */
void xt_check_pairs(const double *l, int n, const struct xt_lap *lap, int columns, double tolerance);

/* max |P - Q| of the projectors on columns [a, a + count) of two results with the same nodes. */
double xt_projector_difference(
	const struct xt_lap *x, const struct xt_lap *y, int a, int count, const int *to);

#endif
