/* SPDX-License-Identifier: BSD-2-Clause
 * Counting sorts: distributing entries by column, and then by row in the order of columns, sorts the
 * columns of every row, stably. */
#include "edge_rows.h"

#include <string.h>

void pe_rows_free(pe_context *ctx, struct pe_rows *rows)
{
	pe_free(ctx, rows->start);
	pe_free(ctx, rows->col);
	pe_free(ctx, rows->w);
	*rows = (struct pe_rows){0};
}

static pe_status allocate(pe_context *ctx, int64_t nodes, int64_t entries, bool weighted, struct pe_rows *out)
{
	*out = (struct pe_rows){.nodes = nodes};
	out->start = pe_alloc_zero(ctx, nodes + 1, sizeof *out->start);
	out->col = pe_alloc(ctx, entries, sizeof *out->col);
	out->w = weighted ? pe_alloc(ctx, entries, sizeof *out->w) : NULL;
	if (out->start && out->col && (out->w || !weighted))
		return PE_OK;
	pe_rows_free(ctx, out);
	return PE_ERR_NOMEM;
}

/* start[i] holds the count of i-1 or, after placing, the end of i-1; start[0] is 0. These two turn
 * counts into places, and used-up places back into starts. */
static void counts_to_places(int64_t *start, int64_t nodes)
{
	for (int64_t i = 0; i < nodes; i++)
		start[i + 1] += start[i];
}

static void places_to_starts(int64_t *start, int64_t nodes)
{
	memmove(start + 1, start, (size_t)nodes * sizeof *start);
	start[0] = 0;
}

/* ---- from edges as listed ----------------------------------------------------------- */

struct edge {
	int32_t u, v;
};

static inline struct edge edge_at(const struct pe_edge_block *b, int64_t e)
{
	int32_t u = b->u[e], v = b->v[e];
	bool swap = b->pairs && u > v;
	return (struct edge){swap ? v : u, swap ? u : v};
}

/* The edges by target; also counts those of every source, in by_source. */
static void distribute_by_target(const struct pe_edge_block *b, struct pe_rows *by_target, int64_t *by_source,
	struct pe_row_counts *counts)
{
	int64_t origin = pe_raw_node(b->raw, b->first), edge0 = pe_raw_edge(b->raw, b->first);
	for (int64_t g = b->first; g < b->end; g++) {
		int64_t *targets = by_target->start + (pe_raw_node(b->raw, g) - origin) + 1;
		int64_t *sources = by_source + (pe_raw_node(b->raw, g) - origin) + 1;
		int64_t first = pe_raw_edge(b->raw, g) - edge0, end = pe_raw_edge(b->raw, g + 1) - edge0;
		for (int64_t e = first; e < end; e++) {
			struct edge edge = edge_at(b, e);
			targets[edge.v]++;
			sources[edge.u]++;
			counts->loops += edge.u == edge.v;
		}
	}
	counts_to_places(by_target->start, by_target->nodes);
	for (int64_t g = b->first; g < b->end; g++) {
		int64_t *place = by_target->start + (pe_raw_node(b->raw, g) - origin);
		int64_t first = pe_raw_edge(b->raw, g) - edge0, end = pe_raw_edge(b->raw, g + 1) - edge0;
		for (int64_t e = first; e < end; e++) {
			struct edge edge = edge_at(b, e);
			int64_t at = place[edge.v]++;
			by_target->col[at] = edge.u;
			if (by_target->w)
				by_target->w[at] = b->w ? b->w[e] : 1;
		}
	}
	places_to_starts(by_target->start, by_target->nodes);
}

/* Rows from their transpose; out->start holds places. first and end are nodes of one graph. */
static void turn_graph(const struct pe_rows *rows, int64_t first, int64_t end, struct pe_rows *out)
{
	int64_t *place = out->start + first;
	for (int64_t i = first; i < end; i++) {
		for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++) {
			int64_t at = place[rows->col[e]]++;
			out->col[at] = (int32_t)(i - first);
			if (out->w)
				out->w[at] = rows->w[e];
		}
	}
}

static double combine_duplicates(enum pe_duplicates duplicates, double earlier, double later)
{
	if (duplicates == PE_DUPLICATES_SUM)
		return earlier + later;
	return duplicates == PE_DUPLICATES_MAX && later > earlier ? later : earlier;
}

