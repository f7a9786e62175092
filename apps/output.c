/* SPDX-License-Identifier: BSD-2-Clause */
#include "output.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"

static bool is_standard_output(const struct output *out)
{
	return !out->path || strcmp(out->path, "-") == 0;
}

bool output_is_single(const struct output *out)
{
	return strcmp(out->format, "npy") == 0;
}

const char *output_file(const struct output *out)
{
	return is_standard_output(out) ? NULL : out->path;
}

/* ---- choice ------------------------------------------------------------------------- */

static int choose_dtype(const struct cli *cli, struct output *out)
{
	static const pe_dtype dtypes[] = {PE_F32, PE_F64, PE_F16, PE_BF16}; /* as in OUTPUT_OPTIONS */
	int choice = 0;
	if (cli_has(cli, "dtype") && !cli_choice(cli, "dtype", &choice))
		return EXIT_USAGE;
	out->dtype = dtypes[choice];
	return EXIT_DONE;
}

/* The format that --format, or else the suffix, stands for; NULL if neither says. */
static const char *format_of(const struct output *out)
{
	static const char *const suffixes[] = {".npy", ".npz", ".safetensors", ".tsv"};
	if (out->named)
		return out->named;
	if (!out->path)
		return "tsv";
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (ends_with(out->path, suffixes[i]))
			return suffixes[i] + 1;
	return ends_with(out->path, "/") ? "dir" : NULL;
}

static int check_standard_output(const struct cli *cli, const struct output *out)
{
	bool text = out->named && strcmp(out->named, "tsv") == 0;
	if (cli->json)
		return usage_error(cli, "--json prints on standard output: send the data to a file with -o");
	if (!out->path && out->named && !text)
		return usage_error(cli, "--format %s needs -o: a file, or - for standard output", out->named);
	if (!out->path)
		return EXIT_DONE;
	if (!out->named)
		return usage_error(cli, "-o - needs --format npy, npz, safetensors or tsv");
	if (!text && isatty(STDOUT_FILENO))
		return usage_error(cli, "standard output is a terminal: %s is not text", out->named);
	return EXIT_DONE;
}

int output_choose(struct cli *cli, struct output *out)
{
	*out = (struct output){.path = cli_get(cli, "output"), .named = cli_get(cli, "format"), .dtype = PE_F32};
	int code = choose_dtype(cli, out);
	int format = 0;
	if (code == EXIT_DONE && !cli_choice(cli, "format", &format))
		code = EXIT_USAGE;
	if (code == EXIT_DONE && is_standard_output(out))
		code = check_standard_output(cli, out);
	if (code != EXIT_DONE)
		return code;
	out->format = format_of(out);
	if (!out->format)
		return usage_error(cli,
			"-o %s: the suffix is not .npy, .npz, .safetensors, .tsv or '/': name the --format", out->path);
	if (out->dtype == PE_BF16 && strcmp(out->format, "safetensors") != 0)
		return usage_error(cli, "--dtype bf16 can be written to .safetensors only");
	return EXIT_DONE;
}

int output_spare(const struct cli *cli, const struct output *out, const char *input)
{
	struct stat in, old;
	bool same = output_file(out) && stat(input, &in) == 0 && stat(out->path, &old) == 0 &&
		in.st_dev == old.st_dev && in.st_ino == old.st_ino;
	return same ? usage_error(cli, "-o %s is the input itself", out->path) : EXIT_DONE;
}

/* ---- writing ------------------------------------------------------------------------ */

int output_check(const struct cli *cli, const struct output *out, pe_bundle *bundle)
{
	const char *file = output_file(out);
	pe_status status = pe_bundle_check(bundle, file, out->format);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

bool output_can_stream(const struct output *out)
{
	struct stat old;
	if (!output_file(out) || strcmp(out->format, "npz") != 0)
		return false;
	return stat(out->path, &old) != 0 || S_ISREG(old.st_mode);
}

int output_begin(const struct cli *cli, const struct output *out, pe_bundle *bundle)
{
	interrupts_hold();
	pe_status status = pe_bundle_begin(bundle, out->path, out->format);
	if (status != PE_OK)
		return report_status(cli, status);
	interrupts_remove(pe_bundle_temporary(bundle));
	return EXIT_DONE;
}

int output_write(const struct cli *cli, const struct output *out, pe_bundle *bundle)
{
	const char *file = output_file(out);
	pe_status status = out->streams ? pe_bundle_end(bundle)
		: file                      ? pe_bundle_write(bundle, file, out->format)
									: pe_bundle_write_fd(bundle, STDOUT_FILENO, out->format);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}
