/* SPDX-License-Identifier: BSD-2-Clause
 * posenc encode INPUT: one input to arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

struct encode {
	struct cli *cli;
	struct input input;
	struct job *jobs;
	int job_count;
	pe_bundle *bundle;
	const char *output; /* NULL: text on standard output */
	const char *format; /* NULL: by the output's suffix */
	pe_dtype dtype;
	int64_t *failed; /* buffers that the bundle refers to */
	unsigned char *names;
	void *tokens_out;
	pe_bundle *tokens_in;
};

static bool ends_with(const char *text, const char *suffix)
{
	size_t a = strlen(text), b = strlen(suffix);
	return a >= b && strcmp(text + a - b, suffix) == 0;
}

/* ---- options ------------------------------------------------------------------------ */

static int choose_dtype(struct encode *run)
{
	static const pe_dtype dtypes[] = {PE_F32, PE_F64, PE_F16, PE_BF16};
	const char *text = cli_get(run->cli, "dtype");
	if (!text)
		return EXIT_DONE;
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (strcmp(text, pe_dtype_name(dtypes[i])) == 0) {
			run->dtype = dtypes[i];
			return EXIT_DONE;
		}
	return usage_error(run->cli, "--dtype: \"%s\" is not one of f32, f64, f16, bf16", text);
}

/* The format in which the output will be written. */
static const char *chosen_format(const struct encode *run)
{
	static const char *const suffixes[] = {".npy", ".npz", ".safetensors", ".tsv"};
	if (run->format)
		return run->format;
	if (!run->output)
		return "tsv";
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (ends_with(run->output, suffixes[i]))
			return suffixes[i] + 1;
	return ends_with(run->output, "/") ? "dir" : NULL;
}

static bool holds_one_array(const struct encode *run)
{
	return strcmp(chosen_format(run), "npy") == 0;
}

static int choose_output(struct encode *run)
{
	static const char *const formats = " npy npz safetensors tsv dir ";
	char padded[32];
	run->output = cli_get(run->cli, "output");
	run->format = cli_get(run->cli, "format");
	if (run->format) {
		snprintf(padded, sizeof padded, " %s ", run->format);
		if (!strstr(formats, padded) || strlen(run->format) > 20)
			return usage_error(run->cli, "--format: \"%s\" is not one of%s", run->format, formats);
	}
	if (run->output && strcmp(run->output, "-") == 0) {
		if (!run->format)
			return usage_error(run->cli, "-o - needs --format npy, npz, safetensors or tsv");
		if (strcmp(run->format, "tsv") != 0 && isatty(STDOUT_FILENO))
			return usage_error(run->cli, "standard output is a terminal: %s is not text", run->format);
	}
	if (!run->output && run->format && strcmp(run->format, "tsv") != 0)
		return usage_error(run->cli, "--format %s needs -o: a file, or - for standard output", run->format);
	if (!chosen_format(run))
		return usage_error(run->cli,
			"-o %s: the suffix is not .npy, .npz, .safetensors, .tsv or '/': name the --format", run->output);
	if (run->dtype == PE_BF16 && strcmp(chosen_format(run), "safetensors") != 0)
		return usage_error(run->cli, "--dtype bf16 can be written to .safetensors only");
	if (run->cli->json && (!run->output || strcmp(run->output, "-") == 0))
		return usage_error(run->cli, "--json prints on standard output: send the data to a file with -o");
	return EXIT_DONE;
}

/* ---- which arrays ------------------------------------------------------------------- */

static bool in_list(const char *list, const char *name)
{
	size_t size = strlen(name);
	for (const char *at = list; *at; at += *at == ',') {
		size_t length = strcspn(at, ",");
		if (length == size && memcmp(at, name, size) == 0)
			return true;
		at += length;
	}
	return false;
}

static bool is_extra(const struct encode *run, const char *name)
{
	bool graph = run->input.graph != NULL;
	return (graph && (in_list("ptr,node_ids,node_names,failed", name))) ||
		(cli_get(run->cli, "tokens") && strcmp(name, "tokens") == 0);
}

/* Every name in --arrays must be one that there is. */
static int check_names(const struct encode *run, const char *list)
{
	for (const char *at = list; *at; at += *at == ',') {
		size_t length = strcspn(at, ",");
		char *name = copy_text(at, length);
		bool known = is_extra(run, name);
		for (int j = 0; j < run->job_count; j++)
			for (int64_t i = 0; i < run->jobs[j].count; i++)
				known |= strcmp(run->jobs[j].names[i], name) == 0;
		int code = known ? EXIT_DONE : usage_error(run->cli, "--arrays: there is no array \"%s\"", name);
		free(name);
		if (code != EXIT_DONE)
			return code;
		at += length;
	}
	return EXIT_DONE;
}

