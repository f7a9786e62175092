/* SPDX-License-Identifier: BSD-2-Clause
 * GraphML, read by expat. Nodes in the order in which they are listed; the weight is the <data> whose <key>
 * has attr.name="weight". Several <graph> elements are many graphs. Hyperedges and nested graphs are refused;
 * ports change nothing about who is joined to whom and are left out. Entity declarations are refused: no
 * honest file has them, and nested ones expand without bound. */
#include <expat.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "listing.h"
#include "number.h"
#include "sniff.h"

#define SEPARATOR '|' /* between a namespace and a name, as expat hands them over */
#define CHUNK ((size_t)1 << 20)
#define MAX_NUMBER 256

enum place { OUTSIDE, ROOT, KEY, DEFAULT, GRAPH, NODE, EDGE, DATA };

struct weight_key {
	char *id;
	bool has_default;
	double value;
};

struct parser {
	XML_Parser xml;
	const struct pe_source *source;
	const struct pe_graph_policy *policy;
	struct pe_listing listing;
	pe_status status;
	const char *field; /* the weights' attr.name, or NULL */
	struct weight_key *keys;
	int64_t key_count, key_capacity;

	enum place place;
	int64_t skipped; /* open elements below `place` that are of no interest */
	char *space;     /* the root's namespace with its separator, or "" */
	bool wants_text;
	char text[MAX_NUMBER];
	size_t text_size;

	bool directed_by_default;
	bool directed, undirected; /* edges that have been seen */
	bool warned_of_ports;
	bool edge_directed, has_weight;
	int64_t edge_source, edge_target;
	double weight;
};

/* ---- helpers ------------------------------------------------------------------------ */

static int64_t line_of(const struct parser *p)
{
	return (int64_t)XML_GetCurrentLineNumber(p->xml);
}

static void stop(struct parser *p, pe_status status)
{
	if (p->status == PE_OK)
		p->status = status;
	(void)XML_StopParser(p->xml, XML_FALSE);
}

PE_PRINTF(3, 4)
static void fail_at(struct parser *p, int64_t line, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (p->status == PE_OK)
		stop(p,
			pe_fail(
				p->listing.ctx, PE_ERR_FORMAT, "%s:%" PRId64 ": %s", pe_source_name(p->source), line, text));
}

static const char *attribute(const char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return NULL;
}

/* The name without its namespace, if that is the root's; else "", which is no element's name. */
static const char *local_name(const struct parser *p, const char *name)
{
	size_t length = strlen(p->space);
	return strncmp(name, p->space, length) == 0 && !strchr(name + length, SEPARATOR) ? name + length : "";
}

static void collect(struct parser *p, enum place place)
{
	p->place = place;
	p->wants_text = true;
	p->text_size = 0;
}

/* What was collected, as a number. */
static bool collected(struct parser *p, double *out)
{
	const char *text = p->text;
	size_t size = p->text_size;
	p->wants_text = false;
	while (size > 0 && strchr(" \t\r\n", text[size - 1]))
		size--;
	while (size > 0 && strchr(" \t\r\n", text[0])) {
		text++;
		size--;
	}
	if (size < MAX_NUMBER && pe_parse_f64(text, size, out) && isfinite(*out))
		return true;
	fail_at(p, line_of(p), "%s \"%.*s\" is not a finite number", p->field, (int)size, text);
	return false;
}

/* ---- elements ----------------------------------------------------------------------- */

static void start_root(struct parser *p, const char *name)
{
	const char *local = strrchr(name, SEPARATOR);
	local = local ? local + 1 : name;
	if (strcmp(local, "graphml") != 0) {
		fail_at(p, line_of(p), "the root element is <%s>, not <graphml>", local);
		return;
	}
	p->space = pe_strdup(p->listing.ctx, name);
	if (!p->space) {
		stop(p, PE_ERR_NOMEM);
		return;
	}
	p->space[local - name] = '\0';
	p->place = ROOT;
}

