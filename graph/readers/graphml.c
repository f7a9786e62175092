/* SPDX-License-Identifier: BSD-2-Clause
 * GraphML, read by expat. Several <graph> elements are many graphs. Hyperedges and nested graphs are refused;
 * ports change nothing about who is joined to whom and are left out. Entity declarations are refused: no
 * honest file has them, and nested ones expand without bound. */
#include <expat.h>
#include <inttypes.h>
#include <string.h>

#include "graphml_graphs.h"
#include "sniff.h"

#define SEPARATOR '|' /* between a namespace and a name, as expat hands them over */
#define CHUNK ((size_t)1 << 20)

enum place { OUTSIDE, ROOT, KEY, DEFAULT, GRAPH, NODE, EDGE, DATA };

struct parser {
	XML_Parser xml;
	struct pe_graphml graphs;
	pe_status status;
	enum place place;
	int64_t skipped; /* open elements below `place` that are of no interest */
	char *space;     /* the root's namespace with its separator, or "" */
	bool wants_text;
	char text[PE_GRAPHML_NUMBER];
	size_t text_size;
	bool warned_of_ports;
};

/* ---- helpers ------------------------------------------------------------------------ */

/* So that messages name the line that expat is at. */
static void note_line(struct parser *p)
{
	p->graphs.line = (int64_t)XML_GetCurrentLineNumber(p->xml);
}

