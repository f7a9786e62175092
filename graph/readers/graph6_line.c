/* SPDX-License-Identifier: BSD-2-Clause
 * Padding and lengths must be exact. */
#include "graph6_line.h"

#include <inttypes.h>
#include <string.h>

static const char *const kind_names[] = {"graph6", "sparse6", "digraph6", "incremental sparse6"};
static const char *const headers[] = {">>graph6<<", ">>sparse6<<", ">>digraph6<<", ">>sparse6<<"};

#define HEADER_KINDS 3

const char *pe_graph6_kind_name(enum pe_graph6_kind kind)
{
	return kind_names[kind];
}

/* ---- one line's form ---------------------------------------------------------------- */

static bool begins(const char *text, size_t size, const char *prefix)
{
	size_t length = strlen(prefix);
	return size >= length && memcmp(text, prefix, length) == 0;
}

static enum pe_graph6_kind kind_of(const char *text, size_t size)
{
	switch (size ? text[0] : 0) {
	case ':':
		return PE_SPARSE6;
	case '&':
		return PE_DIGRAPH6;
	case ';':
		return PE_INCREMENTAL;
	default:
		return PE_GRAPH6;
	}
}

/* N(n): one byte up to 62, '~' and three, '~~' and six. The bytes it takes, or 0 if it is cut off. */
static size_t read_order(const char *text, size_t size, int64_t *n)
{
	size_t tildes = 0;
	while (tildes < 2 && tildes < size && text[tildes] == '~')
		tildes++;
	size_t digits = tildes == 0 ? 1 : tildes == 1 ? 3 : 6;
	if (size < tildes + digits)
		return 0;
	*n = 0;
	for (size_t i = tildes; i < tildes + digits; i++)
		*n = *n << 6 | (text[i] - 63);
	return tildes + digits;
}

/* n(n-1)/2 or n² bits; n fits an int32_t. */
static int64_t matrix_bits(enum pe_graph6_kind kind, int64_t n)
{
	return kind == PE_DIGRAPH6 ? n * n : n * (n - 1) / 2;
}

static size_t first_bad_byte(const char *text, size_t size)
{
	size_t at = 0;
	while (at < size && text[at] >= 63 && text[at] <= 126)
		at++;
	return at;
}

/* ---- the matrix forms --------------------------------------------------------------- */

static int64_t count_ones(const char *text, size_t size)
{
	int64_t ones = 0;
	for (size_t i = 0; i < size; i++)
		ones += __builtin_popcount((unsigned)(text[i] - 63));
	return ones;
}

static void push(struct pe_graph6_builder *b, int64_t u, int64_t v)
{
	b->u[b->edges] = (int32_t)u;
	b->v[b->edges] = (int32_t)v;
	b->edges++;
}

/* A cell: graph6 has (0,1), (0,2), (1,2), (0,3) …, where inner runs up to outer; digraph6 (0,0), (0,1) … row
 * by row. */
struct cell {
	int64_t outer, inner, limit;
};

static struct cell step(struct cell cell, int64_t cells, bool directed)
{
	for (cell.inner += cells; cell.inner >= cell.limit;) {
		cell.inner -= cell.limit;
		cell.outer++;
		cell.limit = directed ? cell.limit : cell.outer;
	}
	return cell;
}

static void read_matrix(
	struct pe_graph6_builder *b, enum pe_graph6_kind kind, int64_t n, const char *text, size_t size)
{
	bool directed = kind == PE_DIGRAPH6;
	struct cell first = {directed ? 0 : 1, 0, directed ? n : 1};
	for (size_t at = 0; at < size; at++, first = step(first, 6, directed))
		for (unsigned bits = (unsigned)(text[at] - 63), top; bits; bits &= ~(1u << top)) {
			top = 31u - (unsigned)__builtin_clz(bits);
			struct cell cell = step(first, 5 - (int64_t)top, directed);
			push(b, directed ? cell.outer : cell.inner, directed ? cell.inner : cell.outer);
		}
}

static pe_status reserve(struct pe_graph6_builder *b, int64_t more)
{
	int64_t need;
	if (!pe_add(b->edges, more, &need))
		return pe_scan_fail(&b->scan, "more edges than can be counted");
	PE_TRY(pe_grow(b->scan.ctx, &b->u, &b->edge_capacity, b->edges, need, sizeof *b->u));
	return pe_grow(b->scan.ctx, &b->v, &b->edge_capacity2, b->edges, need, sizeof *b->v);
}

