/* SPDX-License-Identifier: BSD-2-Clause
 * METIS and Chaco graphs: a header "nodes edges [fmt [ncon]]", then a line a node with its neighbours
 * from 1, an edge on the lines of both its nodes. fmt's digits tell of node sizes, node weights (ncon of
 * them) and edge weights. '%' begins a comment; an empty line is a node without neighbours. */
#include <inttypes.h>

#include "edge_rows.h"
#include "scan.h"

struct parser {
	struct pe_scan scan;
	int64_t nodes, edges;
	int64_t skipped; /* numbers before the neighbours of a line */
	bool listed;     /* the file has edge weights */
	bool weighted;   /* they are wanted */
	bool all;        /* keep both mentions of an edge */
	int64_t entries;
	uint64_t balance; /* 0 if every edge stands on both lines alike */
	struct pe_edge_buffer kept;
};

/* ---- the header --------------------------------------------------------------------- */

/* Goes to the first line that is no comment; it may be empty. */
static bool skip_comments(struct pe_scan *scan)
{
	while (!pe_scan_at_end(scan) && *scan->at == '%')
		if (!pe_scan_next_line(scan))
			return false;
	return true;
}

static pe_status read_format(struct parser *p)
{
	const char *text;
	size_t size;
	int64_t weights = 1;
	pe_scan_word(&p->scan, "", &text, &size);
	bool digits[3] = {false, false, false}; /* the last one is that of edge weights */
	if (size > 3)
		return pe_scan_fail(&p->scan, "fmt has at most three digits");
	for (size_t i = 0; i < size; i++) {
		if (text[i] != '0' && text[i] != '1')
			return pe_scan_fail(&p->scan, "fmt is \"%.*s\"; its digits must be 0 or 1", (int)size, text);
		digits[3 - size + i] = text[i] == '1';
	}
	pe_scan_blanks(&p->scan);
	if (!pe_scan_at_line_end(&p->scan))
		PE_TRY(pe_scan_i64(&p->scan, "ncon, the number of weights a node", 0, 1024, &weights));
	p->skipped = digits[0] + (digits[1] ? weights : 0);
	p->listed = digits[2];
	return PE_OK;
}

static pe_status read_header(struct parser *p, size_t size)
{
	do {
		(void)skip_comments(&p->scan);
		pe_scan_blanks(&p->scan);
	} while (pe_scan_at_line_end(&p->scan) && pe_scan_next_line(&p->scan));
	PE_TRY(pe_scan_i64(&p->scan, "the number of nodes", 0, INT64_MAX, &p->nodes));
	PE_TRY(pe_scan_i64(&p->scan, "the number of edges", 0, INT64_MAX, &p->edges));
	PE_TRY(read_format(p));
	pe_scan_blanks(&p->scan);
	if (!pe_scan_at_line_end(&p->scan))
		return pe_scan_fail(&p->scan, "there is more in the header than nodes, edges, fmt and ncon");
	if (p->nodes > PE_MAX_NODES || (uint64_t)p->nodes > (uint64_t)size)
		return pe_scan_fail(&p->scan, "%" PRId64 " nodes are declared, but there are fewer lines", p->nodes);
	return PE_OK;
}

/* ---- the lines of nodes ------------------------------------------------------------- */

/* An edge's number, well mixed (splitmix64's finaliser): added on the line of its smaller node,
 * subtracted on that of the larger. */
static uint64_t mix(int64_t i, int64_t j, double w)
{
	uint64_t bits, x = (uint64_t)i << 32 ^ (uint64_t)j;
	memcpy(&bits, &w, sizeof bits);
	x = (x ^ bits * 0x9E3779B97F4A7C15u) + 0x9E3779B97F4A7C15u;
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
	x = (x ^ x >> 27) * 0x94D049BB133111EBu;
	return x ^ x >> 31;
}

static pe_status read_neighbour(struct parser *p, int64_t i)
{
	int64_t j;
	double w = 1;
	PE_TRY(pe_scan_i64(&p->scan, "a neighbour", 1, p->nodes, &j));
	if (p->listed)
		PE_TRY(pe_scan_f64(&p->scan, "the weight of an edge", &w));
	if (i == j)
		return pe_scan_fail(&p->scan, "node %" PRId64 " lists itself; METIS graphs have no loops", i);
	p->entries++;
	p->balance += i < j ? mix(i, j, w) : -mix(j, i, w);
	if (i > j && !p->all)
		return PE_OK;
	return p->weighted ? pe_edge_push_weighted(p->scan.ctx, &p->kept, i, j, w)
					   : pe_edge_push(p->scan.ctx, &p->kept, i, j);
}

static pe_status read_node(struct parser *p, int64_t i)
{
	for (int64_t s = 0; s < p->skipped; s++) {
		double skipped;
		PE_TRY(pe_scan_f64(&p->scan, "a size or weight of a node", &skipped));
	}
	for (;;) {
		pe_scan_blanks(&p->scan);
		if (pe_scan_at_line_end(&p->scan))
			return PE_OK;
		PE_TRY(read_neighbour(p, i));
	}
}

/* Whether there is one more line of a node. The last one may be empty and without a line end. */
static bool next_node(struct parser *p, int64_t i)
{
	bool more = pe_scan_next_line(&p->scan) && skip_comments(&p->scan);
	return more || (i == p->nodes && p->scan.at[-1] == '\n');
}

