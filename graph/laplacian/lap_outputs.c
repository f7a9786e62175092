/* SPDX-License-Identifier: BSD-2-Clause */
#include "lap_outputs.h"

#include "tensor.h"

static void store_rows(const pe_tensor *out, int64_t first, int64_t n, int64_t k, const double *rows)
{
	if (n == 0)
		return;
	if (out->strides[1] == 1 && out->strides[0] == k) {
		pe_store_f64(pe_tensor_row(out, first), out->dtype, 1, rows, 1, n * k);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		pe_store_f64(pe_tensor_row(out, first + i), out->dtype, out->strides[1], rows + i * k, 1, k);
}

static void store_values(
	const struct pe_lap_outputs *o, const pe_graph *graph, int64_t g, int64_t k, const double *values)
{
	const pe_tensor *out = &o->values;
	int64_t first = o->values_by_node ? graph->ptr[g] - o->node : g - o->graph;
	int64_t count = o->values_by_node ? graph->ptr[g + 1] - graph->ptr[g] : 1;
	for (int64_t i = first; i < first + count; i++)
		pe_store_f64(pe_tensor_row(out, i), out->dtype, out->strides[1], values, 1, k);
}

void pe_lap_store(const struct pe_lap_outputs *o, const pe_graph *graph, int64_t g, int64_t k,
	const struct pe_lap_result *r)
{
	const int64_t *ptr = graph->ptr;
	if (o->vectors.data)
		store_rows(&o->vectors, ptr[g] - o->node, ptr[g + 1] - ptr[g], k, r->vectors);
	if (o->values.data)
		store_values(o, graph, g, k, r->values);
	if (o->groups.data)
		pe_store_i64(
			pe_tensor_row(&o->groups, g - o->graph), o->groups.dtype, o->groups.strides[1], r->group, k);
}
