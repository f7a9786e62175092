/* SPDX-License-Identifier: BSD-2-Clause
 * Files of a dataset's directory, plain or gzipped, one thing a line. */
#ifndef PE_DATASET_FILES_H
#define PE_DATASET_FILES_H

#include "scan.h"

#define PE_PATH_SIZE 4096
#define PE_DATASET_PARTS 4 /* the most files read at the same time */

struct pe_dataset_file {
	char path[PE_PATH_SIZE];
	char *bytes;
	struct pe_source source;
};

/* Whether directory holds a file of this name, or this name and ".gz". */
bool pe_dataset_has(const char *directory, const char *name);

struct pe_file;

/* One of several files that are read at the same time. */
struct pe_dataset_part {
	const char *name;
	struct pe_dataset_file *file;
	/* What is done with it as soon as it is there, by a worker; or NULL. */
	pe_status (*then)(pe_context *worker, void *arg, const struct pe_file *file);
	void *arg;
};

/* Reads them, the largest of which should come last; fails with PE_ERR_IO if one is not there. They are
 * released by pe_dataset_close, on failure too, which may be called on zeroed ones. */
pe_status pe_dataset_open(
	pe_context *ctx, const char *directory, const struct pe_dataset_part *parts, int64_t count) PE_NODISCARD;
void pe_dataset_close(pe_context *ctx, struct pe_dataset_file *file);

/* "directory/name"; false if it is too long for a path. */
bool pe_dataset_path(char path[PE_PATH_SIZE], const char *directory, const char *name);

/* One integer a line. */
struct pe_dataset_integers {
	const char *what; /* they are, for messages */
	int64_t min, max;
	int64_t *values; /* NULL before; pe_alloc's */
	int64_t count;
};
pe_status pe_dataset_read_integers(
	pe_context *ctx, const struct pe_source *source, struct pe_dataset_integers *integers) PE_NODISCARD;
/* Likewise, as a part's `then`: arg is the struct pe_dataset_integers. */
pe_status pe_dataset_then_integers(pe_context *worker, void *arg, const struct pe_file *file) PE_NODISCARD;

/* What is left of the line must be nothing; then goes to the next line that is not blank. */
pe_status pe_dataset_end_line(struct pe_scan *scan) PE_NODISCARD;

/* Whether policy asks for a column of the file of weights, which is the only way: a field's name is refused.
 */
pe_status pe_dataset_asks_weights(pe_context *ctx, const char *directory, const char *name,
	const struct pe_graph_policy *policy, bool *asks) PE_NODISCARD;
/* That column, from 1, of a file with `rows` lines of numbers. */
pe_status pe_dataset_weights(
	pe_context *ctx, const struct pe_source *source, int32_t column, int64_t rows, double **out) PE_NODISCARD;

#endif
