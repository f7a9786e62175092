/* SPDX-License-Identifier: BSD-2-Clause
 * DIMACS: the colouring form (p edge N M or p col N M, lines e U V), undirected, and the shortest-path form
 * (p sp N M, lines a U V W), directed. Many colouring files list every edge in both directions; M then
 * counts either the lines or the edges, so M lines and 2M lines that pair up are both taken.
 * Sources: DIMACS Challenges 2 (ccformat) and 9 (file formats). */
#include <inttypes.h>
#include <string.h>

#include "listing.h"
#include "pattern.h"
#include "sniff.h"

struct parser {
	struct pe_scan scan;
	const struct pe_graph_policy *policy;
	struct pe_edge_buffer edges;
	size_t bytes;
	char problem[8]; /* "edge", "col" or "sp"; "" before the line p */
	int64_t nodes, rows;
};

static bool is(const char *text, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(text, word, size) == 0;
}

static bool directed(const struct parser *p)
{
	return strcmp(p->problem, "sp") == 0;
}

static pe_status end_of_line(struct pe_scan *scan)
{
	pe_scan_blanks(scan);
	return pe_scan_at_line_end(scan) ? PE_OK : pe_scan_fail(scan, "more on the line than it should hold");
}

static pe_status read_problem(struct parser *p)
{
	static const char *const known[] = {"edge", "edges", "col", "sp"};
	const char *word;
	size_t size;
	if (p->problem[0])
		return pe_scan_fail(&p->scan, "a second line p");
	pe_scan_blanks(&p->scan);
	pe_scan_word(&p->scan, "", &word, &size);
	for (size_t i = 0; i < sizeof known / sizeof *known && !p->problem[0]; i++)
		if (is(word, size, known[i]))
			strcpy(p->problem, known[i]);
	if (!p->problem[0])
		return pe_scan_fail(&p->scan, "problem \"%.*s\" is not supported; edge, col and sp are",
			(int)pe_min((int64_t)size, 40), word);
	pe_scan_blanks(&p->scan);
	PE_TRY(pe_scan_i64(&p->scan, "a number of nodes", 0, INT32_MAX, &p->nodes));
	pe_scan_blanks(&p->scan);
	PE_TRY(pe_scan_i64(&p->scan, "a number of edges", 0, INT64_MAX / 4, &p->rows));
	if (pe_nodes_excessive(p->nodes, p->bytes))
		return pe_scan_fail(
			&p->scan, "%" PRId64 " nodes in a file of %zu bytes: refused as damaged", p->nodes, p->bytes);
	return end_of_line(&p->scan);
}

static pe_status read_edge(struct parser *p, char kind)
{
	pe_context *ctx = p->scan.ctx;
	int64_t u, v;
	double w;
	if (!p->problem[0])
		return pe_scan_fail(&p->scan, "an edge before the line p");
	if (kind != (directed(p) ? 'a' : 'e'))
		return pe_scan_fail(&p->scan, "a line %c in a problem %s", kind, p->problem);
	pe_scan_blanks(&p->scan);
	PE_TRY(pe_scan_i64(&p->scan, "a node", 1, p->nodes, &u));
	pe_scan_blanks(&p->scan);
	PE_TRY(pe_scan_i64(&p->scan, "a node", 1, p->nodes, &v));
	pe_scan_blanks(&p->scan);
	if (pe_scan_at_line_end(&p->scan)) {
		if (kind == 'a' || p->edges.w)
			return pe_scan_fail(&p->scan, "an edge without a weight");
		return pe_edge_push(ctx, &p->edges, u, v);
	}
	PE_TRY(pe_scan_f64(&p->scan, "a weight", &w));
	PE_TRY(end_of_line(&p->scan));
	if (p->policy->weight_column == 0)
		return pe_edge_push(ctx, &p->edges, u, v);
	if (!p->edges.w && p->edges.count)
		return pe_scan_fail(&p->scan, "an edge with a weight after edges without");
	return pe_edge_push_weighted(ctx, &p->edges, u, v, w);
}

