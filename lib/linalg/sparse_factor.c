/* SPDX-License-Identifier: BSD-2-Clause */
#include "sparse_factor.h"

#include <math.h>
#include <suitesparse/cholmod.h>

#include "rng.h"

#define LANES 4 /* right-hand sides that a triangular solve takes through the factor at once */

struct pe_sparse_factor {
	cholmod_common common;
	cholmod_sparse *matrix; /* upper triangle */
	cholmod_factor *l;
	double shift, fill, flops;
};

static pe_status fail(pe_context *ctx, const struct pe_sparse_factor *f, const char *what)
{
	switch (f->common.status) {
	case CHOLMOD_OUT_OF_MEMORY:
		return pe_fail(ctx, PE_ERR_NOMEM, "out of memory while %s a sparse matrix", what);
	case CHOLMOD_TOO_LARGE:
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"%s a sparse matrix needs more numbers than 32 bits can count; use engine=block", what);
	default:
		return pe_fail(
			ctx, PE_ERR_INTERNAL, "CHOLMOD status %d while %s a sparse matrix", f->common.status, what);
	}
}

static void configure(cholmod_common *common)
{
	cholmod_start(common);
	common->print = 0;
	common->try_catch = 1;
	common->nmethods = 1;
	common->method[0].ordering = CHOLMOD_AMD;
	common->supernodal = CHOLMOD_SIMPLICIAL;
	common->final_ll = 0;
	common->quick_return_if_not_posdef = 1;
}

/* The upper triangle by columns is the lower triangle by rows. */
static void copy_triangle(const struct pe_sparse_matrix *m, cholmod_sparse *out)
{
	int32_t *start = out->p, *row = out->i;
	double *value = out->x;
	int32_t used = 0;
	for (int32_t j = 0; j < m->n; j++) {
		start[j] = used;
		for (int64_t e = m->row[j]; e < m->row[j + 1] && m->col[e] < j; e++) {
			row[used] = m->col[e];
			value[used++] = m->val[e];
		}
		row[used] = j;
		value[used++] = m->diag[j];
	}
	start[m->n] = used;
}

pe_status pe_sparse_factor_create(
	pe_context *ctx, const struct pe_sparse_matrix *m, struct pe_sparse_factor **out)
{
	*out = NULL;
	int64_t entries = (m->row[m->n] - m->row[0]) / 2 + m->n;
	if (entries > INT32_MAX)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"a matrix of %lld entries is too large to be factored; use engine=block", (long long)entries);
	struct pe_sparse_factor *f = pe_alloc_zero(ctx, 1, sizeof *f);
	if (!f)
		return PE_ERR_NOMEM;
	pe_status status = PE_OK;
	configure(&f->common);
	f->matrix = cholmod_allocate_sparse(
		(size_t)m->n, (size_t)m->n, (size_t)entries, 1, 1, 1, CHOLMOD_REAL, &f->common);
	if (!f->matrix) {
		status = fail(ctx, f, "copying");
		goto done;
	}
	copy_triangle(m, f->matrix);
	f->l = cholmod_analyze(f->matrix, &f->common);
	if (!f->l) {
		status = fail(ctx, f, "analysing");
		goto done;
	}
	f->fill = f->common.lnz;
	f->flops = f->common.fl;
	*out = f;
	f = NULL;
done:
	pe_sparse_factor_destroy(ctx, &f);
	return status;
}

void pe_sparse_factor_destroy(pe_context *ctx, struct pe_sparse_factor **factor)
{
	struct pe_sparse_factor *f = *factor;
	*factor = NULL;
	if (!f)
		return;
	cholmod_free_factor(&f->l, &f->common);
	cholmod_free_sparse(&f->matrix, &f->common);
	cholmod_finish(&f->common);
	pe_free(ctx, f);
}

double pe_sparse_factor_fill(const struct pe_sparse_factor *f)
{
	return f->fill;
}

double pe_sparse_factor_flops(const struct pe_sparse_factor *f)
{
	return f->flops;
}

pe_status pe_sparse_factor_numeric(pe_context *ctx, struct pe_sparse_factor *f, double shift, bool *exists)
{
	double beta[2] = {-shift, 0};
	f->shift = shift;
	*exists = false;
	if (!cholmod_factorize_p(f->matrix, beta, NULL, 0, f->l, &f->common))
		return fail(ctx, f, "factoring");
	/* CHOLMOD says TRUE and NOT_POSDEF where a pivot is 0. */
	*exists = f->common.status == CHOLMOD_OK && f->l->minor == f->l->n;
	return PE_OK;
}

int64_t pe_sparse_factor_negative(const struct pe_sparse_factor *f)
{
	const int32_t *start = f->l->p;
	const double *x = f->l->x;
	int64_t count = 0;
	for (size_t j = 0; j < f->l->n; j++)
		count += x[start[j]] < 0;
	return count;
}

