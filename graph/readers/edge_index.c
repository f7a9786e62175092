/* SPDX-License-Identifier: BSD-2-Clause
 * edge_index as PyTorch Geometric and DGL know it: (2, E) integers, row 0 sources, row 1 targets. Many
 * graphs stand one after another with global ids, cut by ptr (offsets) or batch (graph of each node). */
#include "edge_index.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sniff.h"
#include "tensor.h"

#define CHUNK 512 /* edges at a time, so that ids of any type and stride need no copy of the whole */

#define MAX_EMPTY 65536 /* graphs that batch may name, even though nearly all are empty */

struct job {
	pe_context *ctx;
	const char *name;
	const struct pe_graph_arrays *arrays;
	int64_t edges;
	struct pe_raw_graphs raw;
};

PE_PRINTF(3, 4)
static pe_status fail(const struct job *job, pe_status status, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return pe_fail(job->ctx, status, "%s%s%s", job->name ? job->name : "", job->name ? ": " : "", text);
}

static const void *element(const pe_tensor *tensor, int64_t offset)
{
	return (const char *)tensor->data + offset * (int64_t)pe_dtype_size(tensor->dtype);
}

/* ---- shapes ------------------------------------------------------------------------- */

static pe_status check_vector(const struct job *job, const pe_tensor *tensor, const char *what)
{
	if (!pe_dtype_is_integer(tensor->dtype) || tensor->dtype == PE_BOOL)
		return fail(job, PE_ERR_SHAPE, "%s is of type %s; it must be of integers", what,
			pe_dtype_name(tensor->dtype));
	if (tensor->ndim != 1)
		return fail(job, PE_ERR_SHAPE, "%s has %d dimensions; it must have one", what, (int)tensor->ndim);
	return PE_OK;
}

static pe_status check_weight(const struct job *job, const pe_tensor *weight)
{
	if (weight->dtype == PE_BOOL)
		return fail(job, PE_ERR_SHAPE, "edge_weight is of type bool; it must be of numbers");
	if (weight->ndim != 1)
		return fail(job, PE_ERR_SHAPE, "edge_weight has %d dimensions; it must have one, a number an edge",
			(int)weight->ndim);
	if (weight->shape[0] != job->edges)
		return fail(job, PE_ERR_SHAPE, "edge_weight has %" PRId64 " values for %" PRId64 " edges",
			weight->shape[0], job->edges);
	return PE_OK;
}

static pe_status check_shapes(struct job *job)
{
	const struct pe_graph_arrays *a = job->arrays;
	const pe_tensor *e = a->edge_index;
	if (!pe_dtype_is_integer(e->dtype) || e->dtype == PE_BOOL)
		return fail(
			job, PE_ERR_SHAPE, "edge_index is of type %s; it must be of integers", pe_dtype_name(e->dtype));
	if (e->ndim != 2 || e->shape[0] != 2)
		return fail(job, PE_ERR_SHAPE, "edge_index must have the shape (2, edges)");
	job->edges = e->shape[1];
	if (a->num_nodes < -1)
		return fail(job, PE_ERR_FORMAT, "num_nodes is %" PRId64, a->num_nodes);
	if (a->edge_weight)
		PE_TRY(check_weight(job, a->edge_weight));
	if (a->ptr)
		PE_TRY(check_vector(job, a->ptr, "ptr"));
	if (a->batch)
		PE_TRY(check_vector(job, a->batch, "batch"));
	return PE_OK;
}

/* ---- nodes and graphs --------------------------------------------------------------- */

static pe_status load_ptr(struct job *job, const pe_tensor *ptr)
{
	int64_t graphs = ptr->shape[0] - 1;
	if (graphs < 1)
		return fail(job, PE_ERR_FORMAT, "ptr has %" PRId64 " values; it needs 0 and the end of every graph",
			ptr->shape[0]);
	int64_t *p = pe_alloc(job->ctx, graphs + 1, sizeof *p);
	if (!p)
		return PE_ERR_NOMEM;
	job->raw.ptr = p;
	job->raw.graphs = graphs;
	pe_load_i64(p, ptr->data, ptr->dtype, ptr->strides[0], graphs + 1);
	if (p[0] != 0)
		return fail(job, PE_ERR_FORMAT, "ptr begins with %" PRId64 " instead of 0", p[0]);
	for (int64_t g = 0; g < graphs; g++)
		if (p[g + 1] < p[g] || p[g + 1] - p[g] > INT32_MAX)
			return fail(job, PE_ERR_FORMAT, "ptr goes from %" PRId64 " to %" PRId64 " at graph %" PRId64,
				p[g], p[g + 1], g);
	return PE_OK;
}