static pe_status read_line(struct parser *p)
{
	const char *word;
	size_t size;
	pe_scan_blanks(&p->scan);
	if (pe_scan_at_line_end(&p->scan))
		return PE_OK;
	pe_scan_word(&p->scan, "", &word, &size);
	if (word[0] == 'c') /* a comment, often without a blank after the c */
		return PE_OK;
	if (size == 1 && memchr("ndvx", word[0], 4)) /* colours and parameters of generators */
		return PE_OK;
	if (is(word, size, "p"))
		return read_problem(p);
	if (is(word, size, "e") || is(word, size, "a"))
		return read_edge(p, word[0]);
	return pe_scan_fail(
		&p->scan, "a line \"%.*s\"; lines begin with c, p, e or a", (int)pe_min((int64_t)size, 40), word);
}

/* Whether every edge stands in both directions. */
static pe_status both_directions(struct parser *p, const struct pe_raw_graphs *raw, bool *out)
{
	*out = false;
	if (directed(p) || raw->rows == 0)
		return PE_OK;
	return pe_pattern_symmetric(p->scan.ctx, (int32_t)raw->nodes, raw->rows, raw->u, raw->v, out);
}

static pe_status check_weight_policy(struct parser *p)
{
	if (p->policy->weight_name)
		return pe_scan_fail(&p->scan, "dimacs has no field named %s", p->policy->weight_name);
	if (p->policy->weight_column > 0 && p->policy->weight_column != 3)
		return pe_scan_fail(&p->scan, "weights stand in column 3, not %d", (int)p->policy->weight_column);
	return PE_OK;
}

static pe_status read_lines(struct parser *p)
{
	PE_TRY(check_weight_policy(p));
	do
		PE_TRY(read_line(p));
	while (pe_scan_next_line(&p->scan));
	if (!p->problem[0])
		return pe_scan_fail(&p->scan, "there is no line p");
	return PE_OK;
}

static pe_status finish(struct parser *p, struct pe_raw_graphs *out)
{
	bool both;
	int64_t found = p->edges.count;
	PE_TRY(pe_raw_from_edges(p->scan.ctx, &p->edges, 1, p->nodes, out));
	pe_status status = both_directions(p, out, &both);
	if (status == PE_OK && found != p->rows && !(both && found == 2 * p->rows))
		status = pe_scan_fail(
			&p->scan, "the line p promises %" PRId64 " edges, here are %" PRId64, p->rows, found);
	if (status != PE_OK) {
		pe_raw_graphs_free(p->scan.ctx, out);
		return status;
	}
	out->format = "dimacs";
	out->direction = directed(p) ? PE_DIRECTED : PE_UNDIRECTED;
	out->mirrored = !directed(p) && !both;
	return pe_raw_count_phantom(p->scan.ctx, out);
}

static pe_status read_dimacs(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct parser p = {.scan = pe_scan_start(ctx, source), .policy = policy, .bytes = source->size};
	pe_status status = read_lines(&p);
	if (status == PE_OK)
		status = finish(&p, out);
	pe_edge_buffer_free(ctx, &p.edges);
	return status;
}

/* Comments, then a line p with a word and two numbers. */
static bool recognise(const struct pe_source *source)
{
	struct pe_scan scan = pe_scan_start(NULL, source);
	const char *text;
	size_t size;
	do {
		pe_scan_line(&scan, &text, &size);
		if (size > 0 && text[0] != 'c')
			break;
	} while (pe_scan_next_line(&scan));
	if (size < 2 || text[0] != 'p' || (text[1] != ' ' && text[1] != '\t'))
		return false;
	int words = 0;
	for (size_t i = 1; i < size; i++)
		words += text[i] > ' ' && text[i - 1] <= ' ';
	return words == 3 && text[size - 1] <= '9';
}

const struct pe_reader pe_reader_dimacs = {
	.format = "dimacs",
	.suffixes = ".col .gr .dimacs",
	.recognise = recognise,
	.read = read_dimacs,
};
