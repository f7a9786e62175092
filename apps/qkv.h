/* SPDX-License-Identifier: BSD-2-Clause
 * The operand QKV of attend: queries, keys and values in a file, and where they stand. */
#ifndef QKV_H
#define QKV_H

#include "input.h"

/* The names of a QKV file's own arrays; all others are weights of encoders. */
#define QKV_ARRAYS "q,k,v,mask,q_positions,k_positions,key_lengths,sinks"

struct qkv {
	pe_bundle *file;
	pe_tensor q, k, v; /* (batch, heads, length, width) */
	pe_tensor mask, key_lengths, sinks;
	bool has_mask, has_key_lengths, has_sinks;

	void *rounded[3]; /* memory of q, k and v where they were f64 and had to be f32 */

	pe_domain *keys, *queries; /* queries NULL: the same as keys */
	struct input place;        /* of --grid or --graph, which owns keys then */
};

/* Reads the file. EXIT_DONE, or an exit code with the message already written; qkv_close takes what there is
 * either way. */
int qkv_open(struct cli *cli, const char *path, struct qkv *out);
/* Where keys and queries stand: --grid, --graph, --offset, positions in the file, or their numbers. */
int qkv_place(struct cli *cli, struct qkv *qkv);
/* For cores that take no f64: such q, k and v are rounded to f32, and that is said. */
int qkv_round(struct cli *cli, struct qkv *qkv);
void qkv_close(struct qkv *qkv);

#endif
