/* SPDX-License-Identifier: BSD-2-Clause
 * Encoders that give each token one row, and at the token site merge it into the features. */
#ifndef PE_TOKEN_TABLE_H
#define PE_TOKEN_TABLE_H

#include "encoder.h"
#include "shared_rows.h"

enum pe_merge { PE_MERGE_ADD = 0, PE_MERGE_MULTIPLY, PE_MERGE_ONE_PLUS, PE_MERGE_CONCAT };

/* The option that such encoders share, and must have; its words are in the order of pe_merge. Where merge
 * says something else, it is called features. */
#define PE_OPTION_MERGE_NAMED(name, fallback) \
	PE_CHOICE(name, fallback, "add|multiply|one_plus|concat", \
		"how the rows p enter the features x: x + p, x * p, x * (1 + p), or [x, p]")
#define PE_OPTION_MERGE_DEFAULT(fallback) PE_OPTION_MERGE_NAMED("merge", fallback)
#define PE_OPTION_MERGE PE_OPTION_MERGE_DEFAULT("add")
#define PE_OPTION_FEATURES PE_OPTION_MERGE_NAMED("features", "add")

/* ---- rows by a function: position_encoding (tokens, dim), or (batch, tokens, dim) where positions
 * differ between batches ---- */

/* The first member of such an encoder's state. */
struct pe_token_table {
	int64_t dim;
	/* So many tokens at the beginning have no position. Their rows are zeros; merging leaves their
	 * features alone (concat: appends zeros). */
	int64_t unplaced;
	/* Writes the row of a token, dim values. Called from several threads. */
	void (*row)(const pe_encoding *e, int64_t batch, int64_t token, double *out);
	/* Or, with row NULL, for rows that share numbers. */
	struct pe_shared_rows shared;
	const double *numbers;
	int64_t number_count;
};

/* Declares the array. To be called at the end of bind, with the state filled. */
pe_status pe_token_table_declare(pe_encoding *e) PE_NODISCARD;

/* The functions of struct pe_encoder. */
pe_status pe_token_table_compute(pe_encoding *e, const pe_tensor *outs);
pe_status pe_token_table_tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y);
pe_status pe_token_table_shape(pe_encoding *e, int64_t *tokens, int64_t *width);

/* ---- rows from the first declared array, (tokens, dim), which compute can give alone: for encoders
 * that find all rows at once ---- */

/* Merges rows, dense and already there, into x; the features of tokens unplaced … placed - 1 are left alone
 * (concat: get their rows, which should be zeros). */
pe_status pe_token_rows_merge(pe_encoding *e, const double *rows, int64_t unplaced, int64_t placed,
	const pe_tensor *x, const pe_tensor *y);
pe_status pe_token_rows_tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y);
pe_status pe_token_rows_shape(pe_encoding *e, int64_t *tokens, int64_t *width);

#endif
