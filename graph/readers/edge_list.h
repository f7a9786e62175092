/* SPDX-License-Identifier: BSD-2-Clause
 * The two halves of the edge list reader: what stands before the first row, and the rows. */
#ifndef PE_EDGE_LIST_H
#define PE_EDGE_LIST_H

#include "listing.h"
#include "scan.h"

/* What comments and the first rows say. */
struct pe_edge_list_head {
	int64_t nodes, edges; /* as a comment declares them, or -1 */
	int64_t first_id;     /* of KONECT's counted nodes; -1: SNAP, where any id goes */
	enum pe_direction direction;
	bool mirrored;   /* KONECT's sym: an edge stands once */
	bool bipartite;  /* KONECT's bip: two numberings */
	int64_t columns; /* of every row */
	int64_t weight;  /* the weights' column, from 1, or 0 */
	bool names;      /* the first row holds the names of the columns */
	bool text_ids;
	int64_t line; /* of the first row */
};

/* Reads comments up to the first row, where the cursor stays, and looks at the first two rows. The
 * weight column is what policy says, or in the third place if there is a number. */
pe_status pe_edge_list_read_head(
	struct pe_scan *scan, const struct pe_graph_policy *policy, struct pe_edge_list_head *out) PE_NODISCARD;

/* The next field of a row, and past a comma or semicolon behind it. Empty at the end of the row, or
 * where a comment begins. A '{' takes the rest of the row. */
void pe_edge_list_field(struct pe_scan *scan, const char **text, size_t *size);

/* Skips blank lines and comments; false at the end. */
bool pe_edge_list_next_row(struct pe_scan *scan);

/* The number that a {'name': 1.5} holds for a name; false if there is none. */
bool pe_edge_list_attribute(const char *text, size_t size, const char *name, double *out);

#endif
