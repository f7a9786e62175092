/* SPDX-License-Identifier: BSD-2-Clause
 * Where a command writes its arrays and how: the options --output, --format and --dtype. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "cli.h"

struct output {
	const char *path;   /* NULL: text on standard output; "-": the format on standard output */
	const char *named;  /* what --format says, or NULL */
	const char *format; /* what will be written: "npy", "npz", "safetensors", "tsv" or "dir" */
	pe_dtype dtype;     /* of float arrays; f32 unless --dtype says otherwise */
	bool streams;       /* arrays are written as they are computed: they need not fit into memory */
};

/* The rows for a command's table of options. */
#define OUTPUT_OPTIONS \
	{"output", 'o', "OUT", "x.npy, x.npz, x.safetensors, x.tsv, x/ (a folder of .npy), or - with --format"}, \
		{"format", 0, "npy|npz|safetensors|tsv|dir", "whatever the suffix"}, \
	{ \
		"dtype", 0, "f32|f64|f16|bf16", "type of float arrays (f32); bf16 to .safetensors only" \
	}

/* Takes the three options and refuses what cannot be. EXIT_DONE, or an exit code with the message
 * already written; so do the others. */
int output_choose(struct cli *cli, struct output *out);
/* Refuses to write over a file that is read: that would cost the input. */
int output_spare(const struct cli *cli, const struct output *out, const char *input);
/* Refuses what could not be written, before anything is computed; the arrays of the bundle need not
 * be filled yet. */
int output_check(const struct cli *cli, const struct output *out, pe_bundle *bundle);
/* Can arrays be written as they are computed? To an .npz file they can. */
bool output_can_stream(const struct output *out);
/* Begins a file that streams, until output_write ends it. From here on an interrupt removes it, until
 * interrupts_release. */
int output_begin(const struct cli *cli, const struct output *out, pe_bundle *bundle);
int output_write(const struct cli *cli, const struct output *out, pe_bundle *bundle);

/* An .npy file holds one array. */
bool output_is_single(const struct output *out);
/* NULL where the arrays go to standard output. */
const char *output_file(const struct output *out);

#endif
