/* SPDX-License-Identifier: BSD-2-Clause
 * Sparse matrices as scipy.sparse.save_npz writes them: csr, csc and coo. Entry (i, j) is the edge i→j of
 * weight `data`; a matrix whose pattern is symmetric is an undirected graph.
 * The same arrays in .safetensors are read as well, where this format is asked for. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "listing.h"
#include "sniff.h"
#include "tensor.h"

struct job {
	pe_context *ctx;
	const struct pe_source *source;
	const struct pe_graph_policy *policy;
	pe_bundle *bundle;
	struct pe_raw_graphs raw;
};

PE_PRINTF(2, 3)
static pe_status fail(const struct job *job, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return pe_fail(job->ctx, PE_ERR_FORMAT, "%s: %s", pe_source_name(job->source), text);
}

static pe_status find(const struct job *job, const char *name, pe_tensor *out)
{
	if (!pe_bundle_find(job->bundle, name, out))
		return fail(job, "there is no array \"%s\"", name);
	if (out->ndim != 1)
		return fail(job, "array \"%s\" has %d dimensions; it must have one", name, (int)out->ndim);
	return PE_OK;
}

/* An array of integers: at least `least` of them. */
static pe_status find_indices(const struct job *job, const char *name, int64_t least, pe_tensor *out)
{
	PE_TRY(find(job, name, out));
	if (!pe_dtype_is_integer(out->dtype) || out->dtype == PE_BOOL)
		return fail(
			job, "array \"%s\" is of type %s; it must be of integers", name, pe_dtype_name(out->dtype));
	if (out->shape[0] < least)
		return fail(
			job, "array \"%s\" has %" PRId64 " values; it needs %" PRId64, name, out->shape[0], least);
	return PE_OK;
}

/* ---- header ------------------------------------------------------------------------- */

static pe_status read_shape(struct job *job)
{
	pe_tensor shape;
	int64_t sides[2];
	PE_TRY(find_indices(job, "shape", 2, &shape));
	if (shape.shape[0] != 2)
		return fail(job, "a matrix of %" PRId64 " dimensions; it must have two", shape.shape[0]);
	pe_load_i64(sides, shape.data, shape.dtype, shape.strides[0], 2);
	if (sides[0] != sides[1])
		return fail(job, "a matrix of shape (%" PRId64 ", %" PRId64 "); an adjacency matrix is square",
			sides[0], sides[1]);
	if (sides[0] < 0 || sides[0] > INT32_MAX)
		return fail(job, "%" PRId64 " rows; a graph has from 0 to 2^31 - 1 nodes", sides[0]);
	job->raw.nodes = sides[0];
	return PE_OK;
}

/* The bytes of the scalar string `format`. */
static pe_status read_format(const struct job *job, char out[4])
{
	pe_tensor format;
	PE_TRY(find(job, "format", &format));
	if (format.dtype != PE_U8 || format.shape[0] != 3)
		return fail(job, "array \"format\" is not a string of three letters");
	memcpy(out, format.data, 3);
	out[3] = '\0';
	if (strcmp(out, "csr") != 0 && strcmp(out, "csc") != 0 && strcmp(out, "coo") != 0)
		return fail(job, "sparse format \"%s\" is not supported; save it after .tocsr()", out);
	return PE_OK;
}

/* ---- entries ------------------------------------------------------------------------ */

static pe_status reserve(struct job *job, int64_t rows)
{
	job->raw.rows = rows;
	job->raw.u = pe_alloc(job->ctx, rows, sizeof *job->raw.u);
	job->raw.v = pe_alloc(job->ctx, rows, sizeof *job->raw.v);
	return job->raw.u && job->raw.v ? PE_OK : PE_ERR_NOMEM;
}

/* out[e] ← indices, each a node. */
static pe_status copy_indices(const struct job *job, const char *name, const pe_tensor *indices, int32_t *out)
{
	const char *data = indices->data;
	int64_t step = indices->strides[0] * (int64_t)pe_dtype_size(indices->dtype);
	for (int64_t e = 0; e < job->raw.rows; e++) {
		int64_t i;
		pe_load_i64(&i, data + e * step, indices->dtype, 1, 1);
		if (i < 0 || i >= job->raw.nodes)
			return fail(job, "%s[%" PRId64 "] is %" PRId64 ", outside of the %" PRId64 " rows and columns",
				name, e, i, job->raw.nodes);
		out[e] = (int32_t)i;
	}
	return PE_OK;
}

/* out[e] ← the row (of csr) or column (of csc) that entry e is in. */
static pe_status expand_offsets(const struct job *job, const pe_tensor *indptr, int32_t *out)
{
	const char *data = indptr->data;
	int64_t step = indptr->strides[0] * (int64_t)pe_dtype_size(indptr->dtype), from = 0;
	for (int64_t i = 0; i <= job->raw.nodes; i++) {
		int64_t to;
		pe_load_i64(&to, data + i * step, indptr->dtype, 1, 1);
		if (to < from || to > job->raw.rows || (i == 0 && to != 0))
			return fail(job, "indptr[%" PRId64 "] is %" PRId64 " after %" PRId64, i, to, from);
		for (; from < to; from++)
			out[from] = (int32_t)(i - 1);
	}
	return PE_OK;
}

