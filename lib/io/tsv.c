/* SPDX-License-Identifier: BSD-2-Clause
 * Arrays as a table of text: a line "# name name_0 name_1 …" that names the columns, one line
 * "# NAME[g] values" for what stands for graph g, and one line a row. Columns are separated by
 * tabs; floats have as many digits as bring them back; bytes (rows, width) are one column of text,
 * padding left off, with \t, \n, \r and \\ for what would break a line; the metadata are left out.
 *
 * The rows are those of `ptr`'s last entry, or else of the first array that is no graph's. */
#include <math.h>
#include <string.h>

#include "io/formats.h"
#include "io/text.h"
#include "number.h"
#include "tensor.h"

#define MAX_CELL 40
#define FLUSH (64 * 1024)

struct table {
	const pe_bundle *bundle;
	struct pe_sink *sink;
	struct pe_text text;
	int64_t rows, graphs;
};

/* ---- cells --------------------------------------------------------------------------- */

static size_t format_float(char *out, double value, pe_dtype dtype)
{
	static const int digits[] = {[PE_F64] = 17, [PE_F32] = 9, [PE_F16] = 5, [PE_BF16] = 4};
	if (value == 0) {
		memcpy(out, "-0", 2);
		out[0] = signbit(value) ? '-' : '0';
		return signbit(value) ? 2 : 1;
	}
	if (isnan(value)) {
		memcpy(out, "nan", 3);
		return 3;
	}
	return pe_format_f64(out, value, digits[dtype]);
}

static size_t format_element(char *out, const void *element, pe_dtype dtype)
{
	if (pe_dtype_is_float(dtype)) {
		double value;
		pe_load_f64(&value, element, dtype, 1, 1);
		return format_float(out, value, dtype);
	}
	int64_t value;
	pe_load_i64(&value, element, dtype, 1, 1);
	return pe_format_i64(out, value);
}

static bool is_text(const pe_tensor *t)
{
	return t->dtype == PE_U8 && t->ndim == 2;
}

/* The second dimension, or 1. */
static int64_t columns(const pe_tensor *t)
{
	return t->ndim >= 2 && !is_text(t) ? t->shape[1] : 1;
}

static char *copy_escaped(char *out, char c)
{
	static const char plain[] = "\t\n\r\\", letters[] = "tnr\\";
	const char *at = memchr(plain, c, sizeof plain - 1);
	if (at)
		*out++ = '\\';
	*out++ = at ? letters[at - plain] : c;
	return out;
}

static pe_status add_text(struct table *table, const pe_tensor *t, int64_t i, const char *before)
{
	const char *byte = pe_tensor_row(t, i);
	char *start = pe_text_room(&table->text, 2 * t->shape[1] + 1), *out = start;
	if (!start)
		return PE_ERR_NOMEM;
	if (*before)
		*out++ = '\t';
	for (int64_t j = 0; j < t->shape[1] && *byte; j++, byte += t->strides[1])
		out = copy_escaped(out, *byte);
	table->text.size += out - start;
	return PE_OK;
}

/* Appends row i of an array, each value after `before`. */
static pe_status add_row(struct table *table, const pe_tensor *t, int64_t i, const char *before)
{
	if (is_text(t))
		return add_text(table, t, i, before);
	int64_t count = columns(t), size = (int64_t)pe_dtype_size(t->dtype);
	int64_t stride = t->ndim >= 2 ? t->strides[1] * size : 0;
	const char *element = t->ndim ? pe_tensor_row(t, i) : t->data;
	char *start = pe_text_room(&table->text, count * MAX_CELL), *out = start;
	if (!start)
		return PE_ERR_NOMEM;
	for (int64_t j = 0; j < count; j++, element += stride) {
		if (j > 0 || *before)
			*out++ = '\t';
		out += format_element(out, element, t->dtype);
	}
	table->text.size += out - start;
	return PE_OK;
}

/* Ends a line, and writes the text when there is enough of it. */
static pe_status end_line(struct table *table, bool last)
{
	if (!last)
		PE_TRY(pe_text_string(&table->text, "\n"));
	if (!last && table->text.size < FLUSH)
		return PE_OK;
	int64_t size = table->text.size;
	table->text.size = 0;
	return pe_sink_write(table->sink, table->text.bytes, (size_t)size);
}

/* ---- what stands where ----------------------------------------------------------------- */

/* Names of what an encoder says of graphs; a prefix ENCODER. does not count. */
static bool is_graph_name(const char *name)
{
	static const char *const names[] = {"ptr", "failed", "laplacian_eigenvalues", "laplacian_groups"};
	const char *dot = strrchr(name, '.');
	for (int64_t i = 0; i < PE_COUNT(names); i++)
		if (strcmp(dot ? dot + 1 : name, names[i]) == 0)
			return true;
	return false;
}

static bool is_flat(const pe_tensor *t)
{
	return t->ndim <= 2 || (t->ndim == 3 && t->shape[2] == 1);
}

static bool is_graph_array(const struct table *table, const struct pe_bundle_array *a)
{
	if (a->tensor.ndim == 0 || is_graph_name(a->name))
		return true;
	return a->tensor.shape[0] != table->rows && a->tensor.shape[0] == table->graphs;
}