/* The graph numbers of batch are taken as they are: a number that no node has is an empty graph. */
static pe_status load_batch(struct job *job, const pe_tensor *batch)
{
	int64_t nodes = batch->shape[0];
	int64_t graphs = 0, last = 0;
	if (nodes > 0)
		pe_load_i64(&graphs, element(batch, (nodes - 1) * batch->strides[0]), batch->dtype, 1, 1);
	if (graphs < 0 || (graphs > MAX_EMPTY && graphs / 64 > nodes))
		return fail(job, PE_ERR_FORMAT,
			"batch ends with %" PRId64 ", which is not the number of a graph of %" PRId64 " nodes", graphs,
			nodes);
	graphs++;
	int64_t *p = pe_alloc_zero(job->ctx, graphs + 1, sizeof *p);
	if (!p)
		return PE_ERR_NOMEM;
	job->raw.ptr = p;
	job->raw.graphs = graphs;
	for (int64_t i = 0; i < nodes; i++) {
		int64_t g;
		pe_load_i64(&g, element(batch, i * batch->strides[0]), batch->dtype, 1, 1);
		if (g < last || g >= graphs)
			return fail(job, PE_ERR_FORMAT,
				"batch[%" PRId64 "] is %" PRId64 ", after %" PRId64 " and before %" PRId64
				"; it must be sorted, from 0",
				i, g, last, graphs - 1);
		p[g + 1]++;
		last = g;
	}
	for (int64_t g = 0; g < graphs; g++)
		p[g + 1] += p[g];
	return PE_OK;
}

static pe_status check_batch_against_ptr(struct job *job)
{
	const pe_tensor *batch = job->arrays->batch;
	const struct pe_raw_graphs *raw = &job->raw;
	if (batch->shape[0] != raw->ptr[raw->graphs])
		return fail(job, PE_ERR_FORMAT, "batch has %" PRId64 " nodes, ptr ends at %" PRId64, batch->shape[0],
			raw->ptr[raw->graphs]);
	for (int64_t g = 0; g < raw->graphs; g++)
		for (int64_t i = raw->ptr[g]; i < raw->ptr[g + 1]; i++) {
			int64_t stated;
			pe_load_i64(&stated, element(batch, i * batch->strides[0]), batch->dtype, 1, 1);
			if (stated != g)
				return fail(job, PE_ERR_FORMAT,
					"node %" PRId64 " is in graph %" PRId64 " by batch, in %" PRId64 " by ptr", i, stated, g);
		}
	return PE_OK;
}

static pe_status load_graphs(struct job *job)
{
	const struct pe_graph_arrays *a = job->arrays;
	job->raw.graphs = 1;
	job->raw.nodes = a->num_nodes;
	if (!a->ptr && !a->batch) {
		if (a->num_nodes > INT32_MAX)
			return fail(job, PE_ERR_UNSUPPORTED,
				"num_nodes is %" PRId64 "; a graph has at most 2^31 - 1 nodes", a->num_nodes);
		return PE_OK;
	}
	if (a->ptr)
		PE_TRY(load_ptr(job, a->ptr));
	else
		PE_TRY(load_batch(job, a->batch));
	if (a->ptr && a->batch)
		PE_TRY(check_batch_against_ptr(job));
	int64_t nodes = job->raw.ptr[job->raw.graphs];
	if (a->num_nodes >= 0 && a->num_nodes != nodes)
		return fail(job, PE_ERR_FORMAT, "num_nodes is %" PRId64 ", but %s has %" PRId64 " nodes",
			a->num_nodes, a->ptr ? "ptr" : "batch", nodes);
	job->raw.nodes = nodes;
	if (job->raw.graphs == 1) {
		pe_free(job->ctx, job->raw.ptr);
		job->raw.ptr = NULL;
	}
	return PE_OK;
}

/* ---- edges -------------------------------------------------------------------------- */

static int64_t load_edges(const struct job *job, int64_t first, int64_t *u, int64_t *v)
{
	const pe_tensor *e = job->arrays->edge_index;
	int64_t count = pe_min(CHUNK, job->edges - first);
	pe_load_i64(u, element(e, first * e->strides[1]), e->dtype, e->strides[1], count);
	pe_load_i64(v, element(e, e->strides[0] + first * e->strides[1]), e->dtype, e->strides[1], count);
	return count;
}

static pe_status check_ids(struct job *job)
{
	int64_t u[CHUNK], v[CHUNK], largest = -1;
	int64_t nodes = job->raw.nodes, limit = nodes >= 0 ? nodes : INT32_MAX;
	for (int64_t first = 0, count; first < job->edges; first += count) {
		count = load_edges(job, first, u, v);
		for (int64_t i = 0; i < count; i++) {
			int64_t low = pe_min(u[i], v[i]), high = pe_max(u[i], v[i]);
			if (low < 0)
				return fail(
					job, PE_ERR_FORMAT, "edge %" PRId64 ": node %" PRId64 " is negative", first + i, low);
			if (high >= limit)
				return fail(job, PE_ERR_FORMAT,
					"edge %" PRId64 ": node %" PRId64 " is not among the %s%" PRId64 " nodes", first + i,
					high, nodes < 0 ? "at most " : "", limit);
			largest = pe_max(largest, high);
		}
	}
	if (nodes >= 0)
		return PE_OK;
	job->raw.nodes = largest + 1;
	if (pe_nodes_excessive(largest + 1, (size_t)job->edges))
		return fail(job, PE_ERR_FORMAT,
			"the largest id is %" PRId64 " among %" PRId64 " edges; give num_nodes if that is meant", largest,
			job->edges);
	return PE_OK;
}