/* y ← L D Lᵀ x, in the factor's order; D is where L has its ones. */
static void multiply_factor(const cholmod_factor *l, const double *x, double *y)
{
	const int32_t *start = l->p, *count = l->nz, *row = l->i;
	const double *value = l->x;
	int32_t n = (int32_t)l->n;
	for (int32_t j = 0; j < n; j++)
		y[j] = 0;
	for (int32_t j = 0; j < n; j++) {
		int32_t first = start[j], end = first + count[j];
		double sum = x[j];
		for (int32_t e = first + 1; e < end; e++)
			sum += value[e] * x[row[e]];
		sum *= value[first];
		y[j] += sum;
		for (int32_t e = first + 1; e < end; e++)
			y[row[e]] += value[e] * sum;
	}
}

/* y ← (M - shift·I) x, in the matrix's order. */
static void multiply_matrix(const cholmod_sparse *m, double shift, const double *x, double *y)
{
	const int32_t *start = m->p, *row = m->i;
	const double *value = m->x;
	int32_t n = (int32_t)m->ncol;
	for (int32_t j = 0; j < n; j++) {
		y[j] = (value[start[j + 1] - 1] - shift) * x[j];
		for (int32_t e = start[j]; e < start[j + 1] - 1; e++) {
			y[j] += value[e] * x[row[e]];
			y[row[e]] += value[e] * x[j];
		}
	}
}

static void draw_signs(pe_context *ctx, uint64_t stream, uint64_t block, int32_t n, double *x)
{
	uint32_t word[4] = {0};
	for (int32_t i = 0; i < n; i++) {
		if (i % 128 == 0)
			pe_rng_block(ctx->seed, stream, block++, word);
		x[i] = word[i % 128 / 32] >> i % 32 & 1 ? 1 : -1;
	}
}

/* E‖E z‖² = ‖E‖_F² for z of random signs; the largest of three. */
pe_status pe_sparse_factor_error(
	pe_context *ctx, const struct pe_sparse_factor *f, uint64_t stream, double *error)
{
	int32_t n = (int32_t)f->l->n;
	const int32_t *order = f->l->Perm;
	double *x = pe_alloc(ctx, n, 4 * sizeof *x);
	if (!x)
		return PE_ERR_NOMEM;
	double *permuted = x + n, *product = permuted + n, *expected = product + n;
	*error = 0;
	for (uint64_t sample = 0; sample < 3; sample++) {
		draw_signs(ctx, stream, sample << 32, n, x);
		for (int32_t i = 0; i < n; i++)
			permuted[i] = x[order[i]];
		multiply_factor(f->l, permuted, product);
		multiply_matrix(f->matrix, f->shift, x, expected);
		double sum = 0;
		for (int32_t i = 0; i < n; i++) {
			double d = product[i] - expected[order[i]];
			sum += d * d;
		}
		/* In this order, so that a NaN stays. */
		*error = sqrt(sum) <= *error ? *error : sqrt(sum);
	}
	pe_free(ctx, x);
	return PE_OK;
}

/* x ← (L D Lᵀ)⁻¹ x for LANES interleaved vectors. */
static void solve_lanes(const cholmod_factor *l, double *restrict x)
{
	const int32_t *restrict start = l->p, *restrict count = l->nz, *restrict row = l->i;
	const double *restrict value = l->x;
	int32_t n = (int32_t)l->n;
	for (int32_t j = 0; j < n; j++) {
		double now[LANES];
		for (int32_t r = 0; r < LANES; r++)
			now[r] = x[(int64_t)j * LANES + r];
		for (int32_t e = start[j] + 1; e < start[j] + count[j]; e++)
			for (int32_t r = 0; r < LANES; r++)
				x[(int64_t)row[e] * LANES + r] -= value[e] * now[r];
	}
	for (int32_t j = n - 1; j >= 0; j--) {
		double sum[LANES];
		for (int32_t r = 0; r < LANES; r++)
			sum[r] = x[(int64_t)j * LANES + r] / value[start[j]];
		for (int32_t e = start[j] + 1; e < start[j] + count[j]; e++)
			for (int32_t r = 0; r < LANES; r++)
				sum[r] -= value[e] * x[(int64_t)row[e] * LANES + r];
		for (int32_t r = 0; r < LANES; r++)
			x[(int64_t)j * LANES + r] = sum[r];
	}
}

pe_status pe_sparse_factor_solve(pe_context *ctx, const struct pe_sparse_factor *f, int32_t count, double *x)
{
	int32_t n = (int32_t)f->l->n;
	const int32_t *order = f->l->Perm;
	double *lanes = pe_alloc(ctx, n, LANES * sizeof *lanes);
	if (!lanes)
		return PE_ERR_NOMEM;
	for (int32_t first = 0; first < count; first += LANES) {
		int32_t used = (int32_t)pe_min(LANES, count - first);
		double *block = x + (int64_t)first * n;
		for (int32_t i = 0; i < n; i++)
			for (int32_t r = 0; r < LANES; r++)
				lanes[(int64_t)i * LANES + r] = r < used ? block[(int64_t)r * n + order[i]] : 0;
		solve_lanes(f->l, lanes);
		for (int32_t i = 0; i < n; i++)
			for (int32_t r = 0; r < used; r++)
				block[(int64_t)r * n + order[i]] = lanes[(int64_t)i * LANES + r];
	}
	pe_free(ctx, lanes);
	return PE_OK;
}
