/* SPDX-License-Identifier: BSD-2-Clause
 * Learned parameters of the encoders: the options --weights and --save-weights. */
#ifndef WEIGHT_FILES_H
#define WEIGHT_FILES_H

#include "cli.h"

struct job;

struct learned {
	pe_bundle *file; /* of --weights, or NULL */
	pe_bundle *all;  /* its arrays, and those of other files where they lack them; NULL: none */
	pe_bundle *save; /* what --save-weights writes, or NULL */
};

/* The rows for a command's table of options. */
#define LEARNED_OPTIONS \
	{"weights", 0, "FILE", \
		".npz, .safetensors or a folder of .npy: learned parameters, by the names that 'posenc help " \
		"ENCODER' lists; without it, begun from --seed"}, \
	{ \
		"save-weights", 0, "FILE", \
			"write the encoders' parameters, as given or begun, in f64: .npz, .safetensors or a folder/" \
	}

/* Reads --weights. EXIT_DONE, or an exit code with the message already written, as all of these;
 * learned_close takes what there is either way. */
int learned_open(struct cli *cli, struct learned *out);
/* Parameters may also be among these arrays, which live longer, but for those in a list of names between
 * commas. */
int learned_add(struct cli *cli, struct learned *learned, const pe_bundle *arrays, const char *but);
void learned_close(struct learned *learned);

/* Was a parameter of one of the jobs, which are bound, given by this name? */
bool learned_is_used(const struct job *jobs, int count, const char *name);
/* Says if parameters of this one began at random. */
void learned_tell(const struct cli *cli, const struct job *job);

/* After the jobs are bound: refuses --weights that no encoder takes anything from, and --save-weights that
 * could not be written. output, input: files that must not be written over, or NULL. */
int learned_check(struct cli *cli, struct learned *learned, const struct job *jobs, int count,
	const char *output, const char *input);
/* Writes what --save-weights asks for. */
int learned_save(struct cli *cli, const struct learned *learned);

#endif