/* One row: combines what stands e … end-1 and writes it from `to` on; returns where it stopped. */
static int64_t combine_row(const struct pe_edge_block *b, struct pe_rows *rows, int32_t self, int64_t e,
	int64_t end, int64_t to, struct pe_row_counts *counts)
{
	while (e < end) {
		int32_t col = rows->col[e];
		double w = rows->w ? rows->w[e] : 1;
		for (e++; e < end && rows->col[e] == col; e++) {
			w = combine_duplicates(b->duplicates, w, rows->w ? rows->w[e] : 1);
			counts->duplicates++;
		}
		bool zero = w == 0;
		counts->zeros += zero;
		if (zero || (b->drop_loops && col == self))
			continue;
		counts->diagonal += col == self;
		counts->edges += col != self;
		rows->col[to] = col;
		if (rows->w)
			rows->w[to] = w;
		to++;
	}
	return to;
}

static void combine_rows(const struct pe_edge_block *b, struct pe_rows *rows, struct pe_row_counts *counts)
{
	int64_t origin = pe_raw_node(b->raw, b->first), from = 0, to = 0;
	for (int64_t g = b->first; g < b->end; g++) {
		int64_t first = pe_raw_node(b->raw, g) - origin, end = pe_raw_node(b->raw, g + 1) - origin;
		for (int64_t i = first; i < end; i++) {
			int64_t stop = rows->start[i + 1];
			to = combine_row(b, rows, (int32_t)(i - first), from, stop, to, counts);
			rows->start[i + 1] = to;
			from = stop;
		}
	}
}

pe_status pe_rows_sort(
	pe_context *ctx, const struct pe_edge_block *b, struct pe_rows *out, struct pe_row_counts *counts)
{
	int64_t origin = pe_raw_node(b->raw, b->first), nodes = pe_raw_node(b->raw, b->end) - origin;
	int64_t entries = pe_raw_edge(b->raw, b->end) - pe_raw_edge(b->raw, b->first);
	bool weighted = b->w || b->duplicates == PE_DUPLICATES_SUM;
	struct pe_rows by_target = {0};
	*counts = (struct pe_row_counts){0};
	*out = (struct pe_rows){0};
	pe_status status = allocate(ctx, nodes, entries, weighted, &by_target);
	if (status == PE_OK)
		status = allocate(ctx, nodes, entries, weighted, out);
	if (status == PE_OK) {
		distribute_by_target(b, &by_target, out->start, counts);
		counts_to_places(out->start, nodes);
		for (int64_t g = b->first; g < b->end; g++)
			turn_graph(&by_target, pe_raw_node(b->raw, g) - origin, pe_raw_node(b->raw, g + 1) - origin, out);
		places_to_starts(out->start, nodes);
		combine_rows(b, out, counts);
	}
	pe_rows_free(ctx, &by_target);
	return status;
}

pe_status pe_rows_transpose(
	pe_context *ctx, const struct pe_rows *rows, const int64_t *ptr, int64_t graphs, struct pe_rows *out)
{
	PE_TRY(allocate(ctx, rows->nodes, rows->start[rows->nodes], rows->w != NULL, out));
	for (int64_t g = 0; g < graphs; g++) {
		int64_t first = ptr[g] - ptr[0], end = ptr[g + 1] - ptr[0];
		for (int64_t e = rows->start[first]; e < rows->start[end]; e++)
			out->start[first + rows->col[e] + 1]++;
	}
	counts_to_places(out->start, out->nodes);
	for (int64_t g = 0; g < graphs; g++)
		turn_graph(rows, ptr[g] - ptr[0], ptr[g + 1] - ptr[0], out);
	places_to_starts(out->start, out->nodes);
	return PE_OK;
}

/* ---- rows and their transpose ------------------------------------------------------- */

/* Walks two rows side by side: which of the two has the next column. */
struct pair {
	int64_t a, a_end, b, b_end;
};

static struct pair pair_at(const struct pe_rows *rows, const struct pe_rows *other, int64_t i)
{
	return (struct pair){rows->start[i], rows->start[i + 1], other->start[i], other->start[i + 1]};
}

