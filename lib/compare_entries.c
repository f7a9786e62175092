/* SPDX-License-Identifier: BSD-2-Clause
 * Arrays entry by entry, whatever their types and strides. */
#include <math.h>
#include <string.h>

#include "compare.h"
#include "tensor.h"

#define CHUNK 512

double pe_distance(double a, double b)
{
	if ((isnan(a) && isnan(b)) || (isinf(a) && isinf(b) && signbit(a) == signbit(b)))
		return 0;
	double distance = fabs(a - b);
	return isfinite(a) && isfinite(b) ? distance : INFINITY;
}

/* Beyond 2^53 doubles would hide the difference of two integers. */
static double distance_i64(int64_t a, int64_t b)
{
	return (double)(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a);
}

struct piece {
	const char *a, *b;
	int64_t n;
	int64_t where[PE_MAX_DIMS]; /* of the first element */
	int32_t last;               /* the dimension that the piece runs along */
};

static void note(struct pe_difference *d, const struct piece *p, int64_t i, double distance)
{
	if (!(distance > d->value))
		return;
	d->value = distance;
	memcpy(d->where, p->where, sizeof d->where);
	if (p->last >= 0)
		d->where[p->last] += i;
}

double pe_larger_magnitude(double largest, double x)
{
	return isfinite(x) && fabs(x) > largest ? fabs(x) : largest;
}

static void compare_piece(
	const struct piece *p, const pe_tensor *a, const pe_tensor *b, struct pe_difference *d)
{
	int64_t step_a = p->last >= 0 ? a->strides[p->last] : 1, step_b = p->last >= 0 ? b->strides[p->last] : 1;
	double x[CHUNK], y[CHUNK];
	int64_t ix[CHUNK], iy[CHUNK];
	bool integers = pe_dtype_is_integer(a->dtype) && pe_dtype_is_integer(b->dtype);
	pe_load_f64(x, p->a, a->dtype, step_a, p->n);
	pe_load_f64(y, p->b, b->dtype, step_b, p->n);
	if (integers) {
		pe_load_i64(ix, p->a, a->dtype, step_a, p->n);
		pe_load_i64(iy, p->b, b->dtype, step_b, p->n);
	}
	for (int64_t i = 0; i < p->n; i++) {
		d->largest = pe_larger_magnitude(pe_larger_magnitude(d->largest, x[i]), y[i]);
		note(d, p, i, integers ? distance_i64(ix[i], iy[i]) : pe_distance(x[i], y[i]));
	}
}

static const char *element(const pe_tensor *t, const int64_t where[PE_MAX_DIMS])
{
	int64_t offset = 0;
	for (int32_t d = 0; d < t->ndim; d++)
		offset += where[d] * t->strides[d];
	return (const char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype);
}

/* Steps to the next piece in row-major order; false after the last. */
static bool next_piece(struct piece *p, const pe_tensor *t)
{
	if (p->last < 0)
		return false;
	p->where[p->last] += p->n;
	for (int32_t d = p->last; d >= 0; d--) {
		if (p->where[d] < t->shape[d])
			return true;
		p->where[d] = 0;
		if (d > 0)
			p->where[d - 1]++;
	}
	return false;
}

void pe_compare_entries(const pe_tensor *a, const pe_tensor *b, struct pe_difference *d)
{
	struct piece p = {.last = a->ndim - 1};
	if (pe_tensor_count(a) == 0)
		return;
	do {
		p.n = p.last >= 0 ? pe_min(CHUNK, a->shape[p.last] - p.where[p.last]) : 1;
		p.a = element(a, p.where);
		p.b = element(b, p.where);
		compare_piece(&p, a, b, d);
	} while (next_piece(&p, a));
}
