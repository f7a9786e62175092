/* SPDX-License-Identifier: BSD-2-Clause
 * Classes of twins as single nodes of a walk. P maps what is constant on classes to the like, and kills what
 * sums to 0 on a class; so with m twins of node i in class c, and Q the walk on classes, which goes from one
 * to another with the sum of the probabilities, (P^k)_ii = (Q^k)_cc / m. Kemeny and Snell, "Finite Markov
 * chains", 1960, call this lumping. Two hubs that share a million leaves are a walk on two nodes. */
#include <math.h>

#include "walk.h"

/* A class of m nodes with several neighbours costs m walks, of which each sees all m. Leaves have no walks.
 */
static bool is_worthwhile(const struct pe_walk *w, const struct pe_twins *twins)
{
	double spared = 0, core = 0;
	for (int32_t c = 0; c < twins->classes; c++) {
		double size = pe_twins_size(twins, c);
		if (pe_walk_degree(w, twins->member[twins->start[c]]) < 2)
			continue;
		core += size;
		spared += size * (size - 1);
	}
	return spared > 0 && spared >= core;
}

/* The quotient's entries are √(m m') on a walk of unit weights: S has 1/√(d d') besides. */
static void divide_by_degrees(
	const struct pe_walk *w, const struct pe_twins *twins, struct pe_twin_quotient *quotient)
{
	for (int32_t c = 0; c < quotient->n; c++) {
		double degree = (double)pe_walk_degree(w, twins->member[twins->start[c]]);
		for (int64_t e = quotient->row[c]; e < quotient->row[c + 1]; e++) {
			int32_t other = twins->member[twins->start[quotient->col[e]]];
			quotient->val[e] /= sqrt(degree * (double)pe_walk_degree(w, other));
		}
	}
}

static pe_status replace(
	pe_context *ctx, const struct pe_twin_matrix *matrix, const struct pe_twins *twins, struct pe_walk *walk)
{
	struct pe_twin_quotient quotient;
	PE_TRY(pe_twin_quotient_create(ctx, matrix, twins, &quotient));
	if (!walk->value)
		divide_by_degrees(walk, twins, &quotient);
	pe_walk_free(ctx, walk);
	*walk =
		(struct pe_walk){.n = quotient.n, .row = quotient.row, .col = quotient.col, .value = quotient.val};
	walk->owned[0] = quotient.row;
	walk->owned[1] = quotient.col;
	walk->owned[2] = quotient.val;
	return PE_OK;
}

pe_status pe_walk_merge_twins(pe_context *ctx, struct pe_walk *walk, struct pe_twins *twins)
{
	*twins = (struct pe_twins){0};
	if (walk->back)
		return PE_OK;
	struct pe_twin_matrix matrix = {.n = walk->n, .row = walk->row, .col = walk->col, .val = walk->value};
	PE_TRY(pe_twins_find(ctx, &matrix, twins));
	bool merge = is_worthwhile(walk, twins);
	pe_status status = merge ? replace(ctx, &matrix, twins, walk) : PE_OK;
	if (!merge || status != PE_OK)
		pe_twins_free(ctx, twins);
	return status;
}
