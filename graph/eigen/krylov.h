/* SPDX-License-Identifier: BSD-2-Clause
 * Block Lanczos with full orthogonalisation and thick restart, for the largest eigenvalues θ of a
 * symmetric operator. Columns of the basis: fixed ones (known eigenvectors, kept out of the search), active
 * ones (the operator has been applied to them), and the pending block. */
#ifndef PE_KRYLOV_H
#define PE_KRYLOV_H

#include "context.h"

#define PE_KRYLOV_MAX_BLOCK 16

/* x ← operator x for count vectors, vector j at x + j·n. */
typedef pe_status (*pe_krylov_apply_fn)(pe_context *ctx, void *arg, int32_t count, double *x);

struct pe_krylov {
	pe_context *ctx;
	pe_krylov_apply_fn apply;
	void *arg;
	uint64_t stream;                /* of random vectors, with the context's seed */
	uint64_t drawn;                 /* random vectors used of the stream */
	int64_t applied;                /* vectors that the operator was applied to */
	int32_t n, capacity, block;     /* columns in all; columns of a new block */
	int32_t fixed, active, pending; /* columns of each kind */
	int32_t coupled;   /* the last active columns, those that the operator leads to from pending */
	int32_t replaced;  /* pending columns that are random, for want of new directions */
	double *basis;     /* n × capacity */
	double *projected; /* Vᵀ operator V, lower triangle, leading dimension capacity; below the active
						* rows come those that couple the active columns to the pending ones */
	double *theta;     /* Ritz values of the last pe_krylov_ritz, descending */
	double *ritz;      /* their vectors in terms of the active columns, leading dimension capacity */
	double *error;     /* and the norm of operator·v - θv, v their unit vectors */
	double *small;     /* scratch, capacity × (PE_KRYLOV_MAX_BLOCK + 1) */
};

/* A basis of room for capacity columns besides the fixed one, `null` (n, unit). No operator yet. */
pe_status pe_krylov_create(pe_context *ctx, int32_t n, int32_t capacity, int32_t block, const double *null,
	uint64_t stream, struct pe_krylov *out) PE_NODISCARD;
void pe_krylov_free(struct pe_krylov *k);

/* Forgets active and pending columns, and adds count orthonormal vectors to the fixed ones; there must
 * be room for a block besides. */
void pe_krylov_fix(struct pe_krylov *k, int32_t count, const double *vectors);
/* A random pending block. */
void pe_krylov_start(struct pe_krylov *k);
/* Room for one more step? False too when the space is exhausted (nothing is pending). */
bool pe_krylov_can_step(const struct pe_krylov *k);
/* Applies the operator to the pending block, makes that active and what is new pending. */
pe_status pe_krylov_step(struct pe_krylov *k) PE_NODISCARD;
/* theta, ritz and error of all active columns. */
pe_status pe_krylov_ritz(struct pe_krylov *k) PE_NODISCARD;
/* Keeps the first `keep` Ritz vectors as the active columns. After pe_krylov_ritz. */
pe_status pe_krylov_restart(struct pe_krylov *k, int32_t keep) PE_NODISCARD;
/* Makes the first Ritz vectors, a block of them, the pending columns, and forgets all else that is not fixed:
 * for when the operator changes. After pe_krylov_ritz. */
pe_status pe_krylov_reseed(struct pe_krylov *k) PE_NODISCARD;
/* operator·v / θ of the first count Ritz vectors v, into out (n × count): a step of power iteration that
 * costs no product. Nearly orthonormal. */
void pe_krylov_vectors(struct pe_krylov *k, int32_t count, double *out);

#endif
