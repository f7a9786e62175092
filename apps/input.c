/* SPDX-License-Identifier: BSD-2-Clause */
#include "input.h"

#include <stdlib.h>
#include <string.h>

#include "input_image.h"

static bool read_integer(const char **at, int64_t *out)
{
	char *end;
	if (**at < '0' || **at > '9')
		return false;
	*out = strtoll(*at, &end, 10);
	*at = end;
	return true;
}

static int bad(struct cli *cli, const char *text, const char *expected)
{
	return usage_error(cli, "%s: expected %s", text, expected);
}

/* seq:LENGTH, seq:LENGTH@OFFSET */
static int open_sequence(struct cli *cli, const char *text, struct input *in)
{
	const char *at = text + strlen("seq:");
	int64_t length;
	double offset = 0;
	bool good = read_integer(&at, &length);
	if (good && *at == '@') {
		char *end;
		offset = strtod(at + 1, &end);
		good = end != at + 1;
		at = end;
	}
	if (!good || *at)
		return bad(cli, text, "seq:LENGTH or seq:LENGTH@OFFSET");
	in->kind = "sequence";
	in->family = PE_SEQ;
	in->offset = offset;
	pe_status status = pe_domain_sequence(cli->ctx, length, offset, &in->domain);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

/* (L), (L, axes) or (batch, L, axes). */
static int take_positions(struct cli *cli, const char *path, const pe_tensor *positions, struct input *in)
{
	int64_t axes = positions->ndim >= 2 ? positions->shape[positions->ndim - 1] : 0;
	if (positions->ndim < 1 || positions->ndim > 3 || axes > PE_MAX_AXES ||
		(axes == 0 && positions->ndim > 1)) {
		complain("%s: positions are (length), (length, axes) or (batch, length, axes), with 1 to %d axes",
			path, PE_MAX_AXES);
		return EXIT_INPUT;
	}
	pe_status status = pe_domain_positions(cli->ctx, positions, axes, &in->domain);
	if (status == PE_OK)
		return EXIT_DONE;
	int code = report_status(cli, status);
	return code == EXIT_USAGE ? EXIT_INPUT : code;
}

/* positions:FILE.npy */
static int open_positions(struct cli *cli, const char *text, struct input *in)
{
	const char *path = text + strlen("positions:"), *name;
	pe_bundle *bundle;
	pe_tensor positions;
	in->kind = "sequence";
	in->family = PE_SEQ;
	pe_status status = pe_bundle_from_file(cli->ctx, path, NULL, &bundle);
	if (status == PE_OK)
		status = pe_bundle_at(bundle, 0, &name, &positions);
	if (status == PE_OK) {
		int code = EXIT_INPUT;
		if (input_is_text(bundle, 0))
			complain("%s: positions are numbers, not text", path);
		else
			code = take_positions(cli, path, &positions, in);
		pe_bundle_destroy(&bundle);
		return code;
	}
	pe_bundle_destroy(&bundle);
	int code = report_status(cli, status);
	return code == EXIT_USAGE ? EXIT_INPUT : code;
}

/* grid:HxW, grid:TxHxW */
static int open_grid(struct cli *cli, const char *text, struct input *in)
{
	const char *at = text + strlen("grid:");
	int64_t sides[3], count = 0, prefix = 0;
	bool good = true;
	while (good && count < 3 && (count == 0 || *at == 'x')) {
		at += count > 0;
		good = read_integer(&at, &sides[count++]);
	}
	if (!good || count < 2 || *at)
		return bad(cli, text, "grid:HxW or grid:TxHxW");
	if (!cli_integer(cli, "prefix", 0, INT32_MAX, &prefix))
		return EXIT_USAGE;
	in->kind = "grid";
	in->family = PE_VISION;
	in->sides[0] = count == 3 ? sides[0] : 1;
	in->sides[1] = sides[count - 2];
	in->sides[2] = sides[count - 1];
	in->prefix = prefix;
	pe_status status =
		pe_domain_grid(cli->ctx, in->sides[0], in->sides[1], in->sides[2], prefix, &in->domain);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

static void name_unread(const pe_graph *graph)
{
	for (int64_t i = 0; i < pe_graph_get_report(graph)->failed; i++)
		complain(
			"%s; graph %lld is left empty", pe_graph_failure(graph, i), (long long)pe_graph_failed(graph)[i]);
}

/* The exit code of a failure to read. */
static int refuse(struct cli *cli, pe_status status)
{
	int code = report_status(cli, status);
	return code == EXIT_USAGE ? EXIT_INPUT : code;
}

/* bytes NULL: from the file. */
static int open_graph(struct cli *cli, const char *text, const char *bytes, size_t size, struct input *in)
{
	in->kind = "graph";
	in->family = PE_GRAPH;
	pe_status status = bytes
		? pe_graph_from_bytes(cli->ctx, bytes, size, "standard input", cli->graph, &in->graph)
		: pe_graph_from_file(cli->ctx, text, cli->graph, &in->graph);
	if (status == PE_OK) {
		name_unread(in->graph);
		status = pe_domain_graph(cli->ctx, in->graph, &in->domain);
	}
	return status == PE_OK ? EXIT_DONE : refuse(cli, status);
}

static int open_image(struct cli *cli, const char *text, const char *bytes, size_t size, struct input *in)
{
	in->kind = "image";
	in->family = PE_VISION;
	pe_status status = bytes
		? pe_image_from_bytes(cli->ctx, bytes, size, "standard input", cli->image, &in->image)
		: pe_image_from_file(cli->ctx, text, cli->image, &in->image);
	return status == PE_OK ? EXIT_DONE : refuse(cli, status);
}

/* A graph or a picture; --from names a format of graphs. */
static int open_file(struct cli *cli, const char *text, struct input *in)
{
	bool graph = !cli->image || pe_params_get(cli->graph, "from")[0];
	if (strcmp(text, "-") != 0)
		return !graph && image_is_at(text) ? open_image(cli, text, NULL, 0, in)
										   : open_graph(cli, text, NULL, 0, in);
	char *bytes;
	size_t size;
	int code = read_standard_input(cli, &bytes, &size);
	if (code == EXIT_DONE && !graph && pe_image_recognise(bytes, size))
		code = open_image(cli, text, bytes, size, in);
	else if (code == EXIT_DONE)
		code = open_graph(cli, text, bytes, size, in);
	free(bytes);
	return code;
}

int input_read(struct cli *cli, const char *text, struct input *out)
{
	static const struct {
		const char *prefix;
		int (*open)(struct cli *cli, const char *text, struct input *in);
	} kinds[] = {
		{"seq:", open_sequence}, {"positions:", open_positions}, {"grid:", open_grid}, {"", open_file}};
	*out = (struct input){.text = text};
	double start = seconds_now();
	size_t i = 0;
	while (strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
		i++;
	int code = kinds[i].open(cli, text, out);
	out->seconds = seconds_now() - start;
	return code;
}

static bool is_of(const pe_params *table, const char *word)
{
	return table && cli_table_option(table, word, NULL);
}

bool input_asks_for_graph(const struct cli *cli)
{
	bool asks = false;
	for (int i = 0; i < cli->value_count; i++)
		asks = asks || is_of(cli->graph, cli->values[i].name);
	return asks;
}

int input_refuse_options(const struct cli *cli, const struct input *in)
{
	const char *text = in->text ? in->text : cli->operands[0];
	for (int i = 0; i < cli->value_count; i++) {
		const char *word = cli->values[i].name;
		int size = (int)strcspn(word, "=");
		if (!in->graph && is_of(cli->graph, word))
			return usage_error(cli, "%.*s is of graphs, and %s is none", size, word, text);
		if (!in->image && is_of(cli->image, word))
			return usage_error(cli, "%.*s is of pictures, and %s is none", size, word, text);
	}
	if (!in->image && cli_has(cli, "lenient"))
		return usage_error(cli, "--lenient is of pictures, and %s is none", text);
	if (in->sides[1] == 0 && cli_has(cli, "prefix"))
		return usage_error(cli, "--prefix is of grids and pictures, and %s is neither", text);
	return EXIT_DONE;
}

int input_open(struct cli *cli, const char *text, struct input *out)
{
	int code = input_read(cli, text, out);
	if (code == EXIT_DONE && out->image)
		code = image_cut(cli, out);
	return code == EXIT_DONE ? input_refuse_options(cli, out) : code;
}

bool has_array_suffix(const char *path)
{
	static const char *const suffixes[] = {".npy", ".npz", ".safetensors", "/"};
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (ends_with(path, suffixes[i]))
			return true;
	return false;
}

bool input_is_text(const pe_bundle *bundle, int64_t index)
{
	const char *name;
	pe_tensor tensor;
	return pe_bundle_at(bundle, index, &name, &tensor) == PE_OK && tensor.dtype == PE_U8 &&
		pe_bundle_is_widened(bundle, index);
}

int input_code(const struct input *input)
{
	return input->graph && pe_graph_get_report(input->graph)->failed > 0 ? EXIT_SOME : EXIT_DONE;
}

void input_close(struct input *input)
{
	pe_domain_destroy(&input->domain);
	pe_graph_destroy(&input->graph);
	pe_image_destroy(&input->image);
}
