/* SPDX-License-Identifier: BSD-2-Clause
 * A directory of graph files. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dataset_files.h"
#include "detect.h"
#include "io/file_source.h"

struct entries {
	char **paths;
	int64_t count, capacity;
	int64_t left_out;
};

static void free_entries(pe_context *ctx, struct entries *entries)
{
	for (int64_t i = 0; i < entries->count; i++)
		pe_free(ctx, entries->paths[i]);
	pe_free(ctx, entries->paths);
}

/* wanted: a known suffix, or ".txt" where nothing has one, or every file. */
enum wanted { SUFFIX, TEXT, ALL };

static bool is_wanted(const char *name, enum wanted wanted)
{
	static const struct pe_reader text = {.suffixes = ".txt"};
	return wanted == ALL ||
		(wanted == SUFFIX ? pe_has_graph_suffix(name) : pe_reader_has_suffix(&text, name));
}

static pe_status add_entry(
	pe_context *ctx, const char *directory, const char *name, enum wanted wanted, struct entries *out)
{
	struct stat found;
	char path[PE_PATH_SIZE];
	if (!pe_dataset_path(path, directory, name) || stat(path, &found) != 0 || !S_ISREG(found.st_mode))
		return PE_OK;
	if (!is_wanted(name, wanted)) {
		out->left_out++;
		return PE_OK;
	}
	PE_TRY(pe_grow(ctx, &out->paths, &out->capacity, out->count, out->count + 1, sizeof *out->paths));
	out->paths[out->count] = pe_strdup(ctx, path);
	return out->paths[out->count++] ? PE_OK : PE_ERR_NOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static pe_status list(pe_context *ctx, const char *directory, enum wanted wanted, struct entries *out)
{
	DIR *open = opendir(directory);
	if (!open)
		return pe_fail_errno(ctx, directory, errno);
	pe_status status = PE_OK;
	for (struct dirent *entry; status == PE_OK && (entry = readdir(open));)
		if (entry->d_name[0] != '.')
			status = add_entry(ctx, directory, entry->d_name, wanted, out);
	closedir(open);
	if (status == PE_OK && out->count > 0)
		qsort(out->paths, (size_t)out->count, sizeof *out->paths, by_name);
	return status;
}

static pe_status read_entry(
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

static pe_status read_entries(pe_context *ctx, const struct entries *entries,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct pe_raw_graphs *raws = pe_alloc_zero(ctx, entries->count, sizeof *raws);
	if (!raws)
		return PE_ERR_NOMEM;
	pe_status status = PE_OK;
	int64_t read = 0;
	for (; status == PE_OK && read < entries->count; read++)
		status = read_entry(ctx, entries->paths[read], policy, &raws[read]);
	if (status == PE_OK)
		status = pe_raw_concatenate(ctx, raws, read, out);
	else
		read--; /* the one that failed has nothing to free */
	for (int64_t i = 0; i < read; i++)
		pe_raw_graphs_free(ctx, &raws[i]);
	pe_free(ctx, raws);
	return status;
}

static pe_status check_entries(pe_context *ctx, const char *directory, const struct entries *entries)
{
	if (entries->count == 0)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: is no OGB or TU dataset, and holds no file with a graph format's suffix", directory);
	if (entries->left_out > 0)
		pe_log(ctx, PE_LOG_WARNING, "%s: %" PRId64 " files without a graph format's suffix were left out",
			directory, entries->left_out);
	return PE_OK;
}

pe_status pe_read_directory(
	pe_context *ctx, const char *directory, const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct entries entries = {0};
	pe_status status = list(ctx, directory, policy->format ? ALL : SUFFIX, &entries);
	if (status == PE_OK && entries.count == 0) {
		entries.left_out = 0;
		status = list(ctx, directory, TEXT, &entries);
	}
	if (status == PE_OK)
		status = check_entries(ctx, directory, &entries);
	if (status == PE_OK)
		status = read_entries(ctx, &entries, policy, out);
	free_entries(ctx, &entries);
	return status;
}
