/* SPDX-License-Identifier: BSD-2-Clause
 * Nodes in the order in which they are listed; the weight is the <data> whose <key> has attr.name="weight".
 */
#include "graphml_graphs.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

pe_status pe_graphml_fail(struct pe_graphml *g, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return pe_fail(
		g->listing.ctx, PE_ERR_FORMAT, "%s:%" PRId64 ": %s", pe_source_name(g->source), g->line, text);
}

void pe_graphml_free(struct pe_graphml *g)
{
	for (int64_t i = 0; i < g->key_count; i++)
		pe_free(g->listing.ctx, g->keys[i].id);
	pe_free(g->listing.ctx, g->keys);
	pe_listing_free(&g->listing);
}

static const char *attribute(const char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return NULL;
}

/* ---- weights ------------------------------------------------------------------------ */

static bool is_blank(char c)
{
	return strchr(" \t\r\n", c) != NULL;
}

static pe_status read_number(struct pe_graphml *g, const char *text, size_t size, double *out)
{
	while (size > 0 && is_blank(text[size - 1]))
		size--;
	while (size > 0 && is_blank(text[0])) {
		text++;
		size--;
	}
	if (size < PE_GRAPHML_NUMBER && pe_parse_f64(text, size, out) && isfinite(*out))
		return PE_OK;
	return pe_graphml_fail(g, "%s \"%.*s\" is not a finite number", g->field, (int)size, text);
}

pe_status pe_graphml_key(struct pe_graphml *g, const char **attributes, bool *wanted)
{
	const char *id = attribute(attributes, "id"), *domain = attribute(attributes, "for");
	const char *name = attribute(attributes, "attr.name");
	pe_context *ctx = g->listing.ctx;
	*wanted = g->field && id && name && strcmp(name, g->field) == 0 &&
		(!domain || strcmp(domain, "edge") == 0 || strcmp(domain, "all") == 0);
	if (!*wanted)
		return PE_OK;
	if (g->listing.graphs > 0)
		return pe_graphml_fail(g, "the key of %s stands after a graph", name);
	PE_TRY(pe_grow(ctx, &g->keys, &g->key_capacity, g->key_count, g->key_count + 1, sizeof *g->keys));
	g->keys[g->key_count] = (struct pe_graphml_key){.id = pe_strdup(ctx, id)};
	return g->keys[g->key_count++].id ? PE_OK : PE_ERR_NOMEM;
}

pe_status pe_graphml_default(struct pe_graphml *g, const char *text, size_t size)
{
	struct pe_graphml_key *key = &g->keys[g->key_count - 1];
	key->has_default = true;
	return read_number(g, text, size, &key->value);
}

pe_status pe_graphml_start_data(struct pe_graphml *g, const char **attributes, bool *wanted)
{
	const char *id = attribute(attributes, "key");
	*wanted = false;
	for (int64_t i = 0; id && !*wanted && i < g->key_count; i++)
		*wanted = strcmp(g->keys[i].id, id) == 0;
	return *wanted && g->has_weight ? pe_graphml_fail(g, "an edge with two values of %s", g->field) : PE_OK;
}

pe_status pe_graphml_end_data(struct pe_graphml *g, const char *text, size_t size)
{
	g->has_weight = true;
	return read_number(g, text, size, &g->weight);
}

/* ---- graphs ------------------------------------------------------------------------- */

pe_status pe_graphml_start_graph(struct pe_graphml *g, const char **attributes)
{
	const char *direction = attribute(attributes, "edgedefault");
	g->directed_by_default = direction && strcmp(direction, "directed") == 0;
	if (direction && !g->directed_by_default && strcmp(direction, "undirected") != 0)
		return pe_graphml_fail(g, "edgedefault is \"%s\"; it must be directed or undirected", direction);
	return PE_OK;
}

static pe_status find(struct pe_graphml *g, const char *id, int64_t *key)
{
	return pe_listing_find(&g->listing, id, strlen(id), g->line, key);
}

pe_status pe_graphml_node(struct pe_graphml *g, const char **attributes)
{
	const char *id = attribute(attributes, "id");
	int64_t key;
	if (!id)
		return pe_graphml_fail(g, "a node without an id");
	PE_TRY(find(g, id, &key));
	if (g->listing.keys[key].row >= 0)
		return pe_graphml_fail(g, "node \"%s\" is listed again", id);
	return pe_listing_node(&g->listing, key);
}

/* An edge's own direction, or the graph's. */
static pe_status read_direction(struct pe_graphml *g, const char **attributes)
{
	const char *own = attribute(attributes, "directed");
	if (own && strcmp(own, "true") != 0 && strcmp(own, "false") != 0)
		return pe_graphml_fail(g, "directed is \"%s\"; it must be true or false", own);
	bool directed = own ? own[0] == 't' : g->directed_by_default;
	g->directed |= directed;
	g->undirected |= !directed;
	if (g->directed && g->undirected && g->policy->edges == PE_DIRECTION_UNKNOWN)
		return pe_graphml_fail(g, "this edge is %s, unlike the ones before it; --edges can decide for all",
			directed ? "directed" : "undirected");
	return PE_OK;
}

pe_status pe_graphml_start_edge(struct pe_graphml *g, const char **attributes)
{
	const char *source = attribute(attributes, "source"), *target = attribute(attributes, "target");
	g->has_weight = false;
	if (!source || !target)
		return pe_graphml_fail(g, "an edge without a %s", source ? "target" : "source");
	PE_TRY(read_direction(g, attributes));
	PE_TRY(find(g, source, &g->edge_source));
	return find(g, target, &g->edge_target);
}

pe_status pe_graphml_end_edge(struct pe_graphml *g)
{
	for (int64_t i = 0; !g->has_weight && i < g->key_count; i++)
		if (g->keys[i].has_default) {
			g->weight = g->keys[i].value;
			g->has_weight = true;
		}
	return pe_listing_edge(&g->listing, g->edge_source, g->edge_target, g->has_weight ? &g->weight : NULL);
}

pe_status pe_graphml_end_graph(struct pe_graphml *g)
{
	int64_t missing = pe_listing_unlisted(&g->listing);
	if (missing < 0)
		return pe_listing_close(&g->listing);
	g->line = g->listing.keys[missing].line;
	return pe_graphml_fail(
		g, "an edge names node \"%.200s\", which is not listed", pe_listing_text(&g->listing, missing));
}

pe_status pe_graphml_finish(struct pe_graphml *g, struct pe_raw_graphs *out)
{
	PE_TRY(pe_listing_check_weights(&g->listing, g->source, g->policy, g->field));
	PE_TRY(pe_listing_finish(&g->listing, out));
	bool directed = g->directed || (!g->undirected && g->directed_by_default);
	if (g->directed && g->undirected)
		directed = g->policy->edges == PE_DIRECTED;
	out->format = "graphml";
	out->direction = directed ? PE_DIRECTED : PE_UNDIRECTED;
	out->mirrored = !directed;
	return PE_OK;
}
