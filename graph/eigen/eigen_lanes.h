/* SPDX-License-Identifier: BSD-2-Clause
 * The engine for many small problems: they are solved side by side in the lanes of vector registers.
 *
 *	struct pe_lanes *lanes;
 *	PE_TRY(pe_lanes_create(ctx, &lanes));            // once a chunk, or once a thread
 *	status = pe_eigen_lanes(ctx, lanes, problems, count, &request, results);
 *	…  for each result: if (!ok) solve that one by pe_eigen_dense, else copy from values and vectors
 *	pe_lanes_destroy(ctx, &lanes);
 */
#ifndef PE_EIGEN_LANES_H
#define PE_EIGEN_LANES_H

#include "eigen.h"

/* The largest problem that is taken. Full batches of this size take about 0.15 of dsyevd's time; a
 * problem alone in its batch takes about as long as dsyevd, and beyond this size longer. */
#define PE_LANES_MAX_N 256

/* Memory that is kept from one call to the next. Not for two threads at once. */
struct pe_lanes;

pe_status pe_lanes_create(pe_context *ctx, struct pe_lanes **out) PE_NODISCARD;
void pe_lanes_destroy(pe_context *ctx, struct pe_lanes **lanes);

/* values and vectors are inside pe_lanes: they hold until its next call. */
struct pe_lanes_result {
	int32_t count;         /* pairs: min(k, n-1), more where the last group was completed */
	int32_t stride;        /* of vectors, ≥ count; entries between count and stride are 0 */
	const double *values;  /* count, ascending */
	const double *vectors; /* entry of node i in vector j: vectors[i * stride + j]; signs are canonical */
	double residual;       /* the largest ‖Mv - λv‖₂ / ‖M‖₁ of the pairs */
	double orthogonality;  /* the largest |VᵀV - I| */
	bool complete;         /* as in struct pe_eigen_result */
	bool ok; /* converged and certified: the residual is within request.tolerance, the vectors are
			  * orthonormal within 1e-12, all n-1 eigenvalues agree with the trace and the Frobenius
			  * norm of M, and, where only the k smallest of many were computed, these are the
			  * smallest by Sylvester's law of inertia. If false nothing else here may be used (n above
			  * PE_LANES_MAX_N, NaN in the matrix, no convergence): take pe_eigen_dense. */
};

/* Solves problems[0 … count-1]. They need not be sorted or of equal size, but it is fastest with
 * hundreds of them and more (512 to 4096): neighbours in the order of n share the lanes. The result of a
 * problem has the same bits whatever the other problems are. Of the request it takes k (≥ 1; where it is
 * above n-1, n-1 is meant), max_group and tolerance. n = 1 gives count 0. Fails only for want of memory. */
pe_status pe_eigen_lanes(pe_context *ctx, struct pe_lanes *lanes, const struct pe_eigen_problem *problems,
	int64_t count, const struct pe_eigen_request *request, struct pe_lanes_result *results) PE_NODISCARD;

#endif
