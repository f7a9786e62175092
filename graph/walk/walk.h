/* SPDX-License-Identifier: BSD-2-Clause
 * Return probabilities of random walks, diag(P^k) with P = D⁻¹A, without ever forming P^k. */
#ifndef PE_WALK_H
#define PE_WALK_H

#include "graph.h"
#include "twins.h"

struct pe_walk_block;

enum pe_walk_end { PE_WALK_GOES_ON = 0, PE_WALK_ISOLATED, PE_WALK_DANGLING };

/* The walk on one graph: a matrix of symmetric pattern. Entries of row i are numbers
 * row[i] - base … row[i+1] - base - 1 of col, value and back.
 *   undirected, weights all 1   value NULL
 *   undirected                  value: S = D^-½ A D^-½
 *   directed                    value: P, back: Pᵀ, both on the pattern of A + Aᵀ */
struct pe_walk {
	int32_t n;
	int64_t base;
	const int64_t *row;
	const int32_t *col;
	const double *value, *back;
	const uint8_t *end; /* enum pe_walk_end of each node, or NULL: isolated where the row is empty */
	void *owned[5];
};

/* Weights must not be negative. Until pe_walk_free the walk may point into graph. */
pe_status pe_walk_create(
	pe_context *ctx, const struct pe_csr *graph, bool directed, struct pe_walk *out) PE_NODISCARD;
pe_status pe_walk_create_directed(
	pe_context *ctx, const struct pe_csr *graph, struct pe_walk *out) PE_NODISCARD;
void pe_walk_free(pe_context *ctx, struct pe_walk *walk);

/* Makes the walk one on classes of twins, if there are so many that this spares more than it costs: twins
 * then tells them, and a member of class c has the row of node c divided by the size of c. Else twins is
 * empty. */
pe_status pe_walk_merge_twins(pe_context *ctx, struct pe_walk *walk, struct pe_twins *twins) PE_NODISCARD;

static inline int64_t pe_walk_begin(const struct pe_walk *walk, int32_t i)
{
	return walk->row[i] - walk->base;
}

static inline int64_t pe_walk_degree(const struct pe_walk *walk, int32_t i)
{
	return walk->row[i + 1] - walk->row[i];
}

static inline enum pe_walk_end pe_walk_end(const struct pe_walk *walk, int32_t i)
{
	if (walk->end)
		return (enum pe_walk_end)walk->end[i];
	return pe_walk_degree(walk, i) == 0 ? PE_WALK_ISOLATED : PE_WALK_GOES_ON;
}

/* The one neighbour p of a leaf i of an undirected graph, or -1 if i is not a leaf. A walk from i
 * goes to p first and comes back from p last, so (P^k)_ii = S_ip² (P^(k-2))_pp: leaves need no walk
 * of their own. Of two nodes joined to each other alone, the second is the leaf. */
static inline int32_t pe_walk_leaf(const struct pe_walk *walk, int32_t i)
{
	if (walk->back || pe_walk_degree(walk, i) != 1)
		return -1;
	int32_t p = walk->col[pe_walk_begin(walk, i)];
	return p == i || (pe_walk_degree(walk, p) == 1 && p > i) ? -1 : p;
}

/* S_ip² of a leaf i at p: the probability of the step from p to i. */
static inline double pe_walk_leaf_share(const struct pe_walk *walk, int32_t i, int32_t p)
{
	double s = walk->value ? walk->value[pe_walk_begin(walk, i)] : 0;
	return walk->value ? s * s : 1.0 / (double)pe_walk_degree(walk, p);
}

/* The row of a leaf from that of its neighbour. */
static inline void pe_walk_leaf_row(double share, const double *neighbour, int64_t steps, double *out)
{
	out[0] = 0;
	if (steps > 1)
		out[1] = share;
	for (int64_t k = 2; k < steps; k++)
		out[k] = share * neighbour[k - 2];
}

/* ---- small graphs ------------------------------------------------------------------- */

#define PE_WALK_SMALL 64 /* nodes that pe_walk_small takes at most */

/* Memory for pe_walk_small, to be used for many graphs. */
struct pe_walk_small;
pe_status pe_walk_small_create(pe_context *ctx, int64_t steps, struct pe_walk_small **out) PE_NODISCARD;
void pe_walk_small_destroy(pe_context *ctx, struct pe_walk_small **small);
/* rows (n, steps): diag(P^k), k = 1 … steps, of an undirected graph; 0 for isolated nodes. There must
 * be room for n + 1 rows; the last is left with anything. 0 < n. */
void pe_walk_small(pe_context *ctx, struct pe_walk_small *small, const struct pe_walk *walk, double *rows);

/* ---- graphs of any size ------------------------------------------------------------- */

/* The start vertices in blocks of neighbours, so that the walks of a block share their rows. Start
 * vertices are the nodes that are neither leaves nor ends. */
struct pe_walk_plan {
	const struct pe_walk *walk;
	int64_t steps;
	int64_t starts;
	int32_t *start;    /* starts */
	int32_t *core;     /* n: neighbours that are not leaves; -1 for a leaf */
	int64_t per_block; /* starts in a block */
	int64_t blocks;
};

pe_status pe_walk_plan_create(
	pe_context *ctx, const struct pe_walk *walk, int64_t steps, struct pe_walk_plan *out) PE_NODISCARD;
void pe_walk_plan_free(pe_context *ctx, struct pe_walk_plan *plan);

/* Memory for the blocks of one plan; each thread has its own. */
struct pe_walk_scratch;
pe_status pe_walk_scratch_create(
	pe_context *ctx, const struct pe_walk_plan *plan, struct pe_walk_scratch **out) PE_NODISCARD;
void pe_walk_scratch_destroy(pe_context *ctx, struct pe_walk_scratch **scratch);
/* rows (per_block, steps): diag(P^k) of starts number block · per_block and on; *count of them. */
pe_status pe_walk_block_rows(pe_context *ctx, struct pe_walk_scratch *scratch, int64_t block, double *rows,
	int64_t *count) PE_NODISCARD;

/* ---- dangling=teleport -------------------------------------------------------------- */

/* A walk that is at a dangling node goes on at any node, each with probability 1/n. With α_i(s) the
 * probability of being at a dangling node s steps after i without having jumped, β_i(t) that of being
 * at i t steps after a jump without another one, κ(m) that of being at a dangling node m steps after
 * a jump, and R = 1 + zκR their renewal series, Σ_k z^k (P^k)_ii gains z α_i(z) R(z) β_i(z). */
struct pe_walk_teleport {
	int64_t steps;
	double *alpha; /* n × steps */
	double *beta;  /* n × steps, R(z) β(z) already */
};

/* All zero pointers if no node is dangling. */
pe_status pe_walk_teleport_create(
	pe_context *ctx, const struct pe_walk *walk, int64_t steps, struct pe_walk_teleport *out) PE_NODISCARD;
void pe_walk_teleport_free(pe_context *ctx, struct pe_walk_teleport *teleport);
/* Adds to the row of node i, computed as if walks ended at dangling nodes. */
void pe_walk_teleport_add(const struct pe_walk_teleport *teleport, int32_t i, double *row);

#endif