static pe_status parse_matrix(
	struct pe_graph6_builder *b, enum pe_graph6_kind kind, int64_t n, const char *text, size_t size)
{
	int64_t bits = matrix_bits(kind, n);
	if ((int64_t)size != (bits + 5) / 6)
		return pe_scan_fail(&b->scan, "a %s graph of %" PRId64 " nodes takes %" PRId64 " bytes, here are %zu",
			kind_names[kind], n, (bits + 5) / 6, size);
	int padding = (int)(6 * (int64_t)size - bits);
	if (size && ((text[size - 1] - 63) & ((1 << padding) - 1)) != 0)
		return pe_scan_fail(&b->scan, "the padding at the end of the graph is not zero");
	PE_TRY(reserve(b, count_ones(text, size)));
	read_matrix(b, kind, n, text, size);
	return PE_OK;
}

/* ---- sparse6 ------------------------------------------------------------------------ */

/* `width` ≤ 32 bits from bit number at on. */
static int64_t take_bits(const char *text, int64_t at, int width)
{
	uint64_t value = 0;
	int64_t byte = at / 6, have = 6 - at % 6;
	value = (uint64_t)(text[byte] - 63) & ((1u << have) - 1);
	while (have < width) {
		value = value << 6 | (uint64_t)(text[++byte] - 63);
		have += 6;
	}
	return (int64_t)(value >> (have - width));
}

static bool all_ones(const char *text, int64_t at, int64_t end)
{
	for (; at < end; at++)
		if (take_bits(text, at, 1) == 0)
			return false;
	return true;
}

/* Pairs of a bit b and a number x of k bits: v += b; x > v sets v = x, else there is an edge (x, v). What
 * takes v beyond the last node can only be padding: at most five bits, all of them 1. For n = 2, 4, 8, 16 a
 * writer puts a 0 before those where they would read as a loop; with k more bits that is a pair that sets v
 * to n-1 and adds nothing, with fewer it is the first of the bits that are left. */
static pe_status parse_sparse(struct pe_graph6_builder *b, int64_t n, const char *text, size_t size)
{
	int width = n > 1 ? 64 - __builtin_clzll((unsigned long long)(n - 1)) : 0;
	int64_t end = 6 * (int64_t)size, at = 0, v = 0;
	PE_TRY(reserve(b, end / (width + 1)));
	while (end - at > width) {
		int64_t x = width ? take_bits(text, at + 1, width) : 0;
		v += take_bits(text, at, 1);
		if (v >= n || x >= n)
			break;
		if (x > v)
			v = x;
		else
			push(b, x, v);
		at += width + 1;
	}
	if (end - at > 5)
		return pe_scan_fail(&b->scan, "the sparse6 data %s",
			end - at > width ? "go beyond the last node before their end"
							 : "are cut off, or longer than they should be");
	bool may_begin_with_0 = n <= 16 && (n & (n - 1)) == 0 && end - at <= width;
	if (!all_ones(text, may_begin_with_0 ? at + 1 : at, end))
		return pe_scan_fail(&b->scan, "the padding at the end of the graph is not of ones");
	return PE_OK;
}

/* ---- lines -------------------------------------------------------------------------- */

static pe_status check_kind(struct pe_graph6_builder *b, enum pe_graph6_kind kind)
{
	if (kind == PE_INCREMENTAL)
		return pe_scan_fail(&b->scan,
			"incremental sparse6 (a line that begins with ';') is not supported; "
			"nauty's copyg -s writes every graph whole");
	if ((kind == PE_DIGRAPH6) != (b->first_kind == PE_DIGRAPH6))
		return pe_scan_fail(&b->scan,
			"this graph is %s, the first one %s; directed and undirected graphs "
			"cannot be in one file",
			kind_names[kind], kind_names[b->first_kind]);
	return PE_OK;
}

static pe_status close_graph(struct pe_graph6_builder *b, int64_t n)
{
	pe_context *ctx = b->scan.ctx;
	int64_t g = b->graphs;
	PE_TRY(pe_grow(ctx, &b->ptr, &b->graph_capacity, g + 1, g + 2, sizeof *b->ptr));
	PE_TRY(pe_grow(ctx, &b->edge_ptr, &b->graph_capacity2, g + 1, g + 2, sizeof *b->edge_ptr));
	b->ptr[g + 1] = b->ptr[g] + n;
	b->edge_ptr[g + 1] = b->edges;
	b->graphs++;
	return PE_OK;
}

