/* SPDX-License-Identifier: BSD-2-Clause
 * A product of f32 matrices for sizes where calling a BLAS does not pay, or is not allowed. */
#ifndef PE_GEMM_H
#define PE_GEMM_H

#include <stdint.h>

/* Floats of work space, 64-byte aligned, whatever the sizes. */
#define PE_GEMM_WORK (256 * (96 + 32))

/* C[i][j] ← alpha Σ_p A[i][p] B[j][p] (+ C[i][j] if add), i < m, j < n, p < k, all ≥ 0. Element [i][p] of
 * A is at a[i · a_stride + p · a_step]; likewise the others. C overlaps neither. The sum is made in the
 * same order whatever m and n are. */
struct pe_gemm {
	int64_t m, n, k;
	float alpha;
	int add;
	const float *a, *b;
	float *c;
	int64_t a_stride, a_step, b_stride, b_step, c_stride, c_step;
	float *work; /* PE_GEMM_WORK floats */
};
typedef void pe_gemm_fn(const struct pe_gemm *g);

#endif
