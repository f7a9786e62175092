/* SPDX-License-Identifier: BSD-2-Clause
 * Recognition: content first, suffix second, then whatever is plausible. */
#include "detect.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/digest.h"
#include "io/file_source.h"

/* In the order in which they are asked and tried. */
static const struct pe_reader *const readers[] = {
	&pe_reader_matrix_market,
	&pe_reader_graphml,
	&pe_reader_node_link,
	&pe_reader_gml,
	&pe_reader_pajek,
	&pe_reader_dimacs,
	&pe_reader_scipy_npz,
	&pe_reader_edge_index,
	&pe_reader_graph6,
	&pe_reader_metis,
	&pe_reader_edge_list,
};

#define READERS ((size_t)PE_COUNT(readers))

/* ---- names -------------------------------------------------------------------------- */

static bool ends_with(const char *name, size_t size, const char *suffix, size_t length)
{
	return size > length && memcmp(name + size - length, suffix, length) == 0;
}

bool pe_reader_has_suffix(const struct pe_reader *reader, const char *name)
{
	size_t size = name ? strlen(name) : 0;
	if (size > 3 && memcmp(name + size - 3, ".gz", 3) == 0)
		size -= 3;
	for (const char *suffix = reader->suffixes; *suffix; suffix += *suffix == ' ') {
		size_t length = strcspn(suffix, " ");
		if (ends_with(name, size, suffix, length))
			return true;
		suffix += length;
	}
	return false;
}

bool pe_has_graph_suffix(const char *name)
{
	for (size_t i = 0; i < READERS; i++)
		if (pe_reader_has_suffix(readers[i], name))
			return true;
	return false;
}

/* "mtx" and "matrix-market" both name the reader. */
static const struct pe_reader *find_reader(const char *format)
{
	char file[40];
	snprintf(file, sizeof file, "x.%s", format);
	for (size_t i = 0; i < READERS; i++)
		if (strcmp(readers[i]->format, format) == 0)
			return readers[i];
	for (size_t i = 0; i < READERS; i++)
		if (strlen(format) < 30 && pe_reader_has_suffix(readers[i], file))
			return readers[i];
	return NULL;
}

static pe_status unknown_format(pe_context *ctx, const char *format)
{
	char names[512] = "";
	for (size_t i = 0; i < READERS; i++) {
		strcat(names, i ? ", " : "");
		strcat(names, readers[i]->format);
	}
	return pe_fail(ctx, PE_ERR_RANGE, "there is no format \"%s\"; there are ogb, tu, %s", format, names);
}

/* ---- trying ------------------------------------------------------------------------- */

static bool is_verdict_on_input(pe_status status)
{
	return status == PE_ERR_FORMAT || status == PE_ERR_UNSUPPORTED || status == PE_ERR_SHAPE;
}

/* Warnings of a reader that fails in the end would be about nothing. */
static pe_status try_quietly(pe_context *ctx, const struct pe_reader *reader, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	void (*log)(void *, pe_log_level, const char *) = ctx->log;
	ctx->log = NULL;
	pe_status status = reader->read(ctx, source, policy, out);
	ctx->log = log;
	if (status != PE_OK || !log)
		return status;
	pe_raw_graphs_free(ctx, out);
	return reader->read(ctx, source, policy, out); /* it was this one: now with its warnings */
}

static pe_status try_plausible(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	char tried[sizeof ctx->message] = "";
	size_t used = 0;
	for (size_t i = 0; i < READERS; i++) {
		const struct pe_reader *reader = readers[i];
		if (!reader->plausible || !reader->plausible(source))
			continue;
		pe_status status = try_quietly(ctx, reader, source, policy, out);
		if (!is_verdict_on_input(status))
			return status;
		int added = snprintf(
			tried + used, sizeof tried - used, "%s%s (%s)", used ? "; " : "", reader->format, ctx->message);
		used = added > 0 && used + (size_t)added < sizeof tried ? used + (size_t)added : used;
		tried[used] = '\0';
	}
	if (used == 0)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: neither its content nor its name is that of a graph",
			pe_source_name(source));
	return pe_fail(ctx, PE_ERR_FORMAT, "%s: is of no known format; tried %s", pe_source_name(source), tried);
}

