/* SPDX-License-Identifier: BSD-2-Clause
 * Files of a dataset's directory, plain or gzipped. */
#ifndef PE_DATASET_FILES_H
#define PE_DATASET_FILES_H

#include "scan.h"

#define PE_PATH_SIZE 4096

struct pe_dataset_file {
	char path[PE_PATH_SIZE];
	char *bytes;
	struct pe_source source;
};

/* Whether directory holds a file of this name, or this name and ".gz". */
bool pe_dataset_has(const char *directory, const char *name);
/* Reads it; fails with PE_ERR_IO if there is none. Released by pe_dataset_close, which may be called on a
 * zeroed one. */
pe_status pe_dataset_open(
	pe_context *ctx, const char *directory, const char *name, struct pe_dataset_file *out) PE_NODISCARD;
void pe_dataset_close(pe_context *ctx, struct pe_dataset_file *file);

/* "directory/name"; false if it is too long for a path. */
bool pe_dataset_path(char path[PE_PATH_SIZE], const char *directory, const char *name);

/* A file of one integer a line, min … max: *count of them in *out, released by pe_free. */
pe_status pe_dataset_integers(pe_context *ctx, const char *directory, const char *name, const char *what,
	int64_t min, int64_t max, int64_t **out, int64_t *count) PE_NODISCARD;

/* What is left of the line must be nothing; then goes to the next line that is not blank. */
pe_status pe_dataset_end_line(struct pe_scan *scan) PE_NODISCARD;

/* The weights that policy asks for: a column, from 1, of a file with `rows` lines of numbers. *out is NULL
 * unless a column was given; a field's name is refused. */
pe_status pe_dataset_weights(pe_context *ctx, const char *directory, const char *name,
	const struct pe_graph_policy *policy, int64_t rows, double **out) PE_NODISCARD;

#endif
