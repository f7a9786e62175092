/* SPDX-License-Identifier: BSD-2-Clause
 * The search for the smallest eigenpairs of M by block Lanczos on some function of M whose largest
 * eigenvalues belong to them, and the certificate that none was missed. */
#ifndef PE_EIGEN_SEARCH_H
#define PE_EIGEN_SEARCH_H

#include "eigen_parts.h"
#include "krylov.h"

struct pe_eigen_search;

/* What a function of M must tell besides how to apply it, which is krylov.apply with krylov.arg. */
struct pe_eigen_transform {
	/* From a Ritz value θ and its error norm: the value of M, its residual once purified, and a bound of the
	 * value's error (INFINITY if there is none). false if θ is not from the wanted end. */
	bool (*map)(const void *arg, double theta, double norm, double *value, double *residual, double *error);
	/* Looks at the estimates, whenever they are new; may change the operator, and then sets *changed. NULL:
	 * never changes. */
	pe_status (*adapt)(
		struct pe_eigen_search *search, const struct pe_eigen_estimate *estimate, bool *changed);
};

struct pe_eigen_search {
	pe_context *ctx;
	const struct pe_eigen_problem *problem;
	const struct pe_eigen_request *request;
	const struct pe_eigen_transform *transform;
	pe_krylov_apply_fn apply;
	void *arg;
	int32_t block;      /* columns of a Krylov block */
	int32_t spare;      /* columns of the basis besides twice the wanted ones */
	int32_t first_look; /* active columns before the first look at the estimates */
	int32_t restarts;   /* at most */
	/* While it runs: */
	struct pe_krylov krylov;
	double *values, *residuals, *errors; /* estimates; krylov.capacity each */
	double bound;                        /* residual that the estimates must show */
	int64_t applied;
	int32_t restarted;
	int32_t last_group; /* pairs in the groups up to the last wanted one, when last looked at */
	int32_t looks;      /* left, at pairs that are converged but blurred */
	bool enlarged;      /* the basis, for a large group */
	/* What was found: ascending, orthonormal. */
	int32_t found;
	double *found_values, *found_residuals, *vectors;
	double above;   /* all that was not found is above this, if nothing was missed */
	bool converged; /* the last run was */
};

void pe_eigen_search_free(struct pe_eigen_search *search);

/* One search for request->k pairs besides those found; adds them. */
pe_status pe_eigen_search_once(
	struct pe_eigen_search *search, const struct pe_eigen_request *request) PE_NODISCARD;

/* Finds the request's pairs, and hands them out with all of *out but the note. Where factor is not NULL and
 * the request wants it, counts them by it, and searches again for those that are missing; the factor is then
 * of another shift, and `refactor` makes it fit again (NULL: no need). */
pe_status pe_eigen_search_run(struct pe_eigen_search *search, struct pe_sparse_factor *factor,
	pe_status (*refactor)(struct pe_eigen_search *search), struct pe_eigen_result *out) PE_NODISCARD;

#endif
