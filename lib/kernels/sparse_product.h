/* SPDX-License-Identifier: BSD-2-Clause
 * Products of a sparse matrix with eight vectors at once, which lie interleaved: entry i of vector r at
 * x[8 i + r]. A number of the matrix is then read once for eight. */
#ifndef PE_SPARSE_PRODUCT_H
#define PE_SPARSE_PRODUCT_H

#include <stdint.h>

#define PE_PRODUCT_LANES 8

/* Rows of a symmetric matrix M without the diagonal, and the diagonal. */
struct pe_product_matrix {
	int32_t n;
	const int64_t *row; /* n + 1 */
	const int32_t *col;
	const double *val;
	const double *diag;
};

/* out ← scale · (centre·x - M x) - out. x and out are 64-byte aligned and do not overlap. */
typedef void pe_sparse_product_fn(
	const struct pe_product_matrix *m, double centre, double scale, const double *x, double *out);

#endif
