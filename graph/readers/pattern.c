/* SPDX-License-Identifier: BSD-2-Clause */
#include "pattern.h"

#include <string.h>

struct rows {
	int64_t *row; /* n + 1 offsets */
	int32_t *col; /* ascending in each row, repeated where edges are */
	int64_t *next;
};

/* row[i] ← the number of keys below i. */
static void offsets(int32_t n, int64_t count, const int32_t *key, int64_t *row)
{
	memset(row, 0, ((size_t)n + 1) * sizeof *row);
	for (int64_t e = 0; e < count; e++)
		row[key[e] + 1]++;
	for (int32_t i = 0; i < n; i++)
		row[i + 1] += row[i];
}

/* Two stable counting sorts, by target and then by source. by_target is scratch of count values. */
static void sort(
	int32_t n, int64_t count, const int32_t *u, const int32_t *v, int64_t *by_target, struct rows *r)
{
	offsets(n, count, v, r->next);
	for (int64_t e = 0; e < count; e++)
		by_target[r->next[v[e]]++] = e;
	offsets(n, count, u, r->row);
	memcpy(r->next, r->row, (size_t)n * sizeof *r->next);
	for (int64_t i = 0; i < count; i++)
		r->col[r->next[u[by_target[i]]]++] = v[by_target[i]];
}

/* Sources ascend, so each row below the diagonal must be met entry by entry from its start. */
static bool is_symmetric(int32_t n, struct rows *r)
{
	memcpy(r->next, r->row, (size_t)n * sizeof *r->next);
	for (int32_t i = 0; i < n; i++) {
		if (r->next[i] < r->row[i + 1] && r->col[r->next[i]] < i)
			return false;
		for (int64_t e = r->row[i]; e < r->row[i + 1]; e++) {
			int32_t j = r->col[e];
			if (j <= i || (e > r->row[i] && r->col[e - 1] == j))
				continue;
			if (r->next[j] == r->row[j + 1] || r->col[r->next[j]] != i)
				return false;
			while (r->next[j] < r->row[j + 1] && r->col[r->next[j]] == i)
				r->next[j]++;
		}
	}
	return true;
}

pe_status pe_pattern_symmetric(
	pe_context *ctx, int32_t n, int64_t count, const int32_t *u, const int32_t *v, bool *out)
{
	struct rows r = {0};
	pe_status status = PE_ERR_NOMEM;
	int64_t *by_target = pe_alloc(ctx, count, sizeof *by_target);
	r.row = pe_alloc(ctx, (int64_t)n + 1, sizeof *r.row);
	r.next = pe_alloc(ctx, (int64_t)n + 1, sizeof *r.next);
	r.col = pe_alloc(ctx, count, sizeof *r.col);
	if (by_target && r.row && r.next && r.col) {
		sort(n, count, u, v, by_target, &r);
		*out = is_symmetric(n, &r);
		status = PE_OK;
	}
	pe_free(ctx, by_target);
	pe_free(ctx, r.row);
	pe_free(ctx, r.next);
	pe_free(ctx, r.col);
	return status;
}