static bool asked_for(const struct encode *run, const char *name, bool usual)
{
	const char *list = cli_get(run->cli, "arrays");
	return list ? in_list(list, name) : usual;
}

static int choose_arrays(struct encode *run)
{
	const char *list = cli_get(run->cli, "arrays");
	bool single = holds_one_array(run);
	if (list) {
		int code = check_names(run, list);
		if (code != EXIT_DONE)
			return code;
		if (single && strchr(list, ','))
			return usage_error(run->cli, "an .npy file holds one array");
	}
	if (single && !list && cli_has(run->cli, "tokens"))
		warn(run->cli, "%s holds one array: tokens is left out (--arrays tokens)", run->output);
	for (int j = 0; j < run->job_count; j++)
		for (int64_t i = 0; i < run->jobs[j].count; i++) {
			bool wanted = asked_for(run, run->jobs[j].names[i], !single || (i == 0 && j == 0));
			run->jobs[j].wanted[i] = wanted;
			if (!wanted && !list)
				warn(run->cli, "%s holds one array: %s is left out", run->output, run->jobs[j].names[i]);
		}
	return EXIT_DONE;
}

/* ---- the bundle --------------------------------------------------------------------- */

static pe_status add(
	struct encode *run, const char *name, void *data, pe_dtype dtype, int32_t ndim, const int64_t *shape)
{
	pe_tensor tensor = pe_tensor_dense(data, dtype, ndim, shape);
	return pe_bundle_add(run->bundle, name, &tensor);
}

/* Text ids as (nodes, width) bytes, padded with zeros. */
static pe_status add_node_names(struct encode *run)
{
	int64_t nodes = pe_graph_get_report(run->input.graph)->nodes;
	size_t width = 1;
	for (int64_t i = 0; i < nodes; i++) {
		size_t size = strlen(pe_graph_node_name(run->input.graph, i));
		width = size > width ? size : width;
	}
	run->names = get_memory((size_t)nodes, width);
	for (int64_t i = 0; i < nodes; i++) {
		const char *name = pe_graph_node_name(run->input.graph, i);
		memcpy(run->names + (size_t)i * width, name, strlen(name));
	}
	return add(run, "node_names", run->names, PE_U8, 2, (int64_t[]){nodes, (int64_t)width});
}

static pe_status add_graph_arrays(struct encode *run)
{
	const pe_graph *graph = run->input.graph;
	const pe_graph_report *report = pe_graph_get_report(graph);
	bool several = !holds_one_array(run);
	union { /* the bundle only reads */
		const int64_t *in;
		void *out;
	} ids = {pe_graph_node_ids(graph)}, ptr = {pe_graph_ptr(graph)};
	if (asked_for(run, "ptr", several && report->graphs != 1))
		TRY(add(run, "ptr", ptr.out, PE_I64, 1, (int64_t[]){report->graphs + 1}));
	if (ids.in && asked_for(run, "node_ids", several && report->renumbered))
		TRY(add(run, "node_ids", ids.out, PE_I64, 1, (int64_t[]){report->nodes}));
	if (!ids.in && asked_for(run, "node_names", several))
		TRY(add_node_names(run));
	return PE_OK;
}

/* The graphs that failed in any encoder, ascending. */
static pe_status add_failed(struct encode *run)
{
	int64_t graphs = run->input.graph ? pe_graph_get_report(run->input.graph)->graphs : 0, count = 0;
	unsigned char *bad = get_memory((size_t)graphs, 1);
	for (int j = 0; j < run->job_count; j++)
		for (int64_t i = 0; i < pe_encoding_get_quality(run->jobs[j].encoding)->failed; i++)
			bad[pe_encoding_failed(run->jobs[j].encoding)[i]] = 1;
	for (int64_t g = 0; g < graphs; g++)
		count += bad[g];
	run->failed = get_memory((size_t)count, sizeof *run->failed);
	for (int64_t g = 0, at = 0; g < graphs; g++)
		if (bad[g])
			run->failed[at++] = g;
	free(bad);
	if (count == 0 || !asked_for(run, "failed", !holds_one_array(run)))
		return PE_OK;
	return add(run, "failed", run->failed, PE_I64, 1, (int64_t[]){count});
}

