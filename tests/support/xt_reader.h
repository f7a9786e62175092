/* SPDX-License-Identifier: BSD-2-Clause
 * What the tests of graph readers share. */
#ifndef XT_READER_H
#define XT_READER_H

#include "xt.h"

#include "reader.h"

/* No policy set: everything auto. */
struct pe_graph_policy xt_policy(void);

/* What a reader found, as text to be freed by free():
 *   "undirected 3: 0-1 1-2=2.5 | 2: 0-1" two graphs of 3 and 2 nodes, each row standing for both directions;
 *   "directed …", "directed if one-way …", "unknown …"; "undirected as listed …" where rows stand for
 * themselves only. */
char *xt_raw_text(const struct pe_raw_graphs *raw);

/* Reads text under policy (NULL: none) as a file named "input" and compares, or expects a message that holds
 * `message` and the status PE_ERR_FORMAT or PE_ERR_UNSUPPORTED. */
void xt_reads(pe_context *ctx, const struct pe_reader *reader, const char *text,
	const struct pe_graph_policy *policy, const char *expected);
void xt_refuses(pe_context *ctx, const struct pe_reader *reader, const char *text,
	const struct pe_graph_policy *policy, const char *message);
/* Likewise for bytes. */
void xt_reads_bytes(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size,
	const struct pe_graph_policy *policy, const char *expected);
void xt_refuses_bytes(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size,
	const struct pe_graph_policy *policy, const char *message);

/* Cuts the input after every byte, changes every byte in turn, and fails every allocation: the reader must
 * give a graph or a message that begins with the name, and never leak. At most the first 4096 bytes. */
void xt_survives(pe_context *ctx, const struct pe_reader *reader, const void *data, size_t size);

/* The whole of a file below the source folder (tests/golden/graphs/…), NUL-terminated, to be freed by free().
 */
char *xt_file(const char *name, size_t *size);
/* Reads golden/graphs/NAME and compares with the line of golden/graphs/expected.txt that begins with "NAME:
 * ". */
void xt_reads_golden(pe_context *ctx, const struct pe_reader *reader, const char *name);
/* Only the readers's recognise(): of golden file NAME. */
bool xt_recognises_golden(const struct pe_reader *reader, const char *name);

/* Arrays as the bytes of a file of this format, to be freed by free(). */
struct xt_array {
	const char *name;
	pe_tensor tensor;
};
char *xt_bundle_bytes(
	pe_context *ctx, const char *format, const struct xt_array *arrays, size_t count, size_t *size);
/* A view on constant data. */
pe_tensor xt_vector(const void *data, pe_dtype dtype, int64_t length);
pe_tensor xt_matrix(const void *data, pe_dtype dtype, int64_t rows, int64_t columns);

#endif
