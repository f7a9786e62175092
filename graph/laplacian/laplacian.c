/* SPDX-License-Identifier: BSD-2-Clause
 * L = D - A, or I - D^-½ A D^-½ with D the diagonal of weighted degrees. The null space is known:
 * one vector a component, constant for D - A, D^½ times constant for the normalised form. */
#include "laplacian.h"

#include <math.h>

#include "components.h"

/* Degrees beyond this could not be squared; below its inverse, not be divided by. */
#define DEGREE_LIMIT 1e150

void *pe_carve(char **memory, int64_t count, size_t size)
{
	void *array = *memory;
	*memory += ((size_t)count * size + 7) & ~(size_t)7;
	return array;
}

int64_t pe_laplacian_bytes(int64_t n, int64_t entries)
{
	/* label, place, order, start; row, first; diag, degree, null, norm1; zero; col, val; rounding. */
	return n * (4 * 4 + 3 * 8 + 4 * 8 + 1) + entries * (4 + 8) + 16 * 8;
}

/* Nodes of each component together. */
static void arrange(const struct pe_csr *graph, char **memory, struct pe_laplacian *l)
{
	int32_t n = graph->n;
	l->n = n;
	l->components = 0;
	l->label = pe_carve(memory, n, sizeof *l->label);
	l->place = pe_carve(memory, n, sizeof *l->place);
	l->order = pe_carve(memory, n, sizeof *l->order);
	l->start = (int32_t *)*memory;
	if (n > 0)
		pe_components(graph, l->label, l->start + 1, &l->components);
	pe_carve(memory, l->components + 1, sizeof *l->start);
	l->start[0] = 0;
	if (l->components == 1) {
		for (int32_t i = 0; i < n; i++)
			l->order[i] = l->place[i] = i;
		return;
	}
	/* start[c + 1] goes from the size of c to c's first place, and by the nodes that are put there to
	 * the place after its last. */
	int32_t sum = 0;
	for (int32_t c = 0; c < l->components; c++) {
		int32_t size = l->start[c + 1];
		l->start[c + 1] = sum;
		sum += size;
	}
	for (int32_t i = 0; i < n; i++) {
		int32_t p = l->start[l->label[i] + 1]++;
		l->order[p] = i;
		l->place[i] = p;
	}
	for (int32_t i = 0; i < n; i++)
		l->place[i] -= l->start[l->label[i]];
}

static pe_status check_degree(pe_context *ctx, const struct pe_laplacian *l, int32_t node, double degree)
{
	if (degree == 0 || (fabs(degree) <= DEGREE_LIMIT && (!l->normalized || degree >= 1 / DEGREE_LIMIT)))
		return PE_OK;
	return pe_fail(ctx, PE_ERR_RANGE,
		"the weighted degree of node %d is %.3g, beyond what doubles can carry: scale the weights", (int)node,
		degree);
}

/* Residuals are sums of squares, which must not vanish. A light edge beside others does no harm. */
static pe_status check_norm(pe_context *ctx, const struct pe_laplacian *l, int32_t c)
{
	if (l->norm1[c] == 0 || l->norm1[c] >= 1 / DEGREE_LIMIT)
		return PE_OK;
	return pe_fail(ctx, PE_ERR_RANGE,
		"the Laplacian of the component of node %d has norm %.3g, below what doubles can carry: scale the "
		"weights",
		(int)l->order[l->start[c]], l->norm1[c]);
}

/* The weighted degree of node i; *negative is set if a weight below 0 is met. */
static double degree_of(const struct pe_csr *graph, bool loops, int32_t i, bool *negative)
{
	int64_t begin = graph->row[i], end = graph->row[i + 1];
	double degree = 0;
	if (loops && !graph->weight)
		return (double)(end - begin);
	for (int64_t e = begin; e < end; e++) {
		if (graph->col[e] == i && !loops)
			continue;
		double w = graph->weight ? graph->weight[e] : 1;
		degree += w;
		*negative |= w < 0;
	}
	return degree;
}

