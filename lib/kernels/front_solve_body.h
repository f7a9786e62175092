/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of front.h that solve, once an instruction set. After front_body.h, and besides what that wants
 * are defined: quad          a vector of PE_FRONT_LANES doubles, 32-byte aligned quad_fused    quad_fused(a,
 * &b, &c): c += a b, for a number a */
#include <stddef.h>

#define MOST_AT_ONCE 8 /* columns in a triangular solve */

/* Rows of x ← rows of x - a y, for `columns` rows of y. row: which; NULL: one after the other. */
INLINE void spread(
	int32_t rows, int columns, const double *a, int64_t lda, const quad *y, const int32_t *row, quad *x)
{
	quad from[MOST_AT_ONCE];
	UNROLL
	for (int k = 0; k < columns; k++)
		from[k] = -y[k];
	for (int32_t i = 0; i < rows; i++) {
		quad *to = x + (row ? row[i] : i), sum = *to;
		UNROLL
		for (int k = 0; k < columns; k++)
			quad_fused(a[k * lda + i], &from[k], &sum);
		*to = sum;
	}
}

/* y ← y + aᵀ x. */
INLINE void collect(
	int32_t rows, int columns, const double *a, int64_t lda, const quad *x, const int32_t *row, quad *y)
{
	quad sum[MOST_AT_ONCE];
	UNROLL
	for (int k = 0; k < columns; k++)
		sum[k] = y[k];
	for (int32_t i = 0; i < rows; i++) {
		const quad from = x[row ? row[i] : i];
		UNROLL
		for (int k = 0; k < columns; k++)
			quad_fused(a[k * lda + i], &from, &sum[k]);
	}
	UNROLL
	for (int k = 0; k < columns; k++)
		y[k] = sum[k];
}

/* Both for all rows below `columns` columns that begin at a: the supernode's own that are left, then others.
 */
INLINE void spread_all(const struct pe_front *f, int32_t at, int columns, const quad *y, quad *x)
{
	int64_t height = (int64_t)f->width + f->below;
	const double *a = f->l + at * height + at + columns;
	int32_t left = f->width - at - columns;
	spread(left, columns, a, height, y, NULL, x + f->first + at + columns);
	spread(f->below, columns, a + left, height, y, f->row, x);
}

INLINE void collect_all(const struct pe_front *f, int32_t at, int columns, const quad *x, quad *y)
{
	int64_t height = (int64_t)f->width + f->below;
	const double *a = f->l + at * height + at + columns;
	int32_t left = f->width - at - columns;
	UNROLL
	for (int k = 0; k < columns; k++)
		y[k] = (quad){0};
	collect(left, columns, a, height, x + f->first + at + columns, NULL, y);
	collect(f->below, columns, a + left, height, x, f->row, y);
}

/* The square on the diagonal that column `at` begins with. */
INLINE const double *square_at(const struct pe_front *f, int32_t at)
{
	return f->l + (int64_t)at * (f->width + f->below) + at;
}

INLINE void forward_some(const struct pe_front *f, int32_t at, int columns, quad *x)
{
	int64_t height = (int64_t)f->width + f->below;
	const double *a = square_at(f, at);
	quad *own = x + f->first + at;
	UNROLL
	for (int k = 0; k < columns; k++) {
		UNROLL
		for (int i = k + 1; i < columns; i++)
			quad_fused(-a[k * height + i], &own[k], &own[i]);
	}
	spread_all(f, at, columns, own, x);
}

static void front_forward(const struct pe_front *f, double *x)
{
	for (int32_t at = 0, now; at < f->width; at += now) {
		now = f->width - at < MOST_AT_ONCE ? f->width - at : MOST_AT_ONCE;
		switch (now) {
		case 1:
			forward_some(f, at, 1, (quad *)x);
			break;
		case 2:
			forward_some(f, at, 2, (quad *)x);
			break;
		case 3:
			forward_some(f, at, 3, (quad *)x);
			break;
		case 4:
			forward_some(f, at, 4, (quad *)x);
			break;
		case 5:
			forward_some(f, at, 5, (quad *)x);
			break;
		case 6:
			forward_some(f, at, 6, (quad *)x);
			break;
		case 7:
			forward_some(f, at, 7, (quad *)x);
			break;
		default:
			forward_some(f, at, 8, (quad *)x);
			break;
		}
	}
}