static void start_key(struct parser *p, const char **attributes)
{
	const char *id = attribute(attributes, "id"), *domain = attribute(attributes, "for");
	const char *name = attribute(attributes, "attr.name");
	p->place = KEY;
	if (!p->field || !id || !name || strcmp(name, p->field) != 0 ||
		(domain && strcmp(domain, "edge") != 0 && strcmp(domain, "all") != 0)) {
		p->place = ROOT;
		p->skipped = 1;
		return;
	}
	if (p->listing.graphs > 0) {
		fail_at(p, line_of(p), "the key of %s stands after a graph", name);
		return;
	}
	pe_status status =
		pe_grow(p->listing.ctx, &p->keys, &p->key_capacity, p->key_count, p->key_count + 1, sizeof *p->keys);
	if (status == PE_OK) {
		p->keys[p->key_count] = (struct weight_key){.id = pe_strdup(p->listing.ctx, id)};
		status = p->keys[p->key_count].id ? PE_OK : PE_ERR_NOMEM;
		p->key_count++;
	}
	if (status != PE_OK)
		stop(p, status);
}

static void start_graph(struct parser *p, const char **attributes)
{
	const char *direction = attribute(attributes, "edgedefault");
	p->place = GRAPH;
	p->directed_by_default = direction && strcmp(direction, "directed") == 0;
	if (direction && !p->directed_by_default && strcmp(direction, "undirected") != 0)
		fail_at(p, line_of(p), "edgedefault is \"%s\"; it must be directed or undirected", direction);
}

static void start_node(struct parser *p, const char **attributes)
{
	const char *id = attribute(attributes, "id");
	p->place = NODE;
	if (!id) {
		fail_at(p, line_of(p), "a node without an id");
		return;
	}
	int64_t key = -1;
	pe_status status = pe_listing_find(&p->listing, id, strlen(id), line_of(p), &key);
	if (status == PE_OK && p->listing.keys[key].row >= 0)
		fail_at(p, line_of(p), "node \"%s\" is listed again", id);
	else if (status == PE_OK)
		status = pe_listing_node(&p->listing, key);
	if (status != PE_OK)
		stop(p, status);
}

/* An edge's own direction, or the graph's. */
static void read_direction(struct parser *p, const char **attributes)
{
	const char *directed = attribute(attributes, "directed");
	p->edge_directed = p->directed_by_default;
	if (directed && strcmp(directed, "true") != 0 && strcmp(directed, "false") != 0)
		fail_at(p, line_of(p), "directed is \"%s\"; it must be true or false", directed);
	else if (directed)
		p->edge_directed = directed[0] == 't';
	p->directed |= p->edge_directed;
	p->undirected |= !p->edge_directed;
	if (p->directed && p->undirected && p->policy->edges == PE_DIRECTION_UNKNOWN)
		fail_at(p, line_of(p), "this edge is %s, unlike the ones before it; --edges can decide for all",
			p->edge_directed ? "directed" : "undirected");
}

static void start_edge(struct parser *p, const char **attributes)
{
	const char *source = attribute(attributes, "source"), *target = attribute(attributes, "target");
	p->place = EDGE;
	p->has_weight = false;
	if (!source || !target) {
		fail_at(p, line_of(p), "an edge without a %s", source ? "target" : "source");
		return;
	}
	read_direction(p, attributes);
	pe_status status = pe_listing_find(&p->listing, source, strlen(source), line_of(p), &p->edge_source);
	if (status == PE_OK)
		status = pe_listing_find(&p->listing, target, strlen(target), line_of(p), &p->edge_target);
	if (status != PE_OK)
		stop(p, status);
}

