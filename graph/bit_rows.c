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

/* Sets the bits of one graph; returns how many rows were loops. */
static int64_t set_bits(
	const struct pe_edge_block *b, int64_t first, int64_t end, uint64_t *out, uint64_t *in)
{
	int64_t loops = 0;
	for (int64_t e = first; e < end; e++) {
		int32_t i = b->u[e], j = b->v[e];
		out[i] |= (uint64_t)1 << j;
		in[j] |= (uint64_t)1 << i;
		loops += i == j;
	}
	return loops;
}

/* Counts the loops of one graph, each once, and takes them out if so told. */
static int64_t look_at_loops(int64_t nodes, bool drop, uint64_t *out, uint64_t *in)
{
	int64_t diagonal = 0;
	for (int64_t i = 0; i < nodes; i++) {
		uint64_t self = (uint64_t)1 << i, kept = drop ? ~self : ~(uint64_t)0;
		diagonal += (out[i] & self) != 0;
		out[i] &= kept;
		in[i] &= kept;
	}
	return diagonal;
}

static int64_t count_one_way(const uint64_t *out, const uint64_t *in, int64_t nodes)
{
	uint64_t differ = 0;
	int64_t count = 0;
	for (int64_t i = 0; i < nodes; i++)
		differ |= out[i] ^ in[i];
	for (int64_t i = 0; differ && i < nodes; i++) {
		uint64_t one_way = out[i] & ~in[i];
		count += ones(&one_way, 1);
	}
	return count;
}

static void count(const struct pe_edge_block *b, const struct pe_bit_rows *rows, int64_t nodes,
	struct pe_row_counts *counts, struct pe_asymmetry *asymmetry)
{
	int64_t listed = pe_raw_edge(b->raw, b->end) - pe_raw_edge(b->raw, b->first);
	int64_t dropped = b->drop_loops ? counts->diagonal : 0;
	counts->diagonal -= dropped;
	counts->edges = ones(rows->out, nodes) - counts->diagonal;
	counts->edges /= b->pairs ? 2 : 1;
	counts->duplicates = listed - counts->edges - counts->diagonal - dropped;
	asymmetry->one_way = b->pairs ? 0 : count_one_way(rows->out, rows->in, nodes);
}

pe_status pe_bit_rows_sort(pe_context *ctx, const struct pe_edge_block *b, struct pe_bit_rows *rows,
	struct pe_row_counts *counts, struct pe_asymmetry *asymmetry)
{
	int64_t origin = pe_raw_node(b->raw, b->first), nodes = pe_raw_node(b->raw, b->end) - origin;
	int64_t edge0 = pe_raw_edge(b->raw, b->first);
	*counts = (struct pe_row_counts){0};
	*asymmetry = (struct pe_asymmetry){0};
	rows->in = b->pairs ? NULL : pe_alloc_zero(ctx, nodes, sizeof *rows->in);
	if (!rows->in && !b->pairs)
		return PE_ERR_NOMEM;
	memset(rows->out, 0, (size_t)nodes * sizeof *rows->out);
	for (int64_t g = b->first; g < b->end; g++) {
		int64_t node = pe_raw_node(b->raw, g) - origin, size = pe_raw_node(b->raw, g + 1) - origin - node;
		int64_t first = pe_raw_edge(b->raw, g) - edge0, end = pe_raw_edge(b->raw, g + 1) - edge0;
		uint64_t *out = rows->out + node, *in = b->pairs ? out : rows->in + node;
		int64_t loops = set_bits(b, first, end, out, in);
		counts->loops += loops;
		if (loops > 0)
			counts->diagonal += look_at_loops(size, b->drop_loops, out, in);
	}
	count(b, rows, nodes, counts, asymmetry);
	if (asymmetry->one_way == 0)
		pe_bit_rows_free(ctx, rows);
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

/* The columns of one row that has at most four, without a branch on how many; room for four is there. */
static inline int64_t write_few(uint64_t bits, int32_t *col)
{
	int64_t count = 0;
	for (int k = 0; k < 4; k++) {
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

static bool has_more_than_four(uint64_t bits)
{
	for (int k = 0; k < 4; k++)
		bits &= bits - 1;
	return bits != 0;
}

void pe_bit_rows_write(struct pe_bit_rows *rows, int64_t nodes, int64_t entry, int64_t end, int32_t *col)
{
	for (int64_t i = 0; i < nodes; i++) {
		uint64_t bits = rows->out[i];
		rows->out[i] = (uint64_t)entry;
		bool few = end - entry >= 4 && !has_more_than_four(bits);
		entry += few ? write_few(bits, col + entry) : write_row(bits, col + entry);
	}
}
