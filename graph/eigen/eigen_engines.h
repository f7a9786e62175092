/* SPDX-License-Identifier: BSD-2-Clause
 * The engines as pe_eigen_auto calls them, with a factor that is analysed already. */
#ifndef PE_EIGEN_ENGINES_H
#define PE_EIGEN_ENGINES_H

#include "eigen.h"
#include "linalg/sparse_factor.h"

pe_status pe_eigen_by_factor(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_sparse_factor *factor,
	struct pe_eigen_result *out) PE_NODISCARD;

/* factor, if not NULL, certifies. restarts: at most so many before it is not converged. */
pe_status pe_eigen_by_filter(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_sparse_factor *factor, int32_t restarts,
	struct pe_eigen_result *out) PE_NODISCARD;

/* ARPACK on the same factorisation, for comparison: semidefinite problems, k ≤ n - 3. */
pe_status pe_eigen_arpack(pe_context *ctx, const struct pe_eigen_problem *problem,
	const struct pe_eigen_request *request, struct pe_eigen_result *out) PE_NODISCARD;

#endif
