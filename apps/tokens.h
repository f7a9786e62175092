/* SPDX-License-Identifier: BSD-2-Clause
 * Features for the token-site encoders: the option --tokens. */
#ifndef TOKENS_H
#define TOKENS_H

#include "job.h"

struct tokens {
	bool wanted;       /* is there --tokens? */
	pe_bundle *file;   /* that they were read from, or NULL */
	void *patches;     /* memory of those cut from a picture, or NULL */
	pe_tensor given;   /* the features as read */
	pe_tensor encoded; /* as the encoders leave them; filled by tokens_apply: patches in their place */
};

/* Reads the features, or cuts them from the picture (as dtype). Does nothing without --tokens, as the others.
 * EXIT_DONE, or an exit code with the message already written; tokens_close takes what there is either way.
 */
int tokens_read(struct cli *cli, const struct input *input, pe_dtype dtype, struct tokens *out);
/* Their width; 0 without --tokens. */
int64_t tokens_width(const struct tokens *tokens);
/* Opens --weights, and the jobs of an input: those of --with, else the family's usual ones, their arrays
 * named. queries: NULL, or attention's; output: the file that is to be written, or NULL. */
int jobs_open_on_input(struct cli *cli, const struct input *input, const pe_domain *queries,
	const struct tokens *tokens, const char *output, struct learned *learned, struct job **jobs, int *count);
/* Refuses what these encoders cannot take, and makes room for what they give. */
int tokens_open(struct cli *cli, const struct job *jobs, int count, struct tokens *out);
/* Does --tokens ask for the picture's patches? */
bool tokens_are_patches(const struct cli *cli);
/* Lets the encoders that act on tokens act, one after the other. */
int tokens_apply(struct cli *cli, const struct job *jobs, int count, struct tokens *tokens);
void tokens_close(struct tokens *tokens);

#endif
