/* SPDX-License-Identifier: BSD-2-Clause
 * One encoder at work on one input: --with NAME[:key=value,…]. */
#ifndef JOB_H
#define JOB_H

#include "input.h"

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

/* The jobs that --with asks for, or the family's usual ones. EXIT_DONE, or an exit code with the
 * message already written; jobs_close takes what there is either way. */
int jobs_open(struct cli *cli, const struct input *input, struct job **jobs, int *count);
void jobs_close(struct job *jobs, int count);

/* Allocates the wanted arrays: floats as dtype, integers as they are. */
int jobs_allocate(struct cli *cli, struct job *jobs, int count, pe_dtype dtype);
/* Computes all; the exit code is that of the worst. */
int jobs_compute(struct cli *cli, struct job *jobs, int count);

#endif