static pe_status set_metadata(struct encode *run)
{
	json_t *encoders = json_array();
	for (int j = 0; j < run->job_count; j++)
		json_array_append_new(encoders,
			json_pack("{s:s, s:o}", "name", pe_encoder_name(run->jobs[j].encoder), "options",
				report_options(run->jobs[j].params)));
	char *text = json_dumps(encoders, JSON_COMPACT);
	json_decref(encoders);
	if (!text)
		return PE_ERR_NOMEM;
	pe_status status = pe_bundle_set_metadata(run->bundle, "posenc", pe_version());
	if (status == PE_OK)
		status = pe_bundle_set_metadata(run->bundle, "encoders", text);
	int64_t seed = 0;
	char number[24];
	if (cli_integer(run->cli, "seed", INT64_MIN, INT64_MAX, &seed))
		snprintf(number, sizeof number, "%lld", (long long)seed);
	if (status == PE_OK)
		status = pe_bundle_set_metadata(run->bundle, "seed", number);
	if (status == PE_OK && run->input.graph)
		status = pe_bundle_set_metadata(
			run->bundle, "input_blake2b", pe_graph_get_report(run->input.graph)->digest);
	free(text);
	return status;
}

static pe_status fill_bundle(struct encode *run)
{
	TRY(pe_bundle_create(run->cli->ctx, &run->bundle));
	for (int j = 0; j < run->job_count; j++)
		for (int64_t i = 0; i < run->jobs[j].count; i++)
			if (run->jobs[j].wanted[i])
				TRY(pe_bundle_add(run->bundle, run->jobs[j].names[i], &run->jobs[j].tensors[i]));
	if (run->input.graph) {
		TRY(add_graph_arrays(run));
		TRY(add_failed(run));
	}
	return set_metadata(run);
}

/* ---- tokens ------------------------------------------------------------------------- */

static bool acts_on_tokens(const struct job *job)
{
	return strstr(pe_encoder_sites(job->encoder), "tokens") != NULL;
}

/* Applies the token-site encoders, one after the other, to the features of --tokens. */
static int apply_tokens(struct encode *run)
{
	const char *path = cli_get(run->cli, "tokens"), *name;
	pe_tensor x;
	if (!path)
		return EXIT_DONE;
	pe_status status = pe_bundle_from_file(run->cli->ctx, path, NULL, &run->tokens_in);
	if (status == PE_OK)
		status = pe_bundle_at(run->tokens_in, 0, &name, &x);
	for (int j = 0; j < run->job_count && status == PE_OK; j++) {
		if (!acts_on_tokens(&run->jobs[j]))
			continue;
		int64_t shape[PE_MAX_DIMS];
		status = pe_encoding_apply_shape(run->jobs[j].encoding, x.ndim, x.shape, shape);
		if (status != PE_OK)
			break;
		pe_tensor y = pe_tensor_dense(NULL, x.dtype, x.ndim, shape);
		y.data = output_memory((size_t)pe_tensor_bytes(&y));
		if (!y.data)
			return report_status(run->cli, PE_ERR_NOMEM);
		status = pe_encoding_apply(run->jobs[j].encoding, &x, &y);
		free(run->tokens_out);
		run->tokens_out = y.data;
		x = y;
	}
	if (status == PE_OK && asked_for(run, "tokens", !holds_one_array(run)))
		status = pe_bundle_add(run->bundle, "tokens", &x);
	return status == PE_OK ? EXIT_DONE : report_status(run->cli, status);
}

/* ---- the run ------------------------------------------------------------------------ */

static int write_output(struct encode *run)
{
	pe_status status;
	if (!run->output || strcmp(run->output, "-") == 0)
		status = pe_bundle_write_fd(run->bundle, STDOUT_FILENO, chosen_format(run));
	else
		status = pe_bundle_write(run->bundle, run->output, run->format);
	return status == PE_OK ? EXIT_DONE : report_status(run->cli, status);
}

static void print_report(const struct encode *run, double encode_seconds, double write_seconds)
{
	json_t *encoders = json_array();
	for (int j = 0; j < run->job_count; j++)
		json_array_append_new(encoders, report_job(&run->jobs[j]));
	print_json(json_pack("{s:s, s:o, s:o, s:{s:f, s:f, s:f, s:f}, s:o, s:o}", "posenc", pe_version(), "input",
		report_input(&run->input), "encoders", encoders, "seconds", "read", run->input.seconds, "encode",
		encode_seconds, "write", write_seconds, "sync", pe_bundle_sync_seconds(run->bundle), "output",
		json_text(run->output), "warnings", json_incref(run->cli->warnings)));
}

/* May what was computed be written? Failed graphs among many: yes, unless --fail-fast. */
static bool may_write(const struct encode *run, int code)
{
	if (code == EXIT_DONE)
		return true;
	if (code == EXIT_SOME)
		return !cli_has(run->cli, "fail-fast");
	return code == EXIT_NUMERIC && cli_has(run->cli, "keep-unconverged");
}

