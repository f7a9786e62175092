/* SPDX-License-Identifier: BSD-2-Clause
 * What is shown: arrays, and what their tokens stand on. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "numbers.h"

/* The place of the tokens: a grid after `prefix` tokens, a graph, or a line. */
struct standing {
	int64_t frames, rows, columns; /* of a grid; 0: there is none */
	int64_t prefix;
	const pe_graph *graph; /* of one graph, or NULL */
	double offset;         /* the first position of a sequence */
	const char *token;     /* "position", "node" or "token" */
};

struct subject {
	char name[64];     /* of the encoder or file */
	char options[500]; /* "dim=64, base=10000" */
	bool file;         /* arrays of a file */
	bool tokens_only;  /* the encoder acts on tokens, and yields only parameters */
	struct numbers *arrays;
	int count;
	struct numbers before, after; /* features, for encoders that act on them; ndim 0: none */
	const struct standing *on;
};

void subject_add(struct subject *subject, struct numbers numbers);
/* Whether an option is told: sizes always, others where they are not as they begin. value may be NULL. */
bool option_is_told(const pe_option_info *option, const char *value);
/* Adds "name=value", or name alone, to a list of options. */
void add_option(char *out, size_t size, const char *name, const char *value);
void subject_free(struct subject *subject);
/* By name; a name with a prefix, ENCODER.NAME, counts as NAME too. NULL: there is none. */
const struct numbers *subject_find(const struct subject *subject, const char *name);
bool numbers_are_called(const struct numbers *numbers, const char *name);

/* Rows of numbers, one a token: (rows, width). */
struct rows {
	const char *name;
	double *values; /* from get_memory */
	int64_t count, width;
};

/* The rows of the array that is chosen by name, or of the first that has them; cos and sin count as one array
 * where both are there. Of more dimensions than two the last two are taken, at index 0 of the others. false:
 * there are none, and why says so. */
bool subject_rows(
	const struct subject *subject, const char *chosen, struct rows *out, char *why, size_t size);
/* The array sin that belongs to this one, if it is called cos and sin has its shape; else NULL. */
const struct numbers *subject_sine(const struct subject *subject, const struct numbers *cosine);
/* "a (2, 3), b (4) and 7 more" */
void list_arrays(const struct subject *subject, char *out, size_t size);
/* "x.npz yields no WHAT: it holds a (2, 3) and b (4); choose one by --array", of a file; else without what it
 * holds. */
void refuse_arrays(const struct subject *subject, const char *what, char *why, size_t size);
/* The array (heads, queries, keys) of biases: the chosen one, or the first that is known for one, or the only
 * array of an .npy file if its shape allows it. NULL: there is none. */
const struct numbers *subject_bias(const struct subject *subject, const char *chosen);

#endif
