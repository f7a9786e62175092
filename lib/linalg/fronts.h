/* SPDX-License-Identifier: BSD-2-Clause
 * L D Lᵀ by the multifrontal method: a supernode's block is assembled from the matrix and from its children's
 * updates, factored as a dense one, and leaves an update for its parent. Duff and Reid, "The multifrontal
 * solution of indefinite sparse symmetric linear equations", TOMS 9 (1983); here without pivoting. */
#ifndef PE_FRONTS_H
#define PE_FRONTS_H

#include "supernodes.h"

/* l (value[count] numbers and PE_FRONT_SLACK more) ← the factor of M - shift·I; diag by places. *exists is
 * false if a pivot is 0: then l is undefined. */
pe_status pe_fronts_factor(pe_context *ctx, const struct pe_supernodes *supernodes, const double *diag,
	double shift, double *l, bool *exists) PE_NODISCARD;

#endif
