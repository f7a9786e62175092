/* SPDX-License-Identifier: BSD-2-Clause
 * Graphs from the caller's arrays. */
#include "edge_index.h"
#include "tensor.h"

pe_status pe_graph_from_arrays(pe_context *context, const pe_tensor *edge_index, const pe_tensor *edge_weight,
	const pe_tensor *ptr, int64_t num_nodes, const pe_params *params, pe_graph **out)
{
	if (!out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!context || !edge_index)
		return PE_ERR_ARGUMENT;
	PE_TRY(pe_tensor_check_input(context, edge_index, "edge_index"));
	if (edge_weight)
		PE_TRY(pe_tensor_check_input(context, edge_weight, "edge_weight"));
	if (ptr)
		PE_TRY(pe_tensor_check_input(context, ptr, "ptr"));
	struct pe_graph_policy policy;
	PE_TRY(pe_graph_policy_from(context, params, &policy));
	const struct pe_graph_arrays arrays = {
		.edge_index = edge_index, .edge_weight = edge_weight, .ptr = ptr, .num_nodes = num_nodes};
	struct pe_raw_graphs raw = {0};
	PE_TRY(pe_raw_from_arrays(context, NULL, &arrays, &raw));
	return pe_graph_build(context, &raw, &policy, out);
}
