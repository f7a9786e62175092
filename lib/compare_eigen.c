/* SPDX-License-Identifier: BSD-2-Clause
 * Eigenvectors up to sign and rotation. If two bases span one eigenspace and are normalised alike,
 * then Va = Vb·R with R orthogonal: also for the random-walk Laplacian, where the columns are
 * orthonormal only after scaling by D^½. R is the polar factor of the small matrix VbᵀVa, so that
 * nothing of size nodes × nodes is ever formed. */
#include <math.h>
#include <string.h>

#include "compare.h"
#include "tensor.h"

#define CHUNK 256 /* rows at a time */
#define MAX_SWEEPS 60

/* The columns of one group in one graph. */
struct block {
	int64_t row, rows;
	int64_t graph;
	int64_t m;
	const int64_t *columns;
};

struct work {
	const struct pe_eigen_pair *pair;
	struct pe_difference *out;
	int64_t *columns;           /* k */
	double *va, *vb;            /* CHUNK × m, row by row */
	double *product, *rotation; /* m × m, column by column */
	double *basis;              /* m × m */
};

static void load_rows(const pe_tensor *t, const struct block *b, int64_t row, int64_t rows, double *out)
{
	int64_t size = (int64_t)pe_dtype_size(t->dtype);
	for (int64_t j = 0; j < b->m; j++) {
		const char *column =
			(const char *)t->data + (row * t->strides[0] + b->columns[j] * t->strides[1]) * size;
		for (int64_t i = 0; i < rows; i++)
			pe_load_f64(&out[i * b->m + j], column + i * t->strides[0] * size, t->dtype, 1, 1);
	}
}

/* product ← VbᵀVa. */
static void multiply(struct work *w, const struct block *b)
{
	int64_t m = b->m;
	memset(w->product, 0, (size_t)(m * m) * sizeof *w->product);
	for (int64_t start = 0; start < b->rows; start += CHUNK) {
		int64_t rows = pe_min(CHUNK, b->rows - start);
		load_rows(w->pair->a, b, b->row + start, rows, w->va);
		load_rows(w->pair->b, b, b->row + start, rows, w->vb);
		for (int64_t i = 0; i < rows; i++)
			for (int64_t j = 0; j < m; j++)
				for (int64_t k = 0; k < m; k++)
					w->product[j * m + k] += w->vb[i * m + k] * w->va[i * m + j];
	}
}

/* Rotates two columns so that they become orthogonal; the same to the basis. true if they were not. */
static bool rotate(double *x, double *y, double *bx, double *by, int64_t m)
{
	double xx = 0, yy = 0, xy = 0;
	for (int64_t i = 0; i < m; i++) {
		xx += x[i] * x[i];
		yy += y[i] * y[i];
		xy += x[i] * y[i];
	}
	if (fabs(xy) <= 1e-15 * sqrt(xx * yy) || xy == 0)
		return false;
	double zeta = (yy - xx) / (2 * xy);
	double t = copysign(1 / (fabs(zeta) + hypot(1, zeta)), zeta), c = 1 / hypot(1, t), s = c * t;
	for (int64_t i = 0; i < m; i++) {
		double p = x[i], q = y[i], bp = bx[i], bq = by[i];
		x[i] = c * p - s * q;
		y[i] = s * p + c * q;
		bx[i] = c * bp - s * bq;
		by[i] = s * bp + c * bq;
	}
	return true;
}

/* One-sided Jacobi: product·basis gets orthogonal columns u_i·s_i; then rotation = Σ u_i·basis_iᵀ. Where
 * s_i is nearly 0 the two spaces differ, and no rotation would hide it: that term is left out. */
static void polar(struct work *w, int64_t m)
{
	double *p = w->product, *basis = w->basis, largest = 0;
	memset(basis, 0, (size_t)(m * m) * sizeof *basis);
	for (int64_t i = 0; i < m; i++)
		basis[i * m + i] = 1;
	bool more = true;
	for (int sweep = 0; sweep < MAX_SWEEPS && more; sweep++) {
		more = false;
		for (int64_t i = 0; i < m; i++)
			for (int64_t j = i + 1; j < m; j++)
				more |= rotate(p + i * m, p + j * m, basis + i * m, basis + j * m, m);
	}
	memset(w->rotation, 0, (size_t)(m * m) * sizeof *w->rotation);
	for (int64_t i = 0; i < m * m; i++)
		largest = fmax(largest, fabs(p[i]));
	for (int64_t i = 0; i < m; i++) {
		double norm = 0;
		for (int64_t k = 0; k < m; k++)
			norm = hypot(norm, p[i * m + k]);
		for (int64_t j = 0; j < m && norm > 1e-12 * largest; j++)
			for (int64_t k = 0; k < m; k++)
				w->rotation[j * m + k] += p[i * m + k] / norm * basis[i * m + j];
	}
}

