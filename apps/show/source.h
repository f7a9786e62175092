/* SPDX-License-Identifier: BSD-2-Clause
 * The operand of show: an input with encoders at work on it, or a file of arrays. */
#ifndef SOURCE_H
#define SOURCE_H

#include "subject.h"
#include "tokens.h"

struct source {
	struct cli *cli;
	struct input input; /* or, of a file of arrays, what --grid or --graph says it stands on */
	pe_bundle *file;    /* of arrays, or NULL */
	struct learned learned;
	struct job *jobs;
	int job_count;
	struct tokens tokens;
	struct standing on;
	int64_t item, graphs;      /* which graph is shown, of how many; 0, 0: there are none */
	int64_t first_node, nodes; /* its first node among those of all */
	struct subject *subjects;
	int count;
	char place[1024]; /* of a file of arrays, where its tokens stand: "grid:14x14" */
	char text[300];   /* what the input is, in words */
};

/* Reads, binds, and says what could be shown; nothing is computed yet. EXIT_DONE, or an exit code with the
 * message already written, as the next; source_close takes what there is either way. */
int source_open(struct cli *cli, const char *path, struct source *out);
/* Computes, and fills the subjects. */
int source_compute(struct source *source);
void source_close(struct source *source);

/* ---- source_file.c and source_jobs.c, each with its half ---------------------------- */

/* Whether the operand is a file of arrays, which is then open. With encoders it never is. */
bool source_is_file(struct source *s, const char *path);
int source_open_file(struct source *s);
int source_take_file(struct source *s);
int source_open_jobs(struct source *s, const char *path);
int source_compute_jobs(struct source *s);

/* Fills `on` from the input, which becomes that of the one graph that is shown. */
int source_stand(struct source *s);
const char *base_name(const char *path);

#endif
