/* SPDX-License-Identifier: BSD-2-Clause */
#include "lane_load.h"

#include <float.h>
#include <math.h>
#include <string.h>

void pe_lane_clear(
	const struct pe_kernels *kernels, const struct pe_lane_batch *batch, int64_t u, int64_t order)
{
	int64_t width = kernels->lane_width, extent = batch->order;
	memset(batch->a + u * (extent * (extent + 1) / 2) * width, 0,
		(size_t)(order * (order + 1) / 2 * width) * sizeof *batch->a);
	memset(batch->h + u * extent * width, 0, (size_t)(order * width) * sizeof *batch->h);
	memset(batch->w + u * extent * width, 0, (size_t)(order * width) * sizeof *batch->w);
}

static double power_of_two(uint64_t biased)
{
	uint64_t bits = biased << 52;
	double power;
	memcpy(&power, &bits, sizeof power);
	return power;
}

/* By the exponent of norm1 (from its bits: ldexp is slow), bounded so that 1 / scale is finite too. */
static void choose_scale(struct pe_lane_matrix *m, double norm1)
{
	uint64_t bits, biased = 1023;
	memcpy(&bits, &norm1, sizeof bits);
	if (norm1 > 0.0 && norm1 <= DBL_MAX)
		biased = bits >> 52;
	biased = biased < 23 ? 23 : biased > 2023 ? 2023 : biased;
	m->scale = power_of_two(2046 - biased);
	m->unscale = power_of_two(biased);
}

/* h = z ± e_last with β = 2 / hᵀh, and w = p - β hᵀp/2 h with p = β M h. Because M z = 0, M h is
 * ± the last column of M. */
static void load_reflector(
	const struct pe_eigen_problem *problem, int64_t width, double *h, double *w, struct pe_lane_matrix *m)
{
	int32_t order = problem->n - 1;
	double scale = m->scale, pivot = problem->null[order];
	double sign = pivot < 0.0 ? -1.0 : 1.0, beta = 1.0 / (1.0 + fabs(pivot));
	double half = 0.5 * beta * beta * problem->diag[order] * scale;
	for (int32_t i = 0; i < order; i++) {
		h[i * width] = problem->null[i];
		w[i * width] = -half * problem->null[i];
	}
	double square = problem->diag[order] * scale * (problem->diag[order] * scale);
	for (int64_t p = problem->row[order]; p < problem->row[order + 1]; p++) {
		double value = problem->val[p] * scale;
		w[problem->col[p] * width] += sign * beta * value;
		square += 2.0 * value * value;
	}
	m->h_last = pivot + sign;
	m->h_beta = beta;
	m->square = square;
	m->trace = problem->diag[order] * scale;
}

struct pe_lane_matrix pe_lane_load(const struct pe_kernels *kernels, const struct pe_lane_batch *batch,
	int64_t l, const struct pe_eigen_problem *problem)
{
	struct pe_lane_matrix m;
	int64_t width = kernels->lane_width, pack = l / width, within = l % width;
	int64_t order = batch->order, n = problem->n;
	double *a = batch->a + pack * (order * (order + 1) / 2) * width + within;
	int64_t vector = pack * order * width + within;
	choose_scale(&m, problem->norm1);
	load_reflector(problem, width, batch->h + vector, batch->w + vector, &m);
	const int64_t *row = problem->row;
	const int32_t *col = problem->col;
	const double *val = problem->val, *diag = problem->diag;
	double trace = 0.0, square = 0.0, twice = 0.0, scale = m.scale;
	for (int64_t i = 0; i < n - 1; i++, a += i * width) {
		double diagonal = diag[i] * scale;
		trace += diagonal;
		square += diagonal * diagonal;
		a[i * width] = diagonal;
		for (int64_t p = row[i], end = row[i + 1]; p < end && col[p] < i; p++) {
			double value = val[p] * scale;
			twice += value * value;
			a[col[p] * width] = value;
		}
	}
	m.trace += trace;
	m.square += square + 2.0 * twice;
	return m;
}