static struct pe_asymmetry row_asymmetry(const struct pe_rows *rows, const struct pe_rows *other, int64_t i)
{
	struct pe_asymmetry found = {0, 0};
	struct pair p = pair_at(rows, other, i);
	while (p.a < p.a_end) {
		if (p.b == p.b_end || rows->col[p.a] < other->col[p.b]) {
			found.one_way++;
			p.a++;
		} else if (other->col[p.b] < rows->col[p.a]) {
			p.b++;
		} else {
			found.unequal += rows->w && rows->w[p.a] != other->w[p.b];
			p.a++;
			p.b++;
		}
	}
	return found;
}

static bool same_pattern(const struct pe_rows *rows, const struct pe_rows *other)
{
	size_t entries = (size_t)rows->start[rows->nodes];
	return memcmp(rows->start, other->start, (size_t)(rows->nodes + 1) * sizeof *rows->start) == 0 &&
		memcmp(rows->col, other->col, entries * sizeof *rows->col) == 0;
}

struct pe_asymmetry pe_rows_asymmetry(const struct pe_rows *rows, const struct pe_rows *transpose)
{
	struct pe_asymmetry all = {0, 0};
	if (!rows->w && same_pattern(rows, transpose))
		return all;
	for (int64_t i = 0; i < rows->nodes; i++) {
		struct pe_asymmetry found = row_asymmetry(rows, transpose, i);
		all.one_way += found.one_way;
		all.unequal += found.unequal;
	}
	all.unequal /= 2; /* a pair is seen from both of its ends */
	return all;
}

static double combine_directions(enum pe_symmetrise symmetrise, double a, double b)
{
	switch (symmetrise) {
	case PE_SYMMETRISE_SUM:
		return a + b;
	case PE_SYMMETRISE_MEAN:
		return 0.5 * a + 0.5 * b; /* halves first: the sum could overflow */
	default:
		return a > b ? a : b;
	}
}

/* The weight of an edge listed in one direction only: the other is absent, which is 0 to sum and mean. */
static double one_direction(enum pe_symmetrise symmetrise, double w)
{
	return symmetrise == PE_SYMMETRISE_MEAN ? 0.5 * w : w;
}

static double weight_at(const struct pe_rows *rows, int64_t e)
{
	return rows->w ? rows->w[e] : 1;
}

static int64_t unite_row(const struct pe_rows *rows, const struct pe_rows *other, int64_t i, int32_t self,
	enum pe_symmetrise symmetrise, struct pe_rows *out, int64_t to)
{
	struct pair p = pair_at(rows, other, i);
	while (p.a < p.a_end || p.b < p.b_end) {
		int32_t a = p.a < p.a_end ? rows->col[p.a] : INT32_MAX;
		int32_t b = p.b < p.b_end ? other->col[p.b] : INT32_MAX;
		double w;
		if (a == b && a != self)
			w = combine_directions(symmetrise, weight_at(rows, p.a), weight_at(other, p.b));
		else if (a == b)
			w = weight_at(rows, p.a);
		else
			w = one_direction(symmetrise, a < b ? weight_at(rows, p.a) : weight_at(other, p.b));
		p.a += a <= b;
		p.b += b <= a;
		if (w == 0)
			continue;
		out->col[to] = a < b ? a : b;
		if (out->w)
			out->w[to] = w;
		to++;
	}
	return to;
}

pe_status pe_rows_union(pe_context *ctx, const struct pe_rows *rows, const struct pe_rows *transpose,
	const int64_t *ptr, int64_t graphs, enum pe_symmetrise symmetrise, bool weighted, struct pe_rows *out)
{
	int64_t entries;
	if (!pe_mul(2, rows->start[rows->nodes], &entries))
		return pe_fail(ctx, PE_ERR_NOMEM, "there are too many edges");
	PE_TRY(allocate(ctx, rows->nodes, entries, weighted, out));
	int64_t to = 0;
	for (int64_t g = 0; g < graphs; g++) {
		int64_t first = ptr[g] - ptr[0], end = ptr[g + 1] - ptr[0];
		for (int64_t i = first; i < end; i++) {
			to = unite_row(rows, transpose, i, (int32_t)(i - first), symmetrise, out, to);
			out->start[i + 1] = to;
		}
	}
	return PE_OK;
}