static pe_status read_compressed(struct job *job, bool by_column)
{
	pe_tensor indptr, indices;
	int64_t rows;
	PE_TRY(find_indices(job, "indptr", job->raw.nodes + 1, &indptr));
	if (indptr.shape[0] != job->raw.nodes + 1)
		return fail(
			job, "indptr has %" PRId64 " values for %" PRId64 " rows", indptr.shape[0], job->raw.nodes);
	int64_t size = (int64_t)pe_dtype_size(indptr.dtype);
	pe_load_i64(
		&rows, (const char *)indptr.data + job->raw.nodes * indptr.strides[0] * size, indptr.dtype, 1, 1);
	if (rows < 0)
		return fail(job, "indptr ends with %" PRId64, rows);
	PE_TRY(find_indices(job, "indices", rows, &indices));
	PE_TRY(reserve(job, rows));
	PE_TRY(expand_offsets(job, &indptr, by_column ? job->raw.v : job->raw.u));
	return copy_indices(job, "indices", &indices, by_column ? job->raw.u : job->raw.v);
}

static pe_status read_coordinates(struct job *job)
{
	pe_tensor row, col;
	PE_TRY(find_indices(job, "row", 0, &row));
	PE_TRY(find_indices(job, "col", 0, &col));
	if (row.shape[0] != col.shape[0])
		return fail(job, "row has %" PRId64 " values, col has %" PRId64, row.shape[0], col.shape[0]);
	if (pe_nodes_excessive(job->raw.nodes, job->source->size + (size_t)row.shape[0]))
		return fail(job, "%" PRId64 " rows and %" PRId64 " entries: refused as damaged", job->raw.nodes,
			row.shape[0]);
	PE_TRY(reserve(job, row.shape[0]));
	PE_TRY(copy_indices(job, "row", &row, job->raw.u));
	return copy_indices(job, "col", &col, job->raw.v);
}

/* A matrix of truth values has no weights: where it holds false there is no edge. */
static void drop_false(struct pe_raw_graphs *raw)
{
	int64_t kept = 0;
	for (int64_t e = 0; e < raw->rows; e++) {
		if (!(raw->w[e] > 0))
			continue;
		raw->u[kept] = raw->u[e];
		raw->v[kept] = raw->v[e];
		raw->w[kept++] = 1;
	}
	raw->rows = kept;
}

static pe_status read_data(struct job *job)
{
	struct pe_raw_graphs *raw = &job->raw;
	pe_tensor data;
	if (job->policy->weight_column == 0 && !job->policy->weight_name)
		return PE_OK;
	if (job->policy->weight_column > 0 ||
		(job->policy->weight_name && strcmp(job->policy->weight_name, "data") != 0))
		return fail(job, "the weights are the matrix's entries; there are no others to choose");
	PE_TRY(find(job, "data", &data));
	if (data.shape[0] < raw->rows)
		return fail(job, "data has %" PRId64 " values for %" PRId64 " entries", data.shape[0], raw->rows);
	raw->w = pe_alloc(job->ctx, raw->rows, sizeof *raw->w);
	if (!raw->w)
		return PE_ERR_NOMEM;
	pe_load_f64(raw->w, data.data, data.dtype, data.strides[0], raw->rows);
	for (int64_t e = 0; e < raw->rows; e++)
		if (!isfinite(raw->w[e]))
			return fail(job, "data[%" PRId64 "] is not finite", e);
	if (data.dtype == PE_BOOL)
		drop_false(raw);
	pe_raw_drop_ones(job->ctx, raw);
	return PE_OK;
}

static pe_status read_matrix(struct job *job)
{
	char format[4];
	PE_TRY(read_format(job, format));
	PE_TRY(read_shape(job));
	PE_TRY(format[2] == 'o' ? read_coordinates(job) : read_compressed(job, format[2] == 'c'));
	PE_TRY(read_data(job));
	job->raw.direction = PE_DIRECTED_IF_ONE_WAY;
	return PE_OK;
}

static pe_status read_scipy_npz(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *out)
{
	struct job job = {
		.ctx = ctx, .source = source, .policy = policy, .raw = {.format = "scipy-npz", .graphs = 1}};
	pe_status status =
		pe_bundle_from_bytes(ctx, source->data, source->size, pe_source_name(source), NULL, &job.bundle);
	if (status == PE_OK)
		status = read_matrix(&job);
	if (status == PE_OK)
		status = pe_raw_count_phantom(ctx, &job.raw);
	else
		pe_raw_graphs_free(ctx, &job.raw);
	if (status == PE_OK)
		*out = job.raw;
	pe_bundle_destroy(&job.bundle);
	return status;
}

static bool recognise(const struct pe_source *source)
{
	return pe_sniff_zip_member(source, "format.npy") && pe_sniff_zip_member(source, "shape.npy");
}

const struct pe_reader pe_reader_scipy_npz = {
	.format = "scipy-npz",
	.suffixes = "",
	.recognise = recognise,
	.read = read_scipy_npz,
};