/* Parsing ends with the first failure. */
static void settle(struct parser *p, pe_status status)
{
	if (status == PE_OK)
		return;
	if (p->status == PE_OK)
		p->status = status;
	(void)XML_StopParser(p->xml, XML_FALSE);
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

/* ---- elements ----------------------------------------------------------------------- */

static pe_status start_root(struct parser *p, const char *name)
{
	const char *local = strrchr(name, SEPARATOR);
	local = local ? local + 1 : name;
	if (strcmp(local, "graphml") != 0)
		return pe_graphml_fail(&p->graphs, "the root element is <%s>, not <graphml>", local);
	p->space = pe_strdup(p->graphs.listing.ctx, name);
	if (!p->space)
		return PE_ERR_NOMEM;
	p->space[local - name] = '\0';
	p->place = ROOT;
	return PE_OK;
}

static pe_status start_in_root(struct parser *p, const char *name, const char **attributes)
{
	bool wanted = false;
	if (strcmp(name, "graph") == 0) {
		p->place = GRAPH;
		return pe_graphml_start_graph(&p->graphs, attributes);
	}
	if (strcmp(name, "key") == 0)
		PE_TRY(pe_graphml_key(&p->graphs, attributes, &wanted));
	p->place = wanted ? KEY : ROOT;
	p->skipped = !wanted;
	return PE_OK;
}

static pe_status start_in_graph(struct parser *p, const char *name, const char **attributes)
{
	if (strcmp(name, "hyperedge") == 0)
		return pe_graphml_fail(&p->graphs, "hyperedges are not supported");
	if (strcmp(name, "node") == 0) {
		p->place = NODE;
		return pe_graphml_node(&p->graphs, attributes);
	}
	if (strcmp(name, "edge") == 0) {
		p->place = EDGE;
		return pe_graphml_start_edge(&p->graphs, attributes);
	}
	p->skipped = 1;
	return PE_OK;
}

static pe_status start_in_node(struct parser *p, const char *name)
{
	struct pe_graphml *g = &p->graphs;
	p->skipped = 1;
	if (strcmp(name, "graph") == 0)
		return pe_graphml_fail(g, "a graph inside a node; nested graphs are not supported");
	if (strcmp(name, "port") == 0 && !p->warned_of_ports) {
		p->warned_of_ports = true;
		pe_log(g->listing.ctx, PE_LOG_WARNING, "%s:%" PRId64 ": ports are left out: edges join whole nodes",
			pe_source_name(g->source), g->line);
	}
	return PE_OK;
}

static pe_status start_in_edge(struct parser *p, const char *name, const char **attributes)
{
	bool wanted = false;
	if (strcmp(name, "data") == 0)
		PE_TRY(pe_graphml_start_data(&p->graphs, attributes, &wanted));
	if (wanted)
		collect(p, DATA);
	p->skipped = !wanted;
	return PE_OK;
}

static pe_status start(struct parser *p, const char *full_name, const char **attributes)
{
	if (p->place == OUTSIDE)
		return start_root(p, full_name);
	if (p->skipped > 0) {
		p->skipped++;
		return PE_OK;
	}
	const char *name = local_name(p, full_name);
	switch (p->place) {
	case ROOT:
		return start_in_root(p, name, attributes);
	case GRAPH:
		return start_in_graph(p, name, attributes);
	case NODE:
		return start_in_node(p, name);
	case EDGE:
		return start_in_edge(p, name, attributes);
	default:
		break;
	}
	if (p->place == KEY && strcmp(name, "default") == 0)
		collect(p, DEFAULT);
	else
		p->skipped = 1;
	return PE_OK;
}

static pe_status end(struct parser *p)
{
	struct pe_graphml *g = &p->graphs;
	enum place left = p->place;
	p->wants_text = false;
	switch (left) {
	case DEFAULT:
		p->place = KEY;
		return pe_graphml_default(g, p->text, p->text_size);
	case DATA:
		p->place = EDGE;
		return pe_graphml_end_data(g, p->text, p->text_size);
	case EDGE:
		p->place = GRAPH;
		return pe_graphml_end_edge(g);
	case NODE:
		p->place = GRAPH;
		return PE_OK;
	case GRAPH:
		p->place = ROOT;
		return pe_graphml_end_graph(g);
	default:
		p->place = left == KEY ? ROOT : OUTSIDE;
		return PE_OK;
	}
}

/* ---- what expat calls --------------------------------------------------------------- */

static void start_element(void *user, const char *name, const char **attributes)
{
	struct parser *p = user;
	note_line(p);
	if (p->status == PE_OK)
		settle(p, start(p, name, attributes));
}

static void end_element(void *user, const char *name)
{
	struct parser *p = user;
	(void)name;
	note_line(p);
	if (p->status != PE_OK)
		return;
	if (p->skipped > 0)
		p->skipped--;
	else
		settle(p, end(p));
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
	note_line(p);
	if (p->status == PE_OK)
		settle(p, pe_graphml_fail(&p->graphs, "the file declares the entity \"%s\", which is refused", name));
}

/* ---- the whole file ----------------------------------------------------------------- */

/* What expat has to say of a piece that it did not take. */
static pe_status refuse_piece(struct parser *p)
{
	enum XML_Error error = XML_GetErrorCode(p->xml);
	if (error == XML_ERROR_NO_MEMORY)
		return pe_fail(p->graphs.listing.ctx, PE_ERR_NOMEM, "out of memory");
	note_line(p);
	return pe_graphml_fail(&p->graphs, "%s", XML_ErrorString(error));
}

static pe_status parse(struct parser *p)
{
	const struct pe_source *source = p->graphs.source;
	bool last = false;
	XML_SetUserData(p->xml, p);
	XML_SetElementHandler(p->xml, start_element, end_element);
	XML_SetCharacterDataHandler(p->xml, take_text);
	XML_SetEntityDeclHandler(p->xml, refuse_entity);
	for (size_t at = 0, size; !last; at += size) {
		size = source->size - at < CHUNK ? source->size - at : CHUNK;
		last = at + size == source->size;
		enum XML_Status result = XML_Parse(p->xml, source->data + at, (int)size, last);
		PE_TRY(p->status);
		if (result != XML_STATUS_OK)
			return refuse_piece(p);
	}
	note_line(p);
	return p->graphs.listing.graphs > 0 ? PE_OK : pe_graphml_fail(&p->graphs, "there is no graph");
}

static pe_status read_graphml(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct parser p = {.graphs = {.source = source, .policy = policy, .listing = {.ctx = ctx}}};
	PE_TRY(pe_weight_field(ctx, source, policy, "weight", &p.graphs.field));
	/* expat's hooks for memory know no context, so it uses the C library's. */
	p.xml = XML_ParserCreateNS(NULL, SEPARATOR);
	pe_status status = p.xml ? parse(&p) : pe_fail(ctx, PE_ERR_NOMEM, "out of memory");
	if (status == PE_OK)
		status = pe_graphml_finish(&p.graphs, out);
	if (p.xml)
		XML_ParserFree(p.xml);
	pe_free(ctx, p.space);
	pe_graphml_free(&p.graphs);
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
