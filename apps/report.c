/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
	json_t *out = json_string(text);
	if (out)
		return out;
	char *ascii = copy_text(text, strlen(text));
	for (char *c = ascii; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	out = json_string(ascii);
	free(ascii);
	return out;
}

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *four(int64_t top, int64_t left, int64_t bottom, int64_t right)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "top", (json_int_t)top, "left", (json_int_t)left, "bottom",
		(json_int_t)bottom, "right", (json_int_t)right);
}

json_t *report_layout(const pe_image_layout *l)
{
	json_t *out = json_pack("{s:I, s:I, s:o, s:o}", "rows", (json_int_t)l->rows, "columns",
		(json_int_t)l->columns, "cropped", four(l->crop_top, l->crop_left, l->crop_bottom, l->crop_right),
		"padded", four(l->pad_top, l->pad_left, l->pad_bottom, l->pad_right));
	if (l->resized_height)
		json_object_set_new(
			out, "resized", json_pack("[I, I]", (json_int_t)l->resized_height, (json_int_t)l->resized_width));
	return out;
}

static json_t *report_image(const struct input *input)
{
	const pe_image_info *info = pe_image_get_info(input->image);
	json_t *out = json_pack("{s:s, s:o, s:s, s:I, s:I, s:i, s:i, s:b, s:b, s:b, s:s}", "kind", input->kind,
		"name", json_text(input->text), "format", info->format, "height", (json_int_t)info->height, "width",
		(json_int_t)info->width, "channels", (int)info->channels, "bits", (int)info->bits, "alpha",
		(int)info->alpha, "palette", (int)info->palette, "interlaced", (int)info->interlaced, "colour",
		info->colour);
	if (input->layout.rows)
		json_object_set_new(out, "patches", report_layout(&input->layout));
	if (input->domain)
		json_object_set_new(out, "tokens", json_integer(pe_domain_tokens(input->domain)));
	return out;
}

json_t *report_files(const pe_graph *graph)
{
	int64_t graphs = pe_graph_get_report(graph)->graphs;
	json_t *out = json_array();
	for (int64_t g = 0, end; g < graphs; g = end) {
		const char *file = pe_graph_file(graph, g);
		for (end = g + 1; end < graphs && pe_graph_file(graph, end) == file;)
			end++;
		json_array_append_new(out,
			json_pack("{s:o, s:I, s:I}", "file", json_text(file), "first", (json_int_t)g, "graphs",
				(json_int_t)(end - g)));
	}
	return out;
}

json_t *report_input(const struct input *input)
{
	if (input->image)
		return report_image(input);
	json_t *out = json_pack("{s:s, s:o}", "kind", input->kind, "name", json_text(input->text));
	if (!input->graph) {
		json_object_set_new(out, "tokens", json_integer(pe_domain_tokens(input->domain)));
		return out;
	}
	const pe_graph_report *r = pe_graph_get_report(input->graph);
	const struct {
		const char *name;
		int64_t value;
	} counts[] = {{"graphs", r->graphs}, {"nodes", r->nodes}, {"edges", r->edges}, {"rows", r->rows},
		{"self_loops", r->self_loops}, {"duplicates", r->duplicates}, {"one_way", r->one_way},
		{"isolated", r->isolated}, {"phantom", r->phantom}, {"components", r->components}};
	json_object_set_new(out, "format", json_string(r->format));
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		json_object_set_new(out, counts[i].name, json_integer(counts[i].value));
	if (r->failed > 0)
		json_object_set_new(out, "failed", json_integer(r->failed));
	if (pe_graph_file(input->graph, 0))
		json_object_set_new(out, "files", report_files(input->graph));
	json_object_set_new(out, "directed", json_boolean(r->directed));
	json_object_set_new(out, "weighted", json_boolean(r->weighted));
	return out;
}

json_t *report_options(const pe_params *params)
{
	json_t *out = json_object();
	if (pe_params_get(params, "preset"))
		json_object_set_new(out, "preset", json_string(pe_params_get(params, "preset")));
	for (int64_t i = 0; i < pe_params_count(params); i++) {
		const char *name = pe_params_option(params, i).name;
		json_object_set_new(out, name, json_string(pe_params_get(params, name)));
	}
	return out;
}

static json_t *report_array(const struct job *job, int64_t i)
{
	json_t *shape = json_array();
	for (int32_t d = 0; d < job->arrays[i].ndim; d++)
		json_array_append_new(shape, json_integer(job->arrays[i].shape[d]));
	return json_pack("{s:s, s:s, s:o}", "name", job->names[i], "dtype", pe_dtype_name(job->tensors[i].dtype),
		"shape", shape);
}

static json_t *report_quality(const struct job *job)
{
	const pe_quality *q = pe_encoding_get_quality(job->encoding);
	json_t *out = json_pack("{s:o, s:o, s:I, s:I, s:I}", "max_residual", json_number(q->max_residual),
		"max_orthogonality_error", json_number(q->max_orthogonality_error), "certified",
		(json_int_t)q->certified, "uncertified", (json_int_t)q->uncertified, "split_groups",
		(json_int_t)q->split_groups);
	if (q->failed)
		json_object_set_new(out, "failed", json_integer(q->failed));
	if (q->max_standard_error > 0)
		json_object_set_new(out, "max_standard_error", json_real(q->max_standard_error));
	return out;
}

json_t *report_job(const struct job *job)
{
	json_t *arrays = json_array();
	for (int64_t i = 0; i < job->count; i++)
		if (job->wanted[i])
			json_array_append_new(arrays, report_array(job, i));
	json_t *out = json_pack("{s:s, s:o, s:o}", "name", pe_encoder_name(job->encoder), "options",
		report_options(pe_encoding_params(job->encoding)), "arrays", arrays);
	if (pe_encoder_family(job->encoder) == PE_GRAPH)
		json_object_set_new(out, "quality", report_quality(job));
	return out;
}

void print_json(json_t *object)
{
	if (!object || json_dumpf(object, stdout, JSON_COMPACT) != 0)
		complain("the JSON report cannot be written: a name is not UTF-8, or a number not finite");
	else
		putchar('\n');
	json_decref(object);
}
