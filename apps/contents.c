/* SPDX-License-Identifier: BSD-2-Clause */
#include "contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "report.h"

static pe_status add(
	pe_bundle *bundle, const char *name, void *data, pe_dtype dtype, int32_t ndim, const int64_t *shape)
{
	pe_tensor tensor = pe_tensor_dense(data, dtype, ndim, shape);
	return pe_bundle_add(bundle, name, &tensor);
}

/* ---- graphs ------------------------------------------------------------------------- */

/* Text ids as (nodes, width) bytes, padded with zeros. */
static pe_status add_node_names(const pe_graph *graph, struct contents *out)
{
	int64_t nodes = pe_graph_get_report(graph)->nodes;
	size_t width = 1;
	for (int64_t i = 0; i < nodes; i++) {
		size_t size = strlen(pe_graph_node_name(graph, i));
		width = size > width ? size : width;
	}
	out->names = get_memory((size_t)nodes, width);
	for (int64_t i = 0; i < nodes; i++) {
		const char *name = pe_graph_node_name(graph, i);
		memcpy(out->names + (size_t)i * width, name, strlen(name));
	}
	return add(out->bundle, "node_names", out->names, PE_U8, 2, (int64_t[]){nodes, (int64_t)width});
}

static pe_status add_graph_arrays(
	const struct cli *cli, const pe_graph *graph, bool several, struct contents *out)
{
	const pe_graph_report *report = pe_graph_get_report(graph);
	union { /* the bundle only reads */
		const int64_t *in;
		void *out;
	} ids = {pe_graph_node_ids(graph)}, ptr = {pe_graph_ptr(graph)};
	if (array_is_wanted(cli, "ptr", several && report->graphs != 1))
		TRY(add(out->bundle, "ptr", ptr.out, PE_I64, 1, (int64_t[]){report->graphs + 1}));
	if (ids.in && array_is_wanted(cli, "node_ids", several && report->renumbered))
		TRY(add(out->bundle, "node_ids", ids.out, PE_I64, 1, (int64_t[]){report->nodes}));
	if (!ids.in && array_is_wanted(cli, "node_names", several))
		TRY(add_node_names(graph, out));
	return PE_OK;
}

/* Marks the graphs that could not be read, or failed in any encoder. */
static unsigned char *mark_failed(const pe_graph *graph, const struct job *jobs, int count)
{
	const pe_graph_report *report = pe_graph_get_report(graph);
	unsigned char *bad = get_memory((size_t)report->graphs, 1);
	for (int64_t i = 0; i < report->failed; i++)
		bad[pe_graph_failed(graph)[i]] = 1;
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < pe_encoding_get_quality(jobs[j].encoding)->failed; i++)
			bad[pe_encoding_failed(jobs[j].encoding)[i]] = 1;
	return bad;
}

/* The graphs that failed, ascending; if none did, only where the array is asked for by name. */
static pe_status add_failed(
	const struct cli *cli, const pe_graph *graph, const struct job *jobs, int count, struct contents *out)
{
	int64_t graphs = pe_graph_get_report(graph)->graphs, failed = 0;
	unsigned char *bad = mark_failed(graph, jobs, count);
	out->failed = get_memory((size_t)graphs, sizeof *out->failed);
	for (int64_t g = 0; g < graphs; g++)
		if (bad[g])
			out->failed[failed++] = g;
	free(bad);
	if (!failed && !array_is_wanted(cli, "failed", false))
		return PE_OK;
	return add(out->bundle, "failed", out->failed, PE_I64, 1, (int64_t[]){failed});
}

/* ---- the whole ---------------------------------------------------------------------- */

static char *describe_jobs(const struct job *jobs, int count)
{
	json_t *encoders = json_array();
	for (int j = 0; j < count; j++)
		json_array_append_new(encoders,
			json_pack("{s:s, s:o}", "name", pe_encoder_name(jobs[j].encoder), "options",
				report_options(pe_encoding_params(jobs[j].encoding))));
	char *text = json_dumps(encoders, JSON_COMPACT);
	json_decref(encoders);
	return text;
}