static void start_data(struct parser *p, const char **attributes)
{
	const char *id = attribute(attributes, "key");
	for (int64_t i = 0; id && i < p->key_count; i++) {
		if (strcmp(p->keys[i].id, id) != 0)
			continue;
		if (p->has_weight)
			fail_at(p, line_of(p), "an edge with two values of %s", p->field);
		collect(p, DATA);
		return;
	}
	p->skipped = 1;
}

static void start_in_node(struct parser *p, const char *name)
{
	p->skipped = 1;
	if (strcmp(name, "graph") == 0)
		fail_at(p, line_of(p), "a graph inside a node; nested graphs are not supported");
	if (strcmp(name, "port") == 0 && !p->warned_of_ports) {
		p->warned_of_ports = true;
		pe_log(p->listing.ctx, PE_LOG_WARNING, "%s:%" PRId64 ": ports are left out: edges join whole nodes",
			pe_source_name(p->source), line_of(p));
	}
}

static void start_in_graph(struct parser *p, const char *name, const char **attributes)
{
	if (strcmp(name, "node") == 0)
		start_node(p, attributes);
	else if (strcmp(name, "edge") == 0)
		start_edge(p, attributes);
	else if (strcmp(name, "hyperedge") == 0)
		fail_at(p, line_of(p), "hyperedges are not supported");
	else
		p->skipped = 1;
}

static void start_element(void *user, const char *full_name, const char **attributes)
{
	struct parser *p = user;
	if (p->status != PE_OK)
		return;
	if (p->place == OUTSIDE) {
		start_root(p, full_name);
		return;
	}
	const char *name = local_name(p, full_name);
	if (p->skipped > 0)
		p->skipped++;
	else if (p->place == ROOT && strcmp(name, "key") == 0)
		start_key(p, attributes);
	else if (p->place == ROOT && strcmp(name, "graph") == 0)
		start_graph(p, attributes);
	else if (p->place == KEY && strcmp(name, "default") == 0)
		collect(p, DEFAULT);
	else if (p->place == GRAPH)
		start_in_graph(p, name, attributes);
	else if (p->place == NODE)
		start_in_node(p, name);
	else if (p->place == EDGE && strcmp(name, "data") == 0)
		start_data(p, attributes);
	else
		p->skipped = 1;
}

static void end_default(struct parser *p)
{
	struct weight_key *key = &p->keys[p->key_count - 1];
	key->has_default = collected(p, &key->value);
	p->place = KEY;
}

static void end_edge(struct parser *p)
{
	for (int64_t i = 0; !p->has_weight && i < p->key_count; i++)
		if (p->keys[i].has_default) {
			p->weight = p->keys[i].value;
			p->has_weight = true;
		}
	pe_status status =
		pe_listing_edge(&p->listing, p->edge_source, p->edge_target, p->has_weight ? &p->weight : NULL);
	if (status != PE_OK)
		stop(p, status);
	p->place = GRAPH;
}

static void end_graph(struct parser *p)
{
	int64_t missing = pe_listing_unlisted(&p->listing);
	if (missing >= 0) {
		fail_at(p, p->listing.keys[missing].line, "an edge names node \"%.200s\", which is not listed",
			pe_listing_text(&p->listing, missing));
		return;
	}
	pe_status status = pe_listing_close(&p->listing);
	if (status != PE_OK)
		stop(p, status);
	p->place = ROOT;
}

static void end_element(void *user, const char *name)
{
	struct parser *p = user;
	(void)name;
	if (p->status != PE_OK)
		return;
	if (p->skipped > 0) {
		p->skipped--;
		return;
	}
	switch (p->place) {
	case DEFAULT:
		end_default(p);
		break;
	case DATA:
		p->has_weight = collected(p, &p->weight);
		p->place = EDGE;
		break;
	case EDGE:
		end_edge(p);
		break;
	case NODE:
		p->place = GRAPH;
		break;
	case GRAPH:
		end_graph(p);
		break;
	default:
		p->place = p->place == KEY ? ROOT : OUTSIDE;
	}
}

