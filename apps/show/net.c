/* SPDX-License-Identifier: BSD-2-Clause */
#include "net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_parts.h"
#include "numbers.h"

#define MOST_EDGES 60000

/* ---- edges -------------------------------------------------------------------------- */

/* All edges but loops. */
static int read_edges(struct cli *cli, const pe_graph *graph, struct net *net)
{
	int64_t all = pe_graph_get_report(graph)->edges;
	int64_t *ends = get_memory((size_t)all, 2 * sizeof *ends);
	pe_tensor tensor = pe_tensor_dense(ends, PE_I64, 2, (int64_t[]){2, all});
	pe_status status = pe_graph_edges(graph, &tensor);
	if (status != PE_OK) {
		free(ends);
		return report_status(cli, status);
	}
	net->nodes = pe_graph_get_report(graph)->nodes;
	net->from = get_memory((size_t)all, sizeof *net->from);
	net->to = get_memory((size_t)all, sizeof *net->to);
	for (int64_t e = 0; e < all; e++)
		if (ends[e] != ends[all + e]) {
			net->from[net->edges] = ends[e];
			net->to[net->edges++] = ends[all + e];
		}
	free(ends);
	return EXIT_DONE;
}

/* ---- eigenvectors ------------------------------------------------------------------- */

/* Each component as a graph of its own, without weights. */
static pe_status component_graph(
	pe_context *ctx, const struct net *net, const struct components *c, pe_graph **out)
{
	pe_params *params = NULL;
	int64_t count = 2 * net->edges, *ends = get_memory((size_t)count, 2 * sizeof *ends);
	for (int64_t e = 0; e < net->edges; e++) { /* both ways */
		ends[2 * e] = ends[count + 2 * e + 1] = c->rank[net->from[e]];
		ends[2 * e + 1] = ends[count + 2 * e] = c->rank[net->to[e]];
	}
	pe_tensor edges = pe_tensor_dense(ends, PE_I64, 2, (int64_t[]){2, count});
	pe_tensor ptr = pe_tensor_dense(c->ptr, PE_I64, 1, (int64_t[]){c->count + 1});
	pe_status status = pe_params_create(ctx, "graph", &params);
	if (status == PE_OK)
		status = pe_params_set(params, "edges", "undirected");
	if (status == PE_OK)
		status = pe_graph_from_arrays(ctx, &edges, NULL, &ptr, net->nodes, params, out);
	pe_params_destroy(&params);
	free(ends);
	return status;
}

static pe_status create_encoding(pe_context *ctx, const pe_domain *domain, pe_encoding **out)
{
	pe_params *params = NULL;
	pe_status status = pe_params_create(ctx, "lap", &params);
	if (status == PE_OK)
		status = pe_params_set(params, "k", "2");
	if (status == PE_OK)
		status = pe_params_set(params, "normalization", "rw");
	if (status == PE_OK)
		status = pe_params_set(params, "certify", "off");
	if (status == PE_OK)
		status = pe_encoding_create(ctx, pe_encoder_find("lap"), params, domain, NULL, out);
	pe_params_destroy(&params);
	return status;
}

/* xy ← two entries a node, in the components' order. */
static pe_status eigenvectors(pe_context *ctx, const pe_graph *graph, int64_t nodes, double *xy)
{
	pe_domain *domain = NULL;
	pe_encoding *encoding = NULL;
	pe_status status = pe_domain_graph(ctx, graph, &domain);
	if (status == PE_OK)
		status = create_encoding(ctx, domain, &encoding);
	if (status == PE_OK) {
		pe_tensor outs[PE_MAX_ARRAYS] = {{0}};
		outs[0] = pe_tensor_dense(xy, PE_F64, 2, (int64_t[]){nodes, 2});
		status = pe_encoding_compute(encoding, outs, pe_encoding_array_count(encoding));
	}
	pe_encoding_destroy(&encoding);
	pe_domain_destroy(&domain);
	return status;
}

/* ---- places ------------------------------------------------------------------------- */

/* Stretches entries of one axis, `step` apart, to 0 … 1; all equal: the middle. */
static void stretch(double *values, int64_t n, int step)
{
	double low = INFINITY, high = -INFINITY;
	for (int64_t i = 0; i < n; i++) {
		low = fmin(low, values[i * step]);
		high = fmax(high, values[i * step]);
	}
	for (int64_t i = 0; i < n; i++)
		values[i * step] = high - low > 1e-9 ? (values[i * step] - low) / (high - low) : 0.5;
}

/* Places components, squares of an area that goes with their nodes, in rows of this width from the upper
 * left; xy NULL: only finds the extent of them all. */
static void place_squares(const struct components *c, double room, double *xy, double extent[2])
{
	double x = 0, y = 0, height = 0, size;
	extent[0] = extent[1] = 0;
	for (int64_t i = 0; i < c->count; i++, x += size) {
		size = sqrt((double)(c->ptr[i + 1] - c->ptr[i]));
		if (x > 0 && x + size > room * 1.0001) {
			x = 0;
			y += height;
			height = 0;
		}
		double edge = c->count > 1 ? 0.3 : 0, inner = size - 2 * edge;
		for (int64_t n = c->ptr[i]; xy && n < c->ptr[i + 1]; n++) {
			xy[2 * n] = x + edge + inner * xy[2 * n];
			xy[2 * n + 1] = y + edge + inner * xy[2 * n + 1];
		}
		height = fmax(height, size);
		extent[0] = fmax(extent[0], x + size);
		extent[1] = y + height;
	}
}

