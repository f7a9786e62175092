/* SPDX-License-Identifier: BSD-2-Clause
 * Pajek networks: *Vertices N, then *Edges, *Arcs (u v weight), *Edgeslist, *Arcslist (u v1 v2 …) and *Matrix
 * (N × N weights), in any number and order. Vertices are 1 … N; labels are read over. A file with arcs is
 * directed, and its edges then go both ways. Source: V. Batagelj, A. Mrvar, Pajek reference manual. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "listing.h"
#include "sniff.h"

enum section { NONE, VERTICES, EDGES, ARCS, EDGES_LIST, ARCS_LIST, MATRIX };

struct parser {
	struct pe_scan scan;
	const struct pe_graph_policy *policy;
	size_t bytes;
	enum section section;
	int64_t nodes;                         /* -1: not known yet */
	int64_t matrix_row;                    /* rows of the matrix so far */
	bool has_labels, has_matrix, has_arcs; /* lines of *Vertices, a *Matrix, lines of arcs */
	struct pe_edge_buffer edges, arcs;     /* with ids from 1 */
};

static bool same_word(const char *text, size_t size, const char *lower)
{
	size_t at = 0;
	while (at < size && lower[at] && tolower((unsigned char)text[at]) == lower[at])
		at++;
	return at == size && !lower[at];
}

/* ---- lines -------------------------------------------------------------------------- */

static pe_status read_vertices_header(struct parser *p)
{
	if (p->nodes >= 0)
		return pe_scan_fail(&p->scan, "a second *Vertices; one network a file is supported");
	pe_scan_blanks(&p->scan);
	PE_TRY(pe_scan_i64(&p->scan, "a number of vertices", 0, INT32_MAX, &p->nodes));
	if (pe_nodes_excessive(p->nodes, p->bytes))
		return pe_scan_fail(
			&p->scan, "%" PRId64 " vertices in a file of %zu bytes: refused as damaged", p->nodes, p->bytes);
	return PE_OK;
}

static pe_status end_matrix(struct parser *p)
{
	if (p->section == MATRIX && p->matrix_row != p->nodes)
		return pe_scan_fail(
			&p->scan, "the matrix has %" PRId64 " rows for %" PRId64 " vertices", p->matrix_row, p->nodes);
	return PE_OK;
}

static pe_status read_header(struct parser *p)
{
	static const char *const names[] = {
		"", "*vertices", "*edges", "*arcs", "*edgeslist", "*arcslist", "*matrix"};
	const char *word;
	size_t size;
	PE_TRY(end_matrix(p));
	pe_scan_word(&p->scan, "", &word, &size);
	p->section = NONE;
	for (int i = VERTICES; i <= MATRIX; i++)
		if (same_word(word, size, names[i]))
			p->section = (enum section)i;
	if (p->section == VERTICES)
		return read_vertices_header(p);
	if (p->section == NONE && !same_word(word, size, "*network"))
		return pe_scan_fail(
			&p->scan, "section \"%.*s\" is not supported", (int)pe_min((int64_t)size, 40), word);
	if (p->section != NONE && p->nodes < 0)
		return pe_scan_fail(&p->scan, "%.*s before *Vertices", (int)size, word);
	if (p->section == MATRIX && p->has_matrix)
		return pe_scan_fail(&p->scan, "a second *Matrix");
	p->has_matrix |= p->section == MATRIX;
	return PE_OK;
}

static pe_status read_node(struct parser *p, int64_t *out)
{
	pe_scan_blanks(&p->scan);
	return pe_scan_i64(&p->scan, "a vertex", 1, p->nodes, out);
}

/* "u v", then perhaps a number, then perhaps "c Blue", "l label" and the like. */
static pe_status read_pair(struct parser *p, struct pe_edge_buffer *edges)
{
	int64_t u, v;
	double w;
	PE_TRY(read_node(p, &u));
	PE_TRY(read_node(p, &v));
	pe_scan_blanks(&p->scan);
	char c = pe_scan_at_line_end(&p->scan) ? 'x' : *p->scan.at;
	if (isalpha((unsigned char)c) || c == '[' || p->policy->weight_column == 0)
		return edges->w ? pe_edge_push_weighted(p->scan.ctx, edges, u, v, 1)
						: pe_edge_push(p->scan.ctx, edges, u, v);
	PE_TRY(pe_scan_f64(&p->scan, "a weight", &w));
	return pe_edge_push_weighted(p->scan.ctx, edges, u, v, w);
}

static pe_status read_list(struct parser *p, struct pe_edge_buffer *edges)
{
	int64_t u, v;
	PE_TRY(read_node(p, &u));
	for (;;) {
		pe_scan_blanks(&p->scan);
		if (pe_scan_at_line_end(&p->scan))
			return PE_OK;
		PE_TRY(read_node(p, &v));
		PE_TRY(edges->w ? pe_edge_push_weighted(p->scan.ctx, edges, u, v, 1)
						: pe_edge_push(p->scan.ctx, edges, u, v));
	}
}

