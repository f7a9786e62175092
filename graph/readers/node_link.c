/* SPDX-License-Identifier: BSD-2-Clause
 * Node-link JSON, as networkx and d3 write it: {"directed", "nodes": [{"id"}], "edges" or "links":
 * [{"source", "target", "weight"}]}, or an array of such objects. Ids are integers or strings. Where source
 * and target are not ids, they are positions in the list of nodes (d3, and networkx before 2.0). Read by
 * jansson, which bounds the depth; its memory hooks are global and are left alone. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "listing.h"
#include "sniff.h"

struct parser {
	pe_context *ctx;
	const struct pe_source *source;
	const struct pe_graph_policy *policy;
	struct pe_listing listing;
	const char *field; /* weights */
	bool many;         /* an array of graphs */
	bool directed, undirected;
	json_type id_type; /* of this graph's first id; JSON_NULL if that node has none, and positions are ids */
};

PE_PRINTF(2, 3)
static pe_status fail(const struct parser *p, const char *format, ...)
{
	char text[512], graph[40] = "";
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (p->many)
		snprintf(graph, sizeof graph, "graph %" PRId64 ": ", p->listing.graphs);
	return pe_fail(p->ctx, PE_ERR_FORMAT, "%s: %s%s", pe_source_name(p->source), graph, text);
}