static pe_status read_nodes(struct parser *p)
{
	for (int64_t i = 1; i <= p->nodes; i++) {
		if (!next_node(p, i))
			return pe_scan_fail(&p->scan,
				"%" PRId64 " nodes are declared, but there are only %" PRId64 " lines of nodes", p->nodes,
				i - 1);
		PE_TRY(read_node(p, i));
	}
	while (pe_scan_next_line(&p->scan)) {
		pe_scan_blanks(&p->scan);
		if (!pe_scan_at_line_end(&p->scan) && *p->scan.at != '%')
			return pe_scan_fail(
				&p->scan, "there are more lines than the %" PRId64 " declared nodes", p->nodes);
	}
	if (p->entries % 2 == 0 && p->entries / 2 == p->edges)
		return PE_OK;
	return pe_fail(p->scan.ctx, PE_ERR_FORMAT,
		"%s: %" PRId64 " edges are declared, but the lines of nodes hold %" PRId64
		" neighbours, not twice that",
		p->scan.name, p->edges, p->entries);
}

/* ---- edges that stand on one line only ---------------------------------------------- */

/* The first node whose row differs from its column, and the other end of an edge that does. */
static void find_odd(const struct pe_rows *rows, const struct pe_rows *other, int64_t *i, int64_t *j)
{
	for (*i = 0; *i < rows->nodes; ++*i) {
		int64_t a = rows->start[*i], b = other->start[*i];
		int64_t a_end = rows->start[*i + 1], b_end = other->start[*i + 1];
		while (a < a_end && b < b_end && rows->col[a] == other->col[b] && rows->w[a] == other->w[b])
			a++, b++;
		if (a == a_end && b == b_end)
			continue;
		int32_t mine = a < a_end ? rows->col[a] : INT32_MAX, its = b < b_end ? other->col[b] : INT32_MAX;
		*j = mine < its ? mine : its;
		return;
	}
}

static pe_status name_odd(pe_context *ctx, const char *name, const struct pe_raw_graphs *raw)
{
	const struct pe_edge_block block = {
		.raw = raw, .end = 1, .u = raw->u, .v = raw->v, .w = raw->w, .duplicates = PE_DUPLICATES_SUM};
	int64_t ptr[2] = {0, raw->nodes}, i = 0, j = 0;
	struct pe_rows rows, transpose;
	struct pe_row_counts counts;
	PE_TRY(pe_rows_sort(ctx, &block, &rows, &counts));
	pe_status status = pe_rows_transpose(ctx, &rows, ptr, 1, &transpose);
	if (status == PE_OK) {
		find_odd(&rows, &transpose, &i, &j);
		pe_rows_free(ctx, &transpose);
		status = pe_fail(ctx, PE_ERR_FORMAT,
			"%s: the lines of nodes %" PRId64 " and %" PRId64 " do not list their edge alike", name, i + 1,
			j + 1);
	}
	pe_rows_free(ctx, &rows);
	return status;
}

/* Reads once more, keeping everything, to say which edge it is. */
static pe_status refuse_odd(const struct parser *failed, const struct pe_source *source)
{
	pe_context *ctx = failed->scan.ctx;
	struct parser p = {.scan = pe_scan_start(ctx, source), .all = true};
	struct pe_raw_graphs raw = {0};
	pe_status status = read_header(&p, source->size);
	p.weighted = p.listed;
	if (status == PE_OK)
		status = read_nodes(&p);
	if (status == PE_OK)
		status = pe_raw_from_edges(ctx, &p.kept, 1, p.nodes, &raw);
	if (status == PE_OK)
		status = name_odd(ctx, p.scan.name, &raw);
	pe_edge_buffer_free(ctx, &p.kept);
	pe_raw_graphs_free(ctx, &raw);
	return status;
}

/* ---- the whole ---------------------------------------------------------------------- */

static pe_status read(pe_context *ctx, const struct pe_source *source, const struct pe_graph_policy *policy,
	struct pe_raw_graphs *out)
{
	struct parser p = {.scan = pe_scan_start(ctx, source)};
	if (policy->weight_name || policy->weight_column > 0)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: edge weights of a METIS file have neither name nor column: give auto or none", p.scan.name);
	pe_status status = read_header(&p, source->size);
	p.weighted = p.listed && policy->weight_column != 0;
	if (status == PE_OK)
		status = read_nodes(&p);
	if (status == PE_OK && p.balance != 0)
		status = refuse_odd(&p, source);
	if (status == PE_OK)
		status = pe_raw_from_edges(ctx, &p.kept, 1, p.nodes, out);
	pe_edge_buffer_free(ctx, &p.kept);
	if (status != PE_OK)
		return status;
	out->format = "metis";
	out->direction = PE_UNDIRECTED;
	out->mirrored = true;
	return PE_OK;
}

/* A first line of two to four integers, and no other comments than METIS's. */
static bool plausible(const struct pe_source *source)
{
	struct pe_scan scan = pe_scan_start(NULL, source);
	int64_t count = 0;
	if (source->size == 0 || !skip_comments(&scan))
		return false;
	for (;; count++) {
		const char *text;
		size_t size;
		pe_scan_word(&scan, "", &text, &size);
		if (size == 0)
			return count >= 2 && count <= 4;
		for (size_t i = 0; i < size; i++)
			if (text[i] < '0' || text[i] > '9')
				return false;
	}
}

const struct pe_reader pe_reader_metis = {
	.format = "metis",
	.suffixes = ".graph .metis .chaco",
	.plausible = plausible,
	.read = read,
};
