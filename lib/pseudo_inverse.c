/* SPDX-License-Identifier: BSD-2-Clause
 * A pseudo-inverse by Jacobi rotations of columns until all are orthogonal: A V = U Σ, so A⁺ = V Σ⁻² (A V)ᵀ.
 * M. Hestenes, "Inversion of matrices by biorthogonalization and related results", 1958. */
#include "pseudo_inverse.h"

#include <math.h>

#define MOST_SWEEPS 60
#define ORTHOGONAL 1e-15 /* cosine of two columns */
#define NOTHING 1e-10    /* of the largest singular value */

/* A V and V, one column after the other. */
struct columns {
	int64_t length, count; /* of a column of A; length ≥ count */
	double *av, *v;
};

static double dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void rotate(double *a, double *b, int64_t n, double cosine, double sine)
{
	for (int64_t i = 0; i < n; i++) {
		double x = a[i], y = b[i];
		a[i] = cosine * x - sine * y;
		b[i] = sine * x + cosine * y;
	}
}

/* Makes columns p and q orthogonal; false: they were. */
static bool turn(const struct columns *m, int64_t p, int64_t q)
{
	double *a = m->av + p * m->length, *b = m->av + q * m->length;
	double aa = dot(a, a, m->length), bb = dot(b, b, m->length), ab = dot(a, b, m->length);
	if (!(fabs(ab) > ORTHOGONAL * sqrt(aa * bb)))
		return false;
	double half = (bb - aa) / (2 * ab);
	double tangent = copysign(1, half) / (fabs(half) + hypot(1, half)), cosine = 1 / hypot(1, tangent);
	rotate(a, b, m->length, cosine, cosine * tangent);
	rotate(m->v + p * m->count, m->v + q * m->count, m->count, cosine, cosine * tangent);
	return true;
}

static void make_orthogonal(const struct columns *m)
{
	bool turned = true;
	for (int sweep = 0; turned && sweep < MOST_SWEEPS; sweep++) {
		turned = false;
		for (int64_t p = 0; p < m->count; p++)
			for (int64_t q = p + 1; q < m->count; q++)
				turned |= turn(m, p, q);
	}
}

/* Adds each column's v (A v)ᵀ / σ²: number (i, j) at out[i · row + j · step]. */
static void add_up(const struct columns *m, double *out, int64_t row, int64_t step)
{
	double most = 0;
	for (int64_t c = 0; c < m->count; c++) {
		const double *av = m->av + c * m->length;
		most = fmax(most, dot(av, av, m->length));
	}
	for (int64_t c = 0; c < m->count; c++) {
		const double *av = m->av + c * m->length, *v = m->v + c * m->count;
		double square = dot(av, av, m->length);
		if (!(square > most * NOTHING * NOTHING))
			continue;
		for (int64_t i = 0; i < m->count; i++)
			for (int64_t j = 0; j < m->length; j++)
				out[i * row + j * step] += v[i] / square * av[j];
	}
}

pe_status pe_pseudo_inverse(pe_context *ctx, int64_t rows, int64_t columns, const double *a, double *out)
{
	bool tall = rows >= columns; /* else the transposed matrix is decomposed */
	struct columns m = {.length = tall ? rows : columns, .count = tall ? columns : rows};
	m.av = pe_alloc(ctx, m.length * m.count, sizeof *m.av);
	m.v = pe_alloc_zero(ctx, m.count * m.count, sizeof *m.v);
	bool there = m.av && m.v;
	for (int64_t c = 0; there && c < m.count; c++) {
		m.v[c * m.count + c] = 1;
		for (int64_t i = 0; i < m.length; i++)
			m.av[c * m.length + i] = tall ? a[i * columns + c] : a[c * columns + i];
	}
	if (there) {
		for (int64_t i = 0; i < rows * columns; i++)
			out[i] = 0;
		make_orthogonal(&m);
		add_up(&m, out, tall ? rows : 1, tall ? 1 : rows);
	}
	pe_free(ctx, m.av);
	pe_free(ctx, m.v);
	return there ? PE_OK : PE_ERR_NOMEM;
}