/* Degrees by place, and in null the scaling D^-½, or ones. */
static pe_status sum_degrees(pe_context *ctx, const struct pe_csr *graph,
	const struct pe_laplacian_rules *rules, struct pe_laplacian *l)
{
	const int32_t *order = l->order;
	double *degree = l->degree, *scale = l->null;
	int32_t n = l->n;
	bool negative = false;
	for (int32_t p = 0; p < n; p++)
		degree[p] = degree_of(graph, rules->loops, order[p], &negative);
	l->negative = negative;
	if (negative && l->normalized)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"there are edge weights below 0, and D^-1/2 of their degrees may not be real: take "
			"normalization=none, or edge weights none");
	for (int32_t p = 0; graph->weight && p < n; p++)
		PE_TRY(check_degree(ctx, l, order[p], degree[p]));
	for (int32_t p = 0; l->normalized && p < n; p++) /* a node without edges has no entry to be scaled */
		scale[p] = 1 / sqrt(degree[p]);
	for (int32_t p = 0; !l->normalized && p < n; p++)
		scale[p] = 1;
	return PE_OK;
}

/* Where the next entry goes, and what is known of the rows before. */
struct filling {
	int64_t at;
	double norm1, volume;
};

/* The row at place p of a component that begins at p0. null holds the scaling so far, D^-½ or ones. `plain`:
 * the component is the graph, in its own order, and there are no weights. What a loop adds to A and to D
 * cancels: a sum without it has no rounding of the loop's size. */
static inline void fill_row(
	const struct pe_csr *graph, int32_t p0, int32_t p, bool plain, struct filling *f, struct pe_laplacian *l)
{
	int32_t i = plain ? p : l->order[p], *col = l->col;
	const int32_t *place = l->place;
	const double *scale = l->null + p0;
	double own = l->degree[p], rest = 0, sum = 0, *val = l->val, factor = scale[p - p0];
	int64_t at = f->at, end = graph->row[i + 1];
	for (int64_t e = graph->row[i]; e < end; e++) {
		int32_t j = graph->col[e];
		double w = plain || !graph->weight ? 1 : graph->weight[e];
		if (j == i)
			continue;
		int32_t to = plain ? j : place[j];
		double entry = w * (factor * scale[to]);
		col[at] = to;
		val[at++] = -entry;
		sum += fabs(entry);
		rest += w;
	}
	double diagonal = l->normalized ? (own > 0 ? rest / own : 0) : rest;
	sum += fabs(diagonal);
	l->diag[p] = diagonal;
	f->norm1 = sum > f->norm1 ? sum : f->norm1;
	f->volume += own;
	f->at = at;
}

/* From the scaling to the unit null vector: D^½, or ones, by its length. */
static void fill_null(int32_t p0, int32_t p1, double volume, struct pe_laplacian *l)
{
	double length = 1 / sqrt(l->normalized ? volume : p1 - p0);
	if (p1 - p0 == 1)
		l->null[p0] = 1;
	else if (l->normalized)
		for (int32_t p = p0; p < p1; p++)
			l->null[p] *= l->degree[p] * length;
	else
		for (int32_t p = p0; p < p1; p++)
			l->null[p] = length;
}

static void fill_component(
	const struct pe_csr *graph, const struct pe_laplacian_rules *rules, int32_t c, struct pe_laplacian *l)
{
	int32_t p0 = l->start[c], p1 = l->start[c + 1];
	int64_t *row = l->row + p0 + c;
	struct filling f = {.at = l->first[c]};
	row[0] = 0;
	bool plain = l->components == 1 && !graph->weight;
	for (int32_t p = p0; plain && p < p1; p++) {
		fill_row(graph, 0, p, true, &f, l);
		row[p + 1] = f.at;
	}
	for (int32_t p = p0; !plain && p < p1; p++) {
		fill_row(graph, p0, p, false, &f, l);
		row[p - p0 + 1] = f.at - l->first[c];
	}
	fill_null(p0, p1, f.volume, l);
	l->zero[c] = true;
	if (p1 - p0 == 1 && rules->isolated && l->normalized && !(l->degree[p0] > 0)) {
		l->zero[c] = false;
		l->diag[p0] = f.norm1 = 1;
	}
	l->norm1[c] = f.norm1;
	l->first[c + 1] = f.at;
}

