/* SPDX-License-Identifier: BSD-2-Clause
 * posenc convert WEIGHTS --rope FROM:TO: query and key projections between rotary layouts. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "report.h"

/* Ends of the names of what is converted without --tensors. A norm of each head's queries or keys stands
 * between projection and rotation, so its weights change places too. */
static const char *const usual[] = {"q_proj.weight", "k_proj.weight", "q_proj.bias", "k_proj.bias",
	"q_norm.weight", "k_norm.weight", "q_norm.bias", "k_norm.bias"};

struct convert {
	struct cli *cli;
	struct output output;
	pe_rotary_layout from, to;
	int64_t head_dim, rotary_dim;
	pe_bundle *in, *out;
	void **memory; /* of the converted tensors */
	int64_t converted;
};

/* ---- options ------------------------------------------------------------------------ */

static int take_layouts(struct convert *run)
{
	static const char *const names[] = {
		[PE_ROTARY_HALVES] = "halves:interleaved", [PE_ROTARY_INTERLEAVED] = "interleaved:halves"};
	const char *text = cli_get(run->cli, "rope");
	for (int i = 0; text && i < 2; i++)
		if (strcmp(text, names[i]) == 0) {
			run->from = (pe_rotary_layout)i;
			run->to = (pe_rotary_layout)(1 - i);
			return EXIT_DONE;
		}
	return text ? usage_error(run->cli, "--rope: \"%s\" is neither %s nor %s", text, names[0], names[1])
				: usage_error(run->cli, "convert needs --rope %s or --rope %s", names[0], names[1]);
}

static int take_options(struct convert *run)
{
	struct cli *cli = run->cli;
	if (cli->operand_count != 1)
		return usage_error(cli, "convert takes one file of weights, not %d", cli->operand_count);
	if (!cli_has(cli, "output"))
		return usage_error(cli, "convert needs -o OUT");
	int code = take_layouts(run);
	if (code == EXIT_DONE && !cli_has(cli, "head-dim"))
		return usage_error(cli, "convert needs --head-dim: the channels of one head");
	if (code == EXIT_DONE &&
		(!cli_integer(cli, "head-dim", 1, INT32_MAX, &run->head_dim) ||
			!cli_integer(cli, "rotary-dim", 2, INT32_MAX, &run->rotary_dim)))
		return EXIT_USAGE;
	if (code == EXIT_DONE)
		code = output_choose(cli, &run->output);
	return code == EXIT_DONE ? output_spare(cli, &run->output, cli->operands[0]) : code;
}

/* ---- which tensors ------------------------------------------------------------------ */

/* name ends in `end`, which begins a word of it. */
static bool has_end(const char *name, const char *end)
{
	size_t size = strlen(name), tail = strlen(end);
	if (size < tail || strcmp(name + size - tail, end) != 0)
		return false;
	return size == tail || !isalnum((unsigned char)name[size - tail - 1]);
}

static bool is_usual(const char *name)
{
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (has_end(name, usual[i]))
			return true;
	return false;
}

static bool matches(const char *pattern, size_t size, const char *name)
{
	char *text = copy_text(pattern, size);
	bool is = fnmatch(text, name, 0) == 0;
	free(text);
	return is;
}

static bool is_wanted(const struct convert *run, const char *name)
{
	const char *list = cli_get(run->cli, "tensors");
	if (!list)
		return is_usual(name);
	for (size_t size; *list; list += size + (list[size] == ',')) {
		size = strcspn(list, ",");
		if (matches(list, size, name))
			return true;
	}
	return false;
}

/* A pattern that no tensor matches is a mistake. */
static int check_patterns(const struct convert *run)
{
	const char *list = cli_get(run->cli, "tensors");
	for (size_t size; list && *list; list += size + (list[size] == ',')) {
		const char *name;
		bool any = false;
		size = strcspn(list, ",");
		for (int64_t i = 0; i < pe_bundle_count(run->in) && !any; i++)
			any = pe_bundle_at(run->in, i, &name, NULL) == PE_OK && matches(list, size, name);
		if (!any)
			return usage_error(run->cli, "--tensors: no tensor's name matches \"%.*s\"", (int)size, list);
	}
	return EXIT_DONE;
}

/* ---- the run ------------------------------------------------------------------------ */

static int convert_one(struct convert *run, int64_t i, const char *name, const pe_tensor *x)
{
	pe_tensor y = pe_tensor_dense(NULL, x->dtype, x->ndim, x->shape);
	y.data = run->memory[i] = output_memory((size_t)pe_tensor_bytes(&y));
	if (!y.data) {
		complain("out of memory: %s", name);
		return EXIT_SYSTEM;
	}
	pe_status status =
		pe_rotary_convert(run->cli->ctx, run->from, run->to, run->head_dim, run->rotary_dim, x, &y);
	if (status == PE_OK)
		status = pe_bundle_add(run->out, name, &y);
	run->converted++;
	if (status == PE_OK) {
		if (run->cli->verbose >= 1)
			complain("%s", name);
		return EXIT_DONE;
	}
	complain("%s: %s: %s", run->cli->operands[0], name, pe_context_message(run->cli->ctx));
	return status == PE_ERR_SHAPE ? EXIT_INPUT : exit_code_of(status);
}

