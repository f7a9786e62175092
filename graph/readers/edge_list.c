/* SPDX-License-Identifier: BSD-2-Clause
 * Edge lists: a row an edge, "u v" or "u v weight", columns apart by blanks, commas or semicolons,
 * comments after '#' or '%'. Ids are any 64-bit integers, ascending in the result, or any text, in the
 * order in which they appear first. edge_list_head.c reads what stands before the rows. */
#include "edge_list.h"

#include <inttypes.h>
#include <math.h>

#include "sniff.h"

struct parser {
	struct pe_scan scan;
	const struct pe_source *source;
	const struct pe_graph_policy *policy;
	struct pe_edge_list_head head;
	struct pe_edge_buffer edges; /* of integer ids */
	struct pe_listing listing;   /* of text ids */
	int64_t unweighted;          /* rows whose dictionary has no weight */
};

/* ---- rows --------------------------------------------------------------------------- */

static pe_status wrong_columns(const struct parser *p, int64_t columns)
{
	return pe_scan_fail(&p->scan,
		"a row of %" PRId64 " columns, where the first, on line %" PRId64 ", has %" PRId64, columns,
		p->head.line, p->head.columns);
}

static pe_status read_dictionary(struct parser *p, double *w)
{
	const char *text, *name = p->policy->weight_name ? p->policy->weight_name : "weight";
	size_t size;
	pe_edge_list_field(&p->scan, &text, &size);
	if (!pe_edge_list_attribute(text, size, name, w)) {
		*w = 1;
		p->unweighted++;
	}
	if (!isfinite(*w))
		return pe_scan_fail(&p->scan, "the weight must be a finite number");
	return PE_OK;
}

static void skip_separator(struct pe_scan *scan)
{
	pe_scan_blanks(scan);
	if (!pe_scan_at_end(scan) && (*scan->at == ',' || *scan->at == ';'))
		scan->at++;
}

/* Columns from the third on. */
static pe_status read_rest(struct parser *p, double *w)
{
	int64_t column = 2;
	for (;; column++) {
		pe_scan_blanks(&p->scan);
		if (pe_scan_at_line_end(&p->scan) || *p->scan.at == '#' || *p->scan.at == '%')
			break;
		const char *text;
		size_t size;
		if (column + 1 != p->head.weight) {
			pe_edge_list_field(&p->scan, &text, &size);
		} else if (*p->scan.at == '{') {
			PE_TRY(read_dictionary(p, w));
		} else {
			PE_TRY(pe_scan_f64(&p->scan, "a weight", w));
			skip_separator(&p->scan);
		}
	}
	return column == p->head.columns ? PE_OK : wrong_columns(p, column);
}

static pe_status read_id(struct parser *p, int64_t *id)
{
	pe_status status = pe_scan_i64(&p->scan, "a node id", INT64_MIN, INT64_MAX, id);
	if (status == PE_OK)
		skip_separator(&p->scan);
	return status;
}

static pe_status read_integer_row(struct parser *p)
{
	int64_t u, v;
	double w = 1;
	PE_TRY(read_id(p, &u));
	PE_TRY(read_id(p, &v));
	if (p->head.columns > 2 || !pe_scan_at_line_end(&p->scan))
		PE_TRY(read_rest(p, &w));
	return p->head.weight ? pe_edge_push_weighted(p->scan.ctx, &p->edges, u, v, w)
						  : pe_edge_push(p->scan.ctx, &p->edges, u, v);
}

static pe_status read_name(struct parser *p, int64_t *key)
{
	const char *text;
	size_t size;
	pe_edge_list_field(&p->scan, &text, &size);
	if (size == 0)
		return pe_scan_fail(&p->scan, "the line ends where a node id should be");
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '\x7f')
			return pe_scan_fail(&p->scan, "a control character in a node id");
	PE_TRY(pe_listing_find(&p->listing, text, size, p->scan.line, key));
	return p->listing.keys[*key].row < 0 ? pe_listing_node(&p->listing, *key) : PE_OK;
}

static pe_status read_text_row(struct parser *p)
{
	int64_t u, v;
	double w = 1;
	PE_TRY(read_name(p, &u));
	PE_TRY(read_name(p, &v));
	PE_TRY(read_rest(p, &w));
	return pe_listing_edge(&p->listing, u, v, p->head.weight ? &w : NULL);
}

static pe_status read_rows(struct parser *p)
{
	if (p->head.names && !pe_scan_next_line(&p->scan))
		return PE_OK;
	while (pe_edge_list_next_row(&p->scan)) {
		PE_TRY(p->head.text_ids ? read_text_row(p) : read_integer_row(p));
		if (!pe_scan_next_line(&p->scan))
			break;
	}
	return PE_OK;
}

/* ---- what was declared -------------------------------------------------------------- */

/* Undirected files may list an edge twice, loops once. */
static pe_status check_edges(const struct parser *p, int64_t rows)
{
	int64_t edges = p->head.edges;
	if (edges < 0 || rows == edges || (!p->head.mirrored && rows > edges && rows - edges <= edges))
		return PE_OK;
	return pe_fail(p->scan.ctx, PE_ERR_FORMAT,
		"%s: the header declares %" PRId64 " edges, but there are %" PRId64 " rows", p->scan.name, edges,
		rows);
}

