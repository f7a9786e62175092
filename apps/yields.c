/* SPDX-License-Identifier: BSD-2-Clause */
#include "yields.h"

#include <stdio.h>
#include <string.h>

/* ---- two inputs of each kind --------------------------------------------------------- */

/* What a side may be, and its number in the first and the second input. No number stands twice in a kind. */
struct size {
	const char *words;
	int64_t at[2];
};

static const struct size of_sequences[] = {{"tokens", {11, 23}}, {"2 tokens - 1", {21, 45}}, {.words = NULL}};
static const struct size of_grids[] = {{"tokens", {55, 221}}, {"rows", {5, 13}}, {"columns", {11, 17}},
	{"2 rows - 1", {9, 25}}, {"2 columns - 1", {21, 33}}, {.words = NULL}};
static const struct size of_graphs[] = {{"nodes", {22, 69}}, {"graphs", {2, 3}}, {.words = NULL}};

static const struct size *sizes_of(pe_family family)
{
	return family == PE_SEQ ? of_sequences : family == PE_VISION ? of_grids : of_graphs;
}

/* Paths: 2 of 11 nodes, or 3 of 23. */
static pe_status make_graphs(pe_context *ctx, int which, pe_graph **out)
{
	int64_t graphs = of_graphs[1].at[which], nodes = of_graphs[0].at[which], count = 0;
	int64_t ends[2][70], offsets[4];
	for (int64_t g = 0; g <= graphs; g++)
		offsets[g] = g * nodes / graphs;
	for (int64_t i = 0; i + 1 < nodes; i++)
		if ((i + 1) % (nodes / graphs) != 0) {
			ends[0][count] = i;
			ends[1][count++] = i + 1;
		}
	pe_tensor edges = pe_tensor_dense(ends, PE_I64, 2, (int64_t[]){2, count});
	pe_tensor ptr = pe_tensor_dense(offsets, PE_I64, 1, &(int64_t){graphs + 1});
	edges.strides[0] = 70;
	return pe_graph_from_arrays(ctx, &edges, NULL, &ptr, nodes, NULL, out);
}

static pe_status make_domain(pe_context *ctx, pe_family family, int which, pe_graph **graph, pe_domain **out)
{
	if (family == PE_SEQ)
		return pe_domain_sequence(ctx, of_sequences[0].at[which], 0, out);
	if (family == PE_VISION)
		return pe_domain_grid(ctx, 1, of_grids[1].at[which], of_grids[2].at[which], 0, out);
	TRY(make_graphs(ctx, which, graph));
	return pe_domain_graph(ctx, *graph, out);
}

/* ---- binding ------------------------------------------------------------------------ */

/* Fills the numbers of the sides. */
static pe_status take_arrays(const pe_encoding *encoding, struct yields *out)
{
	out->count = pe_encoding_array_count(encoding);
	for (int64_t i = 0; i < out->count; i++) {
		struct yields_array *to = &out->arrays[i];
		pe_array_info info;
		TRY(pe_encoding_array(encoding, i, &info));
		*to = (struct yields_array){.dtype = info.dtype, .ndim = info.ndim};
		snprintf(to->name, sizeof to->name, "%s", info.name);
		for (int32_t d = 0; d < info.ndim; d++)
			to->sides[d].number = info.shape[d];
	}
	return PE_OK;
}

static pe_status bind_to(const pe_encoder *encoder, const char *preset, int which, struct yields *out)
{
	pe_context *ctx = NULL; /* of its own, which says nothing */
	pe_params *params = NULL;
	pe_graph *graph = NULL;
	pe_domain *domain = NULL;
	pe_encoding *encoding = NULL;
	pe_status status = pe_context_create(NULL, &ctx);
	if (status == PE_OK)
		status = pe_params_create(ctx, pe_encoder_name(encoder), &params);
	if (status == PE_OK && preset)
		status = pe_params_set(params, "preset", preset);
	if (status == PE_OK)
		status = make_domain(ctx, pe_encoder_family(encoder), which, &graph, &domain);
	if (status == PE_OK)
		status = pe_encoding_create(ctx, encoder, params, domain, NULL, &encoding);
	if (status == PE_OK)
		status = take_arrays(encoding, out);
	pe_encoding_destroy(&encoding);
	pe_domain_destroy(&domain);
	pe_graph_destroy(&graph);
	pe_params_destroy(&params);
	pe_context_destroy(&ctx);
	return status;
}

static void name_sides(const struct size *sizes, const struct yields_array *other, struct yields_array *array)
{
	for (int32_t d = 0; d < array->ndim; d++)
		for (const struct size *s = sizes; s->words; s++)
			if (array->sides[d].number == s->at[0] && other->sides[d].number == s->at[1])
				array->sides[d].words = s->words;
}

pe_status yields_find(const pe_encoder *encoder, const char *preset, struct yields *out)
{
	struct yields other;
	TRY(bind_to(encoder, preset, 0, out));
	TRY(bind_to(encoder, preset, 1, &other));
	for (int64_t i = 0; i < out->count && i < other.count; i++)
		name_sides(sizes_of(pe_encoder_family(encoder)), &other.arrays[i], &out->arrays[i]);
	return PE_OK;
}

/* ---- words -------------------------------------------------------------------------- */

void yields_shape(const struct yields_array *array, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "(");
	for (int32_t d = 0; d < array->ndim && used < size; d++) {
		const struct yields_side *side = &array->sides[d];
		used += (size_t)(side->words
				? snprintf(out + used, size - used, "%s%s", d ? ", " : "", side->words)
				: snprintf(out + used, size - used, "%s%lld", d ? ", " : "", (long long)side->number));
	}
	if (used < size)
		snprintf(out + used, size - used, ")");
}

bool yields_same_names(const struct yields *a, const struct yields *b)
{
	bool same = a->count == b->count;
	for (int64_t i = 0; same && i < a->count; i++)
		same = strcmp(a->arrays[i].name, b->arrays[i].name) == 0;
	return same;
}