static pe_status read_matrix_row(struct parser *p)
{
	int64_t i = ++p->matrix_row;
	if (i > p->nodes)
		return pe_scan_fail(&p->scan, "the matrix has more rows than the %" PRId64 " vertices", p->nodes);
	for (int64_t j = 1; j <= p->nodes; j++) {
		double w;
		pe_scan_blanks(&p->scan);
		PE_TRY(pe_scan_f64(&p->scan, "an entry of the matrix", &w));
		if (!(w > 0 || w < 0))
			continue;
		PE_TRY(p->policy->weight_column == 0 ? pe_edge_push(p->scan.ctx, &p->arcs, i, j)
											 : pe_edge_push_weighted(p->scan.ctx, &p->arcs, i, j, w));
	}
	pe_scan_blanks(&p->scan);
	return pe_scan_at_line_end(&p->scan) ? PE_OK : pe_scan_fail(&p->scan, "a row of the matrix is too long");
}

static pe_status read_line(struct parser *p)
{
	int64_t vertex;
	pe_scan_blanks(&p->scan);
	if (pe_scan_at_line_end(&p->scan) || *p->scan.at == '%')
		return PE_OK;
	if (*p->scan.at == '*')
		return read_header(p);
	switch (p->section) {
	case VERTICES:
		p->has_labels = true;
		return read_node(p, &vertex);
	case EDGES:
		return read_pair(p, &p->edges);
	case ARCS:
		p->has_arcs = true;
		return read_pair(p, &p->arcs);
	case EDGES_LIST:
		return read_list(p, &p->edges);
	case ARCS_LIST:
		p->has_arcs = true;
		return read_list(p, &p->arcs);
	case MATRIX:
		return read_matrix_row(p);
	default:
		return pe_scan_fail(&p->scan, "a line that belongs to no section");
	}
}

static pe_status read_lines(struct parser *p)
{
	if (p->policy->weight_name)
		return pe_scan_fail(&p->scan, "pajek has no field named %s", p->policy->weight_name);
	if (p->policy->weight_column > 0 && p->policy->weight_column != 3)
		return pe_scan_fail(&p->scan, "weights stand in column 3, not %d", (int)p->policy->weight_column);
	do
		PE_TRY(read_line(p));
	while (pe_scan_next_line(&p->scan));
	PE_TRY(end_matrix(p));
	return p->nodes >= 0 ? PE_OK : pe_scan_fail(&p->scan, "there is no *Vertices");
}

/* ---- edges and arcs together -------------------------------------------------------- */

static pe_status push_arc(struct parser *p, int64_t u, int64_t v, const double *w)
{
	return w ? pe_edge_push_weighted(p->scan.ctx, &p->arcs, u, v, *w)
			 : pe_edge_push(p->scan.ctx, &p->arcs, u, v);
}

/* An edge among arcs is an arc each way. */
static pe_status turn_edges_into_arcs(struct parser *p)
{
	static const double one = 1;
	const struct pe_edge_buffer *e = &p->edges;
	for (int64_t i = 0; i < e->count; i++) {
		const double *w = e->w ? &e->w[i] : p->arcs.w ? &one : NULL;
		PE_TRY(push_arc(p, e->u[i], e->v[i], w));
		if (e->u[i] != e->v[i])
			PE_TRY(push_arc(p, e->v[i], e->u[i], w));
	}
	return PE_OK;
}

static pe_status finish(struct parser *p, struct pe_raw_graphs *out)
{
	bool mirrored = p->arcs.count == 0;
	if (!mirrored)
		PE_TRY(turn_edges_into_arcs(p));
	PE_TRY(pe_raw_from_edges(p->scan.ctx, mirrored ? &p->edges : &p->arcs, 1, p->nodes, out));
	pe_raw_drop_ones(p->scan.ctx, out);
	out->format = "pajek";
	out->mirrored = mirrored;
	out->direction = mirrored ? PE_UNDIRECTED : PE_DIRECTED;
	/* A matrix says nothing of direction but by its pattern. */
	if (p->has_matrix && !p->has_arcs && !mirrored)
		out->direction = PE_DIRECTED_IF_ONE_WAY;
	return p->has_labels ? PE_OK : pe_raw_count_phantom(p->scan.ctx, out);
}

static pe_status read_pajek(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct parser p = {
		.scan = pe_scan_start(ctx, source), .policy = policy, .bytes = source->size, .nodes = -1};
	pe_status status = read_lines(&p);
	if (status == PE_OK)
		status = finish(&p, out);
	pe_edge_buffer_free(ctx, &p.edges);
	pe_edge_buffer_free(ctx, &p.arcs);
	return status;
}

/* The first line that is no comment begins with *Vertices or *Network. */
static bool recognise(const struct pe_source *source)
{
	struct pe_scan scan = pe_scan_start(NULL, source);
	do {
		const char *word;
		size_t size;
		pe_scan_blanks(&scan);
		if (pe_scan_at_line_end(&scan) || *scan.at == '%')
			continue;
		pe_scan_word(&scan, "", &word, &size);
		return same_word(word, size, "*vertices") || same_word(word, size, "*network");
	} while (pe_scan_next_line(&scan));
	return false;
}

const struct pe_reader pe_reader_pajek = {
	.format = "pajek",
	.suffixes = ".net .paj",
	.recognise = recognise,
	.read = read_pajek,
};
