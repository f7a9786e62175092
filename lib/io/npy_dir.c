/* SPDX-License-Identifier: BSD-2-Clause
 * A directory with one .npy file an array, which programs can map, and metadata.json. It is put
 * together under a temporary name, and then takes its own. */
#define _GNU_SOURCE /* renameat2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file_source.h"
#include "io/formats.h"
#include "io/metadata.h"
#include "io/npy.h"
#include "tensor.h"

#define METADATA "metadata.json"
#define ATTEMPTS 100

static bool is_array(const char *name)
{
	size_t length = strlen(name);
	return length > 4 && name[0] != '.' && strcmp(name + length - 4, ".npy") == 0;
}

/* FOLDER/NAME and SUFFIX. */
static char *join(pe_context *ctx, const char *folder, const char *name, const char *suffix)
{
	size_t size = strlen(folder) + strlen(name) + strlen(suffix) + 2;
	char *path = pe_alloc(ctx, (int64_t)size, 1);
	if (path)
		snprintf(path, size, "%s/%s%s", folder, name, suffix);
	return path;
}

/* ---- reading ------------------------------------------------------------------------- */

struct names {
	char **at;
	int64_t count, capacity;
};

static void free_names(pe_context *ctx, struct names *names)
{
	for (int64_t i = 0; i < names->count; i++)
		pe_free(ctx, names->at[i]);
	pe_free(ctx, names->at);
}

static pe_status add_name(pe_context *ctx, struct names *names, const char *name)
{
	PE_TRY(pe_grow(ctx, &names->at, &names->capacity, names->count, names->count + 1, sizeof *names->at));
	names->at[names->count] = pe_strdup(ctx, name);
	return names->at[names->count] ? (names->count++, PE_OK) : PE_ERR_NOMEM;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static pe_status list(pe_context *ctx, const char *path, struct names *names)
{
	DIR *folder = opendir(path);
	if (!folder)
		return pe_fail_errno(ctx, path, errno);
	pe_status status = PE_OK;
	for (struct dirent *entry; status == PE_OK && (entry = readdir(folder));)
		if (is_array(entry->d_name))
			status = add_name(ctx, names, entry->d_name);
	closedir(folder);
	if (names->count > 0)
		qsort(names->at, (size_t)names->count, sizeof *names->at, compare_names);
	return status;
}

static pe_status read_array(pe_bundle *b, const char *folder, char *name)
{
	char *bytes = NULL, *path = join(b->ctx, folder, name, "");
	size_t size;
	if (!path)
		return PE_ERR_NOMEM;
	name[strlen(name) - 4] = '\0';
	pe_status status = pe_file_read(b->ctx, path, &bytes, &size);
	if (status == PE_OK)
		status = pe_npy_read(b, name, bytes, size, path);
	if (status == PE_OK && !b->arrays[b->count - 1].owned)
		b->arrays[b->count - 1].owned = bytes;
	else
		pe_free(b->ctx, bytes);
	pe_free(b->ctx, path);
	return status;
}

static pe_status read_metadata(pe_bundle *b, const char *folder)
{
	char *bytes = NULL, *path = join(b->ctx, folder, METADATA, "");
	size_t size;
	bool is = true;
	if (!path)
		return PE_ERR_NOMEM;
	pe_status status = PE_OK;
	if (access(path, F_OK) == 0) {
		status = pe_file_read(b->ctx, path, &bytes, &size);
		if (status == PE_OK)
			status = pe_metadata_read(b, bytes, size, &is);
		if (!is)
			status = pe_fail(b->ctx, PE_ERR_FORMAT, "%s: not a JSON object", path);
	}
	pe_free(b->ctx, bytes);
	pe_free(b->ctx, path);
	return status;
}

pe_status pe_npy_dir_read(pe_bundle *bundle, const char *path)
{
	struct names names = {0};
	pe_status status = list(bundle->ctx, path, &names);
	for (int64_t i = 0; i < names.count && status == PE_OK; i++)
		status = read_array(bundle, path, names.at[i]);
	if (status == PE_OK && names.count == 0)
		status = pe_fail(bundle->ctx, PE_ERR_FORMAT, "%s: there are no .npy files in this directory", path);
	free_names(bundle->ctx, &names);
	return status == PE_OK ? read_metadata(bundle, path) : status;
}

/* ---- removing ------------------------------------------------------------------------ */

static bool is_ours(const char *name)
{
	return is_array(name) || strcmp(name, METADATA) == 0;
}

/* true if there is nothing in it but what we write. Other people's files are never removed. */
static bool holds_only_ours(const char *path)
{
	DIR *folder = opendir(path);
	bool only = folder != NULL;
	for (struct dirent *entry; only && (entry = readdir(folder));)
		only = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || is_ours(entry->d_name);
	if (folder)
		closedir(folder);
	return only;
}

static void remove_directory(const char *path)
{
	DIR *folder = opendir(path);
	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder));)
		if (is_ours(entry->d_name))
			(void)unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	(void)rmdir(path);
}