static pe_status parse_graph(struct pe_graph6_builder *b, const char *text, size_t size)
{
	enum pe_graph6_kind kind = kind_of(text, size);
	PE_TRY(check_kind(b, kind));
	if (kind != PE_GRAPH6) {
		text++;
		size--;
	}
	size_t bad = first_bad_byte(text, size);
	if (bad < size)
		return pe_scan_fail(&b->scan, "byte %d in a %s graph; they are from 63 ('?') to 126 ('~')",
			(int)(unsigned char)text[bad], kind_names[kind]);
	int64_t n;
	size_t taken = read_order(text, size, &n);
	if (taken == 0)
		return pe_scan_fail(&b->scan, "a %s graph that ends before its number of nodes", kind_names[kind]);
	if (n > INT32_MAX)
		return pe_scan_fail(&b->scan, "%" PRId64 " nodes; a graph has at most 2^31 - 1", n);
	if (pe_nodes_excessive(b->ptr[b->graphs] + n, b->bytes))
		return pe_scan_fail(
			&b->scan, "%" PRId64 " nodes in a file of %zu bytes: refused as damaged", n, b->bytes);
	text += taken;
	size -= taken;
	PE_TRY(kind == PE_SPARSE6 ? parse_sparse(b, n, text, size) : parse_matrix(b, kind, n, text, size));
	return close_graph(b, n);
}

pe_status pe_graph6_line(struct pe_graph6_builder *b, const char *text, size_t size)
{
	for (int kind = 0; kind < HEADER_KINDS; kind++) {
		if (!begins(text, size, headers[kind]))
			continue;
		size_t length = strlen(headers[kind]);
		enum pe_graph6_kind found = kind_of(text + length, size - length);
		if (size > length && strcmp(headers[found], headers[kind]) != 0)
			return pe_scan_fail(
				&b->scan, "the header is %s, but the graph is %s", headers[kind], kind_names[found]);
		return size > length ? parse_graph(b, text + length, size - length) : PE_OK;
	}
	return parse_graph(b, text, size);
}

/* The kind of the first graph. */
enum pe_graph6_kind pe_graph6_first_kind(struct pe_scan scan)
{
	const char *text;
	size_t size;
	do {
		pe_scan_line(&scan, &text, &size);
		for (int kind = 0; kind < HEADER_KINDS; kind++)
			if (begins(text, size, headers[kind])) {
				text += strlen(headers[kind]);
				size -= strlen(headers[kind]);
				break;
			}
	} while (size == 0 && pe_scan_next_line(&scan));
	return kind_of(text, size);
}

void pe_graph6_free(pe_context *ctx, struct pe_graph6_builder *b)
{
	pe_free(ctx, b->ptr);
	pe_free(ctx, b->edge_ptr);
	pe_free(ctx, b->u);
	pe_free(ctx, b->v);
	*b = (struct pe_graph6_builder){0};
}

pe_status pe_graph6_start(struct pe_graph6_builder *b)
{
	pe_context *ctx = b->scan.ctx;
	PE_TRY(pe_grow(ctx, &b->ptr, &b->graph_capacity, 0, 1, sizeof *b->ptr));
	PE_TRY(pe_grow(ctx, &b->edge_ptr, &b->graph_capacity2, 0, 1, sizeof *b->edge_ptr));
	PE_TRY(reserve(b, 1));
	b->ptr[0] = b->edge_ptr[0] = 0;
	return PE_OK;
}

bool pe_graph6_is_line(const char *text, size_t size)
{
	for (int kind = 0; kind < HEADER_KINDS; kind++)
		if (begins(text, size, headers[kind]))
			return true;
	enum pe_graph6_kind kind = kind_of(text, size);
	size_t skip = kind != PE_GRAPH6;
	int64_t n = 0;
	if (size < skip + 1 || first_bad_byte(text + skip, size - skip) < size - skip)
		return false;
	if (kind == PE_INCREMENTAL)
		return true;
	size_t taken = read_order(text + skip, size - skip, &n);
	if (taken == 0 || n > INT32_MAX)
		return false;
	return kind == PE_SPARSE6 || (int64_t)(size - skip - taken) == (matrix_bits(kind, n) + 5) / 6;
}