static bool has_columns(const struct table *table)
{
	for (int64_t i = 0; i < table->bundle->count; i++)
		if (!is_graph_array(table, &table->bundle->arrays[i]) &&
			columns(&table->bundle->arrays[i].tensor) > 0)
			return true;
	return false;
}

static void find_rows(struct table *table)
{
	pe_tensor ptr;
	const pe_bundle *b = table->bundle;
	table->graphs = 1;
	if (pe_bundle_find(b, "ptr", &ptr) && ptr.ndim == 1 && ptr.shape[0] > 0 &&
		pe_dtype_is_integer(ptr.dtype)) {
		table->graphs = ptr.shape[0] - 1;
		pe_load_i64(&table->rows, pe_tensor_row(&ptr, table->graphs), ptr.dtype, 1, 1);
		return;
	}
	for (int64_t i = 0; i < b->count; i++)
		if (b->arrays[i].tensor.ndim > 0 && !is_graph_name(b->arrays[i].name)) {
			table->rows = b->arrays[i].tensor.shape[0];
			return;
		}
}

static pe_status check(const struct table *table)
{
	for (int64_t i = 0; i < table->bundle->count; i++) {
		const struct pe_bundle_array *a = &table->bundle->arrays[i];
		char shape[160];
		if (is_flat(&a->tensor) && (is_graph_array(table, a) || a->tensor.shape[0] == table->rows))
			continue;
		pe_shape_text(shape, sizeof shape, a->tensor.ndim, a->tensor.shape);
		return pe_fail(table->bundle->ctx, PE_ERR_SHAPE,
			"%s has shape %s: text holds arrays with one row a node or token (%lld here); leave it out, or "
			"write "
			".npy, .npz or .safetensors",
			a->name, shape, (long long)table->rows);
	}
	return PE_OK;
}

/* ---- lines --------------------------------------------------------------------------- */

static pe_status add_index(struct table *table, const char *before, int64_t index, const char *after)
{
	char digits[24];
	pe_format_i64(digits, index);
	PE_TRY(pe_text_string(&table->text, before));
	PE_TRY(pe_text_string(&table->text, digits));
	return pe_text_string(&table->text, after);
}

static pe_status add_column_names(struct table *table, const struct pe_bundle_array *a, bool first)
{
	for (int64_t j = 0; j < columns(&a->tensor); j++) {
		PE_TRY(pe_text_string(&table->text, first && j == 0 ? "# " : "\t"));
		PE_TRY(pe_text_string(&table->text, a->name));
		if (a->tensor.ndim >= 2 && !is_text(&a->tensor))
			PE_TRY(add_index(table, "_", j, ""));
	}
	return PE_OK;
}

static pe_status header(struct table *table)
{
	bool first = true;
	for (int64_t i = 0; i < table->bundle->count; i++) {
		const struct pe_bundle_array *a = &table->bundle->arrays[i];
		if (is_graph_array(table, a) || columns(&a->tensor) == 0)
			continue;
		PE_TRY(add_column_names(table, a, first));
		first = false;
	}
	return first ? PE_OK : end_line(table, false);
}

/* One line, or one a graph where each graph has several values. */
static pe_status graph_lines(struct table *table, const struct pe_bundle_array *a)
{
	const pe_tensor *t = &a->tensor;
	int64_t lines = t->ndim >= 2 ? t->shape[0] : 1, values = t->ndim == 1 ? t->shape[0] : 1;
	for (int64_t g = 0; g < lines; g++) {
		PE_TRY(pe_text_string(&table->text, "# "));
		PE_TRY(pe_text_string(&table->text, a->name));
		if (t->ndim >= 2)
			PE_TRY(add_index(table, "[", g, "]"));
		for (int64_t i = 0; i < values; i++)
			PE_TRY(add_row(table, t, t->ndim == 1 ? i : g, "\t"));
		PE_TRY(end_line(table, false));
	}
	return PE_OK;
}

static pe_status row_line(struct table *table, int64_t i)
{
	bool first = true;
	for (int64_t k = 0; k < table->bundle->count; k++) {
		const struct pe_bundle_array *a = &table->bundle->arrays[k];
		if (is_graph_array(table, a) || columns(&a->tensor) == 0)
			continue;
		PE_TRY(add_row(table, &a->tensor, i, first ? "" : "\t"));
		first = false;
	}
	return end_line(table, false);
}

static pe_status write_all(struct table *table)
{
	bool any = has_columns(table);
	PE_TRY(header(table));
	for (int64_t i = 0; i < table->bundle->count; i++)
		if (is_graph_array(table, &table->bundle->arrays[i]))
			PE_TRY(graph_lines(table, &table->bundle->arrays[i]));
	for (int64_t i = 0; i < table->rows && any; i++)
		PE_TRY(row_line(table, i));
	return end_line(table, true);
}

pe_status pe_tsv_check(const pe_bundle *bundle)
{
	struct table table = {.bundle = bundle};
	find_rows(&table);
	return check(&table);
}

pe_status pe_tsv_write(pe_bundle *bundle, struct pe_sink *sink)
{
	struct table table = {.bundle = bundle, .sink = sink, .text = {.ctx = bundle->ctx}};
	find_rows(&table);
	pe_status status = write_all(&table);
	pe_text_free(&table.text);
	return status;
}
