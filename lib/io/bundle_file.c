/* SPDX-License-Identifier: BSD-2-Clause
 * Bundles from and to files: which format it is, and the steps that all formats share. */
#include <string.h>
#include <sys/stat.h>

#include "io/file_source.h"
#include "io/formats.h"
#include "io/npz_stream.h"

#define FORMATS "npy, npz, safetensors, tsv or dir"

enum format { FORMAT_NONE, FORMAT_NPY, FORMAT_NPZ, FORMAT_SAFETENSORS, FORMAT_TSV, FORMAT_DIR };

static enum format by_name(const char *name)
{
	static const char *const names[] = {NULL, "npy", "npz", "safetensors", "tsv", "dir"};
	for (int i = 1; i < (int)PE_COUNT(names); i++)
		if (strcmp(names[i], name) == 0)
			return (enum format)i;
	return FORMAT_NONE;
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);
	return a >= b && strcmp(text + a - b, end) == 0;
}

static enum format by_suffix(const char *path)
{
	const char *dot = strrchr(path, '.');
	if (ends_with(path, "/"))
		return FORMAT_DIR;
	enum format format = dot ? by_name(dot + 1) : FORMAT_NONE;
	return format == FORMAT_DIR ? FORMAT_NONE : format;
}

/* ---- reading ------------------------------------------------------------------------- */

static enum format by_content(const char *bytes, size_t size)
{
	return pe_is_npy(bytes, size)        ? FORMAT_NPY
		: pe_is_zip(bytes, size)         ? FORMAT_NPZ
		: pe_is_safetensors(bytes, size) ? FORMAT_SAFETENSORS
										 : FORMAT_NONE;
}

static pe_status choose(
	pe_context *ctx, const char *bytes, size_t size, const char *source, const char *name, enum format *out)
{
	*out = name ? by_name(name) : by_content(bytes, size);
	if (*out == FORMAT_NONE && !name)
		*out = by_suffix(source);
	if (*out == FORMAT_NPY || *out == FORMAT_NPZ || *out == FORMAT_SAFETENSORS)
		return PE_OK;
	if (name)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "arrays are read from npy, npz or safetensors, not %s", name);
	return pe_fail(ctx, PE_ERR_FORMAT, "%s: this is neither .npy, .npz nor .safetensors", source);
}

/* Reads from the bundle's own bytes. */
static pe_status parse(pe_bundle *b, size_t size, const char *source, const char *format)
{
	enum format chosen;
	PE_TRY(choose(b->ctx, b->bytes, size, source, format, &chosen));
	if (chosen == FORMAT_NPY)
		return pe_npy_read(b, "array", b->bytes, size, source);
	if (chosen == FORMAT_NPZ)
		return pe_npz_read(b, b->bytes, size, source);
	return pe_safetensors_read(b, b->bytes, size, source);
}

static pe_status finish(pe_bundle *b, pe_status status, pe_bundle **out)
{
	if (status == PE_OK)
		*out = b;
	else
		pe_bundle_destroy(&b);
	return status;
}

