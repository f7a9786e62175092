/* SPDX-License-Identifier: BSD-2-Clause */
#include "dense.h"

#include <lapack.h>

#include "blas_threads.h"

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
	lapack_int *int_work = pe_alloc(ctx, int_size, sizeof *int_work);
	if (!work || !int_work)
		goto done;
	int threads = pe_blas_threads_one();
	LAPACK_dsyevd("V", "L", &n, a, &n, values, work, &work_size, int_work, &int_size, &info);
	pe_blas_threads_restore(threads);
	status = info == 0 ? PE_OK
					   : pe_fail(ctx, PE_ERR_NOT_CONVERGED, "dsyevd did not converge (info %d)", (int)info);
done:
	pe_free(ctx, work);
	pe_free(ctx, int_work);
	return status;
}
