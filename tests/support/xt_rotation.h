/* SPDX-License-Identifier: BSD-2-Clause
 * Encoders that turn queries and keys, in tests. Include xt.h first. */
#ifndef XT_ROTATION_H
#define XT_ROTATION_H

#include "posenc.h"

/* All arrays of an encoder, "rope:head_dim=8", as dense doubles. */
struct xt_turns {
	int64_t count, size; /* size: numbers in each of the first two */
	pe_array_info info[PE_MAX_ARRAYS];
	double *arrays[PE_MAX_ARRAYS];
};

/* On a domain, at positions offset, offset + 1 …, or at given ones (n); fails the test if the encoder
 * refuses. */
struct xt_turns xt_turns_on(pe_context *ctx, const char *with, const pe_domain *domain);
struct xt_turns xt_turns_from(pe_context *ctx, const char *with, int64_t length, double offset);
struct xt_turns xt_turns_at(pe_context *ctx, const char *with, const double *positions, int64_t n);
void xt_turns_free(struct xt_turns *turns);

/* An encoding on a domain; fails the test if the encoder refuses. */
pe_encoding *xt_encoding(pe_context *ctx, const char *with, const pe_domain *domain, const pe_domain *queries,
	const pe_bundle *weights);
/* How an encoder answers to settings it must refuse, on a domain or on positions 0, 1, 2. */
void xt_refuses_on(
	pe_context *ctx, const char *with, const pe_domain *domain, pe_status status, const char *text);
void xt_refuses_settings(pe_context *ctx, const char *with, pe_status status, const char *text);

/* The scores scale · q·k + … of one query at position i and one key at position j, two heads, widths from
 * q and k (2 × width each): the log-sum-exp of a row with one key. */
void xt_scores(pe_context *ctx, const char *with, double i, double j, const double *q, const double *k,
	int64_t width, double scores[2]);

/* Causal attention of f32 numbers, heads of this width, on these domains, or 4 query heads on 2 key heads
 * and 70 queries at the end of 150 keys: fails the test unless the tiled core gives what the reference does,
 * within tolerance. */
void xt_tiles_agree_on(pe_context *ctx, const char *with, const pe_domain *keys, const pe_domain *queries,
	int64_t heads, int64_t key_heads, int64_t width, double tolerance);
void xt_tiles_agree(pe_context *ctx, const char *with, int64_t width, double tolerance);

/* Keys x (heads, tokens, width) as the site rotate turns them, in f64, or in f32, which goes by the kernels.
 * To be freed by free(). */
double *xt_rotated(
	pe_encoding *e, pe_dtype dtype, const double *x, int64_t heads, int64_t tokens, int64_t width);

/* Likewise unless attention with the encoding, which acts at the site rotate alone, gives what attention
 * without it gives on q and k that pe_encoding_rotate turned before: one goes vector by vector, the other by
 * whole tensors. */
void xt_turned_before_agrees(pe_context *ctx, const char *with, const pe_domain *keys,
	const pe_domain *queries, int64_t heads, int64_t key_heads, int64_t width, double tolerance);

/* Numbers in [-1, 1) that differ from each other. */
void xt_numbers(double *out, int64_t n);

#endif
