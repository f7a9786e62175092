/* SPDX-License-Identifier: BSD-2-Clause
 * Matrix Market: a square real matrix as the adjacency matrix of a graph, entry (i, j) the weight of
 * i→j. Symmetric files may hold either triangle. Zeros of an array are no edges. */
#include "matrix_market.h"

#include <inttypes.h>
#include <math.h>
#include <strings.h>

#include "sniff.h"

struct parser {
	struct pe_scan scan;
	struct pe_mm_head head;
	bool weighted;
	struct pe_edge_buffer edges;
	int64_t read, zeros;
};

/* ---- entries ------------------------------------------------------------------------ */

static pe_status read_value(struct parser *p, double *w)
{
	PE_TRY(pe_scan_f64(&p->scan, "a value", w));
	if (p->head.integral && *w != trunc(*w))
		return pe_scan_fail(&p->scan, "the value %g is not an integer", *w);
	if (*w < p->head.min || *w > p->head.max)
		return pe_scan_fail(&p->scan, "the value %g does not fit into the type of the matrix", *w);
	return PE_OK;
}

static pe_status push(struct parser *p, int64_t i, int64_t j, double w)
{
	return p->weighted ? pe_edge_push_weighted(p->scan.ctx, &p->edges, i, j, w)
					   : pe_edge_push(p->scan.ctx, &p->edges, i, j);
}

static pe_status add_entry(struct parser *p, int64_t i, int64_t j, double w)
{
	if (p->head.symmetry != PE_MM_SKEW)
		return push(p, i, j, w);
	if (i == j)
		return w == 0
			? PE_OK
			: pe_scan_fail(&p->scan, "the diagonal of a skew-symmetric matrix is zero, here is %g", w);
	PE_TRY(push(p, i, j, w));
	return push(p, j, i, -w);
}

static pe_status end_line(struct parser *p)
{
	pe_scan_blanks(&p->scan);
	if (!pe_scan_at_line_end(&p->scan))
		return pe_scan_fail(&p->scan, "there is more on the line than %s",
			p->head.pattern ? "a row and a column" : "a row, a column and a value");
	(void)pe_scan_next_line(&p->scan);
	return PE_OK;
}

static pe_status read_coordinate(struct parser *p)
{
	int64_t i, j;
	double w = 1;
	PE_TRY(pe_scan_i64(&p->scan, "a row", 1, p->head.n, &i));
	PE_TRY(pe_scan_i64(&p->scan, "a column", 1, p->head.n, &j));
	if (!p->head.pattern)
		PE_TRY(read_value(p, &w));
	if (p->head.boolean && w == 0)
		p->zeros++;
	else
		PE_TRY(add_entry(p, i, j, w));
	return end_line(p);
}

static pe_status read_coordinates(struct parser *p)
{
	while (pe_mm_next_entry(&p->scan)) {
		if (p->read == p->head.entries)
			return pe_scan_fail(
				&p->scan, "there are more entries than the %" PRId64 " declared", p->head.entries);
		PE_TRY(read_coordinate(p));
		p->read++;
	}
	return PE_OK;
}

static pe_status read_element(struct parser *p, int64_t i, int64_t j)
{
	double w;
	if (!pe_mm_next_entry(&p->scan))
		return PE_OK; /* too few: said at the end */
	PE_TRY(read_value(p, &w));
	p->read++;
	if (w != 0)
		return add_entry(p, i, j, w);
	p->zeros++;
	return PE_OK;
}

static pe_status read_array(struct parser *p)
{
	const struct pe_mm_head *head = &p->head;
	for (int64_t j = 1; j <= head->n; j++) {
		int64_t first = head->symmetry == PE_MM_GENERAL ? 1 : head->symmetry == PE_MM_SYMMETRIC ? j : j + 1;
		for (int64_t i = first; i <= head->n; i++)
			PE_TRY(read_element(p, i, j));
	}
	if (pe_mm_next_entry(&p->scan))
		return pe_scan_fail(
			&p->scan, "there are more values than the %" PRId64 " of the matrix", head->entries);
	return PE_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

static pe_status check_policy(const struct parser *p, const struct pe_graph_policy *policy)
{
	if (policy->weight_name)
		return pe_fail(p->scan.ctx, PE_ERR_FORMAT,
			"%s: values of a Matrix Market file have no name, so that %s is not among them", p->scan.name,
			policy->weight_name);
	if (policy->weight_column > 0 && (policy->weight_column != 3 || p->head.pattern || p->head.array))
		return pe_fail(p->scan.ctx, PE_ERR_FORMAT, "%s: there is no column %d of weights", p->scan.name,
			(int)policy->weight_column);
	return PE_OK;
}

static pe_status finish(struct parser *p, struct pe_raw_graphs *out)
{
	if (p->read < p->head.entries)
		return pe_scan_fail(&p->scan, "%" PRId64 " entries are declared, but there are only %" PRId64,
			p->head.entries, p->read);
	PE_TRY(pe_raw_from_edges(p->scan.ctx, &p->edges, 1, p->head.n, out));
	out->format = "matrix-market";
	out->mirrored = p->head.symmetry == PE_MM_SYMMETRIC;
	out->direction = out->mirrored ? PE_UNDIRECTED : PE_DIRECTED_IF_ONE_WAY;
	if (p->zeros > 0)
		pe_log(p->scan.ctx, p->head.array ? PE_LOG_INFO : PE_LOG_WARNING,
			"%s: %" PRId64 " entries are zero, which is no edge", p->scan.name, p->zeros);
	return pe_raw_count_phantom(p->scan.ctx, out);
}

static pe_status read(pe_context *ctx, const struct pe_source *source, const struct pe_graph_policy *policy,
	struct pe_raw_graphs *out)
{
	struct parser p = {.scan = pe_scan_start(ctx, source)};
	pe_status status = pe_mm_read_head(&p.scan, source->size, policy->format != NULL, &p.head);
	if (status == PE_OK)
		status = check_policy(&p, policy);
	p.weighted = !p.head.pattern && !p.head.boolean && policy->weight_column != 0;
	if (status == PE_OK && p.head.array)
		status = read_array(&p);
	else if (status == PE_OK)
		status = read_coordinates(&p);
	if (status == PE_OK)
		status = finish(&p, out);
	pe_edge_buffer_free(ctx, &p.edges);
	return status;
}

static bool recognise(const struct pe_source *source)
{
	size_t start = pe_sniff_start(source);
	return source->size - start >= 14 && strncasecmp(source->data + start, "%%MatrixMarket", 14) == 0;
}

const struct pe_reader pe_reader_matrix_market = {
	.format = "matrix-market",
	.suffixes = ".mtx .mm",
	.recognise = recognise,
	.read = read,
};