static int compute_and_write(struct encode *run)
{
	int code = jobs_allocate(run->cli, run->jobs, run->job_count, run->dtype);
	if (code != EXIT_DONE)
		return code;
	double start = seconds_now();
	int computed = jobs_compute(run->cli, run->jobs, run->job_count);
	double encoded = seconds_now();
	if (!may_write(run, computed))
		return computed;
	pe_status status = fill_bundle(run);
	if (status != PE_OK)
		return report_status(run->cli, status);
	code = apply_tokens(run);
	if (code == EXIT_DONE)
		code = write_output(run);
	if (code != EXIT_DONE)
		return code;
	if (run->cli->json)
		print_report(run, encoded - start, seconds_now() - encoded);
	return computed;
}

static int check_tokens(const struct encode *run)
{
	bool acts = !cli_has(run->cli, "tokens");
	for (int j = 0; j < run->job_count; j++)
		acts |= acts_on_tokens(&run->jobs[j]);
	return acts ? EXIT_DONE : usage_error(run->cli, "--tokens: none of these encoders acts on tokens");
}

/* Writing over the input would cost the input. */
static int refuse_output_onto_input(const struct encode *run)
{
	struct stat in, out;
	const char *input = run->cli->operands[0];
	bool same = run->output && stat(input, &in) == 0 && stat(run->output, &out) == 0 &&
		in.st_dev == out.st_dev && in.st_ino == out.st_ino;
	return same ? usage_error(run->cli, "-o %s is the input itself", run->output) : EXIT_DONE;
}

static int prepare(struct encode *run)
{
	struct cli *cli = run->cli;
	if (cli->operand_count != 1)
		return usage_error(cli, "encode takes one input, not %d", cli->operand_count);
	int code = choose_dtype(run);
	if (code == EXIT_DONE)
		code = choose_output(run);
	if (code == EXIT_DONE)
		code = refuse_output_onto_input(run);
	if (code == EXIT_DONE)
		code = input_open(cli, cli->operands[0], &run->input);
	if (code == EXIT_DONE)
		code = jobs_open(cli, &run->input, &run->jobs, &run->job_count);
	if (code == EXIT_DONE)
		code = check_tokens(run);
	if (code == EXIT_DONE)
		code = choose_arrays(run);
	return code;
}

static int run_encode(struct cli *cli)
{
	struct encode run = {.cli = cli, .dtype = PE_F32};
	int code = prepare(&run);
	if (code == EXIT_DONE)
		code = compute_and_write(&run);
	pe_bundle_destroy(&run.bundle);
	pe_bundle_destroy(&run.tokens_in);
	free(run.failed);
	free(run.names);
	free(run.tokens_out);
	jobs_close(run.jobs, run.job_count);
	input_close(&run.input);
	return code;
}

static const struct cli_option options[] = {
	{"with", 0, "NAME[:key=value,...]", "an encoder and its options; may be given several times"},
	{"output", 'o', "OUT", "x.npy, x.npz, x.safetensors, x.tsv, x/ (a folder of .npy), or - with --format"},
	{"format", 0, "FORMAT", "npy, npz, safetensors, tsv or dir, whatever the suffix"},
	{"arrays", 0, "NAME,...", "which arrays to write"},
	{"dtype", 0, "TYPE", "type of float arrays: f32 (default), f64, f16; bf16 to .safetensors only"},
	{"tokens", 0, "X.npy",
		"apply the token-site encoders to these features (..., tokens, width), write tokens"},
	{"prefix", 0, "N", "grid: N tokens before the grid's, such as class and register tokens (0)"},
	{"fail-fast", 0, NULL, "write nothing if one graph of many fails"},
	{"keep-unconverged", 0, NULL, "write what there is even if a solver did not converge (still exit 5)"},
};

const struct command command_encode = {
	.name = "encode",
	.usage = "encode INPUT [--with NAME[:key=value,...]]... [-o OUT]",
	.summary = "compute the encodings of one graph, dataset, grid or sequence",
	.details = "INPUT is a graph file or dataset folder, grid:HxW, seq:LENGTH, seq:LENGTH@OFFSET or\n"
			   "positions:FILE.npy. Without --with: lap and rwse for graphs, axial for grids,\n"
			   "sinusoidal for sequences. Without -o: a table of text on standard output.\n"
			   "\n"
			   "  posenc encode karate.mtx --with lap:k=4\n"
			   "  posenc encode molecules/ --with lap:k=8 --with rwse:steps=20 -o molecules.npz\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.takes_graph_options = true,
	.run = run_encode,
};
