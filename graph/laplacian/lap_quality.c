/* SPDX-License-Identifier: BSD-2-Clause */
#include "lap_quality.h"

#include <math.h>
#include <string.h>

#define TILE 8
#define CHUNK 1024 /* rows whose products are summed by themselves: long sums lose digits */

static double larger(double worst, double value)
{
	return value > worst || isnan(value) ? value : worst; /* a NaN is the worst of all */
}

double pe_lap_residual(const struct pe_laplacian *laplacian, const double *rows, int64_t stride,
	const double *values, int32_t columns, double *scratch)
{
	double worst = 0;
	if (!(laplacian->norm > 0))
		return 0; /* L is 0, and so is every value */
	pe_laplacian_residuals(laplacian, rows, stride, values, columns, scratch);
	for (int32_t j = 0; j < columns; j++)
		worst = larger(worst, scratch[j] / laplacian->norm);
	return worst;
}

/* Products of full tiles of columns, a and b apart in a row.
 * One row of products at a time stays in registers. */
static void multiply(
	const double *rows, int64_t n, int64_t stride, int64_t a, int64_t b, double out[TILE][TILE])
{
	for (int s = 0; s < TILE; s++) {
		double sum[TILE] = {0};
		for (int64_t i = 0; i < n; i++) {
			const double *y = rows + i * stride + b;
			double x = rows[i * stride + a + s];
			for (int t = 0; t < TILE; t++)
				sum[t] += x * y[t];
		}
		memcpy(out[s], sum, sizeof sum);
	}
}

static void multiply_narrow(const double *rows, int64_t n, int64_t stride, int64_t a, int64_t b,
	int64_t width_a, int64_t width_b, double out[TILE][TILE])
{
	for (int64_t i = 0; i < n; i++) {
		const double *x = rows + i * stride + a, *y = rows + i * stride + b;
		for (int64_t s = 0; s < width_a; s++)
			for (int64_t t = 0; t < width_b; t++)
				out[s][t] += x[s] * y[t];
	}
}

static double tile_error(const double *rows, int64_t n, int64_t stride, int64_t a, int64_t b, int64_t columns)
{
	double product[TILE][TILE] = {{0}}, worst = 0;
	int64_t width_a = pe_min(columns - a, TILE), width_b = pe_min(columns - b, TILE);
	for (int64_t i = 0; i < n; i += CHUNK) {
		double part[TILE][TILE] = {{0}};
		const double *chunk = rows + i * stride;
		int64_t count = pe_min(CHUNK, n - i);
		if (width_a == TILE && width_b == TILE)
			multiply(chunk, count, stride, a, b, part);
		else
			multiply_narrow(chunk, count, stride, a, b, width_a, width_b, part);
		for (int64_t s = 0; s < width_a; s++)
			for (int64_t t = 0; t < width_b; t++)
				product[s][t] += part[s][t];
	}
	for (int64_t s = 0; s < width_a; s++)
		for (int64_t t = 0; t < width_b; t++)
			worst = larger(worst, fabs(product[s][t] - (a + s == b + t)));
	return worst;
}

double pe_lap_orthogonality(const double *rows, int64_t n, int64_t stride, int32_t columns)
{
	double worst = 0;
	for (int64_t a = 0; a < columns; a += TILE)
		for (int64_t b = 0; b <= a; b += TILE)
			worst = larger(worst, tile_error(rows, n, stride, a, b, columns));
	return worst;
}
