/* SPDX-License-Identifier: BSD-2-Clause
 * The random walk of an undirected graph as S = D^-½ A D^-½, which has the diagonals of P = D⁻¹A and
 * of all its powers: S^k = D^½ P^k D^-½. All entries of S are in [0, 1] whatever the weights are, and
 * nothing is ever subtracted, so results are right to a few units in the last place. */
#include "walk.h"

#include <math.h>
#include <string.h>

/* D^-½, 0 where there is no weight, and the ends. Sums are taken of weights times scale. */
static void find_degrees(
	const struct pe_walk *w, const double *weight, double scale, double *root, uint8_t *end)
{
	for (int32_t i = 0; i < w->n; i++) {
		double degree = 0;
		for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++)
			degree += weight[e] * scale;
		root[i] = degree > 0 ? 1 / sqrt(degree) : 0;
		end[i] = (uint8_t)(degree > 0 ? PE_WALK_GOES_ON : PE_WALK_ISOLATED);
	}
}

/* A power of two that keeps sums of weights finite and away from the least numbers. */
static double safe_scale(const double *weight, int64_t count)
{
	double most = 0;
	for (int64_t e = 0; e < count; e++)
		most = weight[e] > most ? weight[e] : most;
	return most > 0x1p500 ? 0x1p-500 : most < 0x1p-500 ? 0x1p500 : 1;
}

static pe_status create_weighted(pe_context *ctx, const double *weight, struct pe_walk *w)
{
	int64_t entries = pe_walk_begin(w, w->n);
	/* In one piece: graphs are many and small. */
	double *value = w->owned[0] = pe_alloc(ctx, entries + 2 * (int64_t)w->n, sizeof *value);
	if (!value)
		return PE_ERR_NOMEM;
	double *root = value + entries;
	uint8_t *end = (uint8_t *)(root + w->n);
	double scale = safe_scale(weight, entries);
	find_degrees(w, weight, scale, root, end);
	for (int32_t i = 0; i < w->n; i++)
		for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++)
			value[e] = weight[e] * scale * root[i] * root[w->col[e]];
	w->value = value;
	w->end = end;
	return PE_OK;
}

pe_status pe_walk_create(pe_context *ctx, const struct pe_csr *graph, bool directed, struct pe_walk *out)
{
	if (directed)
		return pe_walk_create_directed(ctx, graph, out);
	*out = (struct pe_walk){
		.n = graph->n, .base = graph->row[0], .row = graph->row, .col = graph->col + graph->row[0]};
	if (!graph->weight)
		return PE_OK;
	pe_status status = create_weighted(ctx, graph->weight + graph->row[0], out);
	if (status != PE_OK)
		pe_walk_free(ctx, out);
	return status;
}

void pe_walk_free(pe_context *ctx, struct pe_walk *walk)
{
	for (int64_t i = 0; i < PE_COUNT(walk->owned); i++)
		pe_free(ctx, walk->owned[i]);
	memset(walk, 0, sizeof *walk);
}
