/* SPDX-License-Identifier: BSD-2-Clause
 * graph6, sparse6 and digraph6, as nauty's formats.txt defines them: one graph a line, 6 bits a byte, in
 * bytes 63 to 126. Lines of graph6 and sparse6 may be mixed. Padding and lengths must be exact. */
#include <inttypes.h>
#include <string.h>

#include "scan.h"

enum kind { GRAPH6, SPARSE6, DIGRAPH6, INCREMENTAL };

static const char *const kind_names[] = {"graph6", "sparse6", "digraph6", "incremental sparse6"};
static const char *const headers[] = {">>graph6<<", ">>sparse6<<", ">>digraph6<<", ">>sparse6<<"};

#define HEADER_KINDS 3

struct builder {
	struct pe_scan scan;
	size_t bytes; /* of the whole input */
	enum kind first_kind;
	int64_t graphs, graph_capacity, graph_capacity2;
	int64_t edges, edge_capacity, edge_capacity2;
	int64_t *ptr, *edge_ptr;
	int32_t *u, *v;
};

/* ---- one line's form ---------------------------------------------------------------- */

static bool begins(const char *text, size_t size, const char *prefix)
{
	size_t length = strlen(prefix);
	return size >= length && memcmp(text, prefix, length) == 0;
}

static enum kind kind_of(const char *text, size_t size)
{
	switch (size ? text[0] : 0) {
	case ':':
		return SPARSE6;
	case '&':
		return DIGRAPH6;
	case ';':
		return INCREMENTAL;
	default:
		return GRAPH6;
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
static int64_t matrix_bits(enum kind kind, int64_t n)
{
	return kind == DIGRAPH6 ? n * n : n * (n - 1) / 2;
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

static void push(struct builder *b, int64_t u, int64_t v)
{
	b->u[b->edges] = (int32_t)u;
	b->v[b->edges] = (int32_t)v;
	b->edges++;
}

/* Bits are cells (i, j): graph6 (0,1), (0,2), (1,2), (0,3) …; digraph6 (0,0), (0,1) … row by row. `inner`
 * runs up to `limit`, which in graph6 is the outer index itself. */
static void read_matrix(struct builder *b, enum kind kind, int64_t n, const char *text, size_t size)
{
	bool directed = kind == DIGRAPH6;
	int64_t outer = directed ? 0 : 1, inner = 0, limit = directed ? n : 1;
	for (size_t at = 0; at < size; at++)
		for (int bits = text[at] - 63, left = 6; left > 0; left--, bits <<= 1) {
			if (bits & 32)
				push(b, directed ? outer : inner, directed ? inner : outer);
			if (++inner == limit) {
				inner = 0;
				outer++;
				limit = directed ? n : outer;
			}
		}
}

static pe_status reserve(struct builder *b, int64_t more)
{
	int64_t need;
	if (!pe_add(b->edges, more, &need))
		return pe_scan_fail(&b->scan, "more edges than can be counted");
	PE_TRY(pe_grow(b->scan.ctx, &b->u, &b->edge_capacity, b->edges, need, sizeof *b->u));
	return pe_grow(b->scan.ctx, &b->v, &b->edge_capacity2, b->edges, need, sizeof *b->v);
}

static pe_status parse_matrix(struct builder *b, enum kind kind, int64_t n, const char *text, size_t size)
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
static pe_status parse_sparse(struct builder *b, int64_t n, const char *text, size_t size)
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

static pe_status check_kind(struct builder *b, enum kind kind)
{
	if (kind == INCREMENTAL)
		return pe_scan_fail(&b->scan,
			"incremental sparse6 (a line that begins with ';') is not supported; "
			"nauty's copyg -s writes every graph whole");
	if (b->graphs == 0)
		b->first_kind = kind;
	if ((kind == DIGRAPH6) != (b->first_kind == DIGRAPH6))
		return pe_scan_fail(&b->scan,
			"this graph is %s, the first one %s; directed and undirected graphs "
			"cannot be in one file",
			kind_names[kind], kind_names[b->first_kind]);
	return PE_OK;
}

static pe_status close_graph(struct builder *b, int64_t n)
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

static pe_status parse_graph(struct builder *b, const char *text, size_t size)
{
	enum kind kind = kind_of(text, size);
	PE_TRY(check_kind(b, kind));
	if (kind != GRAPH6) {
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
	PE_TRY(kind == SPARSE6 ? parse_sparse(b, n, text, size) : parse_matrix(b, kind, n, text, size));
	return close_graph(b, n);
}

static pe_status parse_line(struct builder *b, const char *text, size_t size)
{
	for (int kind = 0; kind < HEADER_KINDS; kind++) {
		if (!begins(text, size, headers[kind]))
			continue;
		size_t length = strlen(headers[kind]);
		enum kind found = kind_of(text + length, size - length);
		if (size > length && strcmp(headers[found], headers[kind]) != 0)
			return pe_scan_fail(
				&b->scan, "the header is %s, but the graph is %s", headers[kind], kind_names[found]);
		return size > length ? parse_graph(b, text + length, size - length) : PE_OK;
	}
	return parse_graph(b, text, size);
}

static pe_status parse_lines(struct builder *b)
{
	int64_t empty = 0; /* the line of the first empty one since the last graph */
	do {
		const char *text;
		size_t size;
		pe_scan_line(&b->scan, &text, &size);
		if (size == 0) {
			empty = empty ? empty : b->scan.line;
			continue;
		}
		if (empty) {
			b->scan.line = empty;
			return pe_scan_fail(&b->scan, "an empty line among the graphs");
		}
		PE_TRY(parse_line(b, text, size));
	} while (pe_scan_next_line(&b->scan));
	return b->graphs > 0 ? PE_OK : pe_scan_fail(&b->scan, "there is no graph");
}

static void hand_over(struct builder *b, struct pe_raw_graphs *out)
{
	bool many = b->graphs > 1;
	*out = (struct pe_raw_graphs){
		.format = kind_names[b->first_kind],
		.graphs = b->graphs,
		.nodes = b->ptr[b->graphs],
		.rows = b->edges,
		.ptr = many ? b->ptr : NULL,
		.edge_ptr = many ? b->edge_ptr : NULL,
		.u = b->u,
		.v = b->v,
		.direction = b->first_kind == DIGRAPH6 ? PE_DIRECTED : PE_UNDIRECTED,
		.mirrored = b->first_kind != DIGRAPH6,
	};
	if (!many) {
		pe_free(b->scan.ctx, b->ptr);
		pe_free(b->scan.ctx, b->edge_ptr);
	}
}

static void release(struct builder *b)
{
	pe_context *ctx = b->scan.ctx;
	pe_free(ctx, b->ptr);
	pe_free(ctx, b->edge_ptr);
	pe_free(ctx, b->u);
	pe_free(ctx, b->v);
}

static pe_status read_graph6(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct builder b = {.scan = pe_scan_start(ctx, source), .bytes = source->size};
	if (policy->weight_name)
		return pe_scan_fail(&b.scan, "%s has no weights, so none named %s", "graph6", policy->weight_name);
	pe_status status = pe_grow(ctx, &b.ptr, &b.graph_capacity, 0, 1, sizeof *b.ptr);
	if (status == PE_OK)
		status = pe_grow(ctx, &b.edge_ptr, &b.graph_capacity2, 0, 1, sizeof *b.edge_ptr);
	if (status == PE_OK)
		status = reserve(&b, 1);
	if (status == PE_OK) {
		b.ptr[0] = b.edge_ptr[0] = 0;
		status = parse_lines(&b);
	}
	if (status != PE_OK) {
		release(&b);
		return status;
	}
	hand_over(&b, out);
	return PE_OK;
}

/* ---- recognition -------------------------------------------------------------------- */

static bool looks_like_graph(const char *text, size_t size)
{
	for (int kind = 0; kind < HEADER_KINDS; kind++)
		if (begins(text, size, headers[kind]))
			return true;
	enum kind kind = kind_of(text, size);
	size_t skip = kind != GRAPH6;
	int64_t n = 0;
	if (size < skip + 1 || first_bad_byte(text + skip, size - skip) < size - skip)
		return false;
	if (kind == INCREMENTAL)
		return true;
	size_t taken = read_order(text + skip, size - skip, &n);
	if (taken == 0 || n > INT32_MAX)
		return false;
	return kind == SPARSE6 || (int64_t)(size - skip - taken) == (matrix_bits(kind, n) + 5) / 6;
}

/* Certain if the first line is a graph to the byte: no other format begins with such a line. */
static bool recognise(const struct pe_source *source)
{
	struct pe_scan scan = pe_scan_start(NULL, source);
	const char *text;
	size_t size;
	pe_scan_line(&scan, &text, &size);
	return looks_like_graph(text, size);
}

const struct pe_reader pe_reader_graph6 = {
	.format = "graph6",
	.suffixes = ".g6 .s6 .d6",
	.recognise = recognise,
	.read = read_graph6,
};
