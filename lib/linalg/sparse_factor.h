/* SPDX-License-Identifier: BSD-2-Clause
 * Sparse L D Lᵀ of M - shift·I, for solving and for counting eigenvalues: also of indefinite matrices,
 * without pivoting. CHOLMOD finds the order of elimination, with memory from the C library: its hooks are
 * global to the process. Results do not depend on threads. */
#ifndef PE_SPARSE_FACTOR_H
#define PE_SPARSE_FACTOR_H

#include "context.h"

struct pe_sparse_factor;

/* A symmetric matrix: rows without the diagonal, both triangles, and the diagonal. */
struct pe_sparse_matrix {
	int32_t n;
	const int64_t *row; /* n + 1 */
	const int32_t *col;
	const double *val;
	const double *diag; /* n */
};

/* Orders the matrix (minimum degree) and predicts its factor. The values are copied.
 * PE_ERR_UNSUPPORTED if the matrix is too large for 32-bit indices. */
pe_status pe_sparse_factor_create(
	pe_context *ctx, const struct pe_sparse_matrix *matrix, struct pe_sparse_factor **out) PE_NODISCARD;
void pe_sparse_factor_destroy(pe_context *ctx, struct pe_sparse_factor **factor);

/* Predicted: numbers in L, and floating-point operations of one factorisation. */
double pe_sparse_factor_fill(const struct pe_sparse_factor *factor);
double pe_sparse_factor_flops(const struct pe_sparse_factor *factor);

/* Factors M - shift·I; may be called again with another shift. *exists is false if a pivot is 0: then
 * there is no factor, and another shift should be tried. No pivoting: how good an indefinite factor is
 * tells pe_sparse_factor_error. */
pe_status pe_sparse_factor_numeric(
	pe_context *ctx, struct pe_sparse_factor *factor, double shift, bool *exists) PE_NODISCARD;

/* How many eigenvalues are below the shift: pivots below 0, by Sylvester's law of inertia. */
int64_t pe_sparse_factor_negative(const struct pe_sparse_factor *factor);

/* An estimate of ‖L D Lᵀ - (M - shift·I)‖_F, from products with random vectors: an upper estimate of the
 * 2-norm. stream numbers the random vectors. */
pe_status pe_sparse_factor_error(
	pe_context *ctx, const struct pe_sparse_factor *factor, uint64_t stream, double *error) PE_NODISCARD;

/* x ← (M - shift·I)⁻¹ x for count vectors, vector j at x + j·n. */
pe_status pe_sparse_factor_solve(
	pe_context *ctx, const struct pe_sparse_factor *factor, int32_t count, double *x) PE_NODISCARD;

#endif
