/* SPDX-License-Identifier: BSD-2-Clause
 * What the tests of encoders that act on scores share. Include xt.h first. */
#ifndef XT_SCORES_H
#define XT_SCORES_H

#include "posenc.h"

/* An encoding with settings "a=1,b=2", or "". queries NULL: where the keys are; weights NULL: begun from
 * the seed, else found as "prefix.NAME". Fails the test if it is refused. */
pe_encoding *xt_encode(pe_context *ctx, const char *encoder, const char *settings, const pe_domain *keys,
	const pe_domain *queries, const pe_bundle *weights, const char *prefix);
/* Binding this must be refused with this status and text; with these weights, or NULL. */
void xt_weights_refused(pe_context *ctx, const char *encoder, const char *settings, const pe_domain *keys,
	const pe_bundle *weights, pe_status status, const char *text);
void xt_encode_refused(pe_context *ctx, const char *encoder, const char *settings, const pe_domain *keys,
	pe_status status, const char *text);

/* The array of this name as dense doubles, whatever its type, to be freed by free(data); fails the test
 * if there is none. */
pe_tensor xt_computed(pe_encoding *e, const char *name);
/* Whether there is an array of this name. */
bool xt_has_array(const pe_encoding *e, const char *name);

/* A domain at these positions. */
pe_domain *xt_positions(pe_context *ctx, const double *positions, int64_t count);

/* One case of tests/golden/FILE, an npz: keys "CASE.keys" and "CASE.queries" (positions), or both on
 * "CASE.grid" (int64: height, width, prefix and, where there are several, frames), weights
 * "CASE.NAME", and what must come out, "CASE.out.ARRAY". Fails the test unless each of those arrays is
 * there and within the tolerance, or if there are none. */
void xt_golden_case(pe_context *ctx, const char *encoder, const char *file, const char *name,
	const char *settings, double rtol, double atol);

/* Of encoders whose scores depend on key - query alone: array (bias, gain or buckets) stays if all
 * positions move, and is the same from a sequence and from its positions. */
void xt_stays_when_moved(
	pe_context *ctx, const char *encoder, const char *settings, const char *array, double atol);
/* ARRAY_table holds every ARRAY, with fewer queries than keys, and as many. */
void xt_table_holds(pe_context *ctx, const char *encoder, const char *settings, const char *array);
/* The last queries alone give the last rows. */
void xt_last_queries_give_last_rows(
	pe_context *ctx, const char *encoder, const char *settings, const char *array);

/* pe_attend by the definition, with e or without (NULL): q, k and v are f64, (1, heads, L, width), dense;
 * out likewise. */
void xt_attend_plain(pe_context *ctx, pe_encoding *e, bool causal, int64_t heads, int64_t queries,
	int64_t keys, int64_t width, double *q, double *k, double *v, double *out);

#endif
