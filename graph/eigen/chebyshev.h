/* SPDX-License-Identifier: BSD-2-Clause
 * A Chebyshev polynomial of M as an operator: large on the wanted low end of the spectrum, small on
 * [cut, upper]. Zhou and Saad, "A Chebyshev-Davidson algorithm for large symmetric eigenproblems", SIMAX 29
 * (2007). */
#ifndef PE_CHEBYSHEV_H
#define PE_CHEBYSHEV_H

#include "eigen.h"

struct pe_chebyshev {
	const struct pe_eigen_problem *problem;
	int32_t degree;
	double centre, half; /* of the damped interval */
	double peak;         /* the polynomial before scaling at `low`: scaled it is 1 there */
	int64_t products;    /* with M, of single vectors */
	double *scratch;     /* n × 2 × PE_CHEBYSHEV_LANES */
};

#define PE_CHEBYSHEV_LANES 8 /* of the kernel sparse_product */

/* Sets the interval and the degree. low ≤ all wanted eigenvalues < cut < upper; degree ≥ 1. */
void pe_chebyshev_set(struct pe_chebyshev *filter, double low, double cut, double upper, int32_t degree);
/* The degree at which the filter makes a vector at `low` `gain` times what it makes of those damped. */
int32_t pe_chebyshev_degree(double low, double cut, double upper, double gain);
/* x ← p(M) x for count vectors, vector j at x + j·n; arg is the filter (a pe_krylov_apply_fn). */
pe_status pe_chebyshev_apply(pe_context *ctx, void *arg, int32_t count, double *x) PE_NODISCARD;
/* λ with p(λ) = theta, and |p'(λ)|; false if theta belongs to the damped interval. */
bool pe_chebyshev_invert(const struct pe_chebyshev *filter, double theta, double *value, double *slope);

#endif
