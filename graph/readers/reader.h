/* SPDX-License-Identifier: BSD-2-Clause
 * Readers of graph formats: each takes memory and gives edges with dense ids. */
#ifndef PE_READER_H
#define PE_READER_H

#include "graph.h"

/* A few bytes can name a count or an id that would take all memory. More nodes than this come only
 * from a damaged or a hostile input: a file that lists its nodes or edges takes bytes for each. */
static inline bool pe_nodes_excessive(int64_t nodes, size_t bytes)
{
	return nodes > (int64_t)1 << 22 && (uint64_t)nodes / 64 > bytes;
}

/* What is being read. data need not be NUL-terminated. */
struct pe_source {
	const char *data;
	size_t size;
	const char *name; /* for messages and for the suffix; "-" is standard input; NULL: see pe_source_name */
};

/* Its name in messages. */
static inline const char *pe_source_name(const struct pe_source *source)
{
	return source->name ? source->name : "input";
}

struct pe_reader {
	const char *format;   /* as in --from and the report */
	const char *suffixes; /* ".mtx .mm", separated by spaces; "" if none */
	/* Is this certainly the format, by content alone? NULL: content never tells. */
	bool (*recognise)(const struct pe_source *source);
	/* Could it be, so that it is worth trying when nothing is certain? NULL: never tried by guess. */
	bool (*plausible)(const struct pe_source *source);
	/* On failure the message is "NAME:LINE: what is wrong" (or NAME: … for binary formats). */
	pe_status (*read)(pe_context *ctx, const struct pe_source *source, const struct pe_graph_policy *policy,
		struct pe_raw_graphs *out);
};

/* One object a format, each in graph/NAME.c. */
extern const struct pe_reader pe_reader_matrix_market; /* matrix_market.c */
extern const struct pe_reader pe_reader_metis;         /* metis.c */
extern const struct pe_reader pe_reader_graph6;        /* graph6.c: graph6, sparse6 and digraph6 */
extern const struct pe_reader pe_reader_graphml;       /* graphml.c, by expat */
extern const struct pe_reader pe_reader_gml;           /* gml.c */
extern const struct pe_reader pe_reader_pajek;         /* pajek.c */
extern const struct pe_reader pe_reader_dimacs;        /* dimacs.c */
extern const struct pe_reader pe_reader_node_link;     /* node_link.c, by jansson */
extern const struct pe_reader pe_reader_scipy_npz;     /* scipy_npz.c */
extern const struct pe_reader pe_reader_edge_index;    /* edge_index_file.c: npy, npz, safetensors */
extern const struct pe_reader pe_reader_edge_list;     /* edge_list.c, tried last */

/* Datasets of several files: a directory in OGB's raw layout, or a TU collection. *is is false if
 * the directory is not of that layout. */
pe_status pe_read_ogb(pe_context *ctx, const char *directory, const struct pe_graph_policy *policy, bool *is,
	struct pe_raw_graphs *out) PE_NODISCARD;
pe_status pe_read_tu(pe_context *ctx, const char *directory, const struct pe_graph_policy *policy, bool *is,
	struct pe_raw_graphs *out) PE_NODISCARD;

#endif
