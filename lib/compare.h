/* SPDX-License-Identifier: BSD-2-Clause
 * The parts of a comparison. */
#ifndef PE_COMPARE_H
#define PE_COMPARE_H

#include "bundle.h"

struct pe_comparison {
	pe_context *ctx;
	const pe_bundle *a, *b;
	double tolerance;
	bool exact;
	pe_compare_report *report;
};

/* The largest difference so far, and where it stands. */
struct pe_difference {
	double value;   /* infinite where a number meets a NaN or another infinity */
	double largest; /* largest finite magnitude in either array */
	int64_t where[PE_MAX_DIMS];
};

/* |a - b|; 0 if both are NaN or the same infinity. */
double pe_distance(double a, double b);

/* The larger of largest and |x|, if x is finite. */
double pe_larger_magnitude(double largest, double x);
/* Compares two arrays of one shape. Two integer arrays are compared as integers. */
void pe_compare_entries(const pe_tensor *a, const pe_tensor *b, struct pe_difference *d);

/* Eigenvectors in the columns of a and b, two arrays of one shape (nodes, k) or (nodes, k, 1). */
struct pe_eigen_pair {
	const pe_tensor *a, *b;
	int64_t graphs;
	const int64_t *ptr; /* (graphs + 1) */
	/* (graphs, k): columns of one graph and one number span one eigenspace; -1: each stands alone
	 * and is compared entry by entry */
	const int32_t *groups;
};

/* Compares the columns of each graph and group after the orthogonal map that takes b's nearest to a's
 * (the polar factor of VbᵀVa: Schönemann, Psychometrika 31, 1966). */
pe_status pe_compare_eigenvectors(
	pe_context *ctx, const struct pe_eigen_pair *pair, struct pe_difference *out) PE_NODISCARD;

/* If these arrays of one shape are eigenvectors, and both bundles tell which eigenvalues are equal,
 * compares them by pe_compare_eigenvectors and sets *done; else leaves d as it is. */
pe_status pe_compare_eigen(const struct pe_comparison *c, const char *name, const pe_tensor *a,
	const pe_tensor *b, struct pe_difference *d, bool *done) PE_NODISCARD;

#endif
