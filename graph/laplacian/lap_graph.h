/* SPDX-License-Identifier: BSD-2-Clause
 * Laplacian eigenvectors of one graph: what encoder lap does for each. */
#ifndef PE_LAP_GRAPH_H
#define PE_LAP_GRAPH_H

#include "laplacian.h"
#include "tensor.h"
#include "twins.h"

/* In the order of the options' words. */
enum pe_lap_normalization { PE_LAP_SYM = 0, PE_LAP_NONE, PE_LAP_RW };
enum pe_lap_zero { PE_LAP_DROP = 0, PE_LAP_DROP_FIRST, PE_LAP_KEEP };
enum pe_lap_pad { PE_LAP_PAD_ZERO = 0, PE_LAP_PAD_NAN, PE_LAP_PAD_ERROR };
enum pe_lap_sign { PE_LAP_CANONICAL = 0, PE_LAP_RANDOM, PE_LAP_AS_SOLVED };
enum pe_lap_certify { PE_LAP_CERTIFY_AUTO = 0, PE_LAP_CERTIFY_REQUIRE, PE_LAP_CERTIFY_OFF };
enum pe_lap_engine { PE_LAP_AUTO = 0, PE_LAP_DENSE, PE_LAP_SHIFT_INVERT, PE_LAP_BLOCK };

struct pe_lap_options {
	int32_t k;
	enum pe_lap_normalization normalization;
	enum pe_lap_zero zero;
	enum pe_lap_pad pad;
	enum pe_lap_sign sign;
	enum pe_lap_certify certify;
	enum pe_lap_engine engine;
	bool whole_groups; /* group=complete */
	int64_t number;    /* of graph 0, for random signs */
	double tolerance, max_residual;
	struct pe_laplacian_rules rules;
};

/* Eigenpairs of one component, ascending, the known null vector left out. Entry p of vector j is
 * vectors[j * vector_step + p * entry_step]. */
struct pe_lap_solution {
	int32_t count;
	int64_t vector_step, entry_step;
	const double *values, *vectors; /* NULL: not solved */
	const double *residuals;        /* of each pair, relative to its norm; NULL: `residual` bounds all */
	double *owned_values, *owned_vectors; /* NULL: somebody else's */
	struct pe_twins twins;                /* with classes > 0 they add pairs to those above */
	double residual, orthogonality;       /* as far as known, else NaN */
	bool complete, converged, certified;
	bool in_lanes; /* rows of vectors, and residual, orthogonality and signs are as they have to be */
};

/* One graph under way. */
struct pe_lap_task {
	int64_t graph; /* its number */
	struct pe_laplacian laplacian;
	struct pe_lap_solution *solutions; /* one a component */
};

struct pe_lap_result {
	double *rows;          /* (n, k), filled up by pad */
	const double *vectors; /* (n, k): rows, or where those of a solution are it already, these */
	double *values;        /* k, likewise */
	int64_t *group;        /* k; -1: padding */
	int32_t columns;
	double residual, orthogonality;
	bool certified, split;
};

/* Memory for finishing one graph after the other. Begin with {0}. */
struct pe_lap_work {
	struct pe_lap_result result;
	struct pe_pair *pairs;
	double *scratch; /* k */
	int64_t pair_capacity, row_capacity;
};

/* The values that fill what is not there: 0 or NaN. */
double pe_lap_fill(const struct pe_lap_options *options);

/* A status that is one graph's misfortune, not the end of the whole. */
bool pe_lap_is_local(pe_status status);

/* Bytes that a task takes at most. */
int64_t pe_lap_bytes(int64_t n, int64_t entries);

/* Step 1: the Laplacian, and empty solutions, in memory carved from *memory as in laplacian.h. */
pe_status pe_lap_begin(pe_context *ctx, const struct pe_lap_options *options, const struct pe_csr *graph,
	char **memory, struct pe_lap_task *task) PE_NODISCARD;

/* Pairs wanted of each component; 0: the known null vectors are enough. */
int32_t pe_lap_wanted(const struct pe_lap_options *options, const struct pe_laplacian *laplacian);

#define PE_LAP_NOTE 200

/* Step 2: solves the components that have an edge and no solution yet, each by an engine. note tells
 * how the largest of them was solved, "" if there was none. */
pe_status pe_lap_solve(pe_context *ctx, const struct pe_lap_options *options, struct pe_lap_task *task,
	char note[PE_LAP_NOTE]) PE_NODISCARD;

/* Step 3: from solutions to work->result. On a local failure result holds what there is. */
pe_status pe_lap_finish(pe_context *ctx, const struct pe_lap_options *options, const struct pe_lap_task *task,
	struct pe_lap_work *work) PE_NODISCARD;

/* Sets result to n rows of padding alone. */
pe_status pe_lap_pad_all(
	pe_context *ctx, const struct pe_lap_options *options, int64_t n, struct pe_lap_work *work) PE_NODISCARD;

/* Frees what engines gave. */
void pe_lap_forget(pe_context *ctx, struct pe_lap_task *task);
void pe_lap_work_free(pe_context *ctx, struct pe_lap_work *work);

/* A request to an engine for at most n - 1 pairs of a component. */
struct pe_eigen_request pe_lap_request(const struct pe_lap_options *options, int32_t n, int32_t wanted);

#endif
