/* SPDX-License-Identifier: BSD-2-Clause
 * The operand INPUT: a graph file or dataset, a picture, a grid, a sequence. */
#ifndef INPUT_H
#define INPUT_H

#include "cli.h"

/* A row for the table of options of commands that take pictures. */
#define LENIENT_OPTION \
	{ \
		"lenient", 0, NULL, \
			"pictures: take what there is of a damaged file, with a warning; what is missing is 0" \
	}

struct input {
	const char *text;
	const char *kind; /* "graph", "image", "grid", "sequence" */
	pe_family family;
	pe_domain *domain;
	pe_graph *graph;        /* or NULL */
	pe_image *image;        /* or NULL */
	pe_image_layout layout; /* of the image's patches */
	int64_t sides[3];       /* frames, rows, columns of a grid or of a cut picture; 0: it is neither */
	int64_t prefix;         /* tokens before it */
	double offset;          /* of a sequence */
	double seconds;         /* that reading took */
};

/* Reads the input; of a picture there is no domain yet. EXIT_DONE, or an exit code with the message already
 * written. */
int input_read(struct cli *cli, const char *text, struct input *out);
/* Likewise, and cuts a picture into patches: there is a domain. */
int input_open(struct cli *cli, const char *text, struct input *out);
/* Refuses options given that are of another kind of input: of graphs, pictures or grids. EXIT_DONE, or an
 * exit code with the message already written. */
int input_refuse_options(const struct cli *cli, const struct input *in);
/* Whether an option is given that is of graphs alone: how to read one. */
bool input_asks_for_graph(const struct cli *cli);
/* EXIT_SOME if some files of a folder could not be read, and were said; else EXIT_DONE. */
int input_code(const struct input *input);
/* Whether a path is named as files of arrays are. */
bool has_array_suffix(const char *path);
/* Whether an array of a file was text: a bundle holds its bytes. */
bool input_is_text(const pe_bundle *bundle, int64_t index);
void input_close(struct input *input);

#endif
