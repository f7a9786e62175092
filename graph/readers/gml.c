/* SPDX-License-Identifier: BSD-2-Clause
 * GML, the Graph Modelling Language: keys with values, a value being a number, a "string" or a [ list ].
 * Ids are integers; labels and other attributes are read over. Nodes keep the order in which they are
 * listed. Source: M. Himsolt, GML: A portable Graph File Format, 1997. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "listing.h"
#include "number.h"
#include "sniff.h"

enum token_kind { END, WORD, STRING, OPEN, CLOSE };

struct token {
	enum token_kind kind;
	const char *text; /* of a string: between the quotes */
	size_t size;
	int64_t line;
};

struct parser {
	struct pe_scan scan;
	const struct pe_graph_policy *policy;
	struct pe_listing listing;
	const char *field; /* weights */
	bool guess_value;  /* no field was asked for: `value` will do where there is no `weight` */
	bool directed, undirected;
};

/* ---- tokens ------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool ends_word(char c)
{
	return is_blank(c) || c == '[' || c == ']' || c == '"' || c == '#';
}

static void skip_blanks_and_comments(struct pe_scan *scan)
{
	bool comment = false;
	for (; scan->at < scan->end; scan->at++) {
		char c = *scan->at;
		if (c == '\n') {
			comment = false;
			scan->line++;
		} else if (c == '#') {
			comment = true;
		} else if (!comment && !is_blank(c)) {
			return;
		}
	}
}

static pe_status read_string(struct pe_scan *scan, struct token *out)
{
	const char *quote = memchr(out->text, '"', (size_t)(scan->end - out->text));
	if (!quote)
		return pe_scan_fail(scan, "the string that begins here does not end");
	out->size = (size_t)(quote - out->text);
	for (const char *c = out->text; c < quote; c++)
		scan->line += *c == '\n';
	scan->at = quote + 1;
	return PE_OK;
}

static pe_status next_token(struct pe_scan *scan, struct token *out)
{
	skip_blanks_and_comments(scan);
	*out = (struct token){.kind = END, .text = scan->at, .line = scan->line};
	if (scan->at == scan->end)
		return PE_OK;
	char c = *scan->at;
	out->kind = c == '[' ? OPEN : c == ']' ? CLOSE : c == '"' ? STRING : WORD;
	if (out->kind == STRING) {
		out->text++;
		return read_string(scan, out);
	}
	do
		scan->at++;
	while (out->kind == WORD && scan->at < scan->end && !ends_word(*scan->at));
	out->size = (size_t)(scan->at - out->text);
	return PE_OK;
}

static bool is(const struct token *token, const char *word)
{
	return token->size == strlen(word) && memcmp(token->text, word, token->size) == 0;
}

/* Stands at a token's line when something is wrong with it. */
static struct pe_scan at_line(const struct parser *p, int64_t line)
{
	struct pe_scan scan = p->scan;
	scan.line = line;
	return scan;
}

/* ---- keys and values ---------------------------------------------------------------- */

/* The next key of a list that began at line `opened` (0: the file itself); kind CLOSE or END at its end. */
static pe_status next_key(struct parser *p, int64_t opened, struct token *key)
{
	PE_TRY(next_token(&p->scan, key));
	if (key->kind == END && opened) {
		struct pe_scan scan = at_line(p, opened);
		return pe_scan_fail(&scan, "the list that begins here is not closed by a ']'");
	}
	if (key->kind == CLOSE && !opened)
		return pe_scan_fail(&p->scan, "a ']' without its '['");
	if (key->kind == END || key->kind == CLOSE)
		return PE_OK;
	if (key->kind != WORD || (!isalpha((unsigned char)key->text[0]) && key->text[0] != '_')) {
		struct pe_scan scan = at_line(p, key->line);
		return pe_scan_fail(
			&scan, "expected a key, found \"%.*s\"", (int)pe_min((int64_t)key->size, 40), key->text);
	}
	return PE_OK;
}

static pe_status fail_value(
	const struct parser *p, const struct token *key, const struct token *value, const char *expected)
{
	struct pe_scan scan = at_line(p, value->line);
	return pe_scan_fail(&scan, "%.*s is \"%.*s\"; it must be %s", (int)pe_min((int64_t)key->size, 40),
		key->text, (int)pe_min((int64_t)value->size, 40), value->text, expected);
}

