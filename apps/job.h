/* SPDX-License-Identifier: BSD-2-Clause
 * One encoder at work on one input: --with NAME[:key=value,…]. */
#ifndef JOB_H
#define JOB_H

#include "input.h"
#include "weight_files.h"

/* What encoders are bound to. */
struct place {
	const pe_domain *domain;       /* tokens, keys */
	const pe_domain *queries;      /* NULL: the same */
	const struct learned *learned; /* where their weights come from */
	pe_sizes sizes;                /* what options follow from */
	const char *sizes_from;        /* where sizes come from: "the shape of q, k and v" */
};

struct job {
	const pe_encoder *encoder;
	pe_params *params;
	pe_encoding *encoding;
	char *prefix; /* the option `as`, or NULL */
	int64_t count;
	pe_array_info arrays[PE_MAX_ARRAYS];
	char *names[PE_MAX_ARRAYS]; /* as written: with a prefix where two encoders give the same */
	bool wanted[PE_MAX_ARRAYS];
	pe_tensor tensors[PE_MAX_ARRAYS]; /* of the wanted ones */
	pe_status status;                 /* of the computation */
};

/* The jobs that --with asks for; there may be none. EXIT_DONE, or an exit code with the message already
 * written; jobs_close takes what there is either way. */
int jobs_open(struct cli *cli, const struct place *place, struct job **jobs, int *count);
/* Adds the family's usual ones, and says so; there must be none yet. */
int jobs_open_usual(
	struct cli *cli, const struct place *place, pe_family family, struct job *jobs, int *count);
void jobs_close(struct job *jobs, int count);
/* Names the arrays; refuses two of the same name. */
int jobs_name(struct cli *cli, struct job *jobs, int count);

/* Says what the wanted arrays are written as: floats as dtype, integers as they are. */
void jobs_choose_types(struct job *jobs, int count, pe_dtype dtype);
/* Allocates them. */
int jobs_allocate(struct job *jobs, int count);
/* Computes all; the exit code is that of the worst. With stream, the arrays go there as they come, which has
 * begun and awaits them; they are not allocated then. */
int jobs_compute(struct cli *cli, struct job *jobs, int count, pe_bundle *stream);

#endif
