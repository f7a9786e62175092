/* SPDX-License-Identifier: BSD-2-Clause
 * What encoders of the sites scores and weights yield: bias (heads, Lq, Lk), with a first dimension of
 * batches where positions differ between them; and, of relative ones on evenly spaced positions,
 * bias_table (heads, Lq + Lk - 1) with entry key - query + Lq - 1. Likewise gain and gain_table of those
 * that multiply scores, and arrays of one integer a pair, (Lq, Lk), of those that have buckets. */
#ifndef PE_SCORES_H
#define PE_SCORES_H

#include <math.h>

#include "encoder.h"

/* scores, gains or weights_after of struct pe_encoder. */
typedef void pe_cells_fn(const pe_encoding *e, const struct pe_cells *cells, double *out);

/* Whether e's scores, gains, weights_after and indices, of a sequence, can be kept in tables of Lq + Lk - 1
 * entries. */
bool pe_is_relative(const pe_encoding *e);
/* Whether e's scores follow from where query and key are to each other on their grids, of one frame each:
 * from the offset alone or, in pairs with a prefix token, from which of both is one. */
bool pe_is_relative_on_grid(const pe_encoding *e);
/* Entries of such a table: 0 without queries or without keys. */
int64_t pe_relative_count(const pe_encoding *e);
/* table[key - query + Lq - 1] of one head, added by fn to what is there. */
void pe_relative_table(const pe_encoding *e, pe_cells_fn *fn, int64_t head, double *table);

/* |query - key| of cell number c on a sequence; if causal, 0 for keys after the query: they are masked. */
static inline double pe_cell_distance(
	const pe_encoding *e, const struct pe_cells *cells, int64_t c, bool causal)
{
	double distance = pe_domain_position(e->queries, cells->batch, cells->query) -
		pe_domain_position(e->domain, cells->batch, cells->key + c);
	return causal ? fmax(distance, 0) : fabs(distance);
}

/* Declares bias and, if it can be, bias_table after it. At the end of bind; e->heads must be set, and 0 is
 * one head. A grid has no bias_table: what depends on two offsets is asked for cell by cell. */
pe_status pe_scores_declare(pe_encoding *e) PE_NODISCARD;
/* Computes them by fn into outs[0] and, if it was declared, outs[1]. */
pe_status pe_scores_compute(pe_encoding *e, pe_cells_fn *fn, const pe_tensor *outs) PE_NODISCARD;

/* Likewise gain and gain_table. */
pe_status pe_gains_declare(pe_encoding *e) PE_NODISCARD;
pe_status pe_gains_compute(pe_encoding *e, pe_cells_fn *fn, const pe_tensor *outs) PE_NODISCARD;

/* Declares an array of one integer a pair, (Lq, Lk) or (batch, Lq, Lk), and computes it by fn, which is
 * asked with head 0. */
pe_status pe_pairs_declare(pe_encoding *e, const char *name) PE_NODISCARD;
pe_status pe_pairs_compute(pe_encoding *e, pe_index_fn *fn, const pe_tensor *out) PE_NODISCARD;

#endif
