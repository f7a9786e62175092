/* SPDX-License-Identifier: BSD-2-Clause */
#include "panel.h"

#include <cblas.h>
#include <lapack.h>

void pe_panel_dot(
	int32_t n, int32_t a_columns, const double *a, int32_t b_columns, const double *b, double *c, int32_t ldc)
{
	cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, a_columns, b_columns, n, 1, a, n, b, n, 0, c, ldc);
}

void pe_panel_multiply(int32_t n, int32_t a_columns, const double *a, int32_t b_columns, const double *s,
	int32_t lds, double alpha, double beta, double *b)
{
	cblas_dgemm(
		CblasColMajor, CblasNoTrans, CblasNoTrans, n, b_columns, a_columns, alpha, a, n, s, lds, beta, b, n);
}

int32_t pe_panel_cholesky(int32_t m, double *c)
{
	lapack_int info;
	LAPACK_dpotrf("U", &m, c, &m, &info);
	return info;
}

void pe_panel_divide(int32_t n, int32_t m, double *a, const double *r)
{
	cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, n, m, 1, r, m, a, n);
}

double pe_panel_norm(int32_t n, const double *a)
{
	return cblas_dnrm2(n, a, 1);
}
