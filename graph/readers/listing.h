/* SPDX-License-Identifier: BSD-2-Clause
 * What readers of formats that list nodes by id gather: nodes in the order in which they are listed, and
 * edges between ids, which may be named before their node is listed. One graph after another. */
#ifndef PE_LISTING_H
#define PE_LISTING_H

#include "scan.h"

struct pe_listing_key {
	int64_t text; /* its place in pool; NUL-terminated */
	size_t size;
	int64_t row;  /* in its graph, or -1: not listed yet */
	int64_t line; /* where the id first stands */
};

struct pe_listing_slot {
	int64_t key;
	uint64_t hash;
};

/* Zero but for ctx at the start: struct pe_listing l = {.ctx = ctx}. */
struct pe_listing {
	pe_context *ctx;
	struct pe_edge_buffer edges; /* keys, and rows once their graph is closed */
	int64_t weighted;            /* edges that came with a weight */
	int64_t graphs, nodes;       /* closed graphs; listed nodes of all graphs */
	/* The rest is the listing's own. */
	char *pool;
	int64_t pool_size, pool_capacity;
	struct pe_listing_key *keys;
	int64_t key_count, key_capacity, first_key; /* those of the graph under way begin at first_key */
	struct pe_listing_slot *slots;              /* hash table of keys; one below first_key is empty */
	int64_t slot_count;
	int64_t *rows; /* key of each row */
	int64_t row_capacity;
	int64_t *ends; /* (node end, edge end) of each closed graph */
	int64_t end_capacity;
};

void pe_listing_free(struct pe_listing *listing);

/* The key of an id in the graph under way: an index into keys. line is remembered for a new one. */
pe_status pe_listing_find(
	struct pe_listing *listing, const char *text, size_t size, int64_t line, int64_t *key) PE_NODISCARD;
/* The key of an id that stands there already, or -1. */
int64_t pe_listing_look_up(const struct pe_listing *listing, const char *text, size_t size);
/* Lists the node of a key, which gets the next row. The caller has seen to it that its row is -1. */
pe_status pe_listing_node(struct pe_listing *listing, int64_t key) PE_NODISCARD;
/* An edge between two keys; w is NULL if it has no weight. */
pe_status pe_listing_edge(struct pe_listing *listing, int64_t u, int64_t v, const double *w) PE_NODISCARD;
/* The first key of the graph under way that no node was listed for, or -1. */
int64_t pe_listing_unlisted(const struct pe_listing *listing);
const char *pe_listing_text(const struct pe_listing *listing, int64_t key);
/* Ends a graph all of whose keys are listed. */
pe_status pe_listing_close(struct pe_listing *listing) PE_NODISCARD;
/* Makes raw graphs of all closed ones; the caller fills in format, direction and mirrored. Ids that are all
 * written as plain integers become node_ids, others node_names. The listing must still be freed. */
pe_status pe_listing_finish(struct pe_listing *listing, struct pe_raw_graphs *out) PE_NODISCARD;

/* For formats that write a number with every edge, 1 if nothing is meant by it: forgets weights that are
 * all 1. */
void pe_raw_drop_ones(pe_context *ctx, struct pe_raw_graphs *raw);

/* The field that holds the weights of a format with named fields: what the policy says, or fallback; NULL
 * for none. A column number is refused. */
pe_status pe_weight_field(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, const char *fallback, const char **out) PE_NODISCARD;
/* After reading: refuses a field the policy names that no edge has, and warns where only some have it. */
pe_status pe_listing_check_weights(const struct pe_listing *listing, const struct pe_source *source,
	const struct pe_graph_policy *policy, const char *field) PE_NODISCARD;

#endif