/* All components in 0 … 1, as large as a few widths of rows allow. */
static void pack(const struct components *c, double *xy)
{
	double area = (double)c->ptr[c->count], extent[2], best = 0, smallest = INFINITY;
	for (int i = 0; i <= 20; i++) {
		double room = fmax(sqrt(area) * (1 + 0.05 * i), sqrt((double)c->ptr[1]));
		place_squares(c, room, NULL, extent);
		if (fmax(extent[0], extent[1]) < smallest) {
			smallest = fmax(extent[0], extent[1]);
			best = room;
		}
	}
	place_squares(c, best, xy, extent);
	for (int64_t n = 0; n < 2 * c->ptr[c->count]; n++)
		xy[n] = (xy[n] + (smallest - extent[n % 2]) / 2) / smallest;
}

static void thin_out(struct net *net)
{
	int64_t step = (net->edges + MOST_EDGES - 1) / MOST_EDGES, kept = 0;
	for (int64_t e = 0; step > 1 && e < net->edges; e += step, kept++) {
		net->from[kept] = net->from[e];
		net->to[kept] = net->to[e];
	}
	net->edges = step > 1 ? kept : net->edges;
}

/* How far entries go to their ranks: not at all where they fill their range evenly or more at the ends, as on
 * a ring; far where a few nodes far out leave the others no room. The deviation of even ones is 0.289. */
static double crowding(const double *values, int64_t n, int step)
{
	double mean = 0, square = 0;
	for (int64_t i = 0; i < n; i++)
		mean += values[i * step] / (double)n;
	for (int64_t i = 0; i < n; i++)
		square += (values[i * step] - mean) * (values[i * step] - mean) / (double)n;
	return 0.7 * fmin(fmax((0.285 - sqrt(square)) / 0.1, 0), 1);
}

/* Moves entries, stretched to 0 … 1, toward their ranks. Equal ones have one rank. */
static void spread(double *values, int64_t n, int step)
{
	double part = crowding(values, n, step);
	struct ranked *sorted = get_memory((size_t)n, sizeof *sorted);
	for (int64_t i = 0; i < n; i++)
		sorted[i] = (struct ranked){values[i * step], i};
	qsort(sorted, (size_t)n, sizeof *sorted, compare_ranked);
	for (int64_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && sorted[end].value - sorted[i].value < 1e-6;)
			end++;
		double rank = n > 1 ? (double)(i + end - 1) / 2 / (double)(n - 1) : 0.5;
		for (int64_t k = i; k < end; k++)
			values[sorted[k].node * step] = (1 - part) * sorted[k].value + part * rank;
	}
	free(sorted);
}

static void place_nodes(struct net *net, const struct components *c, double *xy)
{
	for (int64_t i = 0; i < c->count; i++) {
		int64_t n = c->ptr[i + 1] - c->ptr[i];
		for (int axis = 0; axis < 2; axis++) {
			stretch(xy + 2 * c->ptr[i] + axis, n, 2);
			spread(xy + 2 * c->ptr[i] + axis, n, 2);
		}
	}
	if (c->count > 0)
		pack(c, xy);
	net->x = get_memory((size_t)net->nodes, sizeof *net->x);
	net->y = get_memory((size_t)net->nodes, sizeof *net->y);
	for (int64_t i = 0; i < net->nodes; i++) {
		net->x[i] = xy[2 * c->rank[i]];
		net->y[i] = xy[2 * c->rank[i] + 1];
	}
}

/* In a context of its own, which does not tell what it does to its graph. */
static int place_by_eigenvectors(struct net *net)
{
	pe_context_options options = {.size = sizeof options, .threads = -1};
	pe_context *ctx = NULL;
	pe_graph *parts = NULL;
	struct components components = find_components(net);
	double *xy = get_memory((size_t)net->nodes, 2 * sizeof *xy);
	pe_status status = pe_context_create(&options, &ctx);
	if (status == PE_OK)
		status = component_graph(ctx, net, &components, &parts);
	if (status == PE_OK)
		status = eigenvectors(ctx, parts, net->nodes, xy);
	if (status == PE_ERR_PARTIAL) /* of components that failed all entries are 0 */
		status = PE_OK;
	if (status == PE_OK)
		place_nodes(net, &components, xy);
	else
		complain("the nodes have no places: %s", ctx ? pe_context_message(ctx) : pe_status_string(status));
	pe_graph_destroy(&parts);
	pe_context_destroy(&ctx);
	free_components(&components);
	free(xy);
	return exit_code_of(status);
}

int net_make(struct cli *cli, const pe_graph *graph, struct net *out, int64_t *all_edges)
{
	*out = (struct net){0};
	int code = read_edges(cli, graph, out);
	if (code == EXIT_DONE)
		code = place_by_eigenvectors(out);
	*all_edges = out->edges;
	thin_out(out);
	return code;
}