/* ---- writing ------------------------------------------------------------------------- */

static pe_status write_array(pe_bundle *b, int64_t index, struct pe_sink *sink)
{
	char header[PE_NPY_HEADER];
	const pe_tensor *t = &b->arrays[index].tensor;
	PE_TRY(pe_sink_write(sink, header, pe_npy_header(header, t->dtype, t->ndim, t->shape)));
	return pe_sink_tensor(sink, t);
}

static pe_status write_metadata(pe_bundle *b, struct pe_sink *sink)
{
	struct pe_text text = {.ctx = b->ctx};
	pe_status status = pe_metadata_write(b, &text);
	if (status == PE_OK)
		status = pe_text_string(&text, "\n");
	if (status == PE_OK)
		status = pe_sink_write(sink, text.bytes, (size_t)text.size);
	pe_text_free(&text);
	return status;
}

/* File number index of the directory; the one after the arrays is the metadata. */
static pe_status write_file(pe_bundle *b, const char *folder, int64_t index)
{
	bool array = index < b->count;
	char *path = join(b->ctx, folder, array ? b->arrays[index].name : METADATA, array ? ".npy" : "");
	if (!path)
		return PE_ERR_NOMEM;
	struct pe_sink sink;
	pe_status status = pe_sink_open(b->ctx, path, &sink);
	if (status == PE_OK) {
		status = array ? write_array(b, index, &sink) : write_metadata(b, &sink);
		if (status == PE_OK)
			status = pe_sink_commit(&sink);
		else
			pe_sink_abort(&sink);
		b->sync_seconds += sink.sync_seconds;
	}
	pe_free(b->ctx, path);
	return status;
}

static pe_status fill(pe_bundle *b, const char *folder)
{
	for (int64_t i = 0; i < b->count + (b->entry_count > 0); i++)
		PE_TRY(write_file(b, folder, i));
	return PE_OK;
}

static pe_status make_temporary(pe_context *ctx, const char *path, char **out)
{
	int error = EEXIST;
	for (int attempt = 0; attempt < ATTEMPTS && error == EEXIST; attempt++) {
		*out = pe_temporary_name(ctx, path, attempt);
		if (!*out)
			return PE_ERR_NOMEM;
		if (mkdir(*out, 0777) == 0)
			return PE_OK;
		error = errno;
		pe_free(ctx, *out);
	}
	return pe_fail_errno(ctx, path, error);
}

/* Gives the directory `from` the name `to`, and what was there before the name `from`. */
static int exchange(const char *from, const char *to)
{
	if (rename(from, to) == 0) /* nothing there, or an empty directory */
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -1;
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE);
}

pe_status pe_npy_dir_check(const pe_bundle *b)
{
	PE_TRY(pe_npy_check_types(b));
	for (int64_t i = 0; i < b->count; i++)
		if (strchr(b->arrays[i].name, '/') || b->arrays[i].name[0] == '.' || strlen(b->arrays[i].name) > 200)
			return pe_fail(b->ctx, PE_ERR_ARGUMENT, "%s is no name for a file", b->arrays[i].name);
	return PE_OK;
}

static pe_status check_target(pe_context *ctx, const char *path)
{
	struct stat info;
	if (lstat(path, &info) != 0)
		return errno == ENOENT ? PE_OK : pe_fail_errno(ctx, path, errno);
	if (!S_ISDIR(info.st_mode))
		return pe_fail_errno(ctx, path, ENOTDIR);
	if (!holds_only_ours(path))
		return pe_fail(ctx, PE_ERR_IO, "%s: there are other files in it; name a new directory", path);
	return PE_OK;
}

pe_status pe_npy_dir_try(pe_bundle *bundle, const char *path)
{
	char *temporary;
	PE_TRY(check_target(bundle->ctx, path));
	PE_TRY(make_temporary(bundle->ctx, path, &temporary));
	(void)rmdir(temporary);
	pe_free(bundle->ctx, temporary);
	return PE_OK;
}

pe_status pe_npy_dir_write(pe_bundle *bundle, const char *path)
{
	pe_bundle *b = bundle;
	PE_TRY(check_target(b->ctx, path));
	char *temporary;
	PE_TRY(make_temporary(b->ctx, path, &temporary));
	pe_status status = fill(b, temporary);
	if (status == PE_OK && exchange(temporary, path) != 0)
		status = pe_fail_errno(b->ctx, path, errno);
	if (status == PE_OK)
		pe_sync_directory_of(b->ctx, path);
	remove_directory(temporary); /* what is left under this name: a failure, or the older directory */
	pe_free(b->ctx, temporary);
	return status;
}
