/* SPDX-License-Identifier: BSD-2-Clause
 * What goes into the file of encode: the encoders' arrays, those of the graphs, and metadata. */
#ifndef CONTENTS_H
#define CONTENTS_H

#include "job.h"
#include "output.h"

/* The names of the arrays that graphs have of their own. */
#define GRAPH_ARRAYS "ptr,node_ids,node_names,failed"

struct contents {
	pe_bundle *bundle;
	int64_t *failed; /* memory that the bundle refers to */
	unsigned char *names;
};

/* Puts together what will be computed, or was: only which graphs failed is not known before, and where
 * the output streams left to contents_add_failed. The bundle refers to the jobs' arrays, or awaits them.
 * contents_free takes what there is, after a failure too. */
pe_status contents_fill(const struct cli *cli, const struct output *output, const struct input *input,
	const struct job *jobs, int count, struct contents *out);
/* Of graphs whose encodings stream: which of them failed, after all else. */
pe_status contents_add_failed(const struct cli *cli, const struct input *input, const struct job *jobs,
	int count, struct contents *out);
void contents_free(struct contents *contents);

/* Metadata: version, encoders and their options, seed, and the digest of the input if it has one (else NULL).
 */
pe_status contents_describe(
	const struct cli *cli, const char *digest, const struct job *jobs, int count, pe_bundle *bundle);

#endif