/* Element j of row·rotation, or of row·rotationᵀ. */
static double image(const struct work *w, const double *row, int64_t m, int64_t j, bool back)
{
	double sum = 0;
	for (int64_t k = 0; k < m; k++)
		sum += row[k] * w->rotation[back ? k * m + j : j * m + k];
	return sum;
}

/* Both ways: where the rotation lost a direction, Va − Vb·R alone would not see what Vb has there. */
static double element_difference(const struct work *w, int64_t m, int64_t i, int64_t j, bool as_is)
{
	const double *a = w->va + i * m, *b = w->vb + i * m;
	if (as_is)
		return pe_distance(a[j], b[j]);
	return fmax(pe_distance(a[j], image(w, b, m, j, false)), pe_distance(b[j], image(w, a, m, j, true)));
}

/* The largest entry of Va − Vb·R and Vb − Va·Rᵀ, or of Va − Vb. */
static struct pe_difference measure(struct work *w, const struct block *b, bool as_is)
{
	struct pe_difference largest = {0};
	for (int64_t start = 0; start < b->rows; start += CHUNK) {
		int64_t rows = pe_min(CHUNK, b->rows - start);
		load_rows(w->pair->a, b, b->row + start, rows, w->va);
		load_rows(w->pair->b, b, b->row + start, rows, w->vb);
		for (int64_t at = 0; at < rows * b->m; at++) {
			int64_t i = at / b->m, j = at % b->m;
			double difference = element_difference(w, b->m, i, j, as_is);
			if (difference > largest.value)
				largest =
					(struct pe_difference){.value = difference, .where = {b->row + start + i, b->columns[j]}};
		}
	}
	return largest;
}

static bool is_finite(const double *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

/* Columns that stand alone, and those that hold a NaN, are compared as they are; and so are those that
 * need no rotation, so that a copy is told to be one. */
static void compare_block(struct work *w, const struct block *b, bool alone)
{
	struct pe_difference d = measure(w, b, true);
	if (!alone && d.value > 0) {
		multiply(w, b);
		if (is_finite(w->product, b->m * b->m)) {
			polar(w, b->m);
			struct pe_difference rotated = measure(w, b, false);
			d = rotated.value < d.value ? rotated : d;
		}
	}
	if (!(d.value > w->out->value))
		return;
	w->out->value = d.value;
	memcpy(w->out->where, d.where, sizeof d.where);
}

static void compare_graph(struct work *w, int64_t graph, int64_t k)
{
	const struct pe_eigen_pair *pair = w->pair;
	const int32_t *groups = pair->groups + graph * k;
	for (int64_t first = 0; first < k; first++) {
		bool seen = false;
		for (int64_t j = 0; j < first; j++)
			seen |= groups[j] == groups[first] && groups[first] >= 0;
		if (seen)
			continue;
		struct block b = {.row = pair->ptr[graph], .graph = graph, .columns = w->columns};
		b.rows = pair->ptr[graph + 1] - b.row;
		for (int64_t j = first; j < k; j++)
			if (j == first || (groups[first] >= 0 && groups[j] == groups[first]))
				w->columns[b.m++] = j;
		compare_block(w, &b, groups[first] < 0);
	}
}

static pe_status allocate(pe_context *ctx, struct work *w, int64_t k)
{
	int64_t square;
	if (!pe_mul(k, k, &square))
		return pe_fail(ctx, PE_ERR_NOMEM, "%lld eigenvectors are too many", (long long)k);
	w->columns = pe_alloc(ctx, k, sizeof *w->columns);
	w->va = pe_alloc(ctx, k, CHUNK * sizeof *w->va);
	w->vb = pe_alloc(ctx, k, CHUNK * sizeof *w->vb);
	w->product = pe_alloc(ctx, square, sizeof *w->product);
	w->rotation = pe_alloc(ctx, square, sizeof *w->rotation);
	w->basis = pe_alloc(ctx, square, sizeof *w->basis);
	bool all = w->columns && w->va && w->vb && w->product && w->rotation && w->basis;
	return all ? PE_OK : PE_ERR_NOMEM;
}

pe_status pe_compare_eigenvectors(
	pe_context *ctx, const struct pe_eigen_pair *pair, struct pe_difference *out)
{
	struct work w = {.pair = pair, .out = out};
	int64_t k = pair->a->shape[1];
	pe_status status = allocate(ctx, &w, k);
	for (int64_t g = 0; g < pair->graphs && status == PE_OK; g++)
		compare_graph(&w, g, k);
	pe_free(ctx, w.columns);
	pe_free(ctx, w.va);
	pe_free(ctx, w.vb);
	pe_free(ctx, w.product);
	pe_free(ctx, w.rotation);
	pe_free(ctx, w.basis);
	return status;
}
