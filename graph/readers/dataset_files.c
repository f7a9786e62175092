/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataset_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "io/file_source.h"

bool pe_dataset_path(char path[PE_PATH_SIZE], const char *directory, const char *name)
{
	bool slash = *directory && directory[strlen(directory) - 1] == '/';
	int length = snprintf(path, PE_PATH_SIZE, "%s%s%s", directory, slash ? "" : "/", name);
	return length > 0 && length < PE_PATH_SIZE;
}

/* The path of name.gz or name, whichever there is. */
static bool find(const char *directory, const char *name, char path[PE_PATH_SIZE])
{
	char zipped[256];
	int length = snprintf(zipped, sizeof zipped, "%s.gz", name);
	if (length < 0 || (size_t)length >= sizeof zipped)
		return false;
	return (pe_dataset_path(path, directory, zipped) && access(path, R_OK) == 0) ||
		(pe_dataset_path(path, directory, name) && access(path, R_OK) == 0);
}

bool pe_dataset_has(const char *directory, const char *name)
{
	char path[PE_PATH_SIZE];
	return find(directory, name, path);
}

pe_status pe_dataset_open(
	pe_context *ctx, const char *directory, const char *name, struct pe_dataset_file *out)
{
	out->bytes = NULL;
	if (!find(directory, name, out->path))
		return pe_fail(ctx, PE_ERR_IO, "%s: there is neither %s nor %s.gz", directory, name, name);
	size_t size;
	PE_TRY(pe_file_read(ctx, out->path, &out->bytes, &size));
	out->source = (struct pe_source){out->bytes, size, out->path};
	return PE_OK;
}

void pe_dataset_close(pe_context *ctx, struct pe_dataset_file *file)
{
	pe_free(ctx, file->bytes);
	file->bytes = NULL;
}

pe_status pe_dataset_end_line(struct pe_scan *scan)
{
	pe_scan_blanks(scan);
	if (!pe_scan_at_line_end(scan))
		return pe_scan_fail(scan, "there is more on the line than it should hold");
	while (pe_scan_next_line(scan)) {
		pe_scan_blanks(scan);
		if (!pe_scan_at_line_end(scan))
			return PE_OK;
	}
	return PE_OK;
}

static pe_status read_integers(pe_context *ctx, const struct pe_source *source, const char *what, int64_t min,
	int64_t max, int64_t **out, int64_t *count)
{
	struct pe_scan scan = pe_scan_start(ctx, source);
	int64_t capacity = 0;
	*count = 0;
	while (!pe_scan_at_end(&scan)) {
		PE_TRY(pe_grow(ctx, out, &capacity, *count, *count + 1, sizeof **out));
		PE_TRY(pe_scan_i64(&scan, what, min, max, *out + *count));
		++*count;
		PE_TRY(pe_dataset_end_line(&scan));
	}
	return PE_OK;
}

pe_status pe_dataset_integers(pe_context *ctx, const char *directory, const char *name, const char *what,
	int64_t min, int64_t max, int64_t **out, int64_t *count)
{
	struct pe_dataset_file file;
	*out = NULL;
	PE_TRY(pe_dataset_open(ctx, directory, name, &file));
	pe_status status = read_integers(ctx, &file.source, what, min, max, out, count);
	pe_dataset_close(ctx, &file);
	if (status != PE_OK) {
		pe_free(ctx, *out);
		*out = NULL;
	}
	return status;
}

/* ---- weights ------------------------------------------------------------------------ */

static pe_status read_row(struct pe_scan *scan, int32_t column, double *out)
{
	for (int32_t c = 1;; c++) {
		double value;
		PE_TRY(pe_scan_f64(scan, c == column ? "a weight" : "a number", &value));
		if (c == column)
			*out = value;
		pe_scan_blanks(scan);
		if (!pe_scan_at_end(scan) && *scan->at == ',') {
			scan->at++;
			continue;
		}
		if (c < column)
			return pe_scan_fail(scan, "there is no column %d on the line", (int)column);
		return pe_dataset_end_line(scan);
	}
}

static pe_status read_column(
	pe_context *ctx, const struct pe_source *source, int32_t column, int64_t rows, double *out)
{
	struct pe_scan scan = pe_scan_start(ctx, source);
	int64_t row = 0;
	for (; row < rows && !pe_scan_at_end(&scan); row++)
		PE_TRY(read_row(&scan, column, &out[row]));
	if (row < rows || !pe_scan_at_end(&scan))
		return pe_scan_fail(
			&scan, "there are %s rows than the %" PRId64 " edges", row < rows ? "fewer" : "more", rows);
	return PE_OK;
}

pe_status pe_dataset_weights(pe_context *ctx, const char *directory, const char *name,
	const struct pe_graph_policy *policy, int64_t rows, double **out)
{
	*out = NULL;
	if (policy->weight_name)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: columns of edge features have no names: give the number of a column of %s instead of %s",
			directory, name, policy->weight_name);
	if (policy->weight_column < 1)
		return PE_OK;
	struct pe_dataset_file file;
	PE_TRY(pe_dataset_open(ctx, directory, name, &file));
	double *weights = pe_alloc(ctx, rows, sizeof *weights);
	pe_status status =
		weights ? read_column(ctx, &file.source, policy->weight_column, rows, weights) : PE_ERR_NOMEM;
	pe_dataset_close(ctx, &file);
	if (status == PE_OK)
		*out = weights;
	else
		pe_free(ctx, weights);
	return status;
}
