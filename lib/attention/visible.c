/* SPDX-License-Identifier: BSD-2-Clause
 * Which keys a query sees. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "plan.h"

static int64_t key_count(const struct pe_plan *p, int64_t batch)
{
	return p->key_lengths ? p->key_lengths[batch] : p->keys;
}

static const char *mask_row(const struct pe_plan *p, const struct pe_cells *c)
{
	const char *row = pe_tensor_at(&p->mask, c->batch, c->head, c->query);
	return row + c->key * p->mask.strides[3] * (int64_t)pe_dtype_size(p->mask.dtype);
}

/* A mask's value at cell n of a row. */
static double mask_at(const struct pe_plan *p, const char *row, int64_t n)
{
	double value;
	pe_load_f64(
		&value, row + n * p->mask.strides[3] * (int64_t)pe_dtype_size(p->mask.dtype), p->mask.dtype, 1, 1);
	return value;
}

/* seen[c] ← whether position, causality and window let the query see a key. */
static void see_by_position(const struct pe_plan *p, const struct pe_cells *cells, unsigned char *seen)
{
	double query = pe_domain_position(p->query_domain, cells->batch, cells->query);
	double upper = p->causal ? query : INFINITY, lower = -INFINITY;
	if (p->windowed && p->right >= 0)
		upper = fmin(upper, query + p->right);
	if (p->windowed && p->left >= 0)
		lower = query - p->left;
	for (int64_t c = 0; c < cells->count; c++) {
		double key = pe_domain_position(p->key_domain, cells->batch, cells->key + c);
		seen[c] = (unsigned char)(key <= upper && key >= lower);
	}
}

/* seen[c] ← 0 where the mask hides. A piece of a row at a time is converted at once. */
static void hide_masked(const struct pe_plan *p, const struct pe_cells *cells, unsigned char *seen)
{
	double values[128];
	bool added = pe_dtype_is_float(p->mask.dtype);
	const char *row = mask_row(p, cells);
	int64_t step = p->mask.strides[3] * (int64_t)pe_dtype_size(p->mask.dtype);
	for (int64_t first = 0; first < cells->count; first += PE_COUNT(values)) {
		int64_t n = pe_min(PE_COUNT(values), cells->count - first);
		pe_load_f64(values, row + first * step, p->mask.dtype, p->mask.strides[3], n);
		for (int64_t c = 0; c < n; c++)
			if (added ? values[c] < -DBL_MAX : !(values[c] > 0))
				seen[first + c] = 0;
	}
}

int64_t pe_plan_visible(const struct pe_plan *p, const struct pe_cells *cells, unsigned char *seen)
{
	int64_t count = 0, keys = key_count(p, cells->batch);
	if (p->causal || p->windowed)
		see_by_position(p, cells, seen);
	else
		memset(seen, 1, (size_t)cells->count);
	for (int64_t c = pe_max(0, keys - cells->key); c < cells->count; c++)
		seen[c] = 0;
	if (p->mask.data)
		hide_masked(p, cells, seen);
	for (int64_t c = 0; c < cells->count; c++)
		count += seen[c];
	return count;
}

void pe_plan_add_mask(const struct pe_plan *p, const struct pe_cells *cells, double *out)
{
	if (!p->mask.data || !pe_dtype_is_float(p->mask.dtype))
		return;
	const char *row = mask_row(p, cells);
	for (int64_t c = 0; c < cells->count; c++)
		out[c] += mask_at(p, row, c);
}

/* Narrowed by positions where these are numbers one apart; else by lengths alone. */
void pe_plan_key_range(const struct pe_plan *p, int64_t batch, int64_t first_query, int64_t end_query,
	int64_t *first, int64_t *end)
{
	*first = 0;
	*end = key_count(p, batch);
	if (!pe_domain_is_regular(p->query_domain, p->key_domain) || end_query <= first_query)
		return;
	/* Key j stands at j + start of the keys' own numbers. */
	double start = p->query_domain->offset - p->key_domain->offset +
		(double)(p->query_domain->first - p->key_domain->first);
	double low = start + (double)first_query, high = start + (double)(end_query - 1);
	double upper = p->causal ? high : INFINITY, lower = -INFINITY;
	if (p->windowed && p->right >= 0)
		upper = fmin(upper, high + p->right);
	if (p->windowed && p->left >= 0)
		lower = low - p->left;
	if (lower > 0)
		*first = lower < (double)*end ? (int64_t)ceil(lower) : *end;
	if (upper < (double)(*end - 1))
		*end = upper < 0 ? 0 : (int64_t)floor(upper) + 1;
	*first = pe_min(*first, *end);
}