pe_status contents_describe(
	const struct cli *cli, const char *digest, const struct job *jobs, int count, pe_bundle *bundle)
{
	int64_t seed = 0;
	char number[24];
	char *encoders = describe_jobs(jobs, count);
	if (!encoders)
		return PE_ERR_NOMEM;
	pe_status status = pe_bundle_set_metadata(bundle, "encoders", encoders);
	free(encoders);
	TRY(status);
	TRY(pe_bundle_set_metadata(bundle, "posenc", pe_version()));
	(void)cli_integer(cli, "seed", INT64_MIN, INT64_MAX, &seed); /* it was checked at the start */
	snprintf(number, sizeof number, "%lld", (long long)seed);
	TRY(pe_bundle_set_metadata(bundle, "seed", number));
	return digest ? pe_bundle_set_metadata(bundle, "input_blake2b", digest) : PE_OK;
}

/* Takes the reference. */
static pe_status add_json(pe_bundle *bundle, const char *name, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT);
	json_decref(value);
	if (!text)
		return PE_ERR_NOMEM;
	pe_status status = pe_bundle_set_metadata(bundle, name, text);
	free(text);
	return status;
}

/* How the picture was cut, as JSON. */
static pe_status add_image(const struct cli *cli, const struct input *input, pe_bundle *bundle)
{
	json_t *options = report_options(cli->image);
	json_object_update_new(options, report_layout(&input->layout));
	return add_json(bundle, "image", options);
}

/* The grid that the tokens stand on, as one writes it behind grid:, and the tokens before it. */
static pe_status add_grid(const struct input *input, pe_bundle *bundle)
{
	char text[80] = "";
	if (input->sides[0] > 1)
		snprintf(text, sizeof text, "%lldx", (long long)input->sides[0]);
	size_t used = strlen(text);
	snprintf(
		text + used, sizeof text - used, "%lldx%lld", (long long)input->sides[1], (long long)input->sides[2]);
	TRY(pe_bundle_set_metadata(bundle, "grid", text));
	if (input->prefix == 0)
		return PE_OK;
	snprintf(text, sizeof text, "%lld", (long long)input->prefix);
	return pe_bundle_set_metadata(bundle, "prefix", text);
}

static pe_status add_array(const struct output *output, const struct job *job, int64_t i, pe_bundle *bundle)
{
	const pe_tensor *t = &job->tensors[i];
	return output->streams ? pe_bundle_await(bundle, job->names[i], t->dtype, t->ndim, t->shape)
						   : pe_bundle_add(bundle, job->names[i], t);
}

pe_status contents_add_failed(
	const struct cli *cli, const struct input *input, const struct job *jobs, int count, struct contents *out)
{
	return array_is_wanted(cli, "failed", true) ? add_failed(cli, input->graph, jobs, count, out) : PE_OK;
}

pe_status contents_fill(const struct cli *cli, const struct output *output, const struct input *input,
	const struct job *jobs, int count, struct contents *out)
{
	bool several = !output_is_single(output);
	*out = (struct contents){0};
	TRY(pe_bundle_create(cli->ctx, &out->bundle));
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < jobs[j].count; i++)
			if (jobs[j].wanted[i])
				TRY(add_array(output, &jobs[j], i, out->bundle));
	if (input->graph)
		TRY(add_graph_arrays(cli, input->graph, several, out));
	if (input->graph && !output->streams && array_is_wanted(cli, "failed", several))
		TRY(add_failed(cli, input->graph, jobs, count, out));
	if (input->graph && pe_graph_file(input->graph, 0))
		TRY(add_json(out->bundle, "files", report_files(input->graph)));
	if (input->sides[1] > 0)
		TRY(add_grid(input, out->bundle));
	if (input->image)
		TRY(add_image(cli, input, out->bundle));
	if (cli_has(cli, "padding-mask"))
		TRY(pe_bundle_set_metadata(out->bundle, "padding_mask", cli_get(cli, "padding-mask")));
	const char *digest = input->graph ? pe_graph_get_report(input->graph)->digest
		: input->image                ? pe_image_get_info(input->image)->digest
									  : NULL;
	return contents_describe(cli, digest, jobs, count, out->bundle);
}

void contents_free(struct contents *contents)
{
	pe_bundle_destroy(&contents->bundle);
	free(contents->failed);
	free(contents->names);
}