/* Any value; of a list, everything up to its end. */
static pe_status skip_value(struct parser *p, const struct token *key)
{
	struct token token;
	int64_t depth = 0;
	do {
		PE_TRY(next_token(&p->scan, &token));
		depth += token.kind == OPEN;
		if (token.kind == END && depth > 0) {
			struct pe_scan scan = at_line(p, key->line);
			return pe_scan_fail(&scan, "the list that begins here is not closed by a ']'");
		}
		if (depth == 0 && (token.kind == END || token.kind == CLOSE)) {
			struct pe_scan scan = at_line(p, key->line);
			return pe_scan_fail(
				&scan, "key %.*s has no value", (int)pe_min((int64_t)key->size, 40), key->text);
		}
		depth -= token.kind == CLOSE;
	} while (depth > 0);
	return PE_OK;
}

static pe_status open_list(struct parser *p, const struct token *key)
{
	struct token token;
	PE_TRY(next_token(&p->scan, &token));
	return token.kind == OPEN ? PE_OK : fail_value(p, key, &token, "a list in brackets");
}

static pe_status read_integer(struct parser *p, const struct token *key, int64_t *out)
{
	struct token token;
	PE_TRY(next_token(&p->scan, &token));
	if (token.kind != WORD || !pe_parse_i64(token.text, token.size, out))
		return fail_value(p, key, &token, "an integer");
	return PE_OK;
}

/* The key of a node id. */
static pe_status read_id(struct parser *p, const struct token *key, int64_t *out)
{
	int64_t id;
	char text[24];
	if (*out >= 0) {
		struct pe_scan scan = at_line(p, key->line);
		return pe_scan_fail(&scan, "a second %.*s", (int)key->size, key->text);
	}
	PE_TRY(read_integer(p, key, &id));
	int size = snprintf(text, sizeof text, "%" PRId64, id);
	return pe_listing_find(&p->listing, text, (size_t)size, key->line, out);
}

/* ---- nodes and edges ---------------------------------------------------------------- */

static pe_status read_node(struct parser *p, const struct token *node)
{
	int64_t id = -1;
	struct token key;
	PE_TRY(open_list(p, node));
	for (;;) {
		PE_TRY(next_key(p, node->line, &key));
		if (key.kind == CLOSE)
			break;
		PE_TRY(is(&key, "id") ? read_id(p, &key, &id) : skip_value(p, &key));
	}
	struct pe_scan scan = at_line(p, node->line);
	if (id < 0)
		return pe_scan_fail(&scan, "a node without an id");
	if (p->listing.keys[id].row >= 0)
		return pe_scan_fail(&scan, "node %s is listed again", pe_listing_text(&p->listing, id));
	return pe_listing_node(&p->listing, id);
}

struct edge {
	int64_t source, target;
	bool has_weight, has_value;
	double weight, value;
};

/* `value` is only a guess at weights: where it is no number, it is something else. */
static pe_status read_guess(struct parser *p, const struct token *key, struct edge *edge)
{
	struct pe_scan before = p->scan;
	struct token token;
	PE_TRY(next_token(&p->scan, &token));
	edge->has_value = (token.kind == WORD || token.kind == STRING) &&
		pe_parse_f64(token.text, token.size, &edge->value) && isfinite(edge->value);
	if (edge->has_value)
		return PE_OK;
	p->scan = before;
	return skip_value(p, key);
}

static pe_status read_weight(struct parser *p, const struct token *key, struct edge *edge)
{
	struct token token;
	PE_TRY(next_token(&p->scan, &token));
	if ((token.kind != WORD && token.kind != STRING) ||
		!pe_parse_f64(token.text, token.size, &edge->weight) || !isfinite(edge->weight))
		return fail_value(p, key, &token, "a finite number");
	edge->has_weight = true;
	return PE_OK;
}

static pe_status read_edge_key(struct parser *p, const struct token *key, struct edge *edge)
{
	if (is(key, "source"))
		return read_id(p, key, &edge->source);
	if (is(key, "target"))
		return read_id(p, key, &edge->target);
	if (p->field && is(key, p->field))
		return read_weight(p, key, edge);
	if (p->guess_value && is(key, "value"))
		return read_guess(p, key, edge);
	return skip_value(p, key);
}

static pe_status read_edge(struct parser *p, const struct token *opening)
{
	struct edge edge = {.source = -1, .target = -1};
	struct token key;
	PE_TRY(open_list(p, opening));
	for (;;) {
		PE_TRY(next_key(p, opening->line, &key));
		if (key.kind == CLOSE)
			break;
		PE_TRY(read_edge_key(p, &key, &edge));
	}
	if (edge.source < 0 || edge.target < 0) {
		struct pe_scan scan = at_line(p, opening->line);
		return pe_scan_fail(&scan, "an edge without a %s", edge.source < 0 ? "source" : "target");
	}
	const double *weight = edge.has_weight ? &edge.weight : edge.has_value ? &edge.value : NULL;
	return pe_listing_edge(&p->listing, edge.source, edge.target, weight);
}

