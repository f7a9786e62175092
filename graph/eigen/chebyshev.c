/* SPDX-License-Identifier: BSD-2-Clause */
#include "chebyshev.h"

#include <math.h>
#include <string.h>

#include "eigen_parts.h"
#include "kernels/kernels.h"

#define LANES PE_CHEBYSHEV_LANES

void pe_chebyshev_set(struct pe_chebyshev *f, double low, double cut, double upper, int32_t degree)
{
	f->degree = degree;
	f->centre = 0.5 * (cut + upper);
	f->half = 0.5 * (upper - cut);
	f->peak = cosh(degree * acosh(fmax((f->centre - low) / f->half, 1)));
}

int32_t pe_chebyshev_degree(double low, double cut, double upper, double gain)
{
	double at = (0.5 * (cut + upper) - low) / (0.5 * (upper - cut));
	double degree = acosh(gain) / acosh(fmax(at, 1 + 1e-12));
	return (int32_t)fmin(fmax(ceil(degree), 1), 1000);
}

bool pe_chebyshev_invert(const struct pe_chebyshev *f, double theta, double *value, double *slope)
{
	double at = theta * f->peak;
	if (f->degree == 1) {
		*value = f->centre - f->half * at;
		*slope = 1 / (f->half * f->peak);
		return true;
	}
	if (!(at > 1))
		return false;
	double angle = acosh(at) / f->degree;
	*value = f->centre - f->half * cosh(angle);
	*slope = f->degree * sinh(f->degree * angle) / sinh(angle) / (f->half * f->peak);
	return true;
}

/* T₀ = x, T₁ = l x, T_{j+1} = 2 l T_j - T_{j-1}, with l = (centre - M) / half. Gives the last. */
static double *recurrence(
	const struct pe_chebyshev *f, const struct pe_kernels *kernels, double *now, double *before)
{
	const struct pe_eigen_problem *p = f->problem;
	struct pe_product_matrix m = {.n = p->n, .row = p->row, .col = p->col, .val = p->val, .diag = p->diag};
	memset(before, 0, (size_t)p->n * LANES * sizeof *before);
	kernels->sparse_product(&m, f->centre, 1 / f->half, now, before);
	for (int32_t j = 1; j < f->degree; j++) {
		double *next = now;
		now = before;
		before = next;
		kernels->sparse_product(&m, f->centre, 2 / f->half, now, before);
	}
	return before;
}

pe_status pe_chebyshev_apply(pe_context *ctx, void *arg, int32_t count, double *x)
{
	struct pe_chebyshev *f = arg;
	int32_t n = f->problem->n;
	for (int32_t first = 0; first < count; first += LANES) {
		int32_t used = (int32_t)pe_min(LANES, count - first);
		double *block = x + (int64_t)first * n;
		pe_eigen_interleave(n, used, block, f->scratch);
		const double *last = recurrence(f, ctx->kernels, f->scratch, f->scratch + (int64_t)n * LANES);
		pe_eigen_separate(n, used, 1 / f->peak, last, block);
		f->products += (int64_t)used * f->degree;
	}
	return PE_OK;
}
