/* SPDX-License-Identifier: BSD-2-Clause
 * Twins: nodes with the same neighbours by the same weights, and no edge between them, such as leaves on one
 * hub. A symmetric matrix with the pattern of the graph maps vectors that are constant on classes of twins to
 * such vectors, and acts on them as a smaller matrix, the quotient; every vector that sums to 0 on one class,
 * and is 0 elsewhere, is an eigenvector, with the class's diagonal entry as its value. Both are exact. */
#ifndef PE_TWINS_H
#define PE_TWINS_H

#include "context.h"

/* A symmetric matrix. Entries of row i are numbers row[i] - row[0] … row[i+1] - row[0] - 1 of col and val,
 * columns ascending. */
struct pe_twin_matrix {
	int32_t n;
	const int64_t *row;
	const int32_t *col;
	const double *val;  /* or NULL: all 1 */
	const double *diag; /* n, what stands on the diagonal besides entries of the rows; or NULL: nothing */
};

/* Every node belongs to one class, most often alone. Classes are numbered by their first members. */
struct pe_twins {
	int32_t classes;
	int32_t *of;     /* n: class of a node */
	int32_t *start;  /* classes + 1 */
	int32_t *member; /* n: class c has the nodes member[start[c]] … member[start[c+1]-1], ascending */
};

/* Nodes with an empty row, or an entry on the diagonal, have no twins. Begin with {0}, or free before. */
pe_status pe_twins_find(
	pe_context *ctx, const struct pe_twin_matrix *matrix, struct pe_twins *out) PE_NODISCARD;
void pe_twins_free(pe_context *ctx, struct pe_twins *twins);

static inline int32_t pe_twins_size(const struct pe_twins *twins, int32_t c)
{
	return twins->start[c + 1] - twins->start[c];
}

/* The quotient, on classes: √(sizes) times an entry between members. Its eigenvector x is the matrix's, with
 * x_c / √(size of c) at each member of c. Frees itself on failure. */
struct pe_twin_quotient {
	int32_t n;
	int64_t *row; /* n + 1, from 0 */
	int32_t *col;
	double *val;
	double *diag; /* n, or NULL as in the matrix */
};

pe_status pe_twin_quotient_create(pe_context *ctx, const struct pe_twin_matrix *matrix,
	const struct pe_twins *twins, struct pe_twin_quotient *out) PE_NODISCARD;
void pe_twin_quotient_free(pe_context *ctx, struct pe_twin_quotient *quotient);

#endif
