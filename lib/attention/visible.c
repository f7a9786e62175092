/* SPDX-License-Identifier: BSD-2-Clause
 * Which keys a query sees. */
#include <math.h>

#include "plan.h"

static int64_t key_count(const struct pe_plan *p, int64_t batch)
{
	return p->key_lengths ? p->key_lengths[batch] : p->keys;
}

static bool in_reach(const struct pe_plan *p, double query, double key)
{
	if (p->causal && key > query)
		return false;
	return !p->windowed ||
		((p->left < 0 || key >= query - p->left) && (p->right < 0 || key <= query + p->right));
}

static const char *mask_row(const struct pe_plan *p, const struct pe_cells *c)
{
	const int64_t *s = p->mask.strides;
	int64_t offset = c->batch * s[0] + c->head * s[1] + c->query * s[2] + c->key * s[3];
	return (const char *)p->mask.data + offset * (int64_t)pe_dtype_size(p->mask.dtype);
}

/* A mask's value at cell n of a row. */
static double mask_at(const struct pe_plan *p, const char *row, int64_t n)
{
	double value;
	pe_load_f64(
		&value, row + n * p->mask.strides[3] * (int64_t)pe_dtype_size(p->mask.dtype), p->mask.dtype, 1, 1);
	return value;
}

int64_t pe_plan_visible(const struct pe_plan *p, const struct pe_cells *cells, unsigned char *seen)
{
	int64_t count = 0, keys = key_count(p, cells->batch);
	double query = pe_domain_position(p->query_domain, cells->batch, cells->query);
	const char *row = p->mask.data ? mask_row(p, cells) : NULL;
	bool added = pe_dtype_is_float(p->mask.dtype);
	for (int64_t c = 0; c < cells->count; c++) {
		int64_t j = cells->key + c;
		bool sees = j < keys && in_reach(p, query, pe_domain_position(p->key_domain, cells->batch, j));
		if (sees && row) {
			double value = mask_at(p, row, c);
			sees = added ? !(isinf(value) && value < 0) : value > 0;
		}
		seen[c] = sees;
		count += sees;
	}
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
	double start = p->query_domain->offset - p->key_domain->offset;
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
