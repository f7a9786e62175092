/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataset_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "io/file_source.h"
#include "lines.h"

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
	pe_context *ctx, const char *directory, const struct pe_dataset_part *parts, int64_t count)
{
	struct pe_file files[PE_DATASET_PARTS];
	for (int64_t i = 0; i < count; i++) {
		struct pe_dataset_file *file = parts[i].file;
		file->bytes = NULL;
		if (!find(directory, parts[i].name, file->path))
			return pe_fail(
				ctx, PE_ERR_IO, "%s: there is neither %s nor %s.gz", directory, parts[i].name, parts[i].name);
		files[i] = (struct pe_file){.path = file->path, .then = parts[i].then, .arg = parts[i].arg};
	}
	PE_TRY(pe_files_read(ctx, files, count));
	for (int64_t i = 0; i < count; i++) {
		parts[i].file->bytes = files[i].bytes;
		parts[i].file->source = (struct pe_source){files[i].bytes, files[i].size, files[i].path};
	}
	return PE_OK;
}

void pe_dataset_close(pe_context *ctx, struct pe_dataset_file *file)
{
	pe_free(ctx, file->bytes);
	file->bytes = NULL;
}

pe_status pe_dataset_end_line(struct pe_scan *scan)
{
	/* As nearly all lines end. */
	if (scan->end - scan->at >= 2 && scan->at[0] == '\n' && (unsigned char)scan->at[1] > ' ') {
		scan->at++;
		scan->line++;
		return PE_OK;
	}
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

/* ---- integers ----------------------------------------------------------------------- */

static pe_status read_integer_lines(struct pe_scan *scan, void *arg, int64_t first, int64_t end)
{
	const struct pe_dataset_integers *ints = arg;
	for (int64_t i = first; i < end; i++) {
		PE_TRY(pe_scan_i64(scan, ints->what, ints->min, ints->max, &ints->values[i]));
		PE_TRY(pe_dataset_end_line(scan));
	}
	return PE_OK;
}

/* Of a text with blank lines, so that nobody knows how many there are. */
static pe_status read_any_integers(
	pe_context *ctx, const struct pe_source *source, struct pe_dataset_integers *ints)
{
	struct pe_scan scan = pe_scan_start(ctx, source);
	int64_t capacity = 0;
	while (!pe_scan_at_end(&scan)) {
		PE_TRY(pe_grow(ctx, &ints->values, &capacity, ints->count, ints->count + 1, sizeof *ints->values));
		PE_TRY(read_integer_lines(&scan, ints, ints->count, ints->count + 1));
		ints->count++;
	}
	return PE_OK;
}

pe_status pe_dataset_read_integers(
	pe_context *ctx, const struct pe_source *source, struct pe_dataset_integers *ints)
{
	struct pe_lines lines;
	ints->values = NULL;
	ints->count = 0;
	PE_TRY(pe_lines_count(ctx, source, &lines));
	pe_status status;
	if (lines.regular) {
		ints->count = lines.count;
		ints->values = pe_alloc(ctx, lines.count, sizeof *ints->values);
		status = ints->values ? pe_lines_each(ctx, &lines, read_integer_lines, ints) : PE_ERR_NOMEM;
	} else {
		status = read_any_integers(ctx, source, ints);
	}
	pe_lines_free(ctx, &lines);
	if (status != PE_OK) {
		pe_free(ctx, ints->values);
		ints->values = NULL;
	}
	return status;
}

pe_status pe_dataset_then_integers(pe_context *worker, void *arg, const struct pe_file *file)
{
	const struct pe_source source = {file->bytes, file->size, file->path};
	return pe_dataset_read_integers(worker, &source, arg);
}

/* ---- weights ------------------------------------------------------------------------ */

struct column {
	int32_t number; /* from 1 */
	double *values;
};

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

static pe_status read_weight_lines(struct pe_scan *scan, void *arg, int64_t first, int64_t end)
{
	const struct column *column = arg;
	for (int64_t i = first; i < end; i++)
		PE_TRY(read_row(scan, column->number, &column->values[i]));
	return PE_OK;
}

/* Of a text with blank lines, or with more or fewer than there are edges. */
static pe_status read_any_weights(
	pe_context *ctx, const struct pe_source *source, struct column *column, int64_t rows)
{
	struct pe_scan scan = pe_scan_start(ctx, source);
	int64_t row = 0;
	for (; row < rows && !pe_scan_at_end(&scan); row++)
		PE_TRY(read_weight_lines(&scan, column, row, row + 1));
	if (row < rows || !pe_scan_at_end(&scan))
		return pe_scan_fail(
			&scan, "there are %s rows than the %" PRId64 " edges", row < rows ? "fewer" : "more", rows);
	return PE_OK;
}

pe_status pe_dataset_weights(
	pe_context *ctx, const struct pe_source *source, int32_t column, int64_t rows, double **out)
{
	struct pe_lines lines;
	*out = NULL;
	PE_TRY(pe_lines_count(ctx, source, &lines));
	struct column weights = {column, pe_alloc(ctx, rows, sizeof(double))};
	pe_status status = PE_ERR_NOMEM;
	if (weights.values && lines.count == rows)
		status = pe_lines_each(ctx, &lines, read_weight_lines, &weights);
	else if (weights.values)
		status = read_any_weights(ctx, source, &weights, rows);
	pe_lines_free(ctx, &lines);
	if (status == PE_OK)
		*out = weights.values;
	else
		pe_free(ctx, weights.values);
	return status;
}

pe_status pe_dataset_asks_weights(pe_context *ctx, const char *directory, const char *name,
	const struct pe_graph_policy *policy, bool *asks)
{
	*asks = policy->weight_column >= 1;
	if (!policy->weight_name)
		return PE_OK;
	return pe_fail(ctx, PE_ERR_FORMAT,
		"%s: columns of edge features have no names: give the number of a column of %s instead of %s",
		directory, name, policy->weight_name);
}
