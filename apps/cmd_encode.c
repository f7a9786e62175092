/* SPDX-License-Identifier: BSD-2-Clause
 * posenc encode INPUT: one input to arrays. */
#include <stdio.h>

#include "arrays.h"
#include "contents.h"
#include "interrupt.h"
#include "output.h"
#include "padding.h"
#include "report.h"
#include "tokens.h"

struct encode {
	struct cli *cli;
	struct input input;
	struct output output;
	pe_domain *queries; /* of --queries, or NULL */
	struct learned learned;
	struct job *jobs;
	int job_count;
	struct tokens tokens;
	struct contents contents;
};

/* ---- before computing --------------------------------------------------------------- */

static int choose_arrays(struct encode *run)
{
	struct cli *cli = run->cli;
	bool tokens = run->tokens.wanted, graph = run->input.graph;
	if (tokens && output_is_single(&run->output) && !cli_has(cli, "arrays"))
		warn(cli, "%s holds one array: tokens is left out (--arrays tokens)", run->output.path);
	char extra[64];
	snprintf(extra, sizeof extra, "%s,%s", graph ? GRAPH_ARRAYS : "", tokens ? "tokens" : "");
	return arrays_choose(cli, &run->output, extra, run->jobs, run->job_count);
}

static int fill_contents(struct encode *run)
{
	struct cli *cli = run->cli;
	pe_status status =
		contents_fill(cli, &run->output, &run->input, run->jobs, run->job_count, &run->contents);
	if (status == PE_OK && run->tokens.wanted &&
		array_is_wanted(cli, "tokens", !output_is_single(&run->output)))
		status = pe_bundle_add(run->contents.bundle, "tokens", &run->tokens.encoded);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

/* The option --queries. */
static int choose_queries(struct encode *run)
{
	int64_t count = 0;
	if (!cli_has(run->cli, "queries"))
		return EXIT_DONE;
	if (!cli_integer(run->cli, "queries", 0, INT64_MAX, &count))
		return EXIT_USAGE;
	pe_status status = pe_domain_tail(run->cli->ctx, run->input.domain, count, &run->queries);
	return status == PE_OK ? EXIT_DONE : report_status(run->cli, status);
}

/* Encodings of many graphs are written as they come; all others are computed in memory first. */
static int choose_way(struct encode *run)
{
	const pe_graph *graph = run->input.graph;
	jobs_choose_types(run->jobs, run->job_count, run->output.dtype);
	run->output.streams = graph && pe_graph_get_report(graph)->graphs > 1 && !run->tokens.wanted &&
		output_can_stream(&run->output);
	return run->output.streams ? EXIT_DONE : jobs_allocate(run->jobs, run->job_count);
}

static int prepare(struct encode *run)
{
	struct cli *cli = run->cli;
	if (cli->operand_count != 1)
		return usage_error(cli, "encode takes one input, not %d", cli->operand_count);
	int code = output_choose(cli, &run->output);
	if (code == EXIT_DONE)
		code = output_spare(cli, &run->output, cli->operands[0]);
	if (code == EXIT_DONE && cli_has(cli, "padding-mask"))
		code = output_spare(cli, &run->output, cli_get(cli, "padding-mask"));
	if (code == EXIT_DONE)
		code = input_open(cli, cli->operands[0], &run->input);
	if (code == EXIT_DONE)
		code = padding_add(cli, &run->input);
	if (code == EXIT_DONE)
		code = tokens_read(cli, &run->input, run->output.dtype, &run->tokens);
	if (code == EXIT_DONE)
		code = choose_queries(run);
	if (code == EXIT_DONE)
		code = jobs_open_on_input(cli, &run->input, run->queries, &run->tokens, output_file(&run->output),
			&run->learned, &run->jobs, &run->job_count);
	if (code == EXIT_DONE)
		code = tokens_open(cli, run->jobs, run->job_count, &run->tokens);
	if (code == EXIT_DONE)
		code = choose_arrays(run);
	if (code == EXIT_DONE)
		code = choose_way(run);
	if (code == EXIT_DONE)
		code = fill_contents(run);
	if (code == EXIT_DONE)
		code = output_check(cli, &run->output, run->contents.bundle);
	return code;
}

/* ---- the run ------------------------------------------------------------------------ */

/* May what was computed be written? Failed graphs among many: yes, unless --fail-fast. */
static bool may_write(const struct encode *run, int code)
{
	if (code == EXIT_DONE)
		return true;
	if (code == EXIT_SOME)
		return !cli_has(run->cli, "fail-fast");
	return code == EXIT_NUMERIC && cli_has(run->cli, "keep-unconverged");
}

static void print_report(const struct encode *run, double encode_seconds, double write_seconds)
{
	json_t *encoders = json_array();
	for (int j = 0; j < run->job_count; j++)
		json_array_append_new(encoders, report_job(&run->jobs[j]));
	print_json(json_pack("{s:s, s:o, s:o, s:{s:f, s:f, s:f, s:f}, s:o, s:o}", "posenc", pe_version(), "input",
		report_input(&run->input), "encoders", encoders, "seconds", "read", run->input.seconds, "encode",
		encode_seconds, "write", write_seconds, "sync", pe_bundle_sync_seconds(run->contents.bundle),
		"output", json_text(run->output.path), "warnings", json_incref(run->cli->warnings)));
}

/* Now it is known which graphs failed. */
static int take_note_of_failures(struct encode *run, int computed)
{
	if (run->output.streams) {
		pe_status status =
			contents_add_failed(run->cli, &run->input, run->jobs, run->job_count, &run->contents);
		return status == PE_OK ? EXIT_DONE : report_status(run->cli, status);
	}
	if (computed == EXIT_DONE)
		return EXIT_DONE;
	contents_free(&run->contents);
	return fill_contents(run);
}

static int compute_and_write(struct encode *run)
{
	struct cli *cli = run->cli;
	bool streams = run->output.streams;
	double start = seconds_now();
	int code = streams ? output_begin(cli, &run->output, run->contents.bundle) : EXIT_DONE;
	if (code != EXIT_DONE)
		return code;
	int computed = jobs_compute(cli, run->jobs, run->job_count, streams ? run->contents.bundle : NULL);
	if (computed == EXIT_DONE)
		computed = input_code(&run->input);
	double encoded = seconds_now();
	if (!may_write(run, computed))
		return computed;
	code = tokens_apply(cli, run->jobs, run->job_count, &run->tokens);
	if (code == EXIT_DONE)
		code = take_note_of_failures(run, computed);
	if (code == EXIT_DONE)
		code = output_write(cli, &run->output, run->contents.bundle);
	if (code == EXIT_DONE)
		code = learned_save(cli, &run->learned);
	if (code != EXIT_DONE)
		return code;
	if (cli->json)
		print_report(run, encoded - start, seconds_now() - encoded);
	return computed;
}

static int run_encode(struct cli *cli)
{
	struct encode run = {.cli = cli};
	int code = prepare(&run);
	if (code == EXIT_DONE)
		code = compute_and_write(&run);
	contents_free(&run.contents);
	interrupts_release();
	tokens_close(&run.tokens);
	jobs_close(run.jobs, run.job_count);
	learned_close(&run.learned);
	pe_domain_destroy(&run.queries);
	input_close(&run.input);
	return code;
}

static const struct cli_option options[] = {
	{"with", 0, "NAME[:key=value,...]",
		"an encoder and its options; may be given several times. as=PREFIX: its arrays and weights are "
		"called "
		"PREFIX.NAME, as a layer's in a checkpoint are"},
	OUTPUT_OPTIONS,
	{"arrays", 0, "NAME,...", "which arrays to write"},
	LEARNED_OPTIONS,
	{"queries", 0, "N", "the last N tokens are attention's queries, all are its keys (all are both)"},
	{"tokens", 0, "X.npy",
		"apply the token-site encoders to these features (..., tokens, width), write tokens; patches: "
		"those of the picture, which encoders that act in attention leave as they are"},
	{"prefix", 0, "N", "grid or picture: N tokens before the grid's, such as class and register tokens (0)"},
	PADDING_OPTION,
	LENIENT_OPTION,
	{"fail-fast", 0, NULL, "write nothing if one graph of many, or one file of a folder, fails"},
	{"keep-unconverged", 0, NULL, "write what there is even if a solver did not converge (still exit 5)"},
};

const struct command command_encode = {
	.name = "encode",
	.usage = "encode INPUT [--with NAME[:key=value,...]]... [-o OUT]",
	.summary = "compute the encodings of one graph, dataset, picture, grid or sequence",
	.details =
		"INPUT is a graph file or dataset folder, a picture (PNG, JPEG, WebP, PBM, PGM, PPM, PAM),\n"
		"grid:HxW or grid:TxHxW, seq:LENGTH, seq:LENGTH@OFFSET or positions:FILE.npy. Without --with:\n"
		"lap and rwse for graphs, axial for pictures and grids, sinusoidal for sequences. Without -o: a\n"
		"table of text on standard output. 'posenc inspect' names the arrays of what was written.\n"
		"The graphs of a folder come in the byte order of its files' names, without those of subfolders;\n"
		"array ptr has where each begins. A file that cannot be read is left empty, and fails (exit 1);\n"
		"with --fail-fast, or --unreadable fail, so does the whole folder (exit 3). The metadata of .npz,\n"
		".safetensors and folder/ say in files, as JSON, which graphs are of which file:\n"
		"[{\"file\":\"a.g6\",\"first\":0,\"graphs\":2}, ...]; and name the grid and prefix of grids and "
		"pictures.\n"
		"\n"
		"  posenc encode karate.mtx --with lap:k=4\n"
		"  posenc encode molecules/ --with lap:k=8 --with rwse:steps=20 -o molecules.npz\n"
		"  posenc encode photo.png --with axial --tokens patches --normalize imagenet -o photo.npz\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.takes_graph_options = true,
	.takes_image_options = true,
	.run = run_encode,
};