INLINE void backward_some(const struct pe_front *f, int32_t at, int columns, quad *x)
{
	int64_t height = (int64_t)f->width + f->below;
	const double *a = square_at(f, at);
	quad sum[MOST_AT_ONCE], *own = x + f->first + at;
	collect_all(f, at, columns, x, sum);
	UNROLL
	for (int k = columns - 1; k >= 0; k--) {
		UNROLL
		for (int i = k + 1; i < columns; i++)
			quad_fused(a[k * height + i], &own[i], &sum[k]);
		own[k] = own[k] / a[k * height + k] - sum[k];
	}
}

static void front_backward(const struct pe_front *f, double *x)
{
	for (int32_t at = f->width, now; at > 0;) {
		now = at < MOST_AT_ONCE ? at : MOST_AT_ONCE;
		at -= now;
		switch (now) {
		case 1:
			backward_some(f, at, 1, (quad *)x);
			break;
		case 2:
			backward_some(f, at, 2, (quad *)x);
			break;
		case 3:
			backward_some(f, at, 3, (quad *)x);
			break;
		case 4:
			backward_some(f, at, 4, (quad *)x);
			break;
		case 5:
			backward_some(f, at, 5, (quad *)x);
			break;
		case 6:
			backward_some(f, at, 6, (quad *)x);
			break;
		case 7:
			backward_some(f, at, 7, (quad *)x);
			break;
		default:
			backward_some(f, at, 8, (quad *)x);
			break;
		}
	}
}

/* A block at a time: t = -D Lᵀ x, then y ← y - L t. */
INLINE void multiply_some(const struct pe_front *f, int32_t at, int columns, const quad *x, quad *y)
{
	int64_t height = (int64_t)f->width + f->below;
	const double *a = square_at(f, at);
	const quad *from = x + f->first + at;
	quad t[MOST_AT_ONCE], *to = y + f->first + at;
	collect_all(f, at, columns, x, t);
	UNROLL
	for (int k = 0; k < columns; k++) {
		UNROLL
		for (int i = k + 1; i < columns; i++)
			quad_fused(a[k * height + i], &from[i], &t[k]);
		t[k] = (t[k] + from[k]) * -a[k * height + k];
	}
	UNROLL
	for (int k = 0; k < columns; k++) {
		to[k] -= t[k];
		UNROLL
		for (int i = k + 1; i < columns; i++)
			quad_fused(-a[k * height + i], &t[k], &to[i]);
	}
	spread_all(f, at, columns, t, y);
}

static void front_multiply(const struct pe_front *f, const double *x, double *y)
{
	for (int32_t at = 0, now; at < f->width; at += now) {
		now = f->width - at < MOST_AT_ONCE ? f->width - at : MOST_AT_ONCE;
		switch (now) {
		case 1:
			multiply_some(f, at, 1, (const quad *)x, (quad *)y);
			break;
		case 2:
			multiply_some(f, at, 2, (const quad *)x, (quad *)y);
			break;
		case 3:
			multiply_some(f, at, 3, (const quad *)x, (quad *)y);
			break;
		case 4:
			multiply_some(f, at, 4, (const quad *)x, (quad *)y);
			break;
		case 5:
			multiply_some(f, at, 5, (const quad *)x, (quad *)y);
			break;
		case 6:
			multiply_some(f, at, 6, (const quad *)x, (quad *)y);
			break;
		case 7:
			multiply_some(f, at, 7, (const quad *)x, (quad *)y);
			break;
		default:
			multiply_some(f, at, 8, (const quad *)x, (quad *)y);
			break;
		}
	}
}
