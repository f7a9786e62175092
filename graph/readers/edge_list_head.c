/* SPDX-License-Identifier: BSD-2-Clause
 * What stands before the rows of an edge list: SNAP's "# Nodes: 131 Edges: 764", KONECT's
 * "% sym unweighted" and "% 78 34 34", a first row of column names; and what the first row tells. */
#include <stdio.h>
#include <strings.h>

#include "edge_list.h"
#include "number.h"
#include "sniff.h"

/* ---- comments ----------------------------------------------------------------------- */

/* The count behind a word such as "Nodes:", or -1. */
static int64_t count_after(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);
	for (size_t at = 0; at + length < size; at++) {
		if (memcmp(text + at, word, length) != 0)
			continue;
		size_t begin = at + length;
		while (begin < size && text[begin] == ' ')
			begin++;
		size_t end = begin;
		while (end < size && text[end] >= '0' && text[end] <= '9')
			end++;
		int64_t count;
		return pe_parse_i64(text + begin, end - begin, &count) ? count : -1;
	}
	return -1;
}

static void read_snap(const char *text, size_t size, struct pe_edge_list_head *out)
{
	int64_t nodes = count_after(text, size, "Nodes:"), edges = count_after(text, size, "Edges:");
	out->nodes = nodes >= 0 ? nodes : out->nodes;
	out->edges = edges >= 0 ? edges : out->edges;
	if (pe_sniff_has(text, size, "Undirected graph") ||
		pe_sniff_has(text, size, "each unordered pair of nodes is saved once"))
		out->direction = PE_UNDIRECTED;
	else if (pe_sniff_has(text, size, "Directed graph") && out->direction == PE_DIRECTION_UNKNOWN)
		out->direction = PE_DIRECTED_IF_ONE_WAY;
}

static bool next_count(struct pe_scan *scan, int64_t *out)
{
	const char *text;
	size_t size;
	pe_scan_word(scan, "", &text, &size);
	return size > 0 && text[0] != '-' && pe_parse_i64(text, size, out);
}

static void read_konect(const char *text, size_t size, struct pe_edge_list_head *out)
{
	struct pe_scan scan = {.at = text + 1, .end = text + size};
	const char *word;
	size_t length;
	int64_t edges, rows, columns;
	pe_scan_word(&scan, "", &word, &length);
	bool sym = length == 3 && memcmp(word, "sym", 3) == 0;
	bool asym = length == 4 && memcmp(word, "asym", 4) == 0;
	bool bip = length == 3 && memcmp(word, "bip", 3) == 0;
	if (sym || asym || bip) {
		out->direction = sym ? PE_UNDIRECTED : PE_DIRECTED_IF_ONE_WAY;
		out->mirrored = sym;
		out->bipartite = bip;
		out->first_id = 1;
		return;
	}
	scan.at = text + 1;
	if (out->first_id == 1 && next_count(&scan, &edges) && next_count(&scan, &rows) &&
		next_count(&scan, &columns)) {
		out->edges = edges;
		out->nodes = pe_max(rows, columns);
	}
}

static void read_comment(struct pe_scan *scan, struct pe_edge_list_head *out)
{
	const char *text;
	size_t size;
	pe_scan_line(scan, &text, &size);
	if (text[0] == '#')
		read_snap(text, size, out);
	else
		read_konect(text, size, out);
}

static bool is_comment(const struct pe_scan *scan)
{
	return !pe_scan_at_end(scan) && (*scan->at == '#' || *scan->at == '%');
}

bool pe_edge_list_next_row(struct pe_scan *scan)
{
	for (;;) {
		pe_scan_blanks(scan);
		if (!pe_scan_at_line_end(scan) && !is_comment(scan))
			return true;
		if (!pe_scan_next_line(scan))
			return false;
	}
}

static bool read_comments(struct pe_scan *scan, struct pe_edge_list_head *out)
{
	for (;;) {
		pe_scan_blanks(scan);
		if (is_comment(scan))
			read_comment(scan, out);
		else if (!pe_scan_at_line_end(scan))
			return true;
		if (!pe_scan_next_line(scan))
			return false;
	}
}

/* ---- fields ------------------------------------------------------------------------- */

void pe_edge_list_field(struct pe_scan *scan, const char **text, size_t *size)
{
	pe_scan_blanks(scan);
	*text = scan->at;
	*size = 0;
	if (pe_scan_at_line_end(scan) || is_comment(scan))
		return;
	if (*scan->at == '{') {
		pe_scan_line(scan, text, size);
		scan->at += *size;
		return;
	}
	pe_scan_word(scan, ",;", text, size);
	pe_scan_blanks(scan);
	if (!pe_scan_at_end(scan) && (*scan->at == ',' || *scan->at == ';'))
		scan->at++;
}