static void take_text(void *user, const char *text, int length)
{
	struct parser *p = user;
	size_t size = (size_t)length;
	if (!p->wants_text || p->skipped > 0)
		return;
	size_t room = sizeof p->text - p->text_size;
	if (size > room) /* so that it is refused as a number */
		size = room;
	memcpy(p->text + p->text_size, text, size);
	p->text_size += size;
}

static void refuse_entity(void *user, const char *name, int is_parameter, const char *value, int length,
	const char *base, const char *system, const char *public, const char *notation)
{
	(void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
	struct parser *p = user;
	fail_at(p, line_of(p), "the file declares the entity \"%s\", which is refused", name);
}

/* ---- the whole file ----------------------------------------------------------------- */

static pe_status parse(struct parser *p)
{
	XML_SetUserData(p->xml, p);
	XML_SetElementHandler(p->xml, start_element, end_element);
	XML_SetCharacterDataHandler(p->xml, take_text);
	XML_SetEntityDeclHandler(p->xml, refuse_entity);
	for (size_t at = 0, size; at <= p->source->size; at += size) {
		size = p->source->size - at < CHUNK ? p->source->size - at : CHUNK;
		bool last = at + size == p->source->size;
		enum XML_Status result = XML_Parse(p->xml, p->source->data + at, (int)size, last);
		if (p->status != PE_OK)
			return p->status;
		if (result != XML_STATUS_OK && XML_GetErrorCode(p->xml) == XML_ERROR_NO_MEMORY)
			return pe_fail(p->listing.ctx, PE_ERR_NOMEM, "out of memory");
		if (result != XML_STATUS_OK)
			fail_at(p, line_of(p), "%s", XML_ErrorString(XML_GetErrorCode(p->xml)));
		if (last)
			break;
	}
	if (p->status == PE_OK && p->listing.graphs == 0)
		fail_at(p, line_of(p), "there is no graph");
	return p->status;
}

static pe_status finish(struct parser *p, struct pe_raw_graphs *out)
{
	PE_TRY(pe_listing_check_weights(&p->listing, p->source, p->policy, p->field));
	PE_TRY(pe_listing_finish(&p->listing, out));
	bool directed = p->directed || (!p->undirected && p->directed_by_default);
	if (p->directed && p->undirected)
		directed = p->policy->edges == PE_DIRECTED;
	out->format = "graphml";
	out->direction = directed ? PE_DIRECTED : PE_UNDIRECTED;
	out->mirrored = !directed;
	return PE_OK;
}

static pe_status read_graphml(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct parser p = {.source = source, .policy = policy, .listing = {.ctx = ctx}};
	PE_TRY(pe_weight_field(ctx, source, policy, "weight", &p.field));
	/* expat's hooks for memory know no context, so it uses the C library's. */
	p.xml = XML_ParserCreateNS(NULL, SEPARATOR);
	pe_status status = p.xml ? parse(&p) : pe_fail(ctx, PE_ERR_NOMEM, "out of memory");
	if (status == PE_OK)
		status = finish(&p, out);
	if (p.xml)
		XML_ParserFree(p.xml);
	for (int64_t i = 0; i < p.key_count; i++)
		pe_free(ctx, p.keys[i].id);
	pe_free(ctx, p.keys);
	pe_free(ctx, p.space);
	pe_listing_free(&p.listing);
	return status;
}

static bool recognise(const struct pe_source *source)
{
	size_t at = pe_sniff_start(source);
	size_t window = source->size < PE_SNIFF_WINDOW ? source->size : PE_SNIFF_WINDOW;
	return at < window && source->data[at] == '<' &&
		(pe_sniff_has(source->data, window, "<graphml") || pe_sniff_has(source->data, window, ":graphml"));
}

const struct pe_reader pe_reader_graphml = {
	.format = "graphml",
	.suffixes = ".graphml",
	.recognise = recognise,
	.read = read_graphml,
};
