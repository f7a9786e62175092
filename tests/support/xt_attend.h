/* SPDX-License-Identifier: BSD-2-Clause
 * Attention in the tests of encoders. Include xt.h first. */
#ifndef XT_ATTEND_H
#define XT_ATTEND_H

#include "posenc.h"

#define XT_MAX_ENCODINGS 4

/* tests/golden/NAME, read; fails the test if it cannot be. */
pe_bundle *xt_golden_bundle(pe_context *ctx, const char *name);
/* The array of this name; fails the test if there is none. */
pe_tensor xt_array(const pe_bundle *bundle, const char *name);

/* Encodings of "shaw:heads=4", "alibi:heads=4" … on keys and queries, with the bundle's weights if it has
 * any of their names. `with` ends with NULL. */
struct xt_layer {
	pe_domain *keys, *queries;
	pe_encoding *list[XT_MAX_ENCODINGS];
	int64_t count;
};

/* Keys on the bundle's "grid" (int64: height, width, prefix), at k_positions, or 0 … keys-1; queries on
 * "q_grid", at q_positions, or the last ones. Fails the test if an
 * encoder refuses. bundle may be NULL. */
void xt_layer_make(pe_context *ctx, const char *const *with, const pe_bundle *bundle, int64_t queries,
	int64_t keys, struct xt_layer *layer);
void xt_layer_free(struct xt_layer *layer);

/* Runs the reference core and the tiled one, whatever core options say, and compares out, within tolerance ·
 * max(1, |value|), and lse likewise. What tensors say of outputs does not matter. out, unless NULL: what the
 * tiled core wrote, to be freed. */
void xt_cores_agree(pe_context *ctx, const struct xt_layer *layer, const pe_attention_options *options,
	const pe_attention_tensors *tensors, double tolerance, double **out);

/* Runs the reference core on the bundle's q, k, v (and mask, key_lengths, sinks where it has them) and
 * compares with its out and lse, within tolerance of max(1, |golden|). A bundle without lse does not ask
 * for it. options may be NULL; its core is used as it is, and the tiled one gets q, k and v rounded to f32.
 */
void xt_attend_golden(pe_context *ctx, const pe_bundle *bundle, const char *const *with,
	const pe_attention_options *options, double tolerance);
/* Likewise, of tests/golden/NAME with one encoder, in the reference core, causal or not. */
void xt_attend_file(pe_context *ctx, const char *name, const char *with, bool causal, double tolerance);
/* Likewise in the tiled core, not causal; q, k and v of f64 are rounded to f32. */
void xt_attend_file_tiled(pe_context *ctx, const char *name, const char *with, double tolerance);

#endif