/* The graph of a node; *hint is the graph of the one before, which it mostly is again. */
static int64_t graph_of(const struct pe_raw_graphs *raw, int64_t node, int64_t *hint)
{
	if (node >= raw->ptr[*hint] && node < raw->ptr[*hint + 1])
		return *hint;
	int64_t low = 0, high = raw->graphs - 1;
	while (low < high) {
		int64_t middle = low + (high - low + 1) / 2;
		if (raw->ptr[middle] <= node)
			low = middle;
		else
			high = middle - 1;
	}
	return *hint = low;
}

static pe_status count_edges(struct job *job)
{
	struct pe_raw_graphs *raw = &job->raw;
	int64_t u[CHUNK], v[CHUNK], g = 0;
	for (int64_t first = 0, count; first < job->edges; first += count) {
		count = load_edges(job, first, u, v);
		for (int64_t i = 0; i < count; i++) {
			int64_t from = graph_of(raw, u[i], &g), to = graph_of(raw, v[i], &g);
			if (from != to)
				return fail(job, PE_ERR_FORMAT,
					"edge %" PRId64 " joins node %" PRId64 " of graph %" PRId64 " to node %" PRId64
					" of graph %" PRId64,
					first + i, u[i], from, v[i], to);
			raw->edge_ptr[from + 1]++;
		}
	}
	for (g = 0; g < raw->graphs; g++)
		raw->edge_ptr[g + 1] += raw->edge_ptr[g];
	return PE_OK;
}

/* Edges of a graph together, in the order in which they came. next[g] is the place of its next one. */
static pe_status place_edges(struct job *job, int64_t *next)
{
	struct pe_raw_graphs *raw = &job->raw;
	const pe_tensor *weight = job->arrays->edge_weight;
	int64_t u[CHUNK], v[CHUNK], g = 0;
	double w[CHUNK];
	for (int64_t first = 0, count; first < job->edges; first += count) {
		count = load_edges(job, first, u, v);
		if (weight)
			pe_load_f64(
				w, element(weight, first * weight->strides[0]), weight->dtype, weight->strides[0], count);
		for (int64_t i = 0; i < count; i++) {
			int64_t base = raw->ptr ? raw->ptr[graph_of(raw, u[i], &g)] : 0;
			int64_t place = next[g]++;
			raw->u[place] = (int32_t)(u[i] - base);
			raw->v[place] = (int32_t)(v[i] - base);
			if (!weight)
				continue;
			if (!isfinite(w[i]))
				return fail(job, PE_ERR_FORMAT, "edge %" PRId64 ": the weight is not finite", first + i);
			raw->w[place] = w[i];
		}
	}
	return PE_OK;
}

static pe_status load_rows(struct job *job)
{
	pe_context *ctx = job->ctx;
	struct pe_raw_graphs *raw = &job->raw;
	raw->rows = job->edges;
	raw->u = pe_alloc(ctx, raw->rows, sizeof *raw->u);
	raw->v = pe_alloc(ctx, raw->rows, sizeof *raw->v);
	if (!raw->u || !raw->v)
		return PE_ERR_NOMEM;
	if (job->arrays->edge_weight && !(raw->w = pe_alloc(ctx, raw->rows, sizeof *raw->w)))
		return PE_ERR_NOMEM;
	int64_t start = 0;
	if (!raw->ptr)
		return place_edges(job, &start);

	int64_t *next = pe_alloc(ctx, raw->graphs, sizeof *next);
	raw->edge_ptr = pe_alloc_zero(ctx, raw->graphs + 1, sizeof *raw->edge_ptr);
	pe_status status = next && raw->edge_ptr ? count_edges(job) : PE_ERR_NOMEM;
	if (status == PE_OK) {
		memcpy(next, raw->edge_ptr, (size_t)raw->graphs * sizeof *next);
		status = place_edges(job, next);
	}
	pe_free(ctx, next);
	return status;
}

static pe_status convert(struct job *job)
{
	PE_TRY(check_shapes(job));
	PE_TRY(load_graphs(job));
	PE_TRY(check_ids(job));
	return load_rows(job);
}

pe_status pe_raw_from_arrays(
	pe_context *ctx, const char *name, const struct pe_graph_arrays *arrays, struct pe_raw_graphs *out)
{
	struct job job = {.ctx = ctx, .name = name, .arrays = arrays, .raw = {.format = "arrays"}};
	pe_status status = convert(&job);
	if (status != PE_OK) {
		pe_raw_graphs_free(ctx, &job.raw);
		return status;
	}
	*out = job.raw;
	return PE_OK;
}