/* An id as text: of an integer its digits, in buffer. NULL if it is neither integer nor string. */
static const char *id_text(const json_t *id, char buffer[24], size_t *size)
{
	if (json_is_string(id)) {
		*size = json_string_length(id);
		return json_string_value(id);
	}
	if (!json_is_integer(id))
		return NULL;
	*size = (size_t)snprintf(buffer, 24, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
	return buffer;
}

/* ---- nodes -------------------------------------------------------------------------- */

static pe_status read_node(struct parser *p, const json_t *node, size_t position)
{
	char buffer[24];
	size_t size = 0;
	if (!json_is_object(node))
		return fail(p, "node %zu is not an object", position);
	const json_t *id = json_object_get(node, "id");
	if ((id ? json_typeof(id) : JSON_NULL) != p->id_type)
		return fail(p, "node %zu: %s", position,
			id ? "some ids are integers and some are not" : "it has no id, others have one");
	json_t *place = id ? NULL : json_integer((json_int_t)position);
	const char *text = id_text(id ? id : place, buffer, &size);
	int64_t key;
	pe_status status = text ? pe_listing_find(&p->listing, text, size, (int64_t)position, &key)
							: fail(p, "node %zu: an id must be an integer or a string", position);
	json_decref(place);
	if (status != PE_OK)
		return status;
	if (p->listing.keys[key].row >= 0)
		return fail(
			p, "node %zu: the id %.200s is listed again", position, pe_listing_text(&p->listing, key));
	return pe_listing_node(&p->listing, key);
}

static pe_status read_nodes(struct parser *p, const json_t *graph)
{
	const json_t *nodes = json_object_get(graph, "nodes");
	if (!json_is_array(nodes))
		return fail(p, "there is no list \"nodes\"");
	const json_t *first = json_object_get(json_array_get(nodes, 0), "id");
	p->id_type = first ? json_typeof(first) : JSON_NULL;
	for (size_t i = 0; i < json_array_size(nodes); i++)
		PE_TRY(read_node(p, json_array_get(nodes, i), i));
	return PE_OK;
}

/* ---- edges -------------------------------------------------------------------------- */

static const json_t *endpoint(const json_t *edge, int end)
{
	return json_object_get(edge, end ? "target" : "source");
}

/* The key of a node id, or -1. An id of another type than the nodes' is none of theirs, though its text may
 * be the same. */
static int64_t key_by_id(const struct parser *p, const json_t *id)
{
	char buffer[24];
	size_t size;
	if (p->id_type != JSON_NULL && json_typeof(id) != p->id_type)
		return -1;
	const char *text = id_text(id, buffer, &size);
	return text ? pe_listing_look_up(&p->listing, text, size) : -1;
}

/* Keys of nodes follow one another in the order of the list. */
static int64_t key_by_position(const struct parser *p, const json_t *position)
{
	json_int_t i = json_is_integer(position) ? json_integer_value(position) : -1;
	return i < 0 || i >= p->listing.key_count - p->listing.first_key ? -1 : p->listing.first_key + i;
}

static pe_status read_weight(struct parser *p, const json_t *edge, size_t position, double *out, bool *has)
{
	const json_t *weight = p->field ? json_object_get(edge, p->field) : NULL;
	*has = weight != NULL;
	if (!weight)
		return PE_OK;
	*out = json_number_value(weight);
	if (!json_is_number(weight) || !isfinite(*out))
		return fail(p, "edge %zu: %s is not a finite number", position, p->field);
	return PE_OK;
}

static pe_status check_edges(struct parser *p, const json_t *edges)
{
	for (size_t e = 0; e < json_array_size(edges); e++) {
		const json_t *edge = json_array_get(edges, e);
		if (!json_is_object(edge))
			return fail(p, "edge %zu is not an object", e);
		for (int end = 0; end < 2; end++)
			if (!json_is_integer(endpoint(edge, end)) && !json_is_string(endpoint(edge, end)))
				return fail(p, "edge %zu: %s must be an integer or a string", e, end ? "target" : "source");
	}
	return PE_OK;
}

/* *bad: the first edge an end of which key_of does not know, or the number of edges. */
static pe_status push_edges(struct parser *p, const json_t *edges,
	int64_t (*key_of)(const struct parser *, const json_t *), size_t *bad)
{
	for (*bad = 0; *bad < json_array_size(edges); ++*bad) {
		const json_t *edge = json_array_get(edges, *bad);
		int64_t u = key_of(p, endpoint(edge, 0)), v = key_of(p, endpoint(edge, 1));
		double weight;
		bool has;
		if (u < 0 || v < 0)
			return PE_OK;
		PE_TRY(read_weight(p, edge, *bad, &weight, &has));
		PE_TRY(pe_listing_edge(&p->listing, u, v, has ? &weight : NULL));
	}
	return PE_OK;
}

static pe_status read_edges(struct parser *p, const json_t *graph)
{
	const json_t *edges = json_object_get(graph, "edges"), *links = json_object_get(graph, "links");
	if (edges && links)
		return fail(p, "there are both \"edges\" and \"links\"");
	edges = edges ? edges : links;
	if (!json_is_array(edges))
		return fail(p, "there is no list \"edges\" or \"links\"");
	PE_TRY(check_edges(p, edges));

	size_t bad, count = json_array_size(edges), bad_position;
	int64_t edges_before = p->listing.edges.count, weighted_before = p->listing.weighted;
	PE_TRY(push_edges(p, edges, key_by_id, &bad));
	if (bad == count)
		return PE_OK;
	p->listing.edges.count = edges_before;
	p->listing.weighted = weighted_before;
	PE_TRY(push_edges(p, edges, key_by_position, &bad_position));
	if (bad_position < count)
		return fail(p, "edge %zu names a node that is not listed", bad);
	pe_log(p->ctx, PE_LOG_WARNING, "%s: source and target are not ids; they are taken as positions",
		pe_source_name(p->source));
	return PE_OK;
}

/* ---- graphs ------------------------------------------------------------------------- */

static pe_status read_direction(struct parser *p, const json_t *graph)
{
	const json_t *directed = json_object_get(graph, "directed");
	if (directed && !json_is_boolean(directed))
		return fail(p, "\"directed\" must be true or false");
	p->directed |= json_is_true(directed);
	p->undirected |= !json_is_true(directed);
	if (p->directed && p->undirected && p->policy->edges == PE_DIRECTION_UNKNOWN)
		return fail(p, "it is %s, unlike the ones before it; --edges can decide for all",
			json_is_true(directed) ? "directed" : "undirected");
	return PE_OK;
}

static pe_status read_graph(struct parser *p, const json_t *graph)
{
	if (!json_is_object(graph))
		return fail(p, "a graph must be an object with \"nodes\" and \"edges\" or \"links\"");
	PE_TRY(read_direction(p, graph));
	PE_TRY(read_nodes(p, graph));
	PE_TRY(read_edges(p, graph));
	return pe_listing_close(&p->listing);
}

static pe_status read_root(struct parser *p, const json_t *root)
{
	if (!json_is_array(root))
		return read_graph(p, root);
	if (json_array_size(root) == 0)
		return fail(p, "there is no graph");
	p->many = true;
	for (size_t g = 0; g < json_array_size(root); g++)
		PE_TRY(read_graph(p, json_array_get(root, g)));
	return PE_OK;
}

static pe_status finish(struct parser *p, struct pe_raw_graphs *out)
{
	PE_TRY(pe_listing_check_weights(&p->listing, p->source, p->policy, p->field));
	PE_TRY(pe_listing_finish(&p->listing, out));
	bool directed = p->undirected ? p->directed && p->policy->edges == PE_DIRECTED : true;
	out->format = "node-link";
	out->direction = directed ? PE_DIRECTED : PE_UNDIRECTED;
	out->mirrored = !directed;
	return PE_OK;
}

static pe_status read_node_link(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct parser p = {.ctx = ctx, .source = source, .policy = policy, .listing = {.ctx = ctx}};
	PE_TRY(pe_weight_field(ctx, source, policy, "weight", &p.field));
	json_error_t error;
	size_t start = pe_sniff_start(source);
	json_t *root = json_loadb(source->data + start, source->size - start, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		int64_t line = error.line < 1 ? 1 : error.line;
		for (size_t i = 0; i < start; i++)
			line += source->data[i] == '\n';
		return pe_fail(ctx,
			json_error_code(&error) == json_error_out_of_memory ? PE_ERR_NOMEM : PE_ERR_FORMAT,
			"%s:%" PRId64 ": not valid JSON: %s", pe_source_name(source), line, error.text);
	}
	pe_status status = read_root(&p, root);
	if (status == PE_OK)
		status = finish(&p, out);
	json_decref(root);
	pe_listing_free(&p.listing);
	return status;
}

/* An object, or an array of objects: JSON, and no other format begins so. */
static bool recognise(const struct pe_source *source)
{
	size_t at = pe_sniff_start(source);
	if (memchr(source->data, 0, source->size < 8 ? source->size : 8)) /* safetensors may begin so by chance */
		return false;
	if (at < source->size && source->data[at] == '{')
		return true;
	if (at == source->size || source->data[at] != '[')
		return false;
	struct pe_source rest = {source->data + at + 1, source->size - at - 1, pe_source_name(source)};
	at = pe_sniff_start(&rest);
	return at < rest.size && rest.data[at] == '{';
}

const struct pe_reader pe_reader_node_link = {
	.format = "node-link",
	.suffixes = ".json",
	.recognise = recognise,
	.read = read_node_link,
};
