/* SPDX-License-Identifier: BSD-2-Clause
 * Features for the token-site encoders: the option --tokens. */
#ifndef TOKENS_H
#define TOKENS_H

#include "job.h"

struct tokens {
	pe_bundle *file;   /* NULL without --tokens */
	pe_tensor given;   /* the features as read */
	pe_tensor encoded; /* as the encoders leave them; filled by tokens_apply */
};

/* Reads the features, and refuses what these encoders cannot take. Does nothing without --tokens. EXIT_DONE,
 * or an exit code with the message already written; tokens_close takes what there is either way. */
int tokens_open(struct cli *cli, const struct job *jobs, int count, struct tokens *out);
/* Lets the encoders that act on tokens act, one after the other. */
int tokens_apply(struct cli *cli, const struct job *jobs, int count, struct tokens *tokens);
void tokens_close(struct tokens *tokens);

#endif
