/* SPDX-License-Identifier: BSD-2-Clause
 * posenc convert WEIGHTS: the same weights for another layout or size. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conversion.h"
#include "output.h"
#include "report.h"

static const struct conversion *const conversions[] = {&conversion_rope, &conversion_patch_kernel};
enum { CONVERSIONS = sizeof conversions / sizeof *conversions };

struct convert {
	struct cli *cli;
	struct output output;
	const struct conversion *conversion;
	struct conversion_choice choice;
	pe_bundle *in, *out;
	void **memory; /* of the converted tensors */
	int64_t converted;
};

/* ---- options ------------------------------------------------------------------------ */

static int choose_conversion(struct convert *run)
{
	struct cli *cli = run->cli;
	for (int i = 0; i < CONVERSIONS; i++) {
		if (!cli_has(cli, conversions[i]->option))
			continue;
		if (run->conversion)
			return usage_error(cli, "--%s and --%s are two conversions, one after the other",
				run->conversion->option, conversions[i]->option);
		run->conversion = conversions[i];
	}
	if (!run->conversion)
		return usage_error(cli, "convert needs --rope FROM:TO or --patch-kernel FROM:TO");
	for (int i = 0; i < CONVERSIONS; i++)
		for (const char *const *name = conversions[i]->own; *name; name++)
			if (conversions[i] != run->conversion && cli_has(cli, *name))
				return usage_error(cli, "--%s has no effect with --%s", *name, run->conversion->option);
	return EXIT_DONE;
}

static int take_options(struct convert *run)
{
	struct cli *cli = run->cli;
	if (cli->operand_count != 1)
		return usage_error(cli, "convert takes one file of weights, not %d", cli->operand_count);
	if (!cli_has(cli, "output"))
		return usage_error(cli, "convert needs -o OUT");
	int code = choose_conversion(run);
	if (code == EXIT_DONE)
		code = run->conversion->take_options(cli, &run->choice);
	if (code == EXIT_DONE)
		code = output_choose(cli, &run->output);
	return code == EXIT_DONE ? output_spare(cli, &run->output, cli->operands[0]) : code;
}

/* ---- which tensors ------------------------------------------------------------------ */

/* name ends in `end`, which begins a word of it. */
static bool has_end(const char *name, const char *end)
{
	size_t size = strlen(name), tail = strlen(end);
	return ends_with(name, end) && (size == tail || !isalnum((unsigned char)name[size - tail - 1]));
}

static bool is_usual(const struct convert *run, const char *name)
{
	for (const char *const *end = run->conversion->usual; *end; end++)
		if (has_end(name, *end))
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
		return is_usual(run, name);
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
	const char *file = run->cli->operands[0];
	char why[160];
	pe_tensor y = *x;
	if (!run->conversion->shape(&run->choice, name, x, y.shape, why, sizeof why)) {
		complain("%s: %s: %s", file, name, why);
		return EXIT_INPUT;
	}
	y = pe_tensor_dense(NULL, x->dtype, x->ndim, y.shape);
	int64_t bytes = pe_tensor_bytes(&y);
	y.data = run->memory[i] = bytes < 0 ? NULL : output_memory((size_t)bytes);
	if (!y.data) {
		complain("out of memory: %s", name);
		return EXIT_SYSTEM;
	}
	pe_status status = run->conversion->apply(run->cli->ctx, &run->choice, name, x, &y);
	if (status == PE_OK)
		status = pe_bundle_add(run->out, name, &y);
	run->converted++;
	if (status == PE_OK) {
		if (run->cli->verbose >= 1)
			complain("%s", name);
		return EXIT_DONE;
	}
	complain("%s: %s: %s", file, name, pe_context_message(run->cli->ctx));
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
		complain("%s: no tensor's name ends in %s: say which to convert by --tensors", run->cli->operands[0],
			run->conversion->usual_text);
		return EXIT_INPUT;
	}
	return code;
}

static void print_report(const struct convert *run)
{
	const struct conversion *conversion = run->conversion;
	json_t *report = json_pack("{s:s, s:o, s:s, s:I, s:I, s:o, s:o}", "posenc", pe_version(), "input",
		json_text(run->cli->operands[0]), conversion->key, cli_get(run->cli, conversion->option), "tensors",
		(json_int_t)pe_bundle_count(run->in), "converted", (json_int_t)run->converted, "output",
		json_text(run->output.path), "warnings", json_incref(run->cli->warnings));
	if (run->choice.head_dim > 0)
		json_object_set_new(report, "head_dim", json_integer((json_int_t)run->choice.head_dim));
	print_json(report);
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
	{"rope", 0, "halves:interleaved|interleaved:halves", "from one rotary layout to the other"},
	{"head-dim", 0, "N", "--rope: channels of one head"},
	{"rotary-dim", 0, "N", "--rope: of each head the first N channels are rotated (all)"},
	{"patch-kernel", 0, "FROM:TO", "sides of patches, 16:32 or 16x16:32x24"},
	{"resize", 0, "bicubic|bilinear", "--patch-kernel: how patches are resampled (bicubic)"},
	{"no-antialias", 0, NULL, "--patch-kernel: resample without antialiasing"},
	{"patch-order", 0, "c,ph,pw|ph,pw,c", "--patch-kernel: of embeddings (dim, numbers of a patch)"},
	{"tensors", 0, "PATTERN,...",
		"which tensors, by name with * and ? (those that end in q_proj or k_proj, q_norm or k_norm, and "
		".weight or .bias; the weights of patch embeddings)"},
	{"output", 'o', "OUT", "x.safetensors, x.npz, x/ (a folder of .npy), or - with --format"},
	{"format", 0, "npz|safetensors|dir", "whatever the suffix"},
};

const struct command command_convert = {
	.name = "convert",
	.usage = "convert WEIGHTS --rope FROM:TO --head-dim N | --patch-kernel FROM:TO -o OUT",
	.summary = "weights for the other rotary layout, or for patches of another size",
	.details =
		"--rope: pair t of a head's channels is (t, t + rotary_dim/2) in the layout halves (GPT-NeoX,\n"
		"Hugging Face), (2t, 2t+1) in interleaved (GPT-J, Meta's Llama, GGUF). The rows of q_proj and "
		"k_proj\n"
		"are reordered head by head, biases and the norms of heads too.\n"
		"--patch-kernel: a kernel k of a patch embedding becomes k pinv(R), R the matrix that resamples a\n"
		"patch (FlexiViT): a patch made larger by R gives the number it gave before. As timm's\n"
		"resample_patch_embed does; big_vision has --resize bilinear --no-antialias. The grid of tokens\n"
		"changes too: learned positions follow by 'posenc encode grid:HxW --with learned_grid'. Kernels of\n"
		"Flax, such as big_vision's embedding/kernel, are (height, width, channels, dim).\n"
		"Every other tensor is copied bit for bit.\n"
		"\n"
		"  posenc convert model.safetensors --rope halves:interleaved --head-dim 128 -o meta.safetensors\n"
		"  posenc convert vit.safetensors --patch-kernel 16:32 -o vit32.safetensors\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.run = run_convert,
};
