/* SPDX-License-Identifier: BSD-2-Clause
 * Implicitly restarted Lanczos by ARPACK. */
#ifndef PE_ARPACK_H
#define PE_ARPACK_H

#include "context.h"

struct pe_arpack_problem {
	int32_t n;
	int32_t k;        /* eigenpairs wanted, those of largest value; k < basis ≤ n */
	int32_t basis;    /* vectors it works with */
	int32_t restarts; /* at most */
	double tolerance; /* of a value's error bound, relative to the value; 0: machine precision */
	const double *start;
	/* y ← operator x. Is called while ARPACK is locked: must not use ARPACK itself. */
	pe_status (*apply)(pe_context *ctx, void *arg, const double *x, double *y);
	void *arg;
};

/* Values descending, vector j at vectors + j·n (room for basis vectors); *converged of them, at most k, are
 * good. ARPACK keeps its state in static variables: one call at a time in a process, others wait. */
pe_status pe_arpack_largest(pe_context *ctx, const struct pe_arpack_problem *problem, double *values,
	double *vectors, int32_t *converged, int64_t *products) PE_NODISCARD;

#endif