pe_status pe_read_source(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	*out = (struct pe_raw_graphs){0};
	if (policy->format) {
		const struct pe_reader *reader = find_reader(policy->format);
		return reader ? reader->read(ctx, source, policy, out) : unknown_format(ctx, policy->format);
	}
	/* A matrix is never tried as anything else, whatever its content. */
	if (pe_reader_has_suffix(&pe_reader_matrix_market, source->name))
		return pe_reader_matrix_market.read(ctx, source, policy, out);
	if (source->size == 0)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: is empty", pe_source_name(source));
	for (size_t i = 0; i < READERS; i++)
		if (readers[i]->recognise && readers[i]->recognise(source))
			return readers[i]->read(ctx, source, policy, out);
	for (size_t i = 0; i < READERS; i++)
		if (pe_reader_has_suffix(readers[i], source->name))
			return readers[i]->read(ctx, source, policy, out);
	return try_plausible(ctx, source, policy, out);
}

/* ---- files, datasets, memory -------------------------------------------------------- */

pe_status pe_read_graph_file(
	pe_context *ctx, const char *path, const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	char *bytes;
	size_t size;
	PE_TRY(pe_file_read(ctx, path, &bytes, &size));
	const struct pe_source source = {bytes, size, path};
	pe_status status = pe_read_source(ctx, &source, policy, out);
	pe_free(ctx, bytes);
	return status;
}

static pe_status read_dataset(
	pe_context *ctx, const char *path, const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	bool is = false, any = !policy->format;
	if (any || strcmp(policy->format, "ogb") == 0)
		PE_TRY(pe_read_ogb(ctx, path, policy, &is, out));
	if (!is && (any || strcmp(policy->format, "tu") == 0))
		PE_TRY(pe_read_tu(ctx, path, policy, &is, out));
	if (is)
		return PE_OK;
	if (!any && (strcmp(policy->format, "ogb") == 0 || strcmp(policy->format, "tu") == 0))
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: holds no dataset of format %s", path, policy->format);
	return pe_read_directory(ctx, path, policy, out);
}

pe_status pe_graph_from_file(pe_context *context, const char *path, const pe_params *params, pe_graph **out)
{
	if (!out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!context || !path)
		return PE_ERR_ARGUMENT;
	struct pe_graph_policy policy;
	struct pe_raw_graphs raw = {0};
	struct stat found;
	PE_TRY(pe_graph_policy_from(context, params, &policy));
	bool directory = strcmp(path, "-") != 0 && stat(path, &found) == 0 && S_ISDIR(found.st_mode);
	struct pe_digest digest;
	pe_digest_start(&digest);
	context->digest = &digest;
	pe_status status = directory ? read_dataset(context, path, &policy, &raw)
								 : pe_read_graph_file(context, path, &policy, &raw);
	context->digest = NULL;
	PE_TRY(status);
	PE_TRY(pe_graph_build(context, &raw, &policy, out));
	pe_digest_end(&digest, (*out)->digest);
	return PE_OK;
}

static pe_status read_bytes(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	if (!pe_is_gzip(source->data, source->size))
		return pe_read_source(ctx, source, policy, out);
	char *bytes;
	size_t size;
	PE_TRY(pe_gunzip(ctx, source->data, source->size, pe_source_name(source), 0, &bytes, &size));
	const struct pe_source unpacked = {bytes, size, source->name};
	pe_status status = pe_read_source(ctx, &unpacked, policy, out);
	pe_free(ctx, bytes);
	return status;
}

pe_status pe_graph_from_bytes(pe_context *context, const void *data, size_t size, const char *name,
	const pe_params *params, pe_graph **out)
{
	if (!out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!context || (!data && size > 0))
		return PE_ERR_ARGUMENT;
	struct pe_graph_policy policy;
	struct pe_raw_graphs raw = {0};
	const struct pe_source source = {data ? data : "", size, name};
	PE_TRY(pe_graph_policy_from(context, params, &policy));
	PE_TRY(read_bytes(context, &source, &policy, &raw));
	PE_TRY(pe_graph_build(context, &raw, &policy, out));
	struct pe_digest digest;
	pe_digest_start(&digest);
	pe_digest_add(&digest, source.data, source.size);
	pe_digest_end(&digest, (*out)->digest);
	return PE_OK;
}
