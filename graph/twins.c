/* SPDX-License-Identifier: BSD-2-Clause
 * Twins have equal rows, to the bit: rows are hashed, and compared where hashes are equal. */
#include "twins.h"

#include <math.h>
#include <string.h>

static int64_t row_begin(const struct pe_twin_matrix *m, int32_t i)
{
	return m->row[i] - m->row[0];
}

static int64_t row_length(const struct pe_twin_matrix *m, int32_t i)
{
	return m->row[i + 1] - m->row[i];
}

/* ---- classes ------------------------------------------------------------------------ */

static uint64_t mix(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15u;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

static uint64_t bits_of(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

/* false: the node has no twins. */
static bool hash_row(const struct pe_twin_matrix *m, int32_t i, uint64_t *hash)
{
	int64_t begin = row_begin(m, i), end = row_begin(m, i + 1);
	uint64_t sum = m->diag ? mix(bits_of(m->diag[i])) : 0;
	bool loop = false;
	for (int64_t e = begin; e < end; e++) {
		uint64_t entry = mix((uint64_t)m->col[e] + 1);
		sum += m->val ? mix(entry ^ bits_of(m->val[e])) : entry;
		loop |= m->col[e] == i;
	}
	*hash = mix(sum);
	return end > begin && !loop;
}

static bool same_row(const struct pe_twin_matrix *m, int32_t i, int32_t j)
{
	int64_t length = row_length(m, i), a = row_begin(m, i), b = row_begin(m, j);
	size_t count = (size_t)length;
	return length == row_length(m, j) && memcmp(m->col + a, m->col + b, count * sizeof *m->col) == 0 &&
		(!m->val || memcmp(m->val + a, m->val + b, count * sizeof *m->val) == 0) &&
		(!m->diag || memcmp(m->diag + i, m->diag + j, sizeof *m->diag) == 0);
}

/* The first node with the row of i, which may be i. Slots hold nodes + 1. */
static int32_t find_first(
	const struct pe_twin_matrix *m, int32_t i, uint64_t *hash, int32_t *slots, uint64_t mask)
{
	if (!hash_row(m, i, &hash[i]))
		return i;
	uint64_t at = hash[i] & mask;
	for (; slots[at] > 0; at = (at + 1) & mask) {
		int32_t j = slots[at] - 1;
		if (hash[j] == hash[i] && same_row(m, i, j))
			return j;
	}
	slots[at] = i + 1;
	return i;
}

/* Members of all classes, by counting. */
static void list_members(struct pe_twins *t, int32_t n)
{
	memset(t->start, 0, ((size_t)t->classes + 1) * sizeof *t->start);
	for (int32_t i = 0; i < n; i++)
		t->start[t->of[i] + 1]++;
	for (int32_t c = 0; c < t->classes; c++)
		t->start[c + 1] += t->start[c];
	for (int32_t i = 0; i < n; i++)
		t->member[t->start[t->of[i]]++] = i;
	for (int32_t c = t->classes; c > 0; c--)
		t->start[c] = t->start[c - 1];
	t->start[0] = 0;
}

pe_status pe_twins_find(pe_context *ctx, const struct pe_twin_matrix *m, struct pe_twins *out)
{
	int64_t n = m->n, size = 16;
	while (size < 2 * n)
		size *= 2;
	*out = (struct pe_twins){0};
	pe_status status = PE_ERR_NOMEM;
	uint64_t *hash = pe_alloc(ctx, n, sizeof *hash);
	int32_t *slots = pe_alloc_zero(ctx, size, sizeof *slots);
	out->of = pe_alloc(ctx, n, sizeof *out->of);
	out->start = pe_alloc(ctx, n + 1, sizeof *out->start);
	out->member = pe_alloc(ctx, n, sizeof *out->member);
	if (!hash || !slots || !out->of || !out->start || !out->member)
		goto done;
	for (int32_t i = 0; i < n; i++) {
		int32_t first = find_first(m, i, hash, slots, (uint64_t)size - 1);
		out->of[i] = first < i ? out->of[first] : out->classes++;
	}
	list_members(out, m->n);
	status = PE_OK;
done:
	pe_free(ctx, hash);
	pe_free(ctx, slots);
	if (status != PE_OK)
		pe_twins_free(ctx, out);
	return status;
}

void pe_twins_free(pe_context *ctx, struct pe_twins *twins)
{
	pe_free(ctx, twins->of);
	pe_free(ctx, twins->start);
	pe_free(ctx, twins->member);
	*twins = (struct pe_twins){0};
}

/* ---- the quotient ------------------------------------------------------------------- */

/* The row of the first member, entries of first members alone. Returns where it ends. */
static int64_t fill_row(const struct pe_twin_matrix *m, const struct pe_twins *t, int32_t c, int64_t at,
	const struct pe_twin_quotient *out)
{
	int32_t i = t->member[t->start[c]];
	double size = pe_twins_size(t, c);
	for (int64_t e = row_begin(m, i); e < row_begin(m, i + 1); e++) {
		int32_t j = m->col[e], other = t->of[j];
		if (t->member[t->start[other]] != j)
			continue;
		out->col[at] = other;
		out->val[at++] = (m->val ? m->val[e] : 1) * sqrt(size * pe_twins_size(t, other));
	}
	return at;
}

static int64_t count_entries(const struct pe_twin_matrix *m, const struct pe_twins *t)
{
	int64_t entries = 0;
	for (int32_t c = 0; c < t->classes; c++)
		entries += row_length(m, t->member[t->start[c]]);
	return entries;
}

pe_status pe_twin_quotient_create(
	pe_context *ctx, const struct pe_twin_matrix *m, const struct pe_twins *t, struct pe_twin_quotient *out)
{
	int64_t n = t->classes, entries = count_entries(m, t);
	*out = (struct pe_twin_quotient){.n = t->classes};
	out->row = pe_alloc(ctx, n + 1, sizeof *out->row);
	out->col = pe_alloc(ctx, entries, sizeof *out->col);
	out->val = pe_alloc(ctx, entries, sizeof *out->val);
	out->diag = m->diag ? pe_alloc(ctx, n, sizeof *out->diag) : NULL;
	if (!out->row || !out->col || !out->val || (m->diag && !out->diag)) {
		pe_twin_quotient_free(ctx, out);
		return PE_ERR_NOMEM;
	}
	out->row[0] = 0;
	for (int32_t c = 0; c < t->classes; c++) {
		out->row[c + 1] = fill_row(m, t, c, out->row[c], out);
		if (m->diag)
			out->diag[c] = m->diag[t->member[t->start[c]]];
	}
	return PE_OK;
}

void pe_twin_quotient_free(pe_context *ctx, struct pe_twin_quotient *quotient)
{
	pe_free(ctx, quotient->row);
	pe_free(ctx, quotient->col);
	pe_free(ctx, quotient->val);
	pe_free(ctx, quotient->diag);
	*quotient = (struct pe_twin_quotient){0};
}
