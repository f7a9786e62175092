/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_reader.h"

#include <stdio.h>
#include <string.h>

struct pe_graph_policy xt_policy(void)
{
	return (struct pe_graph_policy){.weight_column = -1};
}

/* ---- raw graphs as text ------------------------------------------------------------- */

static void print_graph(FILE *out, const struct pe_raw_graphs *raw, int64_t g)
{
	int64_t nodes = raw->ptr ? raw->ptr[g + 1] - raw->ptr[g] : raw->nodes;
	int64_t first = raw->edge_ptr ? raw->edge_ptr[g] : 0;
	int64_t end = raw->edge_ptr ? raw->edge_ptr[g + 1] : raw->rows;
	fprintf(out, "%s%lld:", g ? " | " : "", (long long)nodes);
	for (int64_t e = first; e < end; e++) {
		assert_in_range(raw->u[e], 0, nodes - 1);
		assert_in_range(raw->v[e], 0, nodes - 1);
		fprintf(out, " %d-%d", (int)raw->u[e], (int)raw->v[e]);
		if (raw->w)
			fprintf(out, "=%.17g", raw->w[e]);
	}
}

char *xt_raw_text(const struct pe_raw_graphs *raw)
{
	static const char *const directions[] = {"unknown", "undirected", "directed", "directed if one-way"};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	assert_true(raw->graphs >= 1 && (raw->graphs == 1) == (raw->ptr == NULL) && !raw->ptr == !raw->edge_ptr);
	assert_true(raw->direction == PE_UNDIRECTED || !raw->mirrored);
	fprintf(out, "%s%s ", directions[raw->direction],
		raw->direction == PE_UNDIRECTED && !raw->mirrored ? " as listed" : "");
	for (int64_t g = 0; g < raw->graphs; g++)
		print_graph(out, raw, g);
	fclose(out);
	return text;
}

/* ---- reading ------------------------------------------------------------------------ */

/* A copy of exactly this size, so that a read beyond its end is seen. */
static pe_status read_copy(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *raw)
{
	struct pe_graph_policy none = xt_policy();
	char *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, data, size);
	struct pe_source source = {copy, size, "input"};
	if (reader->recognise)
		(void)reader->recognise(&source);
	if (reader->plausible)
		(void)reader->plausible(&source);
	pe_status status = reader->read(ctx, &source, policy ? policy : &none, raw);
	free(copy);
	return status;
}

void xt_reads_bytes(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size,
	const struct pe_graph_policy *policy, const char *expected)
{
	struct pe_raw_graphs raw;
	if (read_copy(ctx, reader, data, size, policy, &raw) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	char *text = xt_raw_text(&raw);
	assert_string_equal(text, expected);
	free(text);
	pe_raw_graphs_free(ctx, &raw);
}

void xt_refuses_bytes(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size,
	const struct pe_graph_policy *policy, const char *message)
{
	struct pe_raw_graphs raw;
	pe_status status = read_copy(ctx, reader, data, size, policy, &raw);
	if (status == PE_OK) {
		char *text = xt_raw_text(&raw);
		fail_msg("read as \"%s\" what should fail with \"%s\"", text, message);
	}
	if ((status != PE_ERR_FORMAT && status != PE_ERR_UNSUPPORTED) ||
		!strstr(pe_context_message(ctx), message))
		fail_msg("status %d, \"%s\"; expected \"%s\"", (int)status, pe_context_message(ctx), message);
}

void xt_reads(pe_context *ctx, const struct pe_reader *reader, const char *text,
	const struct pe_graph_policy *policy, const char *expected)
{
	xt_reads_bytes(ctx, reader, text, strlen(text), policy, expected);
}

void xt_refuses(pe_context *ctx, const struct pe_reader *reader, const char *text,
	const struct pe_graph_policy *policy, const char *message)
{
	xt_refuses_bytes(ctx, reader, text, strlen(text), policy, message);
}

/* ---- robustness --------------------------------------------------------------------- */

static pe_status try(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size)
{
	struct pe_raw_graphs raw;
	int64_t before = xt_live_blocks();
	pe_status status = read_copy(ctx, reader, data, size, NULL, &raw);
	if (status == PE_OK) {
		free(xt_raw_text(&raw));
		pe_raw_graphs_free(ctx, &raw);
	} else if (status != PE_ERR_NOMEM && strncmp(pe_context_message(ctx), "input:", 6) != 0) {
		fail_msg("\"%s\" does not name the file", pe_context_message(ctx));
	}
	assert_int_equal(xt_live_blocks(), before);
	return status;
}

static void fail_allocations(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size)
{
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, try(ctx, reader, data, size));
	}
}

