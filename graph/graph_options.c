/* SPDX-License-Identifier: BSD-2-Clause
 * The options of reading graphs: table "graph". */
#include <string.h>

#include "graph.h"
#include "number.h"
#include "options.h"

static const pe_option_info options[] = {
	PE_CHOICE("edges", "auto", "auto|undirected|directed",
		"auto: as the format or the file says, otherwise undirected"),
	PE_CHOICE("symmetrise", "max", "max|sum|mean",
		"weight of an undirected edge i-j listed as i>j, j>i or both: the larger of those listed, A + A^T, "
		"or "
		"(A + A^T)/2; loops keep theirs"),
	PE_WORDS("edge_weights", "auto", "auto|none",
		"auto: the format's weight field, or the third column of an edge list; none; a field's name, or a "
		"column from 1. Edge features of OGB and TU datasets are never taken by auto, only by their column"),
	PE_CHOICE("loops", "auto", "auto|keep|drop", "self loops; auto: kept, and the encoder decides"),
	PE_CHOICE("duplicates", "auto", "auto|first|sum|max",
		"rows that list an edge again in the same direction; auto: sum of weights, first where there are "
		"none"),
	PE_CHOICE("component", "all", "all|largest",
		"largest: keep only the largest connected component of each graph, the first of several"),
	PE_CHOICE("unreadable", "auto", "auto|fail|empty",
		"a file of a folder that cannot be read; fail: nor can the folder; empty: it counts as a graph of 0 "
		"nodes that failed; auto: empty in the program without --fail-fast, else fail"),
	PE_WORDS("from", "",
		"edgelist|matrix-market|metis|graph6|graphml|gml|pajek|dimacs|node-link|scipy-npz|edge-index|ogb|tu",
		"name of the input's format, or a suffix of it, such as mtx; empty: recognise it"),
};

extern const struct pe_option_table pe_input_graph;
const struct pe_option_table pe_input_graph = PE_TABLE_NO_PRESETS("graph", options);

static pe_status weights_from(pe_context *ctx, const char *text, struct pe_graph_policy *policy)
{
	int64_t column;
	policy->weight_column = -1;
	if (strcmp(text, "auto") == 0)
		return PE_OK;
	if (strcmp(text, "none") == 0) {
		policy->weight_column = 0;
	} else if (!pe_parse_i64(text, strlen(text), &column)) {
		if (!*text)
			return pe_fail(
				ctx, PE_ERR_RANGE, "edge_weights is empty: give auto, none, a field's name or a column");
		policy->weight_name = text;
	} else {
		if (column < 1 || column > INT32_MAX)
			return pe_fail(
				ctx, PE_ERR_RANGE, "edge_weights=%s is not a column: they are numbered from 1", text);
		policy->weight_column = (int32_t)column;
	}
	return PE_OK;
}

pe_status pe_graph_policy_from(pe_context *ctx, const pe_params *params, struct pe_graph_policy *out)
{
	*out = (struct pe_graph_policy){.weight_column = -1};
	if (!params)
		return PE_OK;
	if (pe_params_table(params) != &pe_input_graph)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "these are options of %s, not of reading a graph",
			pe_params_table(params)->name);
	/* The words stand in the order of the enumerations. */
	out->edges = (enum pe_direction)pe_params_choice(params, "edges");
	out->symmetrise = (enum pe_symmetrise)pe_params_choice(params, "symmetrise");
	out->loops = (enum pe_loops)pe_params_choice(params, "loops");
	out->duplicates = (enum pe_duplicates)pe_params_choice(params, "duplicates");
	out->largest_component = pe_params_choice(params, "component") == 1;
	out->unreadable_is_empty = pe_params_choice(params, "unreadable") == 2;
	const char *format = pe_params_text(params, "from");
	out->format = *format ? format : NULL;
	return weights_from(ctx, pe_params_text(params, "edge_weights"), out);
}
