/* SPDX-License-Identifier: BSD-2-Clause
 * Which reader an input is for. */
#ifndef PE_DETECT_H
#define PE_DETECT_H

#include "reader.h"

/* Whether the name, a ".gz" at its end aside, ends in a suffix of the reader; or of any reader. */
bool pe_reader_has_suffix(const struct pe_reader *reader, const char *name);
bool pe_has_graph_suffix(const char *name);

/* Reads memory that is not compressed. By policy->format; or by certain content; or by suffix; or by
 * trying what is plausible. On failure the message names the formats tried, and there is nothing to free. */
pe_status pe_read_source(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out) PE_NODISCARD;

/* Likewise of a file, which may be compressed. */
pe_status pe_read_graph_file(pe_context *ctx, const char *path, const struct pe_graph_policy *policy,
	struct pe_raw_graphs *out) PE_NODISCARD;

/* Likewise of many files, by several threads. raws are zeroed before, and must be freed on failure too. Where
 * policy takes files that cannot be read as empty, these are noted in *unread, by their number among the
 * files, and left zeroed. */
pe_status pe_read_graph_files(pe_context *ctx, char *const *paths, int64_t count,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *raws, struct pe_unread *unread) PE_NODISCARD;

/* All graph files of a directory, in the order of their names, as graphs one after another. Files
 * without a known suffix are left out, and said, unless policy->format names what they are. */
pe_status pe_read_directory(pe_context *ctx, const char *directory, const struct pe_graph_policy *policy,
	struct pe_raw_graphs *out) PE_NODISCARD;

/* The graphs of count ≥ 1 raw graphs as one, in order: ids become text if some are, edges get the weight 1
 * if others have weights, a row becomes two if others stand for one direction. raws may be changed, and
 * must still be freed. */
pe_status pe_raw_concatenate(
	pe_context *ctx, struct pe_raw_graphs *raws, int64_t count, struct pe_raw_graphs *out) PE_NODISCARD;

#endif
