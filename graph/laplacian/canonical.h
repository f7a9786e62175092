/* SPDX-License-Identifier: BSD-2-Clause
 * A basis of an eigenspace, and a sign, that do not depend on how the vectors were computed. */
#ifndef PE_CANONICAL_H
#define PE_CANONICAL_H

#include "context.h"

/* Candidates within this of the largest count as equal to it, and the first in row order wins: far
 * above rounding, so that symmetric entries are equal on every machine. */
#define PE_CANONICAL_TIE 1e-6

/* A class of nodes: all vectors on it that sum to 0. */
struct pe_canonical_class {
	const int32_t *member; /* places among the nodes of the part */
	int32_t size;
};

/* The part of an eigenspace that lives on one component: orthonormal vectors on its nodes, and the spaces of
 * classes, on each of which those vectors are constant. */
struct pe_canonical_part {
	const int32_t *nodes; /* n rows, ascending */
	int32_t n;
	int32_t dimension;            /* of the vectors */
	const double *const *vectors; /* dimension pointers to n entries, step apart */
	int64_t step;
	const struct pe_canonical_class *classes; /* distinct; may be NULL with count 0 */
	int32_t class_count;
};

/* With P the projector on the eigenspace: the axis e_i with the largest ‖P e_i‖, the first among
 * nearly equal ones, gives the vector P e_i / ‖P e_i‖; then the same with the rest of the space,
 * P - bbᵀ; and so on. The basis is a function of P alone, each vector lives on one component, and
 * its entry of row i is its largest. Parts must not share nodes. Writes vector number j of the
 * basis for skip ≤ j < end ≤ the total dimension into column j - skip of rows: node i's entry at
 * rows[i * stride + j - skip]; entries of other components are left alone. */
pe_status pe_canonical_basis(pe_context *ctx, const struct pe_canonical_part *parts, int64_t count,
	int64_t skip, int64_t end, double *rows, int64_t stride) PE_NODISCARD;

/* Column by column of rows (n, columns): the first entry in row order with |v| ≥ (1 - 1e-6) max |v|
 * becomes positive. */
void pe_canonical_sign(double *rows, int64_t n, int64_t stride, int64_t columns);

#endif
