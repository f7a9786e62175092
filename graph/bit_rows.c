/* SPDX-License-Identifier: BSD-2-Clause */
#include "bit_rows.h"

void pe_bit_rows_free(pe_context *ctx, struct pe_bit_rows *rows)
{
	pe_free(ctx, rows->out);
	pe_free(ctx, rows->in);
	*rows = (struct pe_bit_rows){0};
}

/* How many bits are set; the builtin is a call where the processor is not known to count. */
static int64_t ones(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555u;
	x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
	x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
	return (int64_t)(x * 0x0101010101010101u >> 56);
}

/* Sets the bits of one graph; returns how many rows were loops. */
static int64_t set_bits(
	const struct pe_edge_block *b, int64_t first, int64_t end, uint64_t *out, uint64_t *in)
{
	const int32_t *u = b->raw->u, *v = b->raw->v;
	int64_t loops = 0;
	for (int64_t e = first; e < end; e++) {
		bool swap = b->pairs && u[e] > v[e];
		int32_t i = swap ? v[e] : u[e], j = swap ? u[e] : v[e];
		out[i] |= (uint64_t)1 << j;
		in[j] |= (uint64_t)1 << i;
		loops += i == j;
	}
	return loops;
}

static void look_at_bits(const struct pe_edge_block *b, int64_t nodes, uint64_t *out, uint64_t *in,
	struct pe_row_counts *counts, struct pe_asymmetry *asymmetry)
{
	for (int64_t i = 0; i < nodes; i++) {
		uint64_t self = (uint64_t)1 << i;
		int64_t distinct = ones(out[i]), loop = (out[i] & self) != 0;
		counts->duplicates -= distinct;
		counts->edges += distinct - loop;
		if (!b->pairs && (out[i] & ~in[i]))
			asymmetry->one_way += ones(out[i] & ~in[i]);
		if (!b->drop_loops) {
			counts->diagonal += loop;
			continue;
		}
		out[i] &= ~self;
		in[i] &= ~self;
	}
}

pe_status pe_bit_rows_sort(pe_context *ctx, const struct pe_edge_block *b, struct pe_bit_rows *out,
	struct pe_row_counts *counts, struct pe_asymmetry *asymmetry)
{
	int64_t origin = pe_raw_node(b->raw, b->first), nodes = pe_raw_node(b->raw, b->end) - origin;
	*counts = (struct pe_row_counts){0};
	*asymmetry = (struct pe_asymmetry){0};
	out->out = pe_alloc_zero(ctx, nodes, sizeof *out->out);
	out->in = pe_alloc_zero(ctx, nodes, sizeof *out->in);
	if (!out->out || !out->in) {
		pe_bit_rows_free(ctx, out);
		return PE_ERR_NOMEM;
	}
	for (int64_t g = b->first; g < b->end; g++) {
		int64_t node = pe_raw_node(b->raw, g) - origin, size = pe_raw_node(b->raw, g + 1) - origin - node;
		int64_t first = pe_raw_edge(b->raw, g), end = pe_raw_edge(b->raw, g + 1);
		counts->loops += set_bits(b, first, end, out->out + node, out->in + node);
		counts->duplicates += end - first; /* less the distinct ones */
		look_at_bits(b, size, out->out + node, out->in + node, counts, asymmetry);
	}
	if (!b->pairs && asymmetry->one_way == 0) {
		pe_free(ctx, out->in);
		out->in = NULL;
	}
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
		for (int64_t i = 0; i < nodes; i++) {
			out[i] |= undirected ? in[i] : 0;
			counts.entries += ones(out[i]);
		}
		if (is_plainly_connected(out, in, nodes))
			counts.components++;
		else
			count_components(out, in, nodes, &counts);
	}
	return counts;
}

void pe_bit_rows_write(
	const struct pe_bit_rows *rows, int64_t nodes, int64_t entry, int64_t *row, int32_t *col)
{
	for (int64_t i = 0; i < nodes; i++) {
		row[i] = entry;
		for (uint64_t bits = rows->out[i]; bits; bits &= bits - 1)
			col[entry++] = __builtin_ctzll(bits);
	}
}