pe_status pe_laplacian_build(pe_context *ctx, const struct pe_csr *graph,
	const struct pe_laplacian_rules *rules, char **memory, struct pe_laplacian *out)
{
	int64_t n = graph->n, entries = graph->row[n] - graph->row[0];
	*out = (struct pe_laplacian){.normalized = rules->normalized};
	arrange(graph, memory, out);
	out->first = pe_carve(memory, out->components + 1, sizeof *out->first);
	out->row = pe_carve(memory, n + out->components, sizeof *out->row);
	out->col = pe_carve(memory, entries, sizeof *out->col);
	out->val = pe_carve(memory, entries, sizeof *out->val);
	out->diag = pe_carve(memory, n, sizeof *out->diag);
	out->degree = pe_carve(memory, n, sizeof *out->degree);
	out->null = pe_carve(memory, n, sizeof *out->null);
	out->norm1 = pe_carve(memory, out->components, sizeof *out->norm1);
	out->zero = pe_carve(memory, out->components, sizeof *out->zero);
	PE_TRY(sum_degrees(ctx, graph, rules, out));
	out->first[0] = 0;
	for (int32_t c = 0; c < out->components; c++) {
		fill_component(graph, rules, c, out);
		PE_TRY(check_norm(ctx, out, c));
		out->norm = out->norm1[c] > out->norm ? out->norm1[c] : out->norm;
	}
	return PE_OK;
}

struct pe_eigen_problem pe_laplacian_problem(const struct pe_laplacian *l, int32_t c)
{
	int32_t p0 = l->start[c];
	return (struct pe_eigen_problem){
		.n = pe_laplacian_size(l, c),
		.row = l->row + p0 + c,
		.col = l->col + l->first[c],
		.val = l->val + l->first[c],
		.diag = l->diag + p0,
		.null = l->null + p0,
		.norm1 = l->norm1[c],
		.upper = l->normalized ? fmin(2, l->norm1[c]) : l->norm1[c],
		.semidefinite = !l->negative,
	};
}

/* ---- residuals ---------------------------------------------------------------------- */

#define TILE 8

/* sum[t] += ((Lx - λx) at place p of component c)², for TILE columns from rows on. */
static void add_residual(const struct pe_laplacian *l, int32_t c, int32_t p, const double *rows,
	int64_t stride, const double values[TILE], double sum[TILE])
{
	const int64_t *row = l->row + p + c;
	const int32_t *order = l->order + l->start[c];
	const double *x = rows + l->order[p] * stride;
	double y[TILE];
	for (int t = 0; t < TILE; t++)
		y[t] = (l->diag[p] - values[t]) * x[t];
	for (int64_t e = l->first[c] + row[0]; e < l->first[c] + row[1]; e++) {
		const double *z = rows + order[l->col[e]] * stride;
		for (int t = 0; t < TILE; t++)
			y[t] += l->val[e] * z[t];
	}
	for (int t = 0; t < TILE; t++)
		sum[t] += y[t] * y[t];
}

/* Likewise for fewer columns. */
static void add_residual_narrow(const struct pe_laplacian *l, int32_t c, int32_t p, const double *rows,
	int64_t stride, const double *values, int32_t columns, double *sum)
{
	const int64_t *row = l->row + p + c;
	const int32_t *order = l->order + l->start[c];
	for (int32_t t = 0; t < columns; t++) {
		double y = (l->diag[p] - values[t]) * rows[l->order[p] * stride + t];
		for (int64_t e = l->first[c] + row[0]; e < l->first[c] + row[1]; e++)
			y += l->val[e] * rows[order[l->col[e]] * stride + t];
		sum[t] += y * y;
	}
}

void pe_laplacian_residuals(const struct pe_laplacian *l, const double *rows, int64_t stride,
	const double *values, int32_t columns, double *residual)
{
	for (int32_t j = 0; j < columns; j += TILE) {
		double sum[TILE] = {0};
		int32_t width = columns - j < TILE ? columns - j : TILE;
		for (int32_t c = 0; c < l->components; c++)
			for (int32_t p = l->start[c]; p < l->start[c + 1]; p++) {
				if (width == TILE)
					add_residual(l, c, p, rows + j, stride, values + j, sum);
				else
					add_residual_narrow(l, c, p, rows + j, stride, values + j, width, sum);
			}
		for (int32_t t = 0; t < width; t++)
			residual[j + t] = sqrt(sum[t]);
	}
}
