/* SPDX-License-Identifier: BSD-2-Clause
 * What the elements of a GraphML file make: graphs, nodes, edges and their weights. graphml.c reads the XML
 * and knows which element stands where. */
#ifndef PE_GRAPHML_GRAPHS_H
#define PE_GRAPHML_GRAPHS_H

#include "listing.h"
#include "reader.h"

#define PE_GRAPHML_NUMBER 256 /* bytes of a number at most */

struct pe_graphml_key {
	char *id;
	bool has_default;
	double value;
};

/* Zero but for the first four and listing.ctx at the start. */
struct pe_graphml {
	const struct pe_source *source;
	const struct pe_graph_policy *policy;
	const char *field; /* the weights' attr.name, or NULL */
	int64_t line;      /* of the element at hand, for messages */
	struct pe_listing listing;
	struct pe_graphml_key *keys; /* of the weights */
	int64_t key_count, key_capacity;

	bool directed_by_default;
	bool directed, undirected; /* edges that have been seen */
	bool has_weight;           /* the edge at hand */
	int64_t edge_source, edge_target;
	double weight;
};

/* PE_ERR_FORMAT, with the file's name and the line. */
pe_status pe_graphml_fail(struct pe_graphml *g, const char *format, ...) PE_PRINTF(2, 3);
void pe_graphml_free(struct pe_graphml *g);

/* Elements, in the order in which they may stand. attributes: names and values in turn, up to NULL. text:
 * what stands in an element; of a longer one than PE_GRAPHML_NUMBER, so many bytes. *wanted: whether it is
 * about weights. */
pe_status pe_graphml_key(struct pe_graphml *g, const char **attributes, bool *wanted) PE_NODISCARD;
pe_status pe_graphml_default(struct pe_graphml *g, const char *text, size_t size) PE_NODISCARD;
pe_status pe_graphml_start_graph(struct pe_graphml *g, const char **attributes) PE_NODISCARD;
pe_status pe_graphml_node(struct pe_graphml *g, const char **attributes) PE_NODISCARD;
pe_status pe_graphml_start_edge(struct pe_graphml *g, const char **attributes) PE_NODISCARD;
pe_status pe_graphml_start_data(struct pe_graphml *g, const char **attributes, bool *wanted) PE_NODISCARD;
pe_status pe_graphml_end_data(struct pe_graphml *g, const char *text, size_t size) PE_NODISCARD;
pe_status pe_graphml_end_edge(struct pe_graphml *g) PE_NODISCARD;
pe_status pe_graphml_end_graph(struct pe_graphml *g) PE_NODISCARD;

pe_status pe_graphml_finish(struct pe_graphml *g, struct pe_raw_graphs *out) PE_NODISCARD;

#endif