static bool is_directory(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

pe_status pe_bundle_from_file(pe_context *context, const char *path, const char *format, pe_bundle **out)
{
	pe_bundle *b;
	size_t size;
	if (!context || !path || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	PE_TRY(pe_bundle_create(context, &b));
	if ((format && strcmp(format, "dir") == 0) || (!format && is_directory(path)))
		return finish(b, pe_npy_dir_read(b, path), out);
	pe_status status = pe_file_read(context, path, &b->bytes, &size);
	if (status == PE_OK)
		status = parse(b, size, path, format);
	return finish(b, status, out);
}

static pe_status copy_bytes(pe_bundle *b, const void *data, size_t *size, const char *source)
{
	if (pe_is_gzip(data, *size))
		return pe_gunzip(b->ctx, data, *size, source, 0, &b->bytes, size);
	b->bytes = pe_alloc(b->ctx, (int64_t)*size, 1);
	if (!b->bytes)
		return PE_ERR_NOMEM;
	if (*size > 0)
		memcpy(b->bytes, data, *size);
	return PE_OK;
}

pe_status pe_bundle_from_bytes(
	pe_context *context, const void *data, size_t size, const char *name, const char *format, pe_bundle **out)
{
	pe_bundle *b;
	if (!context || (!data && size > 0) || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	const char *source = name ? name : "the data";
	PE_TRY(pe_bundle_create(context, &b));
	pe_status status = copy_bytes(b, data, &size, source);
	if (status == PE_OK)
		status = parse(b, size, source, format);
	return finish(b, status, out);
}

/* ---- writing ------------------------------------------------------------------------- */

static pe_status check(const pe_bundle *b, enum format format)
{
	switch (format) {
	case FORMAT_NPY:
		return pe_npy_check(b);
	case FORMAT_NPZ:
		return pe_npz_check(b);
	case FORMAT_SAFETENSORS:
		return pe_safetensors_check(b);
	case FORMAT_DIR:
		return pe_npy_dir_check(b);
	default:
		return pe_tsv_check(b);
	}
}

static pe_status write_to(pe_bundle *b, enum format format, struct pe_sink *sink)
{
	switch (format) {
	case FORMAT_NPY:
		return pe_npy_write(b, sink);
	case FORMAT_NPZ:
		return pe_npz_write(b, sink);
	case FORMAT_SAFETENSORS:
		return pe_safetensors_write(b, sink);
	default:
		return pe_tsv_write(b, sink);
	}
}

static pe_status close_sink(pe_bundle *b, pe_status status, struct pe_sink *sink)
{
	if (status == PE_OK)
		status = pe_sink_commit(sink);
	else
		pe_sink_abort(sink);
	b->sync_seconds = sink->sync_seconds;
	return status;
}

/* Does something to the directory path, without the slashes at its end and symbolic links. */
static pe_status with_directory(
	pe_bundle *b, const char *path, pe_status (*act)(pe_bundle *bundle, const char *path))
{
	char *bare = pe_strdup(b->ctx, path);
	if (!bare)
		return PE_ERR_NOMEM;
	for (size_t length = strlen(bare); length > 1 && bare[length - 1] == '/'; length--)
		bare[length - 1] = '\0';
	char *real = pe_resolve_path(b->ctx, bare);
	pe_status status = real ? act(b, real) : PE_ERR_NOMEM;
	pe_free(b->ctx, real);
	pe_free(b->ctx, bare);
	return status;
}

/* The format of a file, and whether it can hold the bundle. */
static pe_status choose_for_file(pe_bundle *b, const char *path, const char *format, enum format *out)
{
	*out = format ? by_name(format) : by_suffix(path);
	if (*out == FORMAT_NONE && format)
		return pe_fail(b->ctx, PE_ERR_ARGUMENT, "there is no format %s; there are " FORMATS, format);
	if (*out == FORMAT_NONE)
		return pe_fail(b->ctx, PE_ERR_ARGUMENT,
			"%s: the name does not tell the format: end it in .npy, .npz, .safetensors, .tsv or /", path);
	return check(b, *out);
}

static pe_status choose_for_pipe(pe_bundle *b, const char *format, enum format *out)
{
	*out = format ? by_name(format) : FORMAT_NONE;
	if (*out == FORMAT_NONE || *out == FORMAT_DIR)
		return pe_fail(b->ctx, PE_ERR_ARGUMENT, "to a pipe one writes npy, npz, safetensors or tsv, not %s",
			format ? format : "an unnamed format");
	return check(b, *out);
}

pe_status pe_bundle_check(pe_bundle *bundle, const char *path, const char *format)
{
	if (!bundle)
		return PE_ERR_ARGUMENT;
	enum format chosen;
	if (!path)
		return choose_for_pipe(bundle, format, &chosen);
	PE_TRY(choose_for_file(bundle, path, format, &chosen));
	return chosen == FORMAT_DIR ? with_directory(bundle, path, pe_npy_dir_try)
								: pe_sink_try(bundle->ctx, path);
}

pe_status pe_bundle_write(pe_bundle *bundle, const char *path, const char *format)
{
	if (!bundle || !path)
		return PE_ERR_ARGUMENT;
	struct pe_sink sink;
	enum format chosen;
	bundle->sync_seconds = 0;
	PE_TRY(pe_bundle_check_data(bundle->ctx, bundle));
	PE_TRY(choose_for_file(bundle, path, format, &chosen));
	if (chosen == FORMAT_DIR)
		return with_directory(bundle, path, pe_npy_dir_write);
	PE_TRY(pe_sink_open(bundle->ctx, path, &sink));
	return close_sink(bundle, write_to(bundle, chosen, &sink), &sink);
}

pe_status pe_bundle_write_fd(pe_bundle *bundle, int fd, const char *format)
{
	if (!bundle)
		return PE_ERR_ARGUMENT;
	struct pe_sink sink;
	enum format chosen;
	PE_TRY(pe_bundle_check_data(bundle->ctx, bundle));
	PE_TRY(choose_for_pipe(bundle, format, &chosen));
	PE_TRY(pe_sink_open_fd(bundle->ctx, fd, "output", &sink));
	return close_sink(bundle, write_to(bundle, chosen, &sink), &sink);
}

/* ---- writing in parts ---------------------------------------------------------------- */

pe_status pe_bundle_begin(pe_bundle *bundle, const char *path, const char *format)
{
	enum format chosen;
	if (!bundle || !path)
		return PE_ERR_ARGUMENT;
	if (bundle->stream)
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT, "a file has begun already");
	PE_TRY(choose_for_file(bundle, path, format, &chosen));
	if (chosen != FORMAT_NPZ)
		return pe_fail(bundle->ctx, PE_ERR_UNSUPPORTED, "%s: only .npz is written in parts", path);
	return pe_npz_stream_begin(bundle, path, &bundle->stream);
}

const char *pe_bundle_temporary(const pe_bundle *bundle)
{
	return bundle && bundle->stream ? pe_npz_stream_file(bundle->stream) : NULL;
}

pe_status pe_bundle_rows(
	pe_bundle *bundle, pe_context *worker, const char *name, int64_t first, const pe_tensor *rows)
{
	if (!bundle || !worker || !name || !rows)
		return PE_ERR_ARGUMENT;
	for (int64_t i = 0; bundle->stream && i < bundle->count; i++)
		if (bundle->arrays[i].awaited && strcmp(bundle->arrays[i].name, name) == 0)
			return pe_npz_stream_rows(bundle->stream, worker, i, first, rows);
	return pe_fail(worker, PE_ERR_ARGUMENT, "no file has begun that awaits an array %.255s", name);
}

pe_status pe_bundle_end(pe_bundle *bundle)
{
	if (!bundle)
		return PE_ERR_ARGUMENT;
	if (!bundle->stream)
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT, "no file has begun");
	pe_status status = pe_npz_check(bundle);
	if (status == PE_OK)
		status = pe_npz_stream_end(bundle->stream, &bundle->sync_seconds);
	pe_npz_stream_free(bundle->stream);
	bundle->stream = NULL;
	return status;
}
