/* SPDX-License-Identifier: BSD-2-Clause
 * What the iterative eigen-engines share. */
#ifndef PE_EIGEN_PARTS_H
#define PE_EIGEN_PARTS_H

#include "eigen.h"
#include "kernels/sparse_product.h"
#include "linalg/sparse_factor.h"

/* Ritz pairs in ascending order, as an iteration sees them. */
struct pe_eigen_estimate {
	int32_t count;
	const double *values;
	const double *residuals; /* ‖Mv - λv‖₂ */
	const double *errors;    /* of the values: there is an eigenvalue within */
	bool all;                /* there are no others */
};

/* How many pairs to hand out, if those estimates will do: k and the rest of the last group, all residuals
 * within `bound`, and it is known that the next value is not of the group. 0 if they will not do.
 * *complete is false, and the result k, if the group is larger than may be. */
int32_t pe_eigen_settle(const struct pe_eigen_problem *problem, const struct pe_eigen_request *request,
	const struct pe_eigen_estimate *estimate, double bound, bool *complete);

/* Are pairs j - 1 and j of one group? */
bool pe_eigen_one_group(
	const struct pe_eigen_problem *problem, const struct pe_eigen_estimate *estimate, int32_t j);

/* Are neighbours up to pair number `count` of one group only because of their residuals? */
bool pe_eigen_is_blurred(
	const struct pe_eigen_problem *problem, const struct pe_eigen_estimate *estimate, int32_t count);

/* Makes nearly orthonormal vectors orthonormal and orthogonal to the null vector, and turns them within their
 * span into the best approximations there (Rayleigh and Ritz): values ascending, residuals relative to
 * ‖M‖₁. PE_ERR_INTERNAL if the vectors are dependent. */
pe_status pe_eigen_refine(pe_context *ctx, const struct pe_eigen_problem *problem, int32_t count,
	double *vectors, double *values, double *residuals) PE_NODISCARD;

#define PE_EIGEN_LANES PE_PRODUCT_LANES

/* Between `count` vectors, vector j at x + j·n, and PE_EIGEN_LANES interleaved ones, 0 where there is none.
 */
void pe_eigen_interleave(int32_t n, int32_t count, const double *x, double *lanes);
void pe_eigen_separate(int32_t n, int32_t count, double scale, const double *lanes, double *x);

/* y ← M x for count vectors; scratch of n × 2 × PE_EIGEN_LANES. */
void pe_eigen_apply_all(pe_context *ctx, const struct pe_eigen_problem *problem, int32_t count,
	const double *x, double *scratch, double *y);

/* The matrix as the sparse factorisation takes it. */
struct pe_sparse_matrix pe_eigen_matrix(const struct pe_eigen_problem *problem);

/* How many eigenvalues, the known 0 counted, are below *point, which lies between below and above: two
 * neighbours among 0 and the computed eigenvalues. By the inertia of M - *point·I. *valid is false if no
 * point was found whose factorisation is good enough to tell. The factor is then that of another shift. */
pe_status pe_eigen_count_below(pe_context *ctx, struct pe_sparse_factor *factor, double below, double above,
	double *point, int64_t *count, bool *valid) PE_NODISCARD;

#endif
