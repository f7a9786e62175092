/* SPDX-License-Identifier: BSD-2-Clause */
#include "dense.h"

#include <lapacke.h>

#include "blas_threads.h"

#define MAX_N 32000 /* beyond, LAPACK's 32-bit work sizes overflow */

/* Work space from our allocator: LAPACKE's own calls would take it from the C library's. */
pe_status pe_dense_eigen(pe_context *ctx, int32_t n, double *a, double *values)
{
	if (n > MAX_N)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED, "a dense matrix of order %d is too large for LAPACK", n);
	double size;
	lapack_int int_size;
	lapack_int info =
		LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', n, a, n, values, &size, -1, &int_size, -1);
	if (info != 0)
		return pe_fail(ctx, PE_ERR_INTERNAL, "dsyevd refuses argument %d", (int)-info);
	pe_status status = PE_ERR_NOMEM;
	double *work = pe_alloc(ctx, (int64_t)size, sizeof *work);
	lapack_int *int_work = pe_alloc(ctx, int_size, sizeof *int_work);
	if (!work || !int_work)
		goto done;
	int threads = pe_blas_threads_one();
	info = LAPACKE_dsyevd_work(
		LAPACK_COL_MAJOR, 'V', 'L', n, a, n, values, work, (lapack_int)size, int_work, int_size);
	pe_blas_threads_restore(threads);
	status = info == 0 ? PE_OK
					   : pe_fail(ctx, PE_ERR_NOT_CONVERGED, "dsyevd did not converge (info %d)", (int)info);
done:
	pe_free(ctx, work);
	pe_free(ctx, int_work);
	return status;
}