/* ---- graphs ------------------------------------------------------------------------- */

static pe_status read_directed(struct parser *p, const struct token *key, bool *out)
{
	int64_t value;
	PE_TRY(read_integer(p, key, &value));
	if (value != 0 && value != 1) {
		struct pe_scan scan = at_line(p, key->line);
		return pe_scan_fail(&scan, "directed is %" PRId64 "; it must be 0 or 1", value);
	}
	*out = value == 1;
	return PE_OK;
}

static pe_status close_graph(struct parser *p, const struct token *graph, bool directed)
{
	int64_t missing = pe_listing_unlisted(&p->listing);
	if (missing >= 0) {
		struct pe_scan scan = at_line(p, p->listing.keys[missing].line);
		return pe_scan_fail(
			&scan, "an edge names node %s, which is not listed", pe_listing_text(&p->listing, missing));
	}
	p->directed |= directed;
	p->undirected |= !directed;
	if (p->directed && p->undirected && p->policy->edges == PE_DIRECTION_UNKNOWN) {
		struct pe_scan scan = at_line(p, graph->line);
		return pe_scan_fail(&scan, "this graph is %s, unlike the ones before it; --edges can decide for all",
			directed ? "directed" : "undirected");
	}
	return pe_listing_close(&p->listing);
}

static pe_status read_graph(struct parser *p, const struct token *graph)
{
	struct token key;
	bool directed = false;
	PE_TRY(open_list(p, graph));
	for (;;) {
		PE_TRY(next_key(p, graph->line, &key));
		if (key.kind == CLOSE)
			break;
		if (is(&key, "node"))
			PE_TRY(read_node(p, &key));
		else if (is(&key, "edge"))
			PE_TRY(read_edge(p, &key));
		else if (is(&key, "directed"))
			PE_TRY(read_directed(p, &key, &directed));
		else
			PE_TRY(skip_value(p, &key));
	}
	return close_graph(p, graph, directed);
}

static pe_status read_all(struct parser *p)
{
	struct token key;
	for (;;) {
		PE_TRY(next_key(p, 0, &key));
		if (key.kind == END)
			break;
		PE_TRY(is(&key, "graph") ? read_graph(p, &key) : skip_value(p, &key));
	}
	return p->listing.graphs > 0 ? PE_OK : pe_scan_fail(&p->scan, "there is no graph [ … ]");
}

static pe_status read_gml(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct parser p = {.scan = pe_scan_start(ctx, source), .policy = policy, .listing = {.ctx = ctx}};
	PE_TRY(pe_weight_field(ctx, source, policy, "weight", &p.field));
	p.guess_value = p.field && !policy->weight_name;
	pe_status status = read_all(&p);
	if (status == PE_OK)
		status = pe_listing_check_weights(&p.listing, source, policy, p.field);
	if (status == PE_OK)
		status = pe_listing_finish(&p.listing, out);
	if (status == PE_OK) {
		bool directed = p.undirected ? p.directed && policy->edges == PE_DIRECTED : true;
		out->format = "gml";
		out->direction = directed ? PE_DIRECTED : PE_UNDIRECTED;
		out->mirrored = !directed;
	}
	pe_listing_free(&p.listing);
	return status;
}

/* ---- recognition -------------------------------------------------------------------- */

/* Keys with plain values, then `graph [`. */
static bool recognise(const struct pe_source *source)
{
	struct pe_source window = *source;
	window.size = window.size < PE_SNIFF_WINDOW ? window.size : PE_SNIFF_WINDOW;
	struct pe_scan scan = pe_scan_start(NULL, &window);
	skip_blanks_and_comments(&scan);
	while (scan.at < scan.end && isalpha((unsigned char)*scan.at)) {
		struct token key, value;
		if (next_token(&scan, &key) != PE_OK)
			return false;
		skip_blanks_and_comments(&scan);
		const char *quote = scan.at;
		if (quote < scan.end && *quote == '"' && !memchr(quote + 1, '"', (size_t)(scan.end - quote - 1)))
			return false;
		if (next_token(&scan, &value) != PE_OK)
			return false;
		if (value.kind == OPEN)
			return is(&key, "graph");
		skip_blanks_and_comments(&scan);
	}
	return false;
}

const struct pe_reader pe_reader_gml = {
	.format = "gml",
	.suffixes = ".gml",
	.recognise = recognise,
	.read = read_gml,
};