/* Other tensors stay as they are. */
static int take_one(struct convert *run, int64_t i)
{
	const char *name;
	pe_tensor tensor;
	pe_status status = pe_bundle_at(run->in, i, &name, &tensor);
	if (status == PE_OK && pe_bundle_is_widened(run->in, i)) {
		complain("%s: %s is of a type that would not be written as it is: convert does not change it",
			run->cli->operands[0], name);
		return EXIT_INPUT;
	}
	if (status == PE_OK && is_wanted(run, name))
		return convert_one(run, i, name, &tensor);
	if (status == PE_OK)
		status = pe_bundle_add(run->out, name, &tensor);
	return status == PE_OK ? EXIT_DONE : report_status(run->cli, status);
}

static pe_status copy_metadata(struct convert *run)
{
	for (int64_t i = 0; i < pe_bundle_metadata_count(run->in); i++) {
		const char *name = pe_bundle_metadata_name(run->in, i);
		TRY(pe_bundle_set_metadata(run->out, name, pe_bundle_metadata(run->in, name)));
	}
	return PE_OK;
}

static int convert_all(struct convert *run)
{
	int code = check_patterns(run);
	for (int64_t i = 0; i < pe_bundle_count(run->in) && code == EXIT_DONE; i++)
		code = take_one(run, i);
	if (code == EXIT_DONE && run->converted == 0) {
		complain(
			"%s: no tensor's name ends in .weight or .bias of q_proj, k_proj, q_norm or k_norm: say which "
			"to convert by --tensors",
			run->cli->operands[0]);
		return EXIT_INPUT;
	}
	return code;
}

static void print_report(const struct convert *run)
{
	print_json(json_pack("{s:s, s:o, s:s, s:I, s:I, s:I, s:o, s:o}", "posenc", pe_version(), "input",
		json_text(run->cli->operands[0]), "rope", cli_get(run->cli, "rope"), "head_dim",
		(json_int_t)run->head_dim, "tensors", (json_int_t)pe_bundle_count(run->in), "converted",
		(json_int_t)run->converted, "output", json_text(run->output.path), "warnings",
		json_incref(run->cli->warnings)));
}

static int convert(struct convert *run)
{
	struct cli *cli = run->cli;
	pe_status status = pe_bundle_from_file(cli->ctx, cli->operands[0], NULL, &run->in);
	if (status == PE_OK)
		status = pe_bundle_create(cli->ctx, &run->out);
	if (status == PE_OK)
		status = copy_metadata(run);
	if (status != PE_OK)
		return report_status(cli, status);
	run->memory = get_memory((size_t)pe_bundle_count(run->in), sizeof *run->memory);
	int code = convert_all(run);
	if (code == EXIT_DONE)
		code = output_write(cli, &run->output, run->out);
	if (code == EXIT_DONE && cli->json)
		print_report(run);
	return code;
}

static int run_convert(struct cli *cli)
{
	struct convert run = {.cli = cli};
	int code = take_options(&run);
	if (code == EXIT_DONE)
		code = convert(&run);
	for (int64_t i = 0; run.memory && i < pe_bundle_count(run.in); i++)
		free(run.memory[i]);
	free(run.memory);
	pe_bundle_destroy(&run.out);
	pe_bundle_destroy(&run.in);
	return code;
}

static const struct cli_option options[] = {
	{"rope", 0, "FROM:TO", "halves:interleaved or interleaved:halves"},
	{"head-dim", 0, "N", "channels of one head"},
	{"rotary-dim", 0, "N", "of each head the first N channels are rotated (all)"},
	{"tensors", 0, "PATTERN,...",
		"which tensors, by name with * and ? (those that end in q_proj or k_proj, q_norm or k_norm, and "
		".weight or .bias)"},
	{"output", 'o', "OUT", "x.safetensors, x.npz, x/ (a folder of .npy), or - with --format"},
	{"format", 0, "FORMAT", "npz, safetensors or dir, whatever the suffix"},
};

const struct command command_convert = {
	.name = "convert",
	.usage = "convert WEIGHTS --rope FROM:TO --head-dim N -o OUT",
	.summary = "reorder query and key projections from one rotary layout to the other",
	.details =
		"Pair t of a head's channels is (t, t + rotary_dim/2) in the layout halves (GPT-NeoX, Hugging "
		"Face),\n"
		"(2t, 2t+1) in interleaved (GPT-J, Meta's Llama, GGUF). The rows of q_proj and k_proj are reordered\n"
		"head by head, biases and the norms of heads too; every other tensor is copied bit for bit.\n"
		"\n"
		"  posenc convert model.safetensors --rope halves:interleaved --head-dim 128 -o meta.safetensors\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.run = run_convert,
};
