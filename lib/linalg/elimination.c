/* SPDX-License-Identifier: BSD-2-Clause */
#include "elimination.h"

#include <string.h>
#include <suitesparse/cholmod.h>

static pe_status fail(pe_context *ctx, const cholmod_common *common, const char *what)
{
	switch (common->status) {
	case CHOLMOD_OUT_OF_MEMORY:
		return pe_fail(ctx, PE_ERR_NOMEM, "out of memory while %s a sparse matrix", what);
	case CHOLMOD_TOO_LARGE:
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"%s a sparse matrix needs more numbers than 32 bits can count; use engine=block", what);
	default:
		return pe_fail(
			ctx, PE_ERR_INTERNAL, "CHOLMOD status %d while %s a sparse matrix", common->status, what);
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
}

/* The upper triangle by columns is the lower triangle by rows. */
static void copy_pattern(const struct pe_sparse_matrix *m, cholmod_sparse *out)
{
	int32_t *start = out->p, *row = out->i;
	int32_t used = 0;
	for (int32_t j = 0; j < m->n; j++) {
		start[j] = used;
		for (int64_t e = m->row[j]; e < m->row[j + 1] && m->col[e] < j; e++)
			row[used++] = m->col[e];
		row[used++] = j;
	}
	start[m->n] = used;
}

static pe_status analyse(
	pe_context *ctx, const struct pe_sparse_matrix *m, int64_t entries, struct pe_elimination *out)
{
	cholmod_common common;
	cholmod_factor *l = NULL;
	configure(&common);
	pe_status status = PE_OK;
	size_t n = (size_t)m->n;
	cholmod_sparse *pattern =
		cholmod_allocate_sparse(n, n, (size_t)entries, 1, 1, 1, CHOLMOD_PATTERN, &common);
	if (pattern) {
		copy_pattern(m, pattern);
		l = cholmod_analyze(pattern, &common);
	}
	if (l) {
		memcpy(out->order, l->Perm, n * sizeof *out->order);
		memcpy(out->count, l->ColCount, n * sizeof *out->count);
		out->fill = common.lnz;
		out->flops = common.fl;
	} else {
		status = fail(ctx, &common, pattern ? "analysing" : "copying");
	}
	cholmod_free_factor(&l, &common);
	cholmod_free_sparse(&pattern, &common);
	cholmod_finish(&common);
	return status;
}

/* Liu, "The role of elimination trees in sparse factorization", SIMAX 11 (1990). `ancestor` is scratch: ways
 * up the tree, shortened as they are gone. */
static void grow_tree(const struct pe_sparse_matrix *m, struct pe_elimination *out, int32_t *ancestor)
{
	for (int32_t i = 0; i < m->n; i++) {
		out->place[out->order[i]] = i;
		out->parent[i] = ancestor[i] = -1;
	}
	for (int32_t k = 0; k < m->n; k++)
		for (int64_t e = m->row[out->order[k]]; e < m->row[out->order[k] + 1]; e++) {
			int32_t i = out->place[m->col[e]];
			while (i < k) {
				int32_t next = ancestor[i];
				ancestor[i] = k;
				if (next < 0)
					out->parent[i] = k;
				i = next < 0 ? k : next;
			}
		}
}

pe_status pe_elimination_create(pe_context *ctx, const struct pe_sparse_matrix *m, struct pe_elimination *out)
{
	*out = (struct pe_elimination){.n = m->n};
	int64_t entries = (m->row[m->n] - m->row[0]) / 2 + m->n;
	if (entries > INT32_MAX)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"a matrix of %lld entries is too large to be factored; use engine=block", (long long)entries);
	out->order = pe_alloc(ctx, m->n, 4 * sizeof *out->order);
	int32_t *ancestor = pe_alloc(ctx, m->n, sizeof *ancestor);
	pe_status status = PE_ERR_NOMEM;
	if (!out->order || !ancestor)
		goto done;
	out->place = out->order + m->n;
	out->parent = out->place + m->n;
	out->count = out->parent + m->n;
	status = analyse(ctx, m, entries, out);
	if (status == PE_OK)
		grow_tree(m, out, ancestor);
done:
	pe_free(ctx, ancestor);
	if (status != PE_OK)
		pe_elimination_free(ctx, out);
	return status;
}

void pe_elimination_free(pe_context *ctx, struct pe_elimination *e)
{
	pe_free(ctx, e->order);
	*e = (struct pe_elimination){0};
}
