/* SPDX-License-Identifier: BSD-2-Clause */
#include "dense.h"

#include <lapack.h>
#include <string.h>

#include "blas_threads.h"

/* The lower triangle, column by column, to memory or from it. */
static void copy_triangle(int32_t n, double *a, double *packed, bool back)
{
	for (int32_t j = 0; j < n; j++) {
		double *column = a + (int64_t)j * n + j;
		size_t bytes = (size_t)(n - j) * sizeof *a;
		memcpy(back ? column : packed, back ? packed : column, bytes);
		packed += n - j;
	}
}

/* Divide and conquer is the quickest, but its secular equation now and then has no root to full precision,
 * where many values are equal but for rounding; QL has no such limit. Leaves LAPACK's info. */
static lapack_int solve(int32_t n, double *a, double *values, double *packed, double *work,
	lapack_int work_size, lapack_int *int_work, lapack_int int_size)
{
	lapack_int info;
	copy_triangle(n, a, packed, false);
	LAPACK_dsyevd("V", "L", &n, a, &n, values, work, &work_size, int_work, &int_size, &info);
	if (info <= 0)
		return info;
	copy_triangle(n, a, packed, true);
	LAPACK_dsyev("V", "L", &n, a, &n, values, work, &work_size, &info);
	return info;
}

/* LAPACK itself, without LAPACKE: that would take work space from the C library, and costs every program a
 * millisecond, since all its 2,500 functions are looked up when it starts. */
pe_status pe_dense_eigen(pe_context *ctx, int32_t n, double *a, double *values)
{
	if (n > PE_DENSE_MAX_N)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED, "a dense matrix of order %d is too large for LAPACK", n);
	double size;
	lapack_int int_size, info, query = -1;
	LAPACK_dsyevd("V", "L", &n, a, &n, values, &size, &query, &int_size, &query, &info);
	if (info != 0)
		return pe_fail(ctx, PE_ERR_INTERNAL, "dsyevd refuses argument %d", (int)-info);
	pe_status status = PE_ERR_NOMEM;
	lapack_int work_size = (lapack_int)size;
	double *work = pe_alloc(ctx, work_size, sizeof *work);
	double *packed = pe_alloc(ctx, (int64_t)n * (n + 1) / 2, sizeof *packed);
	lapack_int *int_work = pe_alloc(ctx, int_size, sizeof *int_work);
	if (!work || !packed || !int_work)
		goto done;
	int threads = pe_blas_threads_one();
	info = solve(n, a, values, packed, work, work_size, int_work, int_size);
	pe_blas_threads_restore(threads);
	status =
		info == 0 ? PE_OK : pe_fail(ctx, PE_ERR_NOT_CONVERGED, "dsyev did not converge (info %d)", (int)info);
done:
	pe_free(ctx, work);
	pe_free(ctx, packed);
	pe_free(ctx, int_work);
	return status;
}
