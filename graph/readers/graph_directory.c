/* SPDX-License-Identifier: BSD-2-Clause
 * A directory of graph files. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dataset_files.h"
#include "detect.h"
#include "io/file_source.h"

struct entries {
	char **paths;
	int64_t count, capacity;
	int64_t left_out, folders;
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
	if (!pe_dataset_path(path, directory, name))
		return pe_fail_errno(ctx, directory, ENAMETOOLONG);
	bool there = stat(path, &found) == 0; /* if not, reading it says why */
	out->folders += there && S_ISDIR(found.st_mode);
	if (there && !S_ISREG(found.st_mode))
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

/* ---- files that cannot be read ------------------------------------------------------ */

/* A graph of 0 nodes, of the same kind as `model`. */
static pe_status make_empty(pe_context *ctx, const struct pe_raw_graphs *model, struct pe_raw_graphs *out)
{
	*out = (struct pe_raw_graphs){
		.format = model->format, .graphs = 1, .base = model->base, .mirrored = model->mirrored};
	out->u = pe_alloc(ctx, 0, sizeof *out->u);
	out->v = pe_alloc(ctx, 0, sizeof *out->v);
	return out->u && out->v ? PE_OK : PE_ERR_NOMEM;
}

/* Makes the unread entries empty graphs, and their numbers those of the graphs. */
static pe_status fill_unread(
	pe_context *ctx, struct pe_raw_graphs *raws, int64_t count, struct pe_unread *unread)
{
	int64_t model = 0, graphs = 0, next = 0;
	if (unread->count == count)
		return pe_fail(ctx, PE_ERR_FORMAT, "%s", unread->why[0]);
	while (model < unread->count && unread->graph[model] == model)
		model++; /* the first that was read */
	for (int64_t i = 0; i < count; i++) {
		if (next < unread->count && unread->graph[next] == i) {
			PE_TRY(make_empty(ctx, &raws[model], &raws[i]));
			unread->graph[next++] = graphs;
		}
		graphs += raws[i].graphs;
	}
	return PE_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

/* The names of the files, and which graphs are of each. */
static pe_status name_files(pe_context *ctx, const struct entries *entries, const struct pe_raw_graphs *raws,
	struct pe_graph_files *out)
{
	out->name = pe_alloc(ctx, entries->count, sizeof *out->name);
	out->first = pe_alloc(ctx, entries->count + 1, sizeof *out->first);
	if (!out->name || !out->first)
		return PE_ERR_NOMEM;
	out->first[0] = 0;
	for (int64_t i = 0; i < entries->count; i++) {
		out->name[i] = pe_strdup(ctx, strrchr(entries->paths[i], '/') + 1);
		if (!out->name[i])
			return PE_ERR_NOMEM;
		out->count++;
		out->first[i + 1] = out->first[i] + raws[i].graphs;
	}
	return PE_OK;
}

static pe_status read_entries(pe_context *ctx, const struct entries *entries,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct pe_raw_graphs *raws = pe_alloc_zero(ctx, entries->count, sizeof *raws), rest = {0};
	if (!raws)
		return PE_ERR_NOMEM;
	pe_status status = pe_read_graph_files(ctx, entries->paths, entries->count, policy, raws, &rest.unread);
	if (status == PE_OK)
		status = fill_unread(ctx, raws, entries->count, &rest.unread);
	if (status == PE_OK)
		status = name_files(ctx, entries, raws, &rest.files);
	if (status == PE_OK)
		status = pe_raw_concatenate(ctx, raws, entries->count, out);
	if (status == PE_OK) {
		out->unread = rest.unread;
		rest.unread = (struct pe_unread){0};
		out->files = rest.files;
		rest.files = (struct pe_graph_files){0};
	}
	for (int64_t i = 0; i < entries->count; i++)
		pe_raw_graphs_free(ctx, &raws[i]);
	pe_raw_graphs_free(ctx, &rest);
	pe_free(ctx, raws);
	return status;
}

static pe_status check_entries(pe_context *ctx, const char *directory, const struct entries *entries)
{
	char folders[64] = "";
	if (entries->folders > 0)
		snprintf(folders, sizeof folders, ", but %" PRId64 " sub-folder%s", entries->folders,
			entries->folders == 1 ? "" : "s");
	if (entries->count == 0)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: is no OGB or TU dataset, and holds no file with a graph format's suffix%s", directory,
			folders);
	if (entries->left_out > 0)
		pe_log(ctx, PE_LOG_WARNING, "%s: %" PRId64 " files without a graph format's suffix were left out",
			directory, entries->left_out);
	if (entries->folders > 0)
		pe_log(ctx, PE_LOG_WARNING, "%s: %" PRId64 " sub-folder%s left out", directory, entries->folders,
			entries->folders == 1 ? " was" : "s were");
	return PE_OK;
}

pe_status pe_read_directory(
	pe_context *ctx, const char *directory, const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct entries entries = {0};
	pe_status status = list(ctx, directory, policy->format ? ALL : SUFFIX, &entries);
	if (status == PE_OK && entries.count == 0) {
		entries.left_out = entries.folders = 0;
		status = list(ctx, directory, TEXT, &entries);
	}
	if (status == PE_OK)
		status = check_entries(ctx, directory, &entries);
	if (status == PE_OK)
		status = read_entries(ctx, &entries, policy, out);
	free_entries(ctx, &entries);
	return status;
}
