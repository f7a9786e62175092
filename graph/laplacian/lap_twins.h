/* SPDX-License-Identifier: BSD-2-Clause
 * A component without its twins: a smaller problem, whose pairs are the component's as well; all others of
 * the component are known (twins.h). A star of a million leaves is a problem of two nodes. */
#ifndef PE_LAP_TWINS_H
#define PE_LAP_TWINS_H

#include "eigen.h"
#include "twins.h"

/* Begin with {0}. */
struct pe_lap_quotient {
	struct pe_twins twins;
	struct pe_twin_quotient matrix;
	double *null;
	struct pe_eigen_problem problem; /* points into the others */
};

/* *fits is false, and nothing is to be freed, where there are too few twins to care. */
pe_status pe_lap_quotient_create(pe_context *ctx, const struct pe_eigen_problem *problem,
	struct pe_lap_quotient *out, bool *fits) PE_NODISCARD;
/* The result of the quotient's problem becomes one of a problem with n nodes. */
pe_status pe_lap_quotient_expand(pe_context *ctx, const struct pe_lap_quotient *quotient, int32_t n,
	struct pe_eigen_result *result) PE_NODISCARD;
void pe_lap_quotient_free(pe_context *ctx, struct pe_lap_quotient *quotient);

#endif
