/* SPDX-License-Identifier: BSD-2-Clause */
#include "lap_twins.h"

#include <math.h>

#define FEW 64 /* twins that an eigensolver takes in its stride */

static pe_status make_null(
	pe_context *ctx, const struct pe_eigen_problem *p, const struct pe_twins *t, double **out)
{
	*out = pe_alloc(ctx, t->classes, sizeof **out);
	if (!*out)
		return PE_ERR_NOMEM;
	for (int32_t c = 0; c < t->classes; c++)
		(*out)[c] = p->null[t->member[t->start[c]]] * sqrt(pe_twins_size(t, c));
	return PE_OK;
}

pe_status pe_lap_quotient_create(
	pe_context *ctx, const struct pe_eigen_problem *p, struct pe_lap_quotient *out, bool *fits)
{
	struct pe_twin_matrix m = {.n = p->n, .row = p->row, .col = p->col, .val = p->val, .diag = p->diag};
	*out = (struct pe_lap_quotient){0};
	PE_TRY(pe_twins_find(ctx, &m, &out->twins));
	*fits = p->n - out->twins.classes > FEW;
	pe_status status = PE_OK;
	if (*fits)
		status = pe_twin_quotient_create(ctx, &m, &out->twins, &out->matrix);
	if (*fits && status == PE_OK)
		status = make_null(ctx, p, &out->twins, &out->null);
	if (!*fits || status != PE_OK) {
		pe_lap_quotient_free(ctx, out);
		return status;
	}
	/* The norm stays: what is small is small against the whole. */
	out->problem = *p;
	out->problem.n = out->matrix.n;
	out->problem.row = out->matrix.row;
	out->problem.col = out->matrix.col;
	out->problem.val = out->matrix.val;
	out->problem.diag = out->matrix.diag;
	out->problem.null = out->null;
	return PE_OK;
}

pe_status pe_lap_quotient_expand(
	pe_context *ctx, const struct pe_lap_quotient *quotient, int32_t n, struct pe_eigen_result *result)
{
	const struct pe_twins *t = &quotient->twins;
	double *scale = pe_alloc(ctx, t->classes, sizeof *scale);
	double *vectors = pe_alloc(ctx, result->count, (size_t)n * sizeof *vectors);
	if (!scale || !vectors) {
		pe_free(ctx, scale);
		pe_free(ctx, vectors);
		return PE_ERR_NOMEM;
	}
	for (int32_t c = 0; c < t->classes; c++)
		scale[c] = 1 / sqrt(pe_twins_size(t, c));
	for (int32_t j = 0; j < result->count; j++) {
		const double *from = result->vectors + (int64_t)j * t->classes;
		double *to = vectors + (int64_t)j * n;
		for (int32_t i = 0; i < n; i++)
			to[i] = from[t->of[i]] * scale[t->of[i]];
	}
	pe_free(ctx, scale);
	pe_free(ctx, result->vectors);
	result->vectors = vectors;
	return PE_OK;
}

void pe_lap_quotient_free(pe_context *ctx, struct pe_lap_quotient *quotient)
{
	pe_twins_free(ctx, &quotient->twins);
	pe_twin_quotient_free(ctx, &quotient->matrix);
	pe_free(ctx, quotient->null);
	*quotient = (struct pe_lap_quotient){0};
}
