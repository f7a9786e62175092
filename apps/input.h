/* SPDX-License-Identifier: BSD-2-Clause
 * The operand INPUT: a graph file or dataset, a grid, a sequence. */
#ifndef INPUT_H
#define INPUT_H

#include "cli.h"

struct input {
	const char *text;
	const char *kind; /* "graph", "grid", "sequence" */
	pe_family family;
	pe_domain *domain;
	pe_graph *graph; /* or NULL */
	double seconds;  /* that reading took */
};

/* EXIT_DONE, or an exit code with the message already written. */
int input_open(struct cli *cli, const char *text, struct input *out);
/* EXIT_SOME if some files of a folder could not be read, and were said; else EXIT_DONE. */
int input_code(const struct input *input);
void input_close(struct input *input);

#endif
