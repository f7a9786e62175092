/* SPDX-License-Identifier: BSD-2-Clause
 * Which keys a query sees. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "plan.h"

#define PIECE 128 /* cells of a mask that are converted at once */

static int64_t key_count(const struct pe_plan *p, int64_t batch)
{
	return p->key_lengths ? p->key_lengths[batch] : p->keys;
}

static const char *mask_row(const struct pe_plan *p, const struct pe_cells *c)
{
	const char *row = pe_tensor_at(&p->mask, c->batch, c->head, c->query);
	return row + c->key * p->mask.strides[3] * (int64_t)pe_dtype_size(p->mask.dtype);
}

/* By causality and window, a query sees the keys from position low to high, inclusive. */
static void reach_of(const struct pe_plan *p, int64_t batch, int64_t query, double *low, double *high)
{
	double position = pe_domain_position(p->query_domain, batch, query);
	*high = p->causal ? position : INFINITY;
	*low = -INFINITY;
	if (p->windowed && p->right >= 0)
		*high = fmin(*high, position + p->right);
	if (p->windowed && p->left >= 0)
		*low = position - p->left;
}

static void see_by_position(const struct pe_plan *p, const struct pe_cells *cells, unsigned char *seen)
{
	double low, high;
	reach_of(p, cells->batch, cells->query, &low, &high);
	for (int64_t c = 0; c < cells->count; c++) {
		double key = pe_domain_position(p->key_domain, cells->batch, cells->key + c);
		seen[c] = (unsigned char)(key <= high && key >= low);
	}
}

/* seen[c] ← 0 where the mask hides. */
static void hide_masked(const struct pe_plan *p, const struct pe_cells *cells, unsigned char *seen)
{
	double values[PIECE];
	bool added = pe_dtype_is_float(p->mask.dtype);
	const char *row = mask_row(p, cells);
	int64_t step = p->mask.strides[3] * (int64_t)pe_dtype_size(p->mask.dtype);
	for (int64_t first = 0; first < cells->count; first += PIECE) {
		int64_t n = pe_min(PIECE, cells->count - first);
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
	double values[PIECE];
	const char *row = mask_row(p, cells);
	int64_t step = p->mask.strides[3] * (int64_t)pe_dtype_size(p->mask.dtype);
	for (int64_t first = 0; first < cells->count; first += PIECE) {
		int64_t n = pe_min(PIECE, cells->count - first);
		pe_load_f64(values, row + first * step, p->mask.dtype, p->mask.strides[3], n);
		for (int64_t c = 0; c < n; c++)
			out[first + c] += values[c];
	}
}

static bool is_before(const pe_domain *domain, int64_t key, double position, bool at)
{
	double here = pe_domain_position(domain, 0, key);
	return at ? here <= position : here < position;
}

/* How many of `keys` keys, whose positions ascend one by one, stand before `position` or, if `at`, on it too.
 * The difference of positions may be a rounding off: what counts is how they compare. */
static int64_t keys_before(const struct pe_plan *p, double position, bool at, int64_t keys)
{
	const pe_domain *domain = p->key_domain;
	double guess = position - pe_domain_position(domain, 0, 0);
	int64_t n = guess >= (double)keys ? keys : guess > 0 ? (int64_t)guess : 0;
	while (n > 0 && !is_before(domain, n - 1, position, at))
		n--;
	while (n < keys && is_before(domain, n, position, at))
		n++;
	return n;
}

bool pe_plan_sees_range(const struct pe_plan *p)
{
	return (!p->causal && !p->windowed) || pe_domain_is_regular(p->query_domain, p->key_domain);
}

/* Narrowed by positions where these are numbers one apart; else by lengths alone. */
void pe_plan_key_range(const struct pe_plan *p, int64_t batch, int64_t first_query, int64_t end_query,
	int64_t *first, int64_t *end)
{
	double low, high, unused;
	int64_t keys = key_count(p, batch);
	*first = 0;
	*end = keys;
	if ((!p->causal && !p->windowed) || !pe_plan_sees_range(p) || end_query <= first_query)
		return;
	reach_of(p, batch, first_query, &low, &unused);
	reach_of(p, batch, end_query - 1, &unused, &high);
	if (low > -INFINITY)
		*first = keys_before(p, low, false, keys);
	if (high < INFINITY)
		*end = keys_before(p, high, true, keys);
	*first = pe_min(*first, *end);
}
