/* SPDX-License-Identifier: BSD-2-Clause
 * edge_index in a file: alone in a .npy, or in a .npz or .safetensors with edge_weight, num_nodes, ptr or
 * batch. */
#include <inttypes.h>
#include <string.h>

#include "edge_index.h"
#include "scan.h"
#include "sniff.h"
#include "tensor.h"

struct file {
	pe_context *ctx;
	const char *name;
	pe_bundle *bundle;
	pe_tensor edge_index, edge_weight, ptr, batch;
	struct pe_graph_arrays arrays;
};

/* (E, 2) is turned into (2, E). (2, 2) could be either, and is taken as it stands. */
static pe_status orient(struct file *f)
{
	pe_tensor *e = &f->edge_index;
	if (e->ndim != 2)
		return pe_fail(f->ctx, PE_ERR_FORMAT,
			"%s: edge_index has %d dimensions; its shape must be (2, edges) or (edges, 2)", f->name,
			(int)e->ndim);
	if (e->shape[0] == 2 && e->shape[1] == 2)
		pe_log(f->ctx, PE_LOG_WARNING,
			"%s: edge_index of shape (2, 2) is read as (2, edges): row 0 sources, row 1 targets", f->name);
	if (e->shape[0] == 2)
		return PE_OK;
	if (e->shape[1] != 2)
		return pe_fail(f->ctx, PE_ERR_FORMAT,
			"%s: edge_index has the shape (%" PRId64 ", %" PRId64 "); it must be (2, edges) or (edges, 2)",
			f->name, e->shape[0], e->shape[1]);
	*e = (pe_tensor){.data = e->data,
		.dtype = e->dtype,
		.ndim = 2,
		.shape = {2, e->shape[0]},
		.strides = {e->strides[1], e->strides[0]}};
	return PE_OK;
}

/* (E, 1), as PyTorch Geometric's edge_attr, is a vector too. */
static const pe_tensor *find_vector(const struct file *f, const char *name, pe_tensor *out)
{
	if (!pe_bundle_find(f->bundle, name, out))
		return NULL;
	if (out->ndim == 2 && out->shape[1] == 1)
		out->ndim = 1;
	return out;
}

static pe_status find_weight(struct file *f, const struct pe_graph_policy *policy)
{
	const char *name = policy->weight_name ? policy->weight_name : "edge_weight";
	if (!policy->weight_name && policy->weight_column == 0)
		return PE_OK;
	if (!policy->weight_name && policy->weight_column > 0)
		return pe_fail(f->ctx, PE_ERR_FORMAT,
			"%s: weights are named here: give an array's name instead of column %d", f->name,
			(int)policy->weight_column);
	f->arrays.edge_weight = find_vector(f, name, &f->edge_weight);
	if (policy->weight_name && !f->arrays.edge_weight)
		return pe_fail(f->ctx, PE_ERR_FORMAT, "%s: there is no array %s", f->name, name);
	return PE_OK;
}

static pe_status find_num_nodes(struct file *f)
{
	pe_tensor number;
	f->arrays.num_nodes = -1;
	if (!pe_bundle_find(f->bundle, "num_nodes", &number))
		return PE_OK;
	if (pe_tensor_count(&number) != 1 || !pe_dtype_is_integer(number.dtype))
		return pe_fail(
			f->ctx, PE_ERR_FORMAT, "%s: num_nodes must be one integer; ptr cuts many graphs", f->name);
	pe_load_i64(&f->arrays.num_nodes, number.data, number.dtype, 1, 1);
	if (f->arrays.num_nodes < 0)
		return pe_fail(f->ctx, PE_ERR_FORMAT, "%s: num_nodes is %" PRId64, f->name, f->arrays.num_nodes);
	return PE_OK;
}

/* A .npy is the edge_index, whatever it is called. */
static pe_status find_arrays(struct file *f, const struct pe_graph_policy *policy, bool npy)
{
	const char *only;
	if (npy)
		PE_TRY(pe_bundle_at(f->bundle, 0, &only, &f->edge_index));
	else if (!pe_bundle_find(f->bundle, "edge_index", &f->edge_index))
		return pe_fail(f->ctx, PE_ERR_FORMAT, "%s: there is no array edge_index", f->name);
	PE_TRY(orient(f));
	f->arrays.edge_index = &f->edge_index;
	f->arrays.num_nodes = -1;
	if (npy && policy->weight_name)
		return pe_fail(
			f->ctx, PE_ERR_FORMAT, "%s: a .npy holds edge_index alone, no %s", f->name, policy->weight_name);
	if (npy)
		return PE_OK;
	PE_TRY(find_weight(f, policy));
	f->arrays.ptr = find_vector(f, "ptr", &f->ptr);
	f->arrays.batch = find_vector(f, "batch", &f->batch);
	return find_num_nodes(f);
}

static bool is_npy(const struct pe_source *source)
{
	return source->size >= 6 && memcmp(source->data, "\x93NUMPY", 6) == 0;
}

static pe_status read_edge_index(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct file f = {.ctx = ctx, .name = pe_source_name(source)};
	struct pe_raw_graphs raw;
	pe_status status =
		pe_bundle_from_bytes(ctx, source->data, source->size, pe_source_name(source), NULL, &f.bundle);
	if (status == PE_OK)
		status = find_arrays(&f, policy, is_npy(source));
	if (status == PE_OK)
		status = pe_raw_from_arrays(ctx, pe_source_name(source), &f.arrays, &raw);
	pe_bundle_destroy(&f.bundle);
	if (status != PE_OK)
		return status == PE_ERR_SHAPE ? PE_ERR_FORMAT : status;
	if (pe_nodes_excessive(raw.nodes, source->size)) {
		status =
			pe_fail(ctx, PE_ERR_FORMAT, "%s: %" PRId64 " nodes in a file of %zu bytes: refused as damaged",
				pe_source_name(source), raw.nodes, source->size);
		pe_raw_graphs_free(ctx, &raw);
		return status;
	}
	raw.format = "edge-index";
	if (raw.graphs == 1) /* of many graphs, ptr or batch has the nodes by name */
		PE_TRY(pe_raw_count_phantom(ctx, &raw));
	*out = raw;
	return PE_OK;
}

/* The length of a JSON header, then the header. */
static bool is_safetensors(const struct pe_source *source)
{
	uint64_t length = 0;
	if (source->size < 10 || source->data[8] != '{')
		return false;
	for (int i = 7; i >= 0; i--)
		length = length << 8 | (unsigned char)source->data[i];
	return length <= source->size - 8;
}

static bool recognise(const struct pe_source *source)
{
	if (is_safetensors(source)) {
		size_t window = source->size < PE_SNIFF_WINDOW ? source->size : PE_SNIFF_WINDOW;
		return pe_sniff_has(source->data, window, "\"edge_index\"");
	}
	return is_npy(source) || pe_sniff_zip_member(source, "edge_index.npy");
}

/* Worth a try for its message, which says what is missing. */
static bool plausible(const struct pe_source *source)
{
	return is_safetensors(source) || (source->size >= 4 && memcmp(source->data, "PK\3\4", 4) == 0);
}

const struct pe_reader pe_reader_edge_index = {
	.format = "edge-index",
	.suffixes = ".npy .npz .safetensors",
	.recognise = recognise,
	.plausible = plausible,
	.read = read_edge_index,
};