bool pe_edge_list_attribute(const char *text, size_t size, const char *name, double *out)
{
	size_t length = strlen(name);
	for (size_t at = 1; at + length + 2 < size; at++) {
		char quote = text[at - 1];
		if ((quote != '\'' && quote != '"') || memcmp(text + at, name, length) != 0 ||
			text[at + length] != quote)
			continue;
		size_t begin = at + length + 1;
		while (begin < size && (text[begin] == ':' || text[begin] == ' '))
			begin++;
		size_t end = begin;
		while (end < size && text[end] != ',' && text[end] != '}' && text[end] != ' ')
			end++;
		return pe_parse_f64(text + begin, end - begin, out);
	}
	return false;
}

/* ---- the first rows ----------------------------------------------------------------- */

#define FIELDS 3 /* that are looked at */

struct row {
	int64_t columns;
	bool integer[FIELDS], number[FIELDS], dictionary;
};

static struct row look_at(struct pe_scan scan)
{
	struct row row = {0};
	const char *text;
	size_t size;
	for (pe_edge_list_field(&scan, &text, &size); size > 0; pe_edge_list_field(&scan, &text, &size)) {
		int64_t integer;
		double number;
		if (row.columns < FIELDS) {
			row.integer[row.columns] = pe_parse_i64(text, size, &integer);
			row.number[row.columns] = pe_parse_f64(text, size, &number);
			row.dictionary |= row.columns == 2 && text[0] == '{';
		}
		row.columns++;
	}
	return row;
}

static bool ids_are_integers(const struct row *row)
{
	return row->columns >= 2 && row->integer[0] && row->integer[1];
}

/* Names of columns, rather than two text ids: known words, or text above what are numbers below. */
static bool are_names(struct pe_scan scan, const struct row *first, const struct row *second)
{
	static const char *const known[][2] = {{"source", "target"}, {"src", "dst"}, {"from", "to"}, {"u", "v"},
		{"head", "tail"}, {"node1", "node2"}, {"node_1", "node_2"}, {"src_id", "dst_id"}, {"id1", "id2"},
		{"FromNodeId", "ToNodeId"}};
	const char *a, *b;
	size_t a_size, b_size;
	if (first->columns < 2 || ids_are_integers(first))
		return false;
	if (ids_are_integers(second) || (first->columns > 2 && !first->number[2] && second->number[2]))
		return true;
	pe_edge_list_field(&scan, &a, &a_size);
	pe_edge_list_field(&scan, &b, &b_size);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i][0]) == a_size && strncasecmp(known[i][0], a, a_size) == 0 &&
			strlen(known[i][1]) == b_size && strncasecmp(known[i][1], b, b_size) == 0)
			return true;
	return false;
}

static pe_status named_column(const struct pe_scan *names, const char *name, int64_t *out)
{
	struct pe_scan scan = *names;
	const char *text;
	size_t size;
	*out = 0;
	for (pe_edge_list_field(&scan, &text, &size); size > 0; pe_edge_list_field(&scan, &text, &size)) {
		++*out;
		if (strlen(name) == size && memcmp(name, text, size) == 0)
			return PE_OK;
	}
	return pe_scan_fail(names, "no column is named %s", name);
}

static pe_status find_weights(const struct pe_scan *first, const struct row *row,
	const struct pe_graph_policy *policy, struct pe_edge_list_head *out)
{
	out->weight = row->columns >= 3 && (row->number[2] || row->dictionary) ? 3 : 0;
	if (policy->weight_column == 0)
		out->weight = 0;
	else if (policy->weight_name && !row->dictionary && !out->names)
		return pe_scan_fail(
			first, "the columns have no names, so that %s is not among them", policy->weight_name);
	else if (policy->weight_name && !row->dictionary)
		PE_TRY(named_column(first, policy->weight_name, &out->weight));
	else if (policy->weight_column > 0)
		out->weight = policy->weight_column;
	if (out->weight == 1 || out->weight == 2)
		return pe_scan_fail(first, "column %d holds node ids, it cannot be the weights", (int)out->weight);
	if (out->weight > row->columns)
		return pe_scan_fail(first, "there is no column %d for the weights: there are %d", (int)out->weight,
			(int)row->columns);
	return PE_OK;
}

pe_status pe_edge_list_read_head(
	struct pe_scan *scan, const struct pe_graph_policy *policy, struct pe_edge_list_head *out)
{
	*out = (struct pe_edge_list_head){.nodes = -1, .edges = -1, .first_id = -1};
	bool rows = read_comments(scan, out);
	out->line = scan->line;
	if (out->bipartite)
		return pe_fail(scan->ctx, PE_ERR_UNSUPPORTED,
			"%s: a bipartite KONECT file numbers its two sides apart; add the size of the left side to the "
			"ids of the right one",
			scan->name);
	if (!rows)
		return PE_OK;
	struct pe_scan second = *scan;
	struct row one = look_at(*scan), two = {0};
	if (pe_scan_next_line(&second) && pe_edge_list_next_row(&second))
		two = look_at(second);
	out->names = are_names(*scan, &one, &two);
	const struct row *row = out->names && two.columns > 0 ? &two : &one;
	if (row->columns < 2)
		return pe_scan_fail(scan, "a row of an edge list needs two node ids");
	out->columns = row->columns;
	out->text_ids = !ids_are_integers(row);
	return find_weights(scan, row, policy, out);
}