void xt_survives(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size)
{
	static const char changes[] = {0, 1, ' ', '\n', '-', '9', ':', '~', '"', ']', '\x7f', '\xff'};
	size_t limit = size < 4096 ? size : 4096;
	assert_int_equal(try(ctx, reader, data, size), PE_OK);
	fail_allocations(ctx, reader, data, size);
	for (size_t cut = 0; cut < limit; cut++)
		(void)try(ctx, reader, data, cut);
	char *changed = malloc(size + 1);
	assert_non_null(changed);
	memcpy(changed, data, size);
	for (size_t at = 0; at < limit; at++) {
		char kept = changed[at];
		for (size_t c = 0; c < sizeof changes; c++) {
			changed[at] = changes[c];
			(void)try(ctx, reader, changed, size);
		}
		changed[at] = kept;
	}
	free(changed);
}

/* ---- golden files ------------------------------------------------------------------- */

char *xt_file(const char *name, size_t *size)
{
	const char *path = xt_source(name);
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("cannot open %s", path);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	char *data = malloc(*size + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, file), *size);
	data[*size] = '\0';
	fclose(file);
	return data;
}

static char *golden(const char *name, size_t *size)
{
	char path[256];
	snprintf(path, sizeof path, "tests/golden/graphs/%s", name);
	return xt_file(path, size);
}

void xt_reads_golden(pe_context *ctx, const struct pe_reader *reader, const char *name)
{
	size_t size, table_size;
	char *data = golden(name, &size), *table = golden("expected.txt", &table_size);
	char start[128], *found = NULL;
	snprintf(start, sizeof start, "%s: ", name);
	for (char *rest = table, *line; (line = strtok_r(rest, "\n", &rest));)
		if (strncmp(line, start, strlen(start)) == 0)
			found = line + strlen(start);
	if (!found)
		fail_msg("expected.txt has no line for %s", name);
	xt_reads_bytes(ctx, reader, data, size, NULL, found);
	free(data);
	free(table);
}

bool xt_recognises_golden(const struct pe_reader *reader, const char *name)
{
	size_t size;
	char *data = golden(name, &size);
	struct pe_source source = {data, size, name};
	bool is = reader->recognise && reader->recognise(&source);
	free(data);
	return is;
}

/* ---- arrays ------------------------------------------------------------------------- */

pe_tensor xt_matrix(const void *data, pe_dtype dtype, int64_t rows, int64_t columns)
{
	void *writable;
	memcpy(&writable, &data, sizeof writable);
	return pe_tensor_dense(writable, dtype, 2, (const int64_t[]){rows, columns});
}

pe_tensor xt_vector(const void *data, pe_dtype dtype, int64_t length)
{
	pe_tensor t = xt_matrix(data, dtype, length, 1);
	t.ndim = 1;
	return t;
}

char *xt_bundle_bytes(
	pe_context *ctx, const char *format, const struct xt_array *arrays, size_t count, size_t *size)
{
	pe_bundle *bundle;
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_int_equal(pe_bundle_create(ctx, &bundle), PE_OK);
	for (size_t i = 0; i < count; i++)
		if (pe_bundle_add(bundle, arrays[i].name, &arrays[i].tensor) != PE_OK)
			fail_msg("%s", pe_context_message(ctx));
	assert_int_equal(pe_bundle_write_fd(bundle, fileno(file), format), PE_OK);
	pe_bundle_destroy(&bundle);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	char *bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}
