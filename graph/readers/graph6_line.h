/* SPDX-License-Identifier: BSD-2-Clause
 * Lines of graph6, sparse6 and digraph6, as nauty's formats.txt defines them: one graph each, 6 bits a byte,
 * in bytes 63 to 126. */
#ifndef PE_GRAPH6_LINE_H
#define PE_GRAPH6_LINE_H

#include "scan.h"

enum pe_graph6_kind { PE_GRAPH6, PE_SPARSE6, PE_DIGRAPH6, PE_INCREMENTAL };

/* What some consecutive lines hold. */
struct pe_graph6_builder {
	struct pe_scan scan;
	size_t bytes;                   /* of the whole input */
	enum pe_graph6_kind first_kind; /* of the whole input's first graph */
	int64_t graphs, graph_capacity, graph_capacity2;
	int64_t edges, edge_capacity, edge_capacity2;
	int64_t *ptr, *edge_ptr;
	int32_t *u, *v;
	struct {
		int64_t graph, node, edge;
	} place; /* of the first, in the whole */
};

/* "graph6", … */
const char *pe_graph6_kind_name(enum pe_graph6_kind kind);
/* The kind of the first graph from the cursor on. */
enum pe_graph6_kind pe_graph6_first_kind(struct pe_scan scan);
/* Whether the text is a line as it should be, as far as one can tell without reading all of it. */
bool pe_graph6_is_line(const char *text, size_t size);

/* Makes room in a builder that has scan, bytes and first_kind. */
pe_status pe_graph6_start(struct pe_graph6_builder *b) PE_NODISCARD;
/* Adds the graph of a line, at which the builder's cursor stands; of a header alone nothing. */
pe_status pe_graph6_line(struct pe_graph6_builder *b, const char *text, size_t size) PE_NODISCARD;
void pe_graph6_free(pe_context *ctx, struct pe_graph6_builder *b);

#endif
