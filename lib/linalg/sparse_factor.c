/* SPDX-License-Identifier: BSD-2-Clause */
#include "sparse_factor.h"

#include <math.h>

#include "elimination.h"
#include "fronts.h"
#include "kernels/kernels.h"
#include "rng.h"

#define LANES PE_FRONT_LANES
#define AHEAD 4
#define PREFETCHED 1024 /* numbers of a block */

struct pe_sparse_factor {
	struct pe_elimination elimination;
	struct pe_supernodes supernodes;
	double *diag; /* of the matrix, by places */
	double *l;    /* NULL before the first factorisation */
	double shift;
};

pe_status pe_sparse_factor_create(
	pe_context *ctx, const struct pe_sparse_matrix *m, struct pe_sparse_factor **out)
{
	*out = NULL;
	struct pe_sparse_factor *f = pe_alloc_zero(ctx, 1, sizeof *f);
	if (!f)
		return PE_ERR_NOMEM;
	pe_status status = pe_elimination_create(ctx, m, &f->elimination);
	if (status == PE_OK)
		status = pe_supernodes_create(ctx, m, &f->elimination, &f->supernodes);
	if (status != PE_OK)
		goto done;
	f->diag = pe_alloc(ctx, m->n, sizeof *f->diag);
	if (!f->diag) {
		status = PE_ERR_NOMEM;
		goto done;
	}
	for (int32_t i = 0; i < m->n; i++)
		f->diag[i] = m->diag[f->elimination.order[i]];
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
	pe_elimination_free(ctx, &f->elimination);
	pe_supernodes_free(ctx, &f->supernodes);
	pe_free(ctx, f->diag);
	pe_free(ctx, f->l);
	pe_free(ctx, f);
}

double pe_sparse_factor_fill(const struct pe_sparse_factor *f)
{
	return f->elimination.fill;
}

double pe_sparse_factor_flops(const struct pe_sparse_factor *f)
{
	return f->elimination.flops;
}

pe_status pe_sparse_factor_numeric(pe_context *ctx, struct pe_sparse_factor *f, double shift, bool *exists)
{
	f->shift = shift;
	*exists = false;
	if (!f->l)
		f->l = pe_alloc_zero(ctx, f->supernodes.value[f->supernodes.count] + PE_FRONT_SLACK, sizeof *f->l);
	return f->l ? pe_fronts_factor(ctx, &f->supernodes, f->diag, shift, f->l, exists) : PE_ERR_NOMEM;
}

int64_t pe_sparse_factor_negative(const struct pe_sparse_factor *f)
{
	const struct pe_supernodes *p = &f->supernodes;
	int64_t count = 0;
	for (int32_t s = 0; s < p->count; s++) {
		int32_t width = pe_supernode_width(p, s);
		int64_t step = (int64_t)width + pe_supernode_below(p, s) + 1;
		for (int32_t k = 0; k < width; k++)
			count += f->l[p->value[s] + k * step] < 0;
	}
	return count;
}

static struct pe_front front(const struct pe_sparse_factor *f, int32_t s)
{
	const struct pe_supernodes *p = &f->supernodes;
	return (struct pe_front){.width = pe_supernode_width(p, s),
		.below = pe_supernode_below(p, s),
		.first = p->first[s],
		.row = p->row + p->below[s],
		.l = f->l + p->value[s]};
}

/* x ← (L D Lᵀ)⁻¹ x for LANES interleaved vectors. */
static void solve_lanes(const struct pe_kernels *kernels, const struct pe_sparse_factor *f, double *x)
{
	for (int32_t s = 0; s < f->supernodes.count; s++) {
		struct pe_front now = front(f, s);
		kernels->front_forward(&now, x);
	}
	for (int32_t s = f->supernodes.count - 1; s >= 0; s--) {
		struct pe_front now = front(f, s);
		kernels->front_backward(&now, x);
	}
}

pe_status pe_sparse_factor_solve(pe_context *ctx, const struct pe_sparse_factor *f, int32_t count, double *x)
{
	int32_t n = f->supernodes.n;
	const int32_t *order = f->elimination.order;
	double *lanes = pe_alloc(ctx, n, LANES * sizeof *lanes);
	if (!lanes)
		return PE_ERR_NOMEM;
	for (int32_t first = 0; first < count; first += LANES) {
		int32_t used = (int32_t)pe_min(LANES, count - first);
		double *block = x + (int64_t)first * n;
		for (int32_t i = 0; i < n; i++)
			for (int32_t r = 0; r < LANES; r++)
				lanes[(int64_t)i * LANES + r] = r < used ? block[(int64_t)r * n + order[i]] : 0;
		solve_lanes(ctx->kernels, f, lanes);
		for (int32_t i = 0; i < n; i++)
			for (int32_t r = 0; r < used; r++)
				block[(int64_t)r * n + order[i]] = lanes[(int64_t)i * LANES + r];
	}
	pe_free(ctx, lanes);
	return PE_OK;
}

/* y ← L D Lᵀ x - (M - shift·I) x. */
static void multiply_error(
	const struct pe_kernels *kernels, const struct pe_sparse_factor *f, const double *x, double *y)
{
	const struct pe_supernodes *p = &f->supernodes;
	for (int64_t c = 0; c < (int64_t)p->n * LANES; c++)
		y[c] = (f->shift - f->diag[c / LANES]) * x[c];
	for (int32_t j = 0; j < p->n; j++)
		for (int64_t e = p->start[j]; e < p->start[j + 1]; e++)
			for (int64_t r = 0, i = (int64_t)p->down[e] * LANES, c = (int64_t)j * LANES; r < LANES; r++) {
				y[i + r] -= p->entry[e] * x[c + r];
				y[c + r] -= p->entry[e] * x[i + r];
			}
	for (int32_t s = 0; s < p->count; s++) {
		struct pe_front now = front(f, s);
		kernels->front_multiply(&now, x, y);
	}
}

static void draw_signs(pe_context *ctx, uint64_t stream, int64_t count, double *x)
{
	uint32_t word[4] = {0};
	for (int64_t i = 0; i < count; i++) {
		if (i % 128 == 0)
			pe_rng_block(ctx->seed, stream, (uint64_t)i / 128, word);
		x[i] = word[i % 128 / 32] >> i % 32 & 1 ? 1 : -1;
	}
}

/* E‖E z‖² = ‖E‖_F² for z of random signs; the largest of LANES. */
pe_status pe_sparse_factor_error(
	pe_context *ctx, const struct pe_sparse_factor *f, uint64_t stream, double *error)
{
	int32_t n = f->supernodes.n;
	double *x = pe_alloc(ctx, n, 2 * LANES * sizeof *x);
	if (!x)
		return PE_ERR_NOMEM;
	double *y = x + (int64_t)n * LANES;
	draw_signs(ctx, stream, (int64_t)n * LANES, x);
	multiply_error(ctx->kernels, f, x, y);
	*error = 0;
	for (int32_t r = 0; r < LANES; r++) {
		double sum = 0;
		for (int64_t i = 0; i < n; i++)
			sum += y[i * LANES + r] * y[i * LANES + r];
		/* In this order, so that a NaN stays. */
		*error = sqrt(sum) <= *error ? *error : sqrt(sum);
	}
	pe_free(ctx, x);
	return PE_OK;
}
