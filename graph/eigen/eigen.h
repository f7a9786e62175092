/* SPDX-License-Identifier: BSD-2-Clause
 * The smallest eigenpairs of a symmetric operator: one problem, several engines. */
#ifndef PE_EIGEN_H
#define PE_EIGEN_H

#include "context.h"

/* When do two neighbouring eigenvalues belong to one group? Relative to ‖M‖₁: always if they are at most
 * PE_EQUAL_GAP apart, which is above the rounding of any engine; never if they are more than PE_GROUP_GAP
 * apart; and between these if the residuals do not tell their vectors apart, which they do where the gap is
 * PE_GAP_RESIDUALS times as large (a residual r turns vectors by r / gap at most, Davis and Kahan). */
#define PE_EQUAL_GAP 1e-12
#define PE_GROUP_GAP 1e-9
#define PE_GAP_RESIDUALS 100.0

/* A connected component's symmetric matrix M, and the null vector that is known of it. */
struct pe_eigen_problem {
	int32_t n;
	const int64_t *row; /* n + 1 offsets into col and val */
	const int32_t *col; /* 0 … n-1, ascending, without the diagonal */
	const double *val;  /* off-diagonal entries */
	const double *diag; /* n */
	const double *null; /* n, unit; M null = 0 up to rounding. Never NULL. */
	double norm1;       /* ‖M‖₁ > 0 */
	double upper;       /* an upper bound of the largest eigenvalue */
	bool semidefinite;  /* no eigenvalue is below 0 (false with negative weights) */
};

struct pe_eigen_request {
	int32_t k;         /* pairs wanted, the null vector not counted; 1 ≤ k ≤ n-1 */
	double tolerance;  /* residual ‖Mv - λv‖₂ ≤ tolerance · ‖M‖₁ */
	int32_t max_group; /* a last group is completed only up to k + max_group pairs */
	bool certify;      /* prove that no eigenvalue was skipped, where affordable … */
	bool insist;       /* … or wherever a factor can be had at all */
	uint64_t stream;   /* for random start vectors, with the context's seed */
};

/* Pairs in ascending order, vectors orthonormal and orthogonal to null. */
struct pe_eigen_result {
	int32_t count;     /* ≥ k, unless not converged; the last group is complete if `complete` */
	double *values;    /* count */
	double *vectors;   /* vector j at vectors + j * n */
	double *residuals; /* count: ‖Mv - λv‖₂ / ‖M‖₁; allocated with the values */
	bool complete;  /* the next pair is known not to be of the last one's group, or there are no more pairs */
	bool converged; /* all residuals are within the tolerance */
	bool certified; /* no eigenvalue between is missing */
	int64_t products; /* products with M, or solves */
	char note[160];   /* what was done, for -v: "shift-invert, shift -1.2e-5, 96 solves" */
};

void pe_eigen_result_free(pe_context *ctx, struct pe_eigen_result *result);

/* Each engine returns PE_OK with converged false when it did not converge, its best pairs in place. */
pe_status pe_eigen_dense(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out) PE_NODISCARD;
pe_status pe_eigen_shift_invert(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out) PE_NODISCARD;
pe_status pe_eigen_block(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out) PE_NODISCARD;

/* Chooses among the three by size and predicted fill; the reason is in the note. */
pe_status pe_eigen_auto(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out) PE_NODISCARD;

/* y ← M x, and the largest residual of pairs, ‖Mv - λv‖₂ / ‖M‖₁. */
void pe_eigen_apply(const struct pe_eigen_problem *problem, const double *x, double *y);
double pe_eigen_residual(
	const struct pe_eigen_problem *problem, double value, const double *vector, double *scratch);

/* The largest gap within a group, between neighbours whose residuals are at most `residual`; both relative
 * to ‖M‖₁. */
double pe_eigen_group_gap(double residual);

#endif
