/* SPDX-License-Identifier: BSD-2-Clause */
#include "bit_rows.h"

#include <string.h>

void pe_bit_rows_free(pe_context *ctx, struct pe_bit_rows *rows)
{
	pe_free(ctx, rows->in);
	rows->in = NULL;
}

/* In every byte, how many of its bits are set. The builtin is a call where the processor is not known to
 * count. */
static inline uint64_t ones_of_bytes(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555u;
	x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
	return (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
}

/* How many bits are set. */
static int64_t ones(const uint64_t *x, int64_t count)
{
	int64_t sum = 0, i = 0;
	for (; i + 16 <= count; i += 16) {
		uint64_t bytes = 0; /* at most 128 each */
		for (int k = 0; k < 16; k++)
			bytes += ones_of_bytes(x[i + k]);
		bytes = (bytes & 0x00FF00FF00FF00FFu) + (bytes >> 8 & 0x00FF00FF00FF00FFu);
		sum += (int64_t)(bytes * 0x0001000100010001u >> 48);
	}
	for (; i < count; i++)
		sum += (int64_t)(ones_of_bytes(x[i]) * 0x0101010101010101u >> 56);
	return sum;
}

/* Where graph g of the block begins. */
struct place {
	int64_t node, edge;
};

static struct place place_of(const struct pe_edge_block *b, int64_t g)
{
	return (struct place){pe_raw_node(b->raw, g) - pe_raw_node(b->raw, b->first),
		pe_raw_edge(b->raw, g) - pe_raw_edge(b->raw, b->first)};
}

/* Sets bit to[e] of from[e], of every edge. */
static void set_bits(const struct pe_edge_block *b, const int32_t *from, const int32_t *to, uint64_t *bits)
{
	struct place at = place_of(b, b->first);
	for (int64_t g = b->first; g < b->end; g++) {
		struct place end = place_of(b, g + 1);
		uint64_t *rows = bits + at.node;
		for (int64_t e = at.edge; e < end.edge; e++)
			rows[from[e]] |= (uint64_t)1 << to[e];
		at = end;
	}
}

/* Is every edge there in both directions? */
static bool is_symmetric(const struct pe_edge_block *b, const uint64_t *out)
{
	struct place at = place_of(b, b->first);
	uint64_t all = 1;
	for (int64_t g = b->first; g < b->end && all & 1; g++) {
		struct place end = place_of(b, g + 1);
		for (int64_t e = at.edge; e < end.edge; e++)
			all &= out[at.node + b->v[e]] >> b->u[e];
		at = end;
	}
	return all & 1;
}

static int64_t count_loops(const struct pe_edge_block *b)
{
	int64_t edges = place_of(b, b->end).edge, loops = 0;
	for (int64_t e = 0; e < edges; e++)
		loops += b->u[e] == b->v[e];
	return loops;
}

/* Counts the loops of all graphs, each once, and takes them out if so told. */
static int64_t look_at_loops(const struct pe_edge_block *b, uint64_t *out)
{
	int64_t diagonal = 0;
	for (int64_t g = b->first; g < b->end; g++) {
		struct place at = place_of(b, g), end = place_of(b, g + 1);
		for (int64_t i = at.node; i < end.node; i++) {
			uint64_t self = (uint64_t)1 << (i - at.node);
			diagonal += (out[i] & self) != 0;
			out[i] &= b->drop_loops ? ~self : ~(uint64_t)0;
		}
	}
	return diagonal;
}

/* How many entries of `out` have none of `in` opposite; loops are none. */
static int64_t count_one_way(const uint64_t *out, const uint64_t *in, int64_t nodes)
{
	int64_t count = 0;
	for (int64_t i = 0; i < nodes; i++) {
		uint64_t one_way = out[i] & ~in[i];
		count += ones(&one_way, 1);
	}
	return count;
}

pe_status pe_bit_rows_sort(pe_context *ctx, const struct pe_edge_block *b, struct pe_bit_rows *rows,
	struct pe_row_counts *counts, struct pe_asymmetry *asymmetry)
{
	struct place end = place_of(b, b->end);
	*counts = (struct pe_row_counts){0};
	*asymmetry = (struct pe_asymmetry){0};
	memset(rows->out, 0, (size_t)end.node * sizeof *rows->out);
	set_bits(b, b->u, b->v, rows->out);
	if (b->pairs) {
		set_bits(b, b->v, b->u, rows->out);
	} else if (!is_symmetric(b, rows->out)) {
		rows->in = pe_alloc_zero(ctx, end.node, sizeof *rows->in);
		if (!rows->in)
			return PE_ERR_NOMEM;
		set_bits(b, b->v, b->u, rows->in);
		asymmetry->one_way = count_one_way(rows->out, rows->in, end.node);
	}
	counts->loops = count_loops(b);
	int64_t loops = counts->loops > 0 ? look_at_loops(b, rows->out) : 0;
	if (loops > 0 && rows->in)
		(void)look_at_loops(b, rows->in);
	int64_t dropped = b->drop_loops ? loops : 0;
	counts->diagonal = loops - dropped;
	counts->edges = (ones(rows->out, end.node) - counts->diagonal) / (b->pairs ? 2 : 1);
	counts->duplicates = end.edge - counts->edges - loops;
	return PE_OK;
}

/* Every node but the first has a neighbour before it. */
static bool is_plainly_connected(const uint64_t *out, const uint64_t *in, int64_t nodes)
{
	bool connected = nodes > 1;
	for (int64_t i = 1; i < nodes; i++)
		connected &= ((out[i] | in[i]) & (((uint64_t)1 << i) - 1)) != 0;
	return connected;
}

/* The nodes that are connected to node i. */
static uint64_t component_of(const uint64_t *out, const uint64_t *in, int i)
{
	uint64_t all = (uint64_t)1 << i, ahead = all;
	while (ahead) {
		i = __builtin_ctzll(ahead);
		uint64_t found = (out[i] | in[i]) & ~all;
		all |= found;
		ahead = (ahead & (ahead - 1)) | found;
	}
	return all;
}

static void count_components(
	const uint64_t *out, const uint64_t *in, int64_t nodes, struct pe_bit_counts *counts)
{
	uint64_t left = nodes == 64 ? ~(uint64_t)0 : ((uint64_t)1 << nodes) - 1;
	while (left) {
		uint64_t component = component_of(out, in, __builtin_ctzll(left));
		left &= ~component;
		counts->components++;
		counts->isolated += (component & (component - 1)) == 0;
	}
}

struct pe_bit_counts pe_bit_rows_finish(
	struct pe_bit_rows *rows, const int64_t *ptr, int64_t graphs, bool undirected)
{
	struct pe_bit_counts counts = {0};
	for (int64_t g = 0; g < graphs; g++) {
		int64_t first = ptr[g] - ptr[0], nodes = ptr[g + 1] - ptr[g];
		uint64_t *out = rows->out + first;
		const uint64_t *in = rows->in ? rows->in + first : out;
		for (int64_t i = 0; undirected && in != out && i < nodes; i++)
			out[i] |= in[i];
		if (is_plainly_connected(out, in, nodes))
			counts.components++;
		else
			count_components(out, in, nodes, &counts);
	}
	return counts;
}

#define FEW 3 /* columns, as most rows of a molecule have at most */

/* The columns of one row that has at most so many, without a branch on how many; room for them all is there.
 */
static inline int64_t write_few(uint64_t bits, int32_t *col)
{
	int64_t count = 0;
	for (int k = 0; k < FEW; k++) {
		col[k] = __builtin_ctzll(bits | (uint64_t)1 << 63);
		count += bits != 0;
		bits &= bits - 1;
	}
	return count;
}

static int64_t write_row(uint64_t bits, int32_t *col)
{
	int64_t count = 0;
	for (; bits; bits &= bits - 1)
		col[count++] = __builtin_ctzll(bits);
	return count;
}

static bool has_more_than_few(uint64_t bits)
{
	for (int k = 0; k < FEW; k++)
		bits &= bits - 1;
	return bits != 0;
}

void pe_bit_rows_write(struct pe_bit_rows *rows, int64_t nodes, int64_t entry, int64_t end, int32_t *col)
{
	for (int64_t i = 0; i < nodes; i++) {
		uint64_t bits = rows->out[i];
		rows->out[i] = (uint64_t)entry;
		bool few = end - entry >= FEW && !has_more_than_few(bits);
		entry += few ? write_few(bits, col + entry) : write_row(bits, col + entry);
	}
}
