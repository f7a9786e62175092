/* SPDX-License-Identifier: BSD-2-Clause
 * The random walk of a directed graph, P = D⁻¹A with D the out-weights: (P^(a+b))_ii = ⟨(Pᵀ)^a e_i,
 * P^b e_i⟩, so that walks from i and walks to i, half the steps each, meet. Both run on the pattern of
 * A + Aᵀ, whose balls hold them both. */
#include <math.h>

#include "walk.h"

/* Out-edges by target: the sources of the edges into j are from[at[j]] … , ascending, and the edge
 * itself is number edge[…]. */
struct reversed {
	int64_t *at;
	int32_t *from;
	int64_t *edge;
};

static pe_status reverse(pe_context *ctx, const struct pe_walk *g, struct reversed *out)
{
	int64_t entries = pe_walk_begin(g, g->n);
	out->at = pe_alloc_zero(ctx, (int64_t)g->n + 2, sizeof *out->at);
	out->from = pe_alloc(ctx, entries, sizeof *out->from);
	out->edge = pe_alloc(ctx, entries, sizeof *out->edge);
	if (!out->at || !out->from || !out->edge)
		return PE_ERR_NOMEM;
	for (int64_t e = 0; e < entries; e++)
		out->at[g->col[e] + 2]++;
	for (int32_t j = 0; j < g->n; j++)
		out->at[j + 2] += out->at[j + 1];
	for (int32_t i = 0; i < g->n; i++)
		for (int64_t e = pe_walk_begin(g, i); e < pe_walk_begin(g, i + 1); e++) {
			int64_t place = out->at[g->col[e] + 1]++;
			out->from[place] = i;
			out->edge[place] = e;
		}
	return PE_OK;
}

/* step[e]: the probability of edge e, and the ends; sums in units of the largest weight of a row. */
static void find_steps(
	const struct pe_walk *g, const double *weight, const struct reversed *in, double *step, uint8_t *end)
{
	for (int32_t i = 0; i < g->n; i++) {
		int64_t first = pe_walk_begin(g, i), last = pe_walk_begin(g, i + 1);
		double most = 0, sum = 0, entering = 0;
		for (int64_t e = first; e < last; e++)
			most = fmax(most, weight ? weight[e] : 1);
		for (int64_t e = first; e < last; e++)
			sum += step[e] = most > 0 ? (weight ? weight[e] : 1) / most : 0;
		for (int64_t e = first; e < last; e++)
			step[e] = sum > 0 ? step[e] / sum : 0;
		for (int64_t k = in->at[i]; k < in->at[i + 1]; k++)
			entering = fmax(entering, weight ? weight[in->edge[k]] : 1);
		end[i] = (uint8_t)(sum > 0 ? PE_WALK_GOES_ON : entering > 0 ? PE_WALK_DANGLING : PE_WALK_ISOLATED);
	}
}

/* The rows of A + Aᵀ: a merge of out-edges and in-edges of each node. */
struct pattern {
	int64_t *row;
	int32_t *col;
	double *value, *back;
};

static void merge(const struct pe_walk *g, const struct reversed *in, const double *step, struct pattern *p)
{
	int64_t count = 0;
	for (int32_t i = 0; i < g->n; i++) {
		p->row[i] = count;
		int64_t e = pe_walk_begin(g, i), last = pe_walk_begin(g, i + 1);
		int64_t k = in->at[i], stop = in->at[i + 1];
		while (e < last || k < stop) {
			int32_t to = e < last ? g->col[e] : INT32_MAX, from = k < stop ? in->from[k] : INT32_MAX;
			p->col[count] = to < from ? to : from;
			p->value[count] = to <= from ? step[e++] : 0;
			p->back[count] = from <= to ? step[in->edge[k++]] : 0;
			count++;
		}
	}
	p->row[g->n] = count;
}

pe_status pe_walk_create_directed(pe_context *ctx, const struct pe_csr *graph, struct pe_walk *out)
{
	struct pe_walk g = {
		.n = graph->n, .base = graph->row[0], .row = graph->row, .col = graph->col + graph->row[0]};
	int64_t entries = pe_walk_begin(&g, g.n);
	struct reversed in = {0};
	struct pattern p;
	*out = (struct pe_walk){.n = g.n};
	p.row = out->owned[0] = pe_alloc(ctx, (int64_t)g.n + 1, sizeof *p.row);
	p.col = out->owned[1] = pe_alloc(ctx, 2 * entries, sizeof *p.col);
	p.value = out->owned[2] = pe_alloc(ctx, 2 * entries, sizeof *p.value);
	p.back = out->owned[3] = pe_alloc(ctx, 2 * entries, sizeof *p.back);
	uint8_t *end = out->owned[4] = pe_alloc(ctx, g.n, sizeof *end);
	double *step = pe_alloc(ctx, entries, sizeof *step);
	pe_status status = PE_ERR_NOMEM;
	if (!p.row || !p.col || !p.value || !p.back || !end || !step)
		goto done;
	status = reverse(ctx, &g, &in);
	if (status != PE_OK)
		goto done;
	find_steps(&g, graph->weight ? graph->weight + graph->row[0] : NULL, &in, step, end);
	merge(&g, &in, step, &p);
	out->row = p.row;
	out->col = p.col;
	out->value = p.value;
	out->back = p.back;
	out->end = end;
done:
	pe_free(ctx, step);
	pe_free(ctx, in.at);
	pe_free(ctx, in.from);
	pe_free(ctx, in.edge);
	if (status != PE_OK)
		pe_walk_free(ctx, out);
	return status;
}

