/* SPDX-License-Identifier: BSD-2-Clause
 * Graphs in compressed sparse rows. */
#ifndef PE_GRAPH_H
#define PE_GRAPH_H

#include "context.h"

/* Nodes of one graph are numbered by int32_t: at most this many. Nodes and edges of all graphs together
 * are counted by int64_t. */
#define PE_MAX_NODES INT32_MAX

/* UNKNOWN is read as undirected; IF_ONE_WAY (a general matrix, SNAP's "# Directed") as directed if some
 * edge stands in one direction only. */
enum pe_direction { PE_DIRECTION_UNKNOWN = 0, PE_UNDIRECTED, PE_DIRECTED, PE_DIRECTED_IF_ONE_WAY };
enum pe_loops { PE_LOOPS_AUTO = 0, PE_LOOPS_KEEP, PE_LOOPS_DROP };
enum pe_duplicates { PE_DUPLICATES_AUTO = 0, PE_DUPLICATES_FIRST, PE_DUPLICATES_SUM, PE_DUPLICATES_MAX };
enum pe_symmetrise { PE_SYMMETRISE_MAX = 0, PE_SYMMETRISE_SUM, PE_SYMMETRISE_MEAN };

/* One graph. Row i holds its out-edges, columns ascending and distinct, at col[row[i]] … col[row[i+1]-1].
 * In an undirected graph both directions of an edge are there, a loop once. */
struct pe_csr {
	int32_t n;
	const int64_t *row;   /* n + 1 */
	const int32_t *col;   /* 0 … n-1, local to this graph */
	const double *weight; /* aligned with col, or NULL: all 1 */
};

/* Graphs whose file could not be read, ascending, and why. */
struct pe_unread {
	int64_t count, capacity, why_capacity;
	int64_t *graph;
	char **why;
};

/* Of a folder, the files that the graphs were read from. */
struct pe_graph_files {
	int64_t count;
	char **name;    /* without the folder */
	int64_t *first; /* count + 1: graphs first[i] … first[i+1]-1 are of file i */
};

struct pe_graph {
	pe_allocator allocator; /* so that a graph can outlive its context's worker copies */
	pe_context *ctx;
	int64_t count;       /* graphs */
	int64_t number;      /* of the first, for what is drawn at random: 0, or where it was taken from */
	int64_t nodes;       /* of all graphs */
	int64_t *ptr;        /* count + 1: nodes of graph g are ptr[g] … ptr[g+1]-1 */
	int64_t *row;        /* nodes + 1, offsets into col and weight */
	int32_t *col;        /* local to the graph */
	double *weight;      /* finite, or NULL: all 1 */
	bool directed;       /* false: symmetric, to the bit */
	bool negative;       /* some weight is below 0 */
	enum pe_loops loops; /* what the reader was told about self loops; auto: the encoder decides */
	enum pe_symmetrise symmetrise; /* how to make it undirected for encoders that need that */
	int64_t *node_ids;             /* nodes, or NULL if ids are text */
	char **node_names;             /* nodes, or NULL; each points into name_pool */
	char *name_pool;
	struct pe_unread unread;
	struct pe_graph_files files;
	pe_graph_report report;
	char digest[65]; /* report.digest; "" of arrays */
};

/* Graph number g as a view. */
static inline struct pe_csr pe_graph_view(const pe_graph *graph, int64_t g)
{
	return (struct pe_csr){
		.n = (int32_t)(graph->ptr[g + 1] - graph->ptr[g]),
		.row = graph->row + graph->ptr[g],
		.col = graph->col,
		.weight = graph->weight,
	};
}

struct pe_raw_graphs;

/* Rows that are parsed when they are needed, a few graphs at a time, so that they need no memory of their
 * own. The first member of what the reader knows. */
struct pe_row_source {
	/* Writes the rows of graphs first … end-1, checked, to u and v. Any thread may ask for any graphs. */
	pe_status (*read)(pe_context *worker, const struct pe_raw_graphs *raw, int64_t first, int64_t end,
		int32_t *u, int32_t *v);
	void (*release)(pe_context *ctx, struct pe_row_source *source);
	/* The text, from pe_alloc, as long as rows may be read. Its memory is for whoever takes it then, and sets
	 * text to NULL. */
	void *text;
	int64_t text_size; /* in bytes */
};

/* What a reader hands to pe_graph_build: edges as listed, ids already dense. Arrays are owned by
 * whoever called the reader, who releases them by pe_raw_graphs_free. */
struct pe_raw_graphs {
	const char *format;
	int64_t graphs;
	int64_t nodes;     /* of all graphs */
	int64_t rows;      /* edges as listed */
	int64_t *ptr;      /* graphs + 1 node offsets; may be NULL if graphs is 1 */
	int64_t *edge_ptr; /* graphs + 1 offsets into u, v, w; may be NULL if graphs is 1 */
	int32_t *u, *v;    /* rows; local to the graph, 0 ≤ u, v < its nodes (checked by the reader) */
	struct pe_row_source *source; /* or NULL; if not, u and v are */
	double *w;                    /* rows, finite (checked by the reader), or NULL: no weights */
	enum pe_direction direction;  /* what the format or the file says */
	bool mirrored;                /* every row stands for both directions (an undirected format that lists an
								   * edge once); false: as listed */
	int64_t *node_ids;            /* nodes, or NULL: base + i within each graph */
	char **node_names;            /* nodes, or NULL; name_pool holds the text */
	char *name_pool;
	int64_t base;    /* smallest id, for the report; -1 if ids are text */
	int64_t phantom; /* nodes named by a count only */
	struct pe_unread unread;
	struct pe_graph_files files;
};

void pe_raw_graphs_free(pe_context *ctx, struct pe_raw_graphs *raw);

/* Makes u and v of a source. On failure raw is as it was. */
pe_status pe_raw_graphs_load(pe_context *ctx, struct pe_raw_graphs *raw) PE_NODISCARD;

/* The policies of table "graph" (graph_options.c), read once. */
struct pe_graph_policy {
	enum pe_direction edges; /* UNKNOWN: auto */
	enum pe_symmetrise symmetrise;
	int32_t weight_column;   /* -1: auto, 0: none, else 1-based column of a text edge list */
	const char *weight_name; /* a field's name, or NULL; names and format live as long as the params */
	enum pe_loops loops;
	enum pe_duplicates duplicates;
	bool largest_component;
	bool unreadable_is_empty;
	const char *format; /* --from, or NULL: recognise */
};

pe_status pe_graph_policy_from(
	pe_context *ctx, const pe_params *params, struct pe_graph_policy *out) PE_NODISCARD;

/* Applies the policies, builds the rows and the report, and says what it changed. Takes over raw's
 * arrays; raw is empty afterwards, on failure too. */
pe_status pe_graph_build(pe_context *ctx, struct pe_raw_graphs *raw, const struct pe_graph_policy *policy,
	pe_graph **out) PE_NODISCARD;

/* A graph like this one but undirected, by its symmetrise policy. If it is undirected already,
 * *out is NULL: use the graph itself. */
pe_status pe_graph_symmetrised(pe_context *ctx, const pe_graph *graph, pe_graph **out) PE_NODISCARD;

#endif