/* Whether all ids lie in a range of the declared nodes, which begins at *first. */
static bool fits_declared(const struct parser *p, int64_t *first)
{
	int64_t low = INT64_MAX, high = INT64_MIN;
	for (int64_t e = 0; e < p->edges.count; e++) {
		low = pe_min(low, pe_min(p->edges.u[e], p->edges.v[e]));
		high = pe_max(high, pe_max(p->edges.u[e], p->edges.v[e]));
	}
	*first = p->head.first_id >= 0 ? p->head.first_id : low == 1 && high == p->head.nodes;
	return p->edges.count == 0 || (low >= *first && high - *first < p->head.nodes);
}

static pe_status too_few_nodes(const struct parser *p, int64_t nodes)
{
	return pe_fail(p->scan.ctx, PE_ERR_FORMAT,
		"%s: the header declares %" PRId64 " nodes, but there are %" PRId64 " node ids", p->scan.name,
		p->head.nodes, nodes);
}

static pe_status finish_integers(struct parser *p, struct pe_raw_graphs *out)
{
	pe_context *ctx = p->scan.ctx;
	int64_t first, declared = p->head.nodes;
	PE_TRY(check_edges(p, p->edges.count));
	if (declared < 0)
		return pe_raw_from_edges(ctx, &p->edges, 0, -1, out);
	if (declared > PE_MAX_NODES || pe_nodes_excessive(declared, p->source->size))
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: the header declares %" PRId64 " nodes: refused as damaged",
			p->scan.name, declared);
	if (fits_declared(p, &first)) {
		PE_TRY(pe_raw_from_edges(ctx, &p->edges, first, declared, out));
		return pe_raw_count_phantom(ctx, out);
	}
	if (p->head.first_id >= 0)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: the header declares %" PRId64 " nodes, numbered from 1, but there are other node ids",
			p->scan.name, declared);
	PE_TRY(pe_raw_from_edges(ctx, &p->edges, 0, -1, out));
	if (out->nodes > declared) {
		int64_t nodes = out->nodes;
		pe_raw_graphs_free(ctx, out);
		return too_few_nodes(p, nodes);
	}
	if (out->nodes < declared)
		pe_log(ctx, PE_LOG_WARNING,
			"%s: %" PRId64 " of the %" PRId64
			" nodes that the header declares are in no row, and have no id: they are left out",
			p->scan.name, declared - out->nodes, declared);
	return PE_OK;
}

static pe_status finish_text(struct parser *p, struct pe_raw_graphs *out)
{
	PE_TRY(check_edges(p, p->listing.edges.count));
	if (p->head.nodes >= 0 && p->head.nodes < p->listing.nodes)
		return too_few_nodes(p, p->listing.nodes);
	PE_TRY(pe_listing_close(&p->listing));
	return pe_listing_finish(&p->listing, out);
}

static pe_status finish(struct parser *p, struct pe_raw_graphs *out)
{
	int64_t rows = p->head.text_ids ? p->listing.edges.count : p->edges.count;
	if (rows == 0 && p->head.nodes < 0)
		return pe_scan_fail(&p->scan, "there is no edge");
	if (p->unweighted > 0 && p->unweighted < rows)
		pe_log(p->scan.ctx, PE_LOG_WARNING,
			"%s: %" PRId64 " of %" PRId64 " edges have no weight, which is taken as 1", p->scan.name,
			p->unweighted, rows);
	PE_TRY(p->head.text_ids ? finish_text(p, out) : finish_integers(p, out));
	if (p->unweighted == rows && rows > 0) { /* dictionaries without any weight */
		pe_free(p->scan.ctx, out->w);
		out->w = NULL;
	}
	out->format = "edgelist";
	out->direction = p->head.direction;
	out->mirrored = p->head.mirrored;
	return PE_OK;
}

static pe_status read(pe_context *ctx, const struct pe_source *source, const struct pe_graph_policy *policy,
	struct pe_raw_graphs *out)
{
	struct parser p = {
		.scan = pe_scan_start(ctx, source), .source = source, .policy = policy, .listing = {.ctx = ctx}};
	pe_status status = pe_edge_list_read_head(&p.scan, policy, &p.head);
	if (status == PE_OK)
		status = read_rows(&p);
	if (status == PE_OK)
		status = finish(&p, out);
	pe_edge_buffer_free(ctx, &p.edges);
	pe_listing_free(&p.listing);
	return status;
}

/* ---- recognition -------------------------------------------------------------------- */

static bool recognise(const struct pe_source *source)
{
	size_t start = pe_sniff_start(source), size = source->size - start;
	const char *text = source->data + start;
	if (size == 0)
		return false;
	size = size < PE_SNIFF_WINDOW ? size : PE_SNIFF_WINDOW;
	if (text[0] == '#')
		return pe_sniff_has(text, size, "Nodes:") && pe_sniff_has(text, size, "Edges:");
	struct pe_scan scan = {.at = text, .end = text + size};
	const char *word;
	size_t length;
	if (text[0] != '%')
		return false;
	scan.at++;
	pe_scan_word(&scan, "", &word, &length);
	return (length == 3 && (memcmp(word, "sym", 3) == 0 || memcmp(word, "bip", 3) == 0)) ||
		(length == 4 && memcmp(word, "asym", 4) == 0);
}

/* Text without control characters, as far as one looks. */
static bool plausible(const struct pe_source *source)
{
	size_t size = source->size < 4096 ? source->size : 4096;
	for (size_t i = pe_sniff_start(source); i < size; i++)
		if ((unsigned char)source->data[i] < '\t' || source->data[i] == '\x7f')
			return false;
	return pe_sniff_start(source) < source->size;
}

const struct pe_reader pe_reader_edge_list = {
	.format = "edgelist",
	.suffixes = ".edgelist .edges .csv .tsv .cites",
	.recognise = recognise,
	.plausible = plausible,
	.read = read,
};