/* ---- dangling=teleport -------------------------------------------------------------- */

/* to[i * steps + 1] … from to[i * steps]: a column times the matrix, steps - 1 times. */
static void propagate(const struct pe_walk *w, const double *matrix, int64_t steps, double *to)
{
	for (int64_t s = 1; s < steps; s++)
		for (int32_t i = 0; i < w->n; i++) {
			double sum = 0;
			for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++)
				sum += matrix[e] * to[w->col[e] * steps + s - 1];
			to[i * steps + s] = sum;
		}
}

/* renewal[r], r < steps: R(0) = 1, R(r) = Σ_{m < r} κ(m) R(r-1-m). */
static void find_renewal(const struct pe_walk_teleport *t, int32_t n, double *kappa, double *renewal)
{
	for (int64_t m = 0; m < t->steps; m++) {
		kappa[m] = 0;
		for (int32_t i = 0; i < n; i++)
			kappa[m] += t->alpha[i * t->steps + m];
		kappa[m] /= n;
	}
	renewal[0] = 1;
	for (int64_t r = 1; r < t->steps; r++) {
		renewal[r] = 0;
		for (int64_t m = 0; m < r; m++)
			renewal[r] += kappa[m] * renewal[r - 1 - m];
	}
}

/* a ← the first terms of a(z) b(z). */
static void multiply_series(double *a, const double *b, int64_t terms)
{
	for (int64_t k = terms - 1; k >= 0; k--) {
		double sum = 0;
		for (int64_t m = 0; m <= k; m++)
			sum += a[m] * b[k - m];
		a[k] = sum;
	}
}

pe_status pe_walk_teleport_create(
	pe_context *ctx, const struct pe_walk *w, int64_t steps, struct pe_walk_teleport *out)
{
	*out = (struct pe_walk_teleport){.steps = steps};
	int64_t cells, dangling = 0;
	for (int32_t i = 0; i < w->n; i++)
		dangling += pe_walk_end(w, i) == PE_WALK_DANGLING;
	if (dangling == 0)
		return PE_OK;
	if (!pe_mul(w->n, steps, &cells))
		return pe_fail(ctx, PE_ERR_NOMEM, "too many steps");
	out->alpha = pe_alloc(ctx, cells, sizeof *out->alpha);
	out->beta = pe_alloc(ctx, cells, sizeof *out->beta);
	double *series = pe_alloc(ctx, 2 * steps, sizeof *series);
	if (!out->alpha || !out->beta || !series) {
		pe_free(ctx, series);
		pe_walk_teleport_free(ctx, out);
		return PE_ERR_NOMEM;
	}
	for (int32_t i = 0; i < w->n; i++) {
		out->alpha[i * steps] = pe_walk_end(w, i) == PE_WALK_DANGLING;
		out->beta[i * steps] = 1.0 / w->n;
	}
	propagate(w, w->value, steps, out->alpha);
	propagate(w, w->back, steps, out->beta);
	find_renewal(out, w->n, series, series + steps);
	for (int32_t i = 0; i < w->n; i++)
		multiply_series(out->beta + i * steps, series + steps, steps);
	pe_free(ctx, series);
	return PE_OK;
}

void pe_walk_teleport_free(pe_context *ctx, struct pe_walk_teleport *teleport)
{
	pe_free(ctx, teleport->alpha);
	pe_free(ctx, teleport->beta);
	*teleport = (struct pe_walk_teleport){0};
}

void pe_walk_teleport_add(const struct pe_walk_teleport *t, int32_t i, double *row)
{
	if (!t->alpha)
		return;
	const double *alpha = t->alpha + i * t->steps, *beta = t->beta + i * t->steps;
	for (int64_t k = 0; k < t->steps; k++)
		for (int64_t s = 0; s <= k; s++)
			row[k] += alpha[s] * beta[k - s];
}
