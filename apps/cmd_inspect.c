/* SPDX-License-Identifier: BSD-2-Clause
 * posenc inspect INPUT…: what is in these files. */
#include <stdio.h>
#include <string.h>

#include "input_image.h"
#include "report.h"

static void print_graph(const struct input *input)
{
	const pe_graph_report *r = pe_graph_get_report(input->graph);
	printf("%s: %s, %lld graph%s, %s, %s\n", input->text, r->format, (long long)r->graphs,
		r->graphs == 1 ? "" : "s", r->directed ? "directed" : "undirected",
		r->weighted ? "weighted" : "unweighted");
	const struct {
		const char *name;
		int64_t value;
		const char *remark;
	} rows[] = {{"nodes", r->nodes, ""}, {"edges", r->edges, ""}, {"rows", r->rows, "edges as listed"},
		{"components", r->components, ""}, {"isolated", r->isolated, "nodes without a neighbour"},
		{"phantom", r->phantom, "nodes that only a count names"}, {"self loops", r->self_loops, ""},
		{"duplicates", r->duplicates, "rows that repeat an earlier one"},
		{"one-way", r->one_way, "edges listed in one direction only"},
		{"failed", r->failed, "graphs that could not be read"}, {"base", r->base, "the smallest id"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (i < 3 || rows[i].value > 0)
			printf("  %-11s %12lld%s%s\n", rows[i].name, (long long)rows[i].value,
				rows[i].remark[0] ? "   " : "", rows[i].remark);
	if (!pe_graph_node_ids(input->graph))
		puts("  ids are text: the array node_names has them in the order of rows");
	else if (r->renumbered)
		puts("  ids are renumbered: the array node_ids has the map");
}

static void print_image(struct cli *cli, const struct input *input)
{
	static const char *const kinds[] = {"", "grey", "grey and alpha", "RGB", "RGB and alpha"};
	const pe_image_info *info = pe_image_get_info(input->image);
	const pe_image_layout *l = &input->layout;
	char changes[300];
	printf("%s: %s, %lld x %lld pixels, %s, %d bit%s%s%s\n", input->text, info->format,
		(long long)info->width, (long long)info->height, kinds[info->channels], (int)info->bits,
		info->bits == 1 ? "" : "s", info->palette ? " by palette" : "",
		info->interlaced ? ", interlaced" : "");
	if (info->maximum != 255 && info->maximum != 65535)
		printf("  %d stands for 1\n", (int)info->maximum);
	if (info->colour[0])
		printf("  colour: %s, not applied: values are those stored\n", info->colour);
	if (l->rows == 0) {
		printf("  patches: none: %s\n", pe_context_message(cli->ctx));
		return;
	}
	image_changes(l, changes, sizeof changes);
	printf("  patches: %lld x %lld of side %lld, %lld numbers each%s%s\n", (long long)l->rows,
		(long long)l->columns, (long long)l->patch, (long long)l->width, changes[0] ? "; " : "", changes);
}

static void print_shape(const pe_tensor *tensor)
{
	putchar('(');
	for (int32_t d = 0; d < tensor->ndim; d++)
		printf("%s%lld", d ? ", " : "", (long long)tensor->shape[d]);
	putchar(')');
}

static json_t *array_json(const char *name, const pe_tensor *tensor)
{
	json_t *shape = json_array();
	for (int32_t d = 0; d < tensor->ndim; d++)
		json_array_append_new(shape, json_integer(tensor->shape[d]));
	return json_pack("{s:s, s:s, s:o}", "name", name, "dtype", pe_dtype_name(tensor->dtype), "shape", shape);
}

static int inspect_bundle(struct cli *cli, const char *path, pe_bundle *bundle, json_t *all)
{
	int code = input_refuse_options(cli, &(struct input){.text = path});
	if (code != EXIT_DONE)
		return code;
	json_t *arrays = json_array(), *metadata = json_object();
	if (!cli->json)
		printf("%s: %lld array%s\n", path, (long long)pe_bundle_count(bundle),
			pe_bundle_count(bundle) == 1 ? "" : "s");
	for (int64_t i = 0; i < pe_bundle_count(bundle); i++) {
		const char *name;
		pe_tensor tensor;
		if (pe_bundle_at(bundle, i, &name, &tensor) != PE_OK)
			return report_status(cli, PE_ERR_INTERNAL);
		json_array_append_new(arrays, array_json(name, &tensor));
		if (!cli->json) {
			printf("  %-32s %-5s ", name, pe_dtype_name(tensor.dtype));
			print_shape(&tensor);
			putchar('\n');
		}
	}
	for (int64_t i = 0; i < pe_bundle_metadata_count(bundle); i++) {
		const char *name = pe_bundle_metadata_name(bundle, i), *value = pe_bundle_metadata(bundle, name);
		json_object_set_new(metadata, name, json_text(value));
		if (!cli->json)
			printf("  %s: %s\n", name, value);
	}
	json_array_append_new(
		all, json_pack("{s:o, s:o, s:o}", "name", json_text(path), "arrays", arrays, "metadata", metadata));
	return EXIT_DONE;
}

/* A file of arrays is one that reads as such, unless options say how to read a graph; everything else is an
 * input. */
static int inspect(struct cli *cli, const char *path, json_t *all)
{
	pe_bundle *bundle;
	if (has_array_suffix(path) && !input_asks_for_graph(cli) &&
		pe_bundle_from_file(cli->ctx, path, NULL, &bundle) == PE_OK) {
		int code = inspect_bundle(cli, path, bundle, all);
		pe_bundle_destroy(&bundle);
		return code;
	}
	struct input input;
	int code = input_read(cli, path, &input);
	if (code == EXIT_DONE)
		code = input_refuse_options(cli, &input);
	if (code == EXIT_DONE && input.image &&
		pe_image_get_layout(input.image, cli->image, &input.layout) != PE_OK)
		input.layout.rows = 0; /* that is no reason not to say what it is */
	if (code == EXIT_DONE) {
		if (cli->json)
			json_array_append_new(all, report_input(&input));
		else if (input.graph)
			print_graph(&input);
		else if (input.image)
			print_image(cli, &input);
		else
			printf("%s: a %s of %lld tokens\n", path, input.kind, (long long)pe_domain_tokens(input.domain));
		code = input_code(&input);
	}
	input_close(&input);
	return code;
}

static int run_inspect(struct cli *cli)
{
	int worst = EXIT_DONE;
	if (cli->operand_count == 0)
		return usage_error(cli, "inspect takes one or more inputs");
	json_t *all = json_array();
	for (int i = 0; i < cli->operand_count; i++) {
		int code = inspect(cli, cli->operands[i], all);
		worst = code > worst ? code : worst;
	}
	/* One object: that of the one input, or all of them in a list. */
	if (cli->json && cli->operand_count == 1 && json_array_size(all) == 1)
		print_json(json_incref(json_array_get(all, 0)));
	else if (cli->json && cli->operand_count > 1)
		print_json(json_pack("{s:O}", "inputs", all));
	json_decref(all);
	return worst;
}

static const struct cli_option options[] = {LENIENT_OPTION};

const struct command command_inspect = {
	.name = "inspect",
	.usage = "inspect INPUT...",
	.summary = "what is in these graph files, datasets, pictures or array files",
	.details = "A file of arrays (.npy, .npz, .safetensors, folder/) is told as such. Where an\n"
			   "option of graphs is given, such as --from edge-index, the graph that it holds\n"
			   "is told instead.\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.takes_graph_options = true,
	.takes_image_options = true,
	.run = run_inspect,
};
